package token

import (
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/quire"
)

// A script is a recorded session in a few letters; its calls are numbered from
// 1 and each word is one token.
type script struct {
	t     *testing.T
	gauge *Gauge
	model string
	calls int
	got   []Growth
}

func play(t *testing.T, model string) *script {
	return &script{t: t, gauge: NewGauge(counter(t), ""), model: model}
}

func words(n int) string { return strings.TrimSpace(strings.Repeat(" word", n)) }

func (s *script) add(e quire.Event) {
	if g, ok := s.gauge.Add(e); ok {
		s.got = append(s.got, g)
	}
}

func (s *script) id() string { return string(rune('0' + s.calls)) }

func (s *script) enter(kind quire.PartKind, n int) {
	s.add(quire.Entered{Part: quire.Part{Kind: kind, Text: words(n), ToolUse: s.id()}})
}

func (s *script) call(prompt int, more ...func(*quire.Usage)) {
	s.calls++
	u := quire.Usage{Input: int64(prompt), Known: quire.KnownInput}
	for _, m := range more {
		m(&u)
	}
	s.add(quire.Called{Call: s.id(), Model: s.model})
	s.add(quire.Metered{Call: s.id(), Usage: quire.Usage{Input: 1, Known: quire.KnownInput}}) // the last stands
	s.add(quire.Metered{Call: s.id(), Usage: u})
}

func (s *script) answer(kind quire.PartKind, n int) {
	s.add(quire.Answered{Call: s.id(), Part: quire.Part{Kind: kind, Text: words(n), ToolUse: s.id()}})
}

func (s *script) end() []Growth {
	if g, ok := s.gauge.Close(); ok {
		s.got = append(s.got, g)
	}
	return s.got
}

func output(n, reasoning int64) func(*quire.Usage) {
	return func(u *quire.Usage) { u.Output, u.Reasoning, u.Known = n, reasoning, u.Known|quire.KnownOutput }
}

func (s *script) want(g Growth, x Features, tokens int, known bool) {
	s.t.Helper()
	if g.X != x || g.Tokens != tokens || g.Known != known {
		s.t.Errorf("call %s grew by %v = %d (known: %v), want %v = %d (%v)", g.Call, g.X, g.Tokens, g.Known, x, tokens, known)
	}
}

func TestAnswersAndResultsEnterTheNextPrompt(t *testing.T) {
	s := play(t, "claude-sonnet-4-5")
	s.enter(quire.PartUser, 5)
	s.call(100)
	s.answer(quire.PartThinking, 7)
	s.answer(quire.PartToolCall, 3)
	s.enter(quire.PartToolResult, 20)
	s.call(140)
	s.answer(quire.PartText, 4)
	g := s.end()
	s.want(g[0], Features{Prose: 5, Message: 1}, 0, false)
	s.want(g[1], Features{Thinking: 7, Arguments: 3, Code: 20, Message: 3, Call: 1}, 40, true)
	if g[1].Prompt != 140 || g[1].Call != "2" || g[1].Model != "claude-sonnet-4-5" {
		t.Errorf("%+v", g[1])
	}
}

func TestATurnDropsThinkingOfModelsThatDoNotKeepIt(t *testing.T) {
	for model, dropped := range map[string]int{"claude-sonnet-4-5": 9, "claude-opus-4-5": 0} {
		s := play(t, model)
		s.enter(quire.PartUser, 5)
		s.call(100)
		s.answer(quire.PartThinking, 9)
		s.answer(quire.PartText, 4)
		s.enter(quire.PartUser, 6)
		s.call(120)
		s.answer(quire.PartText, 1)
		s.enter(quire.PartUser, 2)
		s.call(130)
		g := s.end()
		messages := 3
		if dropped > 0 {
			messages = 2
		}
		s.want(g[1], Features{Prose: 10, Thinking: 9 - dropped, Message: messages, Call: 1}, 20, true)
		s.want(g[2], Features{Prose: 3, Message: 2, Call: 1}, 10, true)
	}
}

