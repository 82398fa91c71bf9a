package audit

import "github.com/quire-agent/quire/internal/quire"

// ratio is a/b, nil where b is zero.
func ratio(a, b float64) *float64 {
	if b == 0 {
		return nil
	}
	r := a / b
	return &r
}

// tally adds calls up.
type tally struct {
	calls, side            int
	usage                  quire.Usage // counts only
	input, cached, written int         // calls that recorded their input, their cache, their output
	low                    int         // calls whose output was not recorded or is known to be too low
	output                 int64       // best known
	prompt, guessed        int64       // prompt: recorded or as counted; guessed: of it, as counted
	cost, extra            float64     // extra: of calls whose prompt was not recorded
	inputCost, outputCost  float64     // of cost and extra together
	billed, unpriced       int         // billed: calls in cost
}

func (t *tally) add(c *call) {
	t.calls++
	t.usage = t.usage.Add(c.usage)
	t.output += int64(c.output)
	t.prompt += c.prompt
	if c.side {
		t.side++
	}
	t.known(c)
	t.bill(c.bill)
}

func (t *tally) known(c *call) {
	if c.usage.Has(quire.KnownInput) {
		t.input++
	} else {
		t.guessed += c.prompt
	}
	if c.usage.Has(quire.KnownCache) {
		t.cached++
	}
	if c.usage.Has(quire.KnownOutput) || c.usage.Has(quire.OutputAtStart) {
		t.written++
	}
	if !c.usage.Has(quire.KnownOutput) || c.usage.Has(quire.OutputAtStart) {
		t.low++
	}
}

func (t *tally) bill(b bill) {
	t.inputCost += b.prompt
	t.outputCost += b.output
	switch {
	case !b.priced:
		t.unpriced++
	case b.estimated:
		t.extra += b.total()
	default:
		t.billed++
		t.cost += b.total()
	}
}

// spent is the cost, estimates included.
func (t *tally) spent() float64 { return t.cost + t.extra }

func (t *tally) sum() Sum {
	s := Sum{Calls: t.calls, Usage: t.recorded(), Unpriced: t.unpriced}
	if t.billed > 0 {
		s.Cost = &t.cost
	}
	if t.calls > t.billed+t.unpriced {
		spent := t.spent()
		s.CostEstimated = &spent
	}
	return s
}

// recorded is the usage with what is not known left out.
func (t *tally) recorded() Usage {
	u := Usage{Reasoning: t.usage.Reasoning}
	u.Input = u.field("input", t.usage.Input, t.input, t.calls)
	u.CacheRead = u.field("cache_read", t.usage.CacheRead, t.cached, t.calls)
	u.CacheWrite = u.field("cache_write", t.usage.CacheWrite, t.cached, t.calls)
	u.Output = u.field("output", t.usage.Output, t.written, t.calls)
	if t.cached > 0 {
		u.CacheWrite1h = &t.usage.CacheWrite1h
	}
	if t.low > 0 {
		u.OutputEstimated = &t.output
	}
	if t.input < t.calls {
		u.PromptEstimated = &t.guessed
	}
	return u
}

// field returns a count that some calls recorded, and notes it as estimated
// where others did not.
func (u *Usage) field(name string, n int64, known, calls int) *int64 {
	if known < calls {
		u.Estimated = append(u.Estimated, name)
	}
	if known == 0 {
		return nil
	}
	return &n
}
