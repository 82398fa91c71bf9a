package gateway

import (
	"fmt"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/sim"
)

// G9: a client that takes two models in turn finds the prompt of each in the cache
// when it comes back to it in time, after a restart of the gateway too.
func TestModelsInTurn(t *testing.T) {
	for _, again := range []bool{false, true} {
		t.Run(fmt.Sprintf("restart %v", again), func(t *testing.T) {
			s := worked(t, Chat, "gpt-5.5", false, "turn always\n when prompt matches swap\n say It is done.")
			models := []string{"gpt-5.4", "gpt-5.5", "gpt-5.4", "gpt-5.5"}
			for i, m := range models {
				if again {
					s.restart()
				}
				s.call.Model = m
				s.say(fmt.Sprintf("swap number %d", i))
				_, l := s.ask()
				s.fine(l)
				if !l.Curated {
					t.Fatalf("call %d was not curated: %s", i, callText(t, l))
				}
				if u := s.last().Usage; i > 0 && u.CacheRead == 0 {
					t.Errorf("call %d read nothing: %+v", i, u)
				}
			}
			s.valid()
		})
	}
}

// A conversation that begins beside a curated one has the tool for recalling from its
// first call on, where tools and system prompt are in the cache with it alone; when
// nothing is in the cache it is relayed as any other.
func TestConversationBesideACuratedOne(t *testing.T) {
	s := newScene(t, Messages, "claude-sonnet-4-5", rounds, sim.Limits{})
	s.call.System[0].Text = listing("the norms of the house", 120)
	s.call.System[0].Cache = quire.MarkShort
	for turn := range 4 {
		s.work(turn, 6)
	}
	s.clock.pass(26 * time.Hour)
	s.work(4, 6)
	if n := s.world.g.Status().Totals.Curated; n == 0 {
		t.Fatal("nothing was curated")
	}
	s.call.Messages = nil
	s.say("do step 9")
	_, l := s.ask()
	s.fine(l)
	if u := s.last().Usage; !l.Curated || u.CacheRead == 0 {
		t.Errorf("the new conversation: %s, %+v", callText(t, l), u)
	}
	s.clock.pass(26 * time.Hour)
	s.call.Messages = nil
	s.say("do step 10")
	if _, l = s.ask(); l.Curated {
		t.Errorf("with a cold cache it was not relayed: %s", callText(t, l))
	}
	s.valid()
}

// G4: what a client compacted away can be read back by name and found by words, in
// the conversation that goes on from the summary.
func TestPagesFromBeforeACompaction(t *testing.T) {
	for how, args := range map[string]string{"by name": `{"page": "p4"}`, "by words": `{"query": "file 0 of turn 0 line 17 holds value"}`} {
		t.Run(how, func(t *testing.T) {
			script := "turn\n when user contains look back\n when not result contains of turn 0 line\n call recall " + args + `
turn
 when user contains look back
 when result contains of turn 0 line
 say It held a table.
turn
 when user contains sum it up
 say ` + summary
			s := newScene(t, Messages, "claude-sonnet-4-5", script+"\n"+rounds, sim.Limits{})
			s.call.System[0].Text, s.call.System[0].Cache = listing("the norms of the house", 120), quire.MarkShort
			for turn := range 4 {
				s.work(turn, 6)
			}
			s.clock.pass(26 * time.Hour)
			s.work(4, 6)
			s.say("sum it up")
			_, l := s.ask()
			s.fine(l)
			s.call.Messages = nil
			s.say("We go on from here: " + summary + " Please look back at the first file.")
			r, l := s.ask()
			s.fine(l)
			if got := texts(r.Blocks); l.Session != 1 || l.Recalls != 1 || got != "It held a table." {
				t.Errorf("the client hears %q: %s", got, callText(t, l))
			}
			s.valid()
		})
	}
}

const summary = "Four turns were worked through with six files each, all of which hold tables of values; nothing else is known of them, and nothing is left to do."