func TestRecordedOutputStandsForTheAnswer(t *testing.T) {
	s := play(t, "gpt-5.5")
	s.enter(quire.PartUser, 5)
	s.call(100, output(50, 30))
	s.answer(quire.PartToolCall, 3)
	s.enter(quire.PartToolResult, 8)
	s.call(160, output(12, 2))
	s.answer(quire.PartText, 4)
	s.enter(quire.PartUser, 1)
	s.call(142)
	g := s.end()
	s.want(g[1], Features{Native: 50, Code: 8, Message: 1, Call: 1}, 60, true)
	s.want(g[2], Features{Native: 12 - 32, Prose: 1, Message: 1, Call: 1}, -18, true)
}

func TestOutputFromTheStartOfTheStreamIsNotUsed(t *testing.T) {
	s := play(t, "claude-opus-4-6")
	s.call(100, output(1, 0), func(u *quire.Usage) { u.Known |= quire.OutputAtStart })
	s.answer(quire.PartText, 40)
	s.call(150)
	s.want(s.end()[1], Features{Prose: 40, Message: 1, Call: 1}, 50, true)
}

func TestGrowthsThatTheRecordDoesNotExplain(t *testing.T) {
	for name, between := range map[string]func(*script){
		"compaction":      func(s *script) { s.add(quire.Compacted{}) },
		"rewind":          func(s *script) { s.add(quire.Rewound{Keep: 0}) },
		"change of model": func(s *script) { s.model = "claude-haiku-4-5" },
	} {
		s := play(t, "claude-opus-4-5")
		s.call(5000)
		s.answer(quire.PartText, 4)
		between(s)
		s.call(5004)
		if g := s.end(); g[1].Known || g[1].Prompt != 5004 {
			t.Errorf("%s: %+v", name, g[1])
		}
	}
}

func TestAnUnmarkedClearingIsSeen(t *testing.T) {
	s := play(t, "claude-opus-4-5")
	s.call(90_000)
	s.answer(quire.PartText, 4)
	s.call(60_000)
	s.answer(quire.PartText, 4)
	s.call(59_000)
	if g := s.end(); g[1].Known || !g[2].Known {
		t.Errorf("%+v", g)
	}
}

func TestToolsOfTheProviderHideWhatTheyBring(t *testing.T) {
	s := play(t, "gpt-5.5")
	s.call(100)
	s.call(9000)
	s.answer(quire.PartToolCall, 3)
	s.call(9010)
	s.answer(quire.PartText, 4)
	s.enter(quire.PartUser, 1)
	s.call(200)
	s.call(201)
	g := s.end()
	for i, known := range []bool{false, false, true, false, true} {
		if g[i].Known != known {
			t.Errorf("call %s: known is %v", g[i].Call, g[i].Known)
		}
	}
}

func TestOtherChainsAndUnknownSizesPassBy(t *testing.T) {
	s := play(t, "claude-opus-4-5")
	s.call(100)
	side := quire.Stamp{Chain: "agent"}
	s.add(quire.Entered{Stamp: side, Part: quire.Part{Kind: quire.PartUser, Text: "x"}})
	s.add(quire.Called{Stamp: side, Call: "other"})
	s.add(quire.Metered{Stamp: side, Call: "other", Usage: quire.Usage{Input: 7, Known: quire.KnownInput}})
	s.add(quire.Compacted{Stamp: side})
	s.call(0, func(u *quire.Usage) { u.Known = 0 })
	s.call(150)
	g := s.end()
	s.want(g[1], Features{Call: 1}, 0, false)
	s.want(g[2], Features{Call: 1}, 0, false)
	if len(g) != 3 {
		t.Errorf("%d calls", len(g))
	}
}

func TestAGaugeWithoutCallsHasNoGrowth(t *testing.T) {
	if g := play(t, "x").end(); len(g) != 0 {
		t.Errorf("%+v", g)
	}
}
