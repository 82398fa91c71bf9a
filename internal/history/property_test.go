package history

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/quire"
	"pgregory.net/rapid"
)

// check draws n cases, or as many as -rapid.checks asks for.
func check(t *testing.T, n int, prop func(*rapid.T)) {
	t.Helper()
	f := flag.Lookup("rapid.checks")
	if f.Value.String() == f.DefValue {
		if err := f.Value.Set(strconv.Itoa(n)); err != nil {
			t.Fatal(err)
		}
		defer f.Value.Set(f.DefValue)
	}
	rapid.Check(t, prop)
}

// told is a random session with what was marked in it.
type told struct {
	*chronicle
	pages []quire.PageNumber
	pins  map[quire.PageNumber][]int // calls at which a page was pinned and unpinned, in turn
}

func (s *told) step(t *rapid.T) {
	switch n := rapid.IntRange(0, 9).Draw(t, "step"); {
	case n < 5:
		s.pages = append(s.pages, s.run(fmt.Sprintf("make part%d", len(s.pages)), listing(len(s.pages), rapid.SampledFrom([]int{1, 8, 60}).Draw(t, "lines"))))
	case n < 7:
		s.say("That is how it is.")
		s.user(rapid.SampledFrom([]time.Duration{time.Second, time.Minute, time.Hour}).Draw(t, "pause"), "Go on then.")
	case len(s.pages) == 0:
	default:
		s.markOne(t)
	}
}

func (s *told) markOne(t *rapid.T) {
	page := rapid.SampledFrom(s.pages).Draw(t, "page")
	what := rapid.SampledFrom([]string{quire.MarkPin, quire.MarkUnpin, quire.MarkDrop, quire.MarkUndo}).Draw(t, "mark")
	m := quire.MarkRecord{What: what, Page: page}
	pinned := len(s.pins[page])%2 == 1
	switch {
	case what == quire.MarkUndo:
		m = quire.MarkRecord{What: what, Epoch: rapid.IntRange(1, 3).Draw(t, "epoch")}
	case (what == quire.MarkPin) != pinned:
		s.pins[page] = append(s.pins[page], s.calls)
	}
	s.mark(m)
}

// pinnedAt reports whether a page was pinned when a call was planned.
func (s *told) pinnedAt(page quire.PageNumber, call int) (pinned bool) {
	for _, at := range s.pins[page] {
		if at <= call {
			pinned = !pinned
		}
	}
	return pinned
}

// Whatever happens in a session: a play is the same each time, no epoch lowers
// what is pinned, nothing is decided of what has not come in, the streams of calls
// fit together, and each fault that is booked to an epoch came after it.
func TestPlaysHold(t *testing.T) {
	check(t, 40, func(t *rapid.T) {
		home, err := os.MkdirTemp("", "history")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(home)
		s := &told{chronicle: newChronicle(t, home), pins: map[quire.PageNumber][]int{}}
		defer s.close()
		s.user(0, "Why is the build slow?")
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			s.step(t)
		}
		s.say("Done.")
		h := s.played()
		if again := s.played(); !reflect.DeepEqual(h.Calls, again.Calls) || !reflect.DeepEqual(h.Epochs, again.Epochs) {
			t.Fatal("a second play differs")
		}
		s.check(t, h)
	})
}

func (s *told) check(t *rapid.T, h *History) {
	entered := map[quire.PageNumber]int{}
	stream := 0
	for i := range h.Calls {
		c := &h.Calls[i]
		for _, e := range c.Entered {
			entered[e.Page] = c.Call
			stream += e.Tokens
		}
		if c.Before < stream {
			t.Fatalf("call %d: %d tokens stood or came in, %d before the plan", i, stream, c.Before)
		}
		for _, d := range c.Decisions {
			if at, ok := entered[d.Page]; !ok || at > i {
				t.Fatalf("call %d decides about %v, which is not there", i, d.Page)
			}
			if s.pinnedAt(d.Page, i) && !d.To.Resident() {
				t.Fatalf("call %d lowers %v, which is pinned: %+v", i, d.Page, d)
			}
			if !c.Begins {
				t.Fatalf("call %d decides within an epoch", i)
			}
		}
		for _, f := range c.Faults {
			if f.Epoch > 0 && h.Epochs[f.Epoch-1].Call > i || f.Cost <= 0 {
				t.Fatalf("call %d: %+v", i, f)
			}
		}
		stream = c.After
	}
}
