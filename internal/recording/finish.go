package recording

import (
	"math"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/token"
)

// defaultOverhead is the constant prefix of an agent that does not record the
// size of its prompts (evaluation document, section 2).
const defaultOverhead = 18_000

// measure counts a part by class.
func (b *builder) measure(p quire.Part) token.Features {
	return b.count.Measure(p, b.model)
}

// finish places what is left, sizes everything and builds the index of needs.
func (b *builder) finish() error {
	if err := b.flush(); err != nil {
		return err
	}
	s := b.s
	s.Sampled = b.needs.sampled()
	b.size(b.settled())
	s.Counted.PromptError = s.promptError()
	b.overhead()
	b.needs, b.lines, b.feats = nil, nil, nil // the index of keys needs their memory
	if s.TooLong {
		return nil
	}
	if err := b.lower(); err != nil {
		return err
	}
	return s.Index()
}

// learn gives what the gauge knows to the fit, which is that of the family of
// the first model; growths of models of other families teach it nothing.
func (b *builder) learn(g token.Growth, ok bool) {
	if !ok || !g.Known {
		return
	}
	if b.fit == nil {
		b.fit = token.NewFit(g.Model)
		b.s.Counted.Family = token.FamilyOf(g.Model)
	}
	if token.FamilyOf(g.Model) == b.s.Counted.Family {
		b.fit.Observe(g.X, g.Tokens)
	}
}

// settled is the fit after everything was learnt; without recorded sizes it is
// what was measured for the model's family.
func (b *builder) settled() *token.Fit {
	b.learn(b.gauge.Close())
	if b.fit == nil {
		b.fit = token.NewFit(b.model)
		b.s.Counted.Family = token.FamilyOf(b.model)
	}
	b.fit.Freeze()
	b.s.Counted.Samples, b.s.Counted.MeanError = b.fit.Samples(), b.fit.MeanError()
	return b.fit
}

// sent is what item i adds to later prompts: thinking only where the model's
// harness keeps it.
func (b *builder) sent(i int32) token.Features {
	it := &b.s.Items[i]
	if it.Kind != quire.PartThinking {
		return b.feats[i].features()
	}
	if it.By < 0 || !token.KeepsThinking(b.s.Calls[it.By].Model) {
		return token.Features{}
	}
	return b.feats[i].features()
}

// size gives every item, page and answer its calibrated tokens.
func (b *builder) size(f *token.Fit) {
	s := b.s
	var tokens, bytes float64
	for i := range s.Items {
		it := &s.Items[i]
		it.Tokens = int32(max(f.Tokens(b.sent(int32(i))), 0))
		tokens += float64(it.Tokens)
		bytes += float64(it.Bytes)
	}
	s.Density = 0.3
	if bytes > 0 && tokens > 0 {
		s.Density = tokens / bytes
	}
	for i := range s.Pages {
		if at := s.PageItem[i]; at >= 0 {
			s.Pages[i].Tokens = int(s.Items[at].Tokens)
		}
	}
	for i := range s.Calls {
		s.Calls[i].Output = output(&s.Calls[i], f.Tokens(b.answer[i].features()))
	}
	for i := range s.Side {
		s.Side[i].Output = output(&s.Side[i], f.Tokens(b.sides[i].features()))
	}
}

// output is the recorded output where it can be relied on. A value from the
// start of a stream is a lower bound: the text says more.
func output(c *Call, estimate int) int {
	switch {
	case c.Usage.Has(quire.OutputAtStart):
		return max(int(c.Usage.Output), estimate)
	case c.Usage.Has(quire.KnownOutput):
		return int(c.Usage.Output)
	default:
		return max(estimate, 0)
	}
}

// overhead is the recorded size of the first prompt less what of it is in the
// record and not constant.
func (b *builder) overhead() {
	s := b.s
	s.Overhead = defaultOverhead
	if len(s.Calls) == 0 || !s.Calls[0].Usage.Has(quire.KnownInput) {
		return
	}
	rest := int(s.Calls[0].Usage.Prompt())
	for i := range s.Items[:s.Calls[0].Items] {
		if !s.Constant(int32(i)) && s.Items[i].Origin == quire.OriginFirst {
			rest -= int(s.Items[i].Tokens)
		}
	}
	s.Overhead, s.Measured = max(rest, 0), true
}

// promptError is how far counted prompt sizes are from the recorded ones: the
// mean of the absolute difference as a share, when each is counted on from the
// first call after the last cut, change of model or beginning.
func (s *Session) promptError() float64 {
	var sum float64
	n, anchor := 0, -1
	for k := range s.Calls {
		if !s.Calls[k].Usage.Has(quire.KnownInput) || s.Calls[k].Usage.Prompt() == 0 {
			continue
		}
		_, first := s.StartAt(k)
		if anchor < 0 || first || s.CutAt(k) || s.Calls[k].Model != s.Calls[anchor].Model {
			anchor = k
			continue
		}
		size := s.Calls[anchor].Usage.Prompt()
		for i := s.Calls[anchor].Items; i < s.Calls[k].Items; i++ {
			size += int64(s.Items[i].Tokens)
		}
		sum += math.Abs(float64(size)/float64(s.Calls[k].Usage.Prompt()) - 1)
		n++
	}
	if n == 0 {
		return 0
	}
	return sum / float64(n)
}
