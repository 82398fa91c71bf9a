// Package texts puts a function over every text in a value.
package texts

import "reflect"

// Map is a value with every text in it put through f. It goes by the types and
// not by a list of fields, so that a field that is added later is covered too.
// The value itself is not changed; unexported fields, keys of maps and bytes stay
// as they are.
func Map[T any](value T, f func(string) string) T {
	apply(reflect.ValueOf(&value).Elem(), f)
	return value
}

// apply changes what can be set. What v shares with others is copied before.
func apply(v reflect.Value, f func(string) string) {
	switch v.Kind() {
	case reflect.String:
		if v.CanSet() {
			v.SetString(f(v.String()))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			apply(v.Field(i), f)
		}
	case reflect.Slice:
		if v.CanSet() && v.Len() > 0 && hasText(v.Type().Elem()) {
			v.Set(reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, v.Len()), v))
			for i := range v.Len() {
				apply(v.Index(i), f)
			}
		}
	case reflect.Pointer:
		if v.CanSet() && !v.IsNil() {
			of := reflect.New(v.Type().Elem())
			of.Elem().Set(v.Elem())
			apply(of.Elem(), f)
			v.Set(of)
		}
	case reflect.Map:
		if v.CanSet() && !v.IsNil() {
			applyToValues(v, f)
		}
	}
}

func applyToValues(v reflect.Value, f func(string) string) {
	out := reflect.MakeMapWithSize(v.Type(), v.Len())
	for each := v.MapRange(); each.Next(); {
		item := reflect.New(v.Type().Elem()).Elem()
		item.Set(each.Value())
		apply(item, f)
		out.SetMapIndex(each.Key(), item)
	}
	v.Set(out)
}

// hasText reports whether values of a type may hold text: numbers and bytes do not.
func hasText(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.String, reflect.Struct, reflect.Pointer, reflect.Slice, reflect.Map:
		return true
	}
	return false
}
