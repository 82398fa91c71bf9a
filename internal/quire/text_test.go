package quire_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/quire"
)

// What is written to a journal or shown as JSON is read back as it was.
func TestTextFormsReadBack(t *testing.T) {
	type all struct {
		Hash  quire.Hash
		Part  quire.PartKind
		Page  quire.PageKind
		Class quire.Class
	}
	for i := range 12 {
		want := all{quire.Sum(strings.Repeat("x", i)), quire.PartKind(min(i, 10)), quire.PageKind(min(i, 8)), quire.Class(i)}
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got all
		if err := json.Unmarshal(text, &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s reads as %+v (%v)", text, got, err)
		}
	}
}

func TestWrongTextFormsAreRefused(t *testing.T) {
	sum := quire.Sum("").String()
	for _, text := range []string{"", "abc", sum[1:], sum + "0", strings.ToUpper(sum), "zz" + sum[2:]} {
		if h, err := quire.ParseHash(text); err == nil {
			t.Errorf("%q reads as the hash %s", text, h)
		}
	}
	for _, text := range []string{`{"Part":"prompt"}`, `{"Page":"prompt"}`, `{"Class":"prompt"}`} {
		var v struct {
			Part  quire.PartKind
			Page  quire.PageKind
			Class quire.Class
		}
		if err := json.Unmarshal([]byte(text), &v); err == nil {
			t.Errorf("%s was read", text)
		}
	}
}
