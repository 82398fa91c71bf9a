package gateway

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

// looksForEver recalls as often as it is answered.
func looksForEver() string {
	return strings.Repeat(`turn
 when user contains look for ever
 when tool recall
 say Once more.
 call recall {"page": "p4"}
`, mostRecalls+3) + "turn\n when user contains go on\n say Then on."
}

// G7: so many recalls in a row are answered, and no more: the answer ends there, the
// client sees none of them, and the session goes on. What the client does not see is
// counted behind a stream, and in front of another answer.
func TestRecallsInARow(t *testing.T) {
	for _, stream := range []bool{true, false} {
		s := worked(t, Messages, "claude-sonnet-4-5", stream, looksForEver())
		s.say("look for ever")
		before := len(s.sim.Requests())
		answer, text := s.send()
		reply, l := s.read(answer, text), s.world.line()
		s.fine(l)
		s.valid()
		n := len(s.sim.Requests()) - before
		if strings.Contains(texts(reply.Blocks), "recall") || n < mostRecalls+1 || n > mostRecalls+2 {
			t.Errorf("%d requests went up; the client sees %q", n, texts(reply.Blocks))
		}
		header := answer.Header
		if stream {
			header = answer.Trailer
		}
		if got := header.Get(innerCallsHeader); got != strconv.Itoa(n-1) {
			t.Errorf("%q inner calls are counted, want %d", got, n-1)
		}
		if cost, err := strconv.ParseFloat(header.Get(innerCostHeader), 64); err != nil || cost <= 0 || cost >= l.Cost {
			t.Errorf("they cost %q of %v, %v", header.Get(innerCostHeader), l.Cost, err)
		}
	}
}

// A client hears something while a page is read for it and the next call begins.
func TestPings(t *testing.T) {
	for _, a := range apis() {
		t.Run(string(a.api), func(t *testing.T) {
			s := worked(t, a.api, a.model, true, looksBack)
			s.up = serveHandler(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				if bytes.Contains(body, []byte("of turn 0 line 7 ")) {
					s.pinged(r)
				}
				r.Body = io.NopCloser(bytes.NewReader(body))
				s.sim.ServeHTTP(w, r)
			}))
			s.restart()
			s.world.g.limits.Ping = 5 * time.Millisecond
			s.say("look back at the first file")
			answer, text := s.send()
			ping := ": wait\n\n"
			if a.api == Messages {
				ping = "event: ping\n"
			}
			if got := texts(s.read(answer, text).Blocks); bytes.Count(text, []byte(ping)) < 2 || !strings.Contains(got, "It held a table.") {
				t.Errorf("the client gets %q:\n%.2000s", got, text)
			}
			s.fine(s.world.line())
		})
	}
}

// pinged waits until more went down than when it was called, twice.
func (s *scene) pinged(r *http.Request) {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	down := &s.world.g.counts.down
	for range 2 {
		for before := down.Load(); down.Load() == before; {
			select {
			case <-tick.C:
			case <-r.Context().Done():
				return
			}
		}
	}
}
