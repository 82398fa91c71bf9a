package token_test

import (
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/token"
	"github.com/quire-agent/quire/internal/trace"
)

// A beginning is the growth of a call that begins a turn, and the thinking of
// the turn before it.
type beginning struct {
	token.Growth
	thinking token.Features
}

// beginnings finds those of a session with recorded thinking before them.
func beginnings(t *testing.T, c *token.Counter, path string) []beginning {
	t.Helper()
	logs, err := trace.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	var all []beginning
	var thinking, before token.Features
	var spoke, begins bool
	gauge := token.NewGauge(c, "")
	for e, err := range logs[0].Events() {
		if err != nil {
			t.Fatal(err)
		}
		if g, ok := gauge.Add(e); ok && begins && g.Known && before[token.Thinking] > 100 {
			all = append(all, beginning{g, before})
		}
		switch e := e.(type) {
		case quire.Entered:
			spoke = spoke || e.Part.Kind == quire.PartUser
		case quire.Answered:
			if e.Part.Kind == quire.PartThinking {
				thinking = thinking.Plus(c.Measure(e.Part, ""))
			}
		case quire.Compacted:
			thinking = token.Features{}
		case quire.Called:
			before, begins = thinking, spoke
			if spoke {
				thinking = token.Features{}
			}
			spoke = false
		}
	}
	return all
}

// Recorded sizes say for each model whether thinking outlives its turn: what
// KeepsThinking says must explain the first prompts of turns better than its
// opposite.
func TestRecordedSizesSayWhoKeepsThinking(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(corpus(t), "endless", "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	c := newCounter(t)
	as, opposite, turns := map[string]float64{}, map[string]float64{}, map[string]int{}
	for _, path := range paths {
		for _, b := range beginnings(t, c, path) {
			other := b.X.Minus(b.thinking)
			if !token.KeepsThinking(b.Model) {
				other = b.X.Plus(b.thinking)
			}
			fit := token.NewFit(b.Model)
			as[b.Model] += math.Abs(float64(b.Tokens - fit.Tokens(b.X)))
			opposite[b.Model] += math.Abs(float64(b.Tokens - fit.Tokens(other)))
			turns[b.Model]++
		}
	}
	models := make([]string, 0, len(turns))
	for m := range turns {
		models = append(models, m)
	}
	slices.Sort(models)
	for _, m := range models {
		n := float64(turns[m])
		t.Logf("%s: %d turns; misses %.0f tokens a turn, %.0f if it did the opposite", m, turns[m], as[m]/n, opposite[m]/n)
		if turns[m] >= 10 && as[m] >= opposite[m] {
			t.Errorf("%s: KeepsThinking is %v, recorded sizes say the opposite", m, token.KeepsThinking(m))
		}
	}
}
