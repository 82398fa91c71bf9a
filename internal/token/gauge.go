package token

import "github.com/quire-agent/quire/internal/quire"

// A Growth says what entered and left the prompt between a call and the one
// before it, and by how much the provider says that it grew.
type Growth struct {
	Call   string
	Model  string
	X      Features
	Tokens int  // recorded growth, 0 when one of the two sizes is not recorded
	Prompt int  // recorded size of this call's prompt, 0 when it is not recorded
	Known  bool // X explains Tokens: give them to [Fit.Observe]
}

// A Gauge reads the growths of recorded prompts off the events of one chain.
//
// What a call produced is in the prompts after it: as the provider counted it
// where that is recorded, else as the recorded text counts. Thinking stays as
// long as [KeepsThinking] says.
//
// X does not explain Tokens across a compaction, a rewind, a change of model or
// an unmarked clearing by the agent (the prompt shrank by more than left it);
// nor for a call that used a tool of the provider (one without a result in the
// record), whose own prompt grows by what the tool found, and for the first call
// of the turn after it, whose prompt may have lost that again.
type Gauge struct {
	counter *Counter
	chain   string
	open    call
	next    call // what has entered since open was called
	last    int  // recorded prompt of the call before open
	lasting string

	thinking Features // of the turn, still in the prompt
	served   bool     // the turn used a tool of the provider
}

// A call is one that is being gauged.
type call struct {
	id, model string
	x         Features
	usage     quire.Usage
	answer    Features
	thinking  Features // of answer
	asked     map[string]bool
	broken    bool // the context did not just grow
	turn      bool // the user spoke
}

// NewGauge makes a gauge of one chain, "" for the main one. Events of other
// chains pass it by.
func NewGauge(c *Counter, chain string) *Gauge { return &Gauge{counter: c, chain: chain} }

// Add takes the next event. It returns the growth of a call when the next call
// begins, because the usage of a call may come late.
func (g *Gauge) Add(e quire.Event) (Growth, bool) {
	switch e := e.(type) {
	case quire.Entered:
		if e.Chain == g.chain {
			g.entered(e.Part)
		}
	case quire.Answered:
		if e.Chain == g.chain && e.Call == g.open.id {
			g.answered(e.Part)
		}
	case quire.Metered:
		if e.Chain == g.chain && e.Call == g.open.id {
			g.open.usage = e.Usage
		}
	case quire.Compacted:
		g.cut(e.Stamp)
	case quire.Rewound:
		g.cut(e.Stamp)
	case quire.Called:
		if e.Chain == g.chain {
			return g.called(e)
		}
	}
	return Growth{}, false
}

// Close returns the growth of the last call.
func (g *Gauge) Close() (Growth, bool) { return g.called(quire.Called{}) }

func (g *Gauge) cut(s quire.Stamp) {
	if s.Chain == g.chain {
		g.next = call{broken: true}
		g.thinking, g.served = Features{}, false
	}
}

func (g *Gauge) entered(p quire.Part) {
	g.next.x = g.next.x.Plus(g.counter.Measure(p, g.open.model))
	g.next.turn = g.next.turn || p.Kind == quire.PartUser
	if p.Kind == quire.PartToolResult {
		delete(g.open.asked, p.ToolUse)
	}
}

func (g *Gauge) answered(p quire.Part) {
	x := g.counter.Measure(p, g.open.model)
	g.open.answer = g.open.answer.Plus(x)
	switch p.Kind {
	case quire.PartThinking:
		g.open.thinking = g.open.thinking.Plus(x)
	case quire.PartToolCall:
		g.open.asked[p.ToolUse] = true
	}
}

// called ends the open call and begins another.
func (g *Gauge) called(e quire.Called) (Growth, bool) {
	growth, ok := g.growth(), g.open.id != ""
	if ok {
		g.last, g.lasting = growth.Prompt, g.open.model
	}
	done := g.open
	g.open, g.next = g.next, call{}
	g.open.id, g.open.model, g.open.asked = e.Call, e.Model, map[string]bool{}
	g.inherit(done)
	return growth, ok
}

// inherit puts what the call before produced into the prompt of the open one,
// and takes out what the beginning of a turn drops.
func (g *Gauge) inherit(before call) {
	made, thinking := before.produced()
	if g.open.broken || before.id == "" {
		return
	}
	g.open.x = g.open.x.Plus(made)
	g.open.x[Call]++
	g.thinking = g.thinking.Plus(thinking)
	g.served = g.served || len(before.asked) > 0
	if !g.open.turn {
		return
	}
	g.open.broken = g.served
	if !KeepsThinking(g.open.model) {
		g.open.x = g.open.x.Minus(g.thinking)
	}
	g.thinking, g.served = Features{}, false
}

// produced is what a call leaves in the prompts after it, and the thinking in it.
func (c call) produced() (all, thinking Features) {
	if c.usage.Has(quire.KnownOutput) && !c.usage.Has(quire.OutputAtStart) {
		return Features{Native: int(c.usage.Output)}, Features{Native: int(c.usage.Reasoning)}
	}
	return c.answer, c.thinking
}

func (g *Gauge) growth() Growth {
	c := g.open
	r := Growth{Call: c.id, Model: c.model, X: c.x}
	if c.usage.Has(quire.KnownInput) {
		r.Prompt = int(c.usage.Prompt())
	}
	if r.Prompt == 0 || g.last == 0 {
		return r
	}
	r.Tokens = r.Prompt - g.last
	r.Known = !c.broken && len(c.asked) == 0 && c.model == g.lasting && !cleared(c.x, r.Tokens, g.last)
	return r
}

// cleared reports whether a prompt of size last lost what x does not hold: the
// agent cleared old results without saying so.
func cleared(x Features, tokens, last int) bool {
	expected := 0
	for c := Prose; c <= Native; c++ {
		expected += x[c]
	}
	return tokens < expected-max(2000, last/20)
}
