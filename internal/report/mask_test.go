package report_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/x/texts"
)

// TestMaskedInEveryForm puts a word into every text of a report and looks for it
// in what is written.
func TestMaskedInEveryForm(t *testing.T) {
	const word = "hunter2"
	r := sample()
	n := plant(reflect.ValueOf(&r).Elem(), word)
	if n < 60 {
		t.Fatalf("planted in %d places", n)
	}
	mask := func(text string) string { return strings.ReplaceAll(text, word, "‹x›") }
	for _, f := range forms() {
		var plain, hidden bytes.Buffer
		if err := f.write(&plain, r); err != nil {
			t.Fatal(err)
		}
		if err := f.write(&hidden, texts.Map(r, mask)); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(plain.String(), word) {
			t.Errorf("%s: nothing planted is shown", f.file)
		}
		if strings.Contains(hidden.String(), word) {
			t.Errorf("%s: a planted word is shown", f.file)
		}
	}
	if !strings.Contains(r.Sessions[0].Path, word) {
		t.Error("the report itself was changed")
	}
}

func TestMaskedWithoutSecretsIsTheSame(t *testing.T) {
	if r := sample(); !reflect.DeepEqual(texts.Map(r, func(text string) string { return text }), r) {
		t.Error("changed")
	}
}

// plant adds a word to every text in a value and says how often.
func plant(v reflect.Value, word string) (n int) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(v.String() + word)
		return 1
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return 0
		}
		for i := range v.NumField() {
			n += plant(v.Field(i), word)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			n += plant(v.Elem(), word)
		}
	case reflect.Slice:
		for i := range v.Len() {
			n += plant(v.Index(i), word)
		}
	case reflect.Map:
		for each := v.MapRange(); each.Next(); {
			one := reflect.New(v.Type().Elem()).Elem()
			one.Set(each.Value())
			n += plant(one, word)
			v.SetMapIndex(each.Key(), one)
		}
	}
	return n
}

func BenchmarkMasked(b *testing.B) {
	r := sample()
	for b.Loop() {
		texts.Map(r, strings.ToUpper)
	}
}
