package texts

import (
	"fmt"
	"strings"
	"testing"
)

// TestMapCopies holds that Map does not change what it is given, whatever
// is in it.
func TestMapCopies(t *testing.T) {
	type inner struct{ Text string }
	type value struct {
		inner
		List []inner
		To   *inner
		By   map[string][]string
		N    [2]int
		none string
	}
	given := value{inner{"a"}, []inner{{"a"}}, &inner{"a"}, map[string][]string{"a": {"a"}}, [2]int{1, 2}, "a"}
	got := Map(given, strings.ToUpper)
	if text, want := fmt.Sprint(got.inner, got.List, *got.To, got.By, got.N, got.none), "{A} [{A}] {A} map[a:[A]] [1 2]a"; text != want {
		t.Errorf("got %s, want %s", text, want)
	}
	if text, want := fmt.Sprint(given.inner, given.List, *given.To, given.By, given.N, given.none), "{a} [{a}] {a} map[a:[a]] [1 2]a"; text != want {
		t.Errorf("it was changed to %s, want %s", text, want)
	}
}
