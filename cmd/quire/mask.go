package main

import (
	"reflect"
	"strings"
)

// masked is a value with every text in it put through mask. It goes by the types
// and not by a list of fields, so that a field that is added later is masked too.
// The value itself is not changed; keys of maps and bytes stay as they are.
func masked[T any](value T, mask func(string) string) T {
	maskIn(reflect.ValueOf(&value).Elem(), mask)
	return value
}

// maskIn masks what can be set. What v shares with others is copied before.
func maskIn(v reflect.Value, mask func(string) string) {
	switch v.Kind() {
	case reflect.String:
		if v.CanSet() {
			v.SetString(mask(v.String()))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			maskIn(v.Field(i), mask)
		}
	case reflect.Slice:
		if v.CanSet() && v.Len() > 0 && hasText(v.Type().Elem()) {
			v.Set(reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, v.Len()), v))
			for i := range v.Len() {
				maskIn(v.Index(i), mask)
			}
		}
	case reflect.Pointer:
		if v.CanSet() && !v.IsNil() {
			of := reflect.New(v.Type().Elem())
			of.Elem().Set(v.Elem())
			maskIn(of.Elem(), mask)
			v.Set(of)
		}
	case reflect.Map:
		if v.CanSet() && !v.IsNil() {
			maskValues(v, mask)
		}
	}
}

func maskValues(v reflect.Value, mask func(string) string) {
	out := reflect.MakeMapWithSize(v.Type(), v.Len())
	for each := v.MapRange(); each.Next(); {
		item := reflect.New(v.Type().Elem()).Elem()
		item.Set(each.Value())
		maskIn(item, mask)
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

// maskPiece masks a text that is a piece of another one: where it ends, no secret
// is cut short, which would be taken for one sooner.
func (h *home) maskPiece(text string) string {
	return strings.TrimSuffix(h.secrets.Mask(text+"\n"), "\n")
}
