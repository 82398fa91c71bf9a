package gatewaytest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/sim"
)

// Each rule of the gateway has a test that names it.
func TestRulesAreNamed(t *testing.T) {
	named := map[string]bool{}
	for _, dir := range []string{".", "../gateway", "../curation", "../../cmd/quire"} {
		files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d tests, %v", dir, len(files), err)
		}
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range regexp.MustCompile(`(?m)^\s*// design\.md (G.*)$`).FindAllStringSubmatch(string(text), -1) {
				for _, name := range regexp.MustCompile(`G\d+`).FindAllString(m[1], -1) {
					named[name] = true
				}
			}
		}
	}
	for n := 1; n <= 21; n++ {
		if name := fmt.Sprintf("G%d", n); !named[name] {
			t.Errorf("no test names design.md %s", name)
		}
	}
}

// What a client calls a session neither joins what its words separate nor separates
// what they join, and nor does what it says of itself: a subagent under the session's
// name has a stream of its own, and the session goes on under another name.
//
// design.md G1, G8
func TestLabelsDoNotJoin(t *testing.T) {
	for _, d := range dialects() {
		t.Run(string(d.api), func(t *testing.T) {
			s := newStage(t, d, nil)
			for label := range plot()[:8] {
				s.step(label, false)
			}
			folded := s.g.Status().Totals.Curated
			other := &talk{tools: 3, system: "You are a helper. " + strings.Repeat(kind, 300), label: s.talk.label}
			s.say(other, 19, nil)
			s.ask(other, false, mishap{})
			last := s.up.last()
			if folded == 0 || strings.Contains(last, "step 0 of the work") || strings.Contains(last, "<quire") {
				t.Errorf("%d calls were curated; for the subagent went up\n%s", folded, last)
			}
			s.talk.label = "another name"
			s.step(8, false)
			n := s.g.Status()
			stop(t, s.g)
			s.accepted()
			if n.Totals.Curated <= folded {
				t.Error("under another name the session is not curated any more")
			}
		})
	}
}

// A client that compacts asks for its summary in the session, and that is answered
// from the stream; what begins with the summary is the same session, and goes on.
//
// design.md G4
func TestClientCompacts(t *testing.T) {
	for _, d := range dialects() {
		t.Run(string(d.api), func(t *testing.T) {
			s := newStage(t, d, nil)
			answer := "All that was done so far:" + strings.Repeat(" one thing and another,", 20)
			for i := range s.sims {
				s.sims[i] = newSim(t, "turn always\n when prompt matches \\[u20\\]\n say "+answer+"\n"+scriptOf(plot()), s.clock.now, sim.Limits{BoundThinking: true})
			}
			s.up.serves.Store(s.sims[through])
			s.ends[direct] = s.sims[direct]
			s.tell()
			s.say(s.talk, 20, nil)
			s.ask(s.talk, true, mishap{})
			if strings.Contains(s.up.last(), "step 1 says") || s.g.Status().Totals.Epochs == 0 {
				t.Error("the call for the summary is not answered from the stream")
			}
			summary := "This session goes on from another one. Its summary:\n" + answer
			s.talk.each(func([]quire.Message) []quire.Message {
				return []quire.Message{{Role: quire.RoleUser, Blocks: []quire.Block{{Part: quire.Part{Kind: quire.PartUser, Text: summary}}}}}
			})
			s.talk.pending = nil
			s.say(s.talk, 21, nil)
			s.ask(s.talk, true, mishap{})
			n := s.g.Status()
			stop(t, s.g)
			s.accepted()
			s.kept(s.pool)
			if len(n.Sessions) != 1 {
				t.Errorf("%d sessions", len(n.Sessions))
			}
		})
	}
}

// A request whose size in bytes its provider refuses is made smaller, and sent once
// more.
//
// design.md G14
func TestTooManyBytes(t *testing.T) {
	for _, d := range dialects() {
		t.Run(string(d.api), func(t *testing.T) {
			s := newStage(t, d, nil)
			s.sims[through] = newSim(t, scriptOf(plot()), s.clock.now, sim.Limits{Body: 40_000})
			s.up.serves.Store(s.sims[through])
			s.pass = func(time.Duration) {} // no cache lapses
			s.tell()
			forced := s.g.Status().Totals.Epochs
			stop(t, s.g)
			var refused int64
			for _, q := range s.sims[through].Requests() {
				if q.Refused != "" {
					refused++
				}
			}
			if refused == 0 || forced == 0 || refused > forced {
				t.Errorf("%d requests were refused, %d epochs were forced", refused, forced)
			}
		})
	}
}

// What the gateway says that a session saved is what its client's own views would
// have cost more.
//
// design.md G18
func TestShadow(t *testing.T) {
	for _, d := range dialects() {
		t.Run(string(d.api), func(t *testing.T) {
			s := newStage(t, d, nil)
			s.tell()
			var spent [2]float64
			for i, end := range s.sims {
				for _, q := range end.Requests() {
					spent[i] += cost(q)
				}
			}
			waitFor(t, "all calls are recorded", func() bool { return s.g.Status().Totals.Calls >= int64(len(plot())) })
			saved := s.g.Status().Sessions[0].Saved
			stop(t, s.g)
			if want := spent[direct] - spent[through]; want <= 0 || saved < .95*want || saved > 1.05*want {
				t.Errorf("it says $%.5f were saved, without the gateway it costs $%.5f more", saved, want)
			}
		})
	}
}

// A model that nobody knows is relayed, however much is sent, until a refusal of its
// provider names the window; then its session is made to fit.
//
// design.md G21
func TestUnknownModel(t *testing.T) {
	d := dialects()[1]
	d.models = []string{"house-model-7b", "house-model-7b"}
	s := newStage(t, d, nil)
	s.sims[through] = newSim(t, scriptOf(quietPlot()), s.clock.now, sim.Limits{Window: 16_000})
	s.up.serves.Store(s.sims[through])
	relayed := 0
	for label := range plot() {
		if n := s.g.Status().Totals; n.Curated == 0 {
			relayed++
		}
		s.step(label, label%2 == 0)
	}
	n := s.g.Status().Totals
	stop(t, s.g)
	refused := 0
	for _, q := range s.sims[through].Requests() {
		if q.Refused != "" {
			refused++
		}
	}
	if relayed < 4 || n.Curated == 0 || refused == 0 || refused > 2 {
		t.Errorf("%d calls were relayed first, %d curated, %d refused", relayed, n.Curated, refused)
	}
}
