package warning_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/warning"
	"pgregory.net/rapid"
)

func take(t *testing.T, w *warning.Watch, want ...string) {
	t.Helper()
	got := w.Take()
	if len(got) != len(want) {
		t.Errorf("got %q, want %d", got, len(want))
		return
	}
	for i := range want {
		if !strings.Contains(got[i], want[i]) || !warning.Is(got[i]) {
			t.Errorf("got %q, want %q in it", got[i], want[i])
		}
	}
}

func TestTheSameFailure(t *testing.T) {
	var w warning.Watch
	w.Turn()
	for range 5 {
		w.Called(warning.Call{Tool: "bash", Args: "make", Error: true, Command: true})
		w.Called(warning.Call{Tool: "read", Args: "a"})
	}
	take(t, &w, "Warning w1: The same call of bash has failed 3 times")
	w.Turn()
	w.Called(warning.Call{Tool: "bash", Args: "make", Error: true})
	take(t, &w)
}

func TestManyFailures(t *testing.T) {
	var w warning.Watch
	for i := range 12 {
		w.Called(warning.Call{Tool: "bash", Args: fmt.Sprint(i), Error: i != 0})
	}
	take(t, &w, "8 of the last 9 calls failed")
}

func TestGoalNotVerified(t *testing.T) {
	var w warning.Watch
	w.Turn()
	w.Called(warning.Call{Tool: "edit", Changes: 1})
	w.Called(warning.Call{Tool: "bash", Command: true, Error: true})
	w.Turn()
	take(t, &w)
	w.Called(warning.Call{Tool: "bash", Command: true})
	w.Called(warning.Call{Tool: "edit", Changes: 2})
	w.Turn()
	take(t, &w, "The turn before changed 2 files")
	w.Turn()
	take(t, &w)
}

// A session that is resumed knows what its last turn left open.
func TestGoalNotVerifiedBefore(t *testing.T) {
	var w warning.Watch
	w.PastTurn()
	w.Past(warning.Call{Tool: "edit", Changes: 1})
	w.PastTurn()
	w.Past(warning.Call{Tool: "edit", Changes: 3, Error: true})
	w.Turn()
	take(t, &w, "The turn before changed 3 files")
}

func TestChangedByOthers(t *testing.T) {
	var w warning.Watch
	w.Restore()
	w.Restore()
	w.Changed(nil)
	w.Changed([]string{"b", "a"})
	w.Changed([]string{"a", "b"})
	take(t, &w, "Warning w3: Changed by somebody else since you read or wrote them: a, b.")
	var many []string
	for i := range 15 {
		many = append(many, fmt.Sprintf("f%02d", i))
	}
	w.Changed(many)
	take(t, &w, "f09 and 5 more")
}

// No warning is given out twice, and ids rise.
func TestEachOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var w warning.Watch
		seen := map[string]bool{}
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0:
				w.Turn()
			case 1:
				w.Changed(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b"}), 0, 2).Draw(t, "paths"))
			default:
				w.Called(warning.Call{Tool: rapid.SampledFrom([]string{"x", "y"}).Draw(t, "tool"), Error: rapid.Bool().Draw(t, "error"), Changes: rapid.IntRange(0, 2).Draw(t, "changes")})
			}
			for _, text := range w.Take() {
				id, _, _ := strings.Cut(text, ":")
				if id != fmt.Sprintf("Warning w%d", len(seen)+1) || seen[id] {
					t.Errorf("%s after %d others", id, len(seen))
				}
				seen[id] = true
			}
		}
	})
}
