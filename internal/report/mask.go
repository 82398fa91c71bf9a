package report

import (
	"reflect"
	"time"

	"github.com/quire-agent/quire/internal/audit"
)

// Masked is the report with every text in it put through mask: commands, paths,
// addresses, names, reasons. It goes by the types and not by a list of fields, so
// that a field that is added later is masked too. The report itself is not
// changed. Paths that are the same stay the same, so rows still refer to their
// sessions.
func Masked(r audit.Report, mask func(string) string) audit.Report {
	return masked(reflect.ValueOf(r), mask).Interface().(audit.Report)
}

// masked copies a value. Keys of maps are names of policies, which are ours.
func masked(v reflect.Value, mask func(string) string) reflect.Value {
	if v.Type() == reflect.TypeFor[time.Time]() {
		return v
	}
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	switch v.Kind() {
	case reflect.String:
		out.SetString(mask(v.String()))
	case reflect.Struct:
		for i := range v.NumField() {
			out.Field(i).Set(masked(v.Field(i), mask))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			out.Set(reflect.New(v.Type().Elem()))
			out.Elem().Set(masked(v.Elem(), mask))
		}
	case reflect.Slice:
		maskItems(out, v, mask)
	case reflect.Map:
		maskValues(out, v, mask)
	}
	return out
}

func maskItems(out, v reflect.Value, mask func(string) string) {
	switch v.Type().Elem().Kind() {
	case reflect.String, reflect.Struct, reflect.Pointer, reflect.Slice, reflect.Map:
	default:
		return // numbers
	}
	if v.IsNil() {
		return
	}
	out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
	for i := range v.Len() {
		out.Index(i).Set(masked(v.Index(i), mask))
	}
}

func maskValues(out, v reflect.Value, mask func(string) string) {
	if v.IsNil() {
		return
	}
	out.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
	for each := v.MapRange(); each.Next(); {
		out.SetMapIndex(each.Key(), masked(each.Value(), mask))
	}
}
