package gateway

import (
	"slices"
	"time"

	"github.com/quire-agent/quire/internal/quire"
)

// What stands in front of all messages decides which prompts a provider's cache may
// serve: the model, its tools and its system prompt. A client that changes one of
// them begins with an empty cache, and finds the old one again when it changes it
// back in time. So a stream has a curated form for each, and remembers when each was
// last sent.

// terms are what stands in front of a stream.
type terms struct {
	model         string
	system, tools quire.Hash
}

func (v *view) terms() terms { return terms{v.call.Model, v.system, v.tools} }

// terms are those that a stream was begun for. Records of gateways before say the
// model alone.
func (g *genesis) terms() terms { return terms{g.Model, g.System, g.Tools} }

func (t terms) allow(o terms) bool {
	var none quire.Hash
	return t.model == o.model && (t.tools == none && t.system == none || t == o)
}

// mostTerms is how many terms a stream remembers.
const mostTerms = 8

// note remembers that terms were sent, as the latest.
func (s *stream) note(t terms, at time.Time) {
	s.sent = slices.DeleteFunc(s.sent, func(o state) bool { return o.terms == t })
	s.sent = append(s.sent, state{at: at, terms: t})
	s.sent = s.sent[max(0, len(s.sent)-mostTerms):]
}

// sentAt is when terms were last sent; the zero time: not that it is known.
func (s *stream) sentAt(t terms) time.Time {
	for i := range s.sent {
		if s.sent[i].terms == t {
			return s.sent[i].at
		}
	}
	return time.Time{}
}

// as is the curated form of a stream for terms, nil where it has none.
func (s *stream) as(t terms) *curated {
	if s.curated != nil && s.curated.Genesis.terms().allow(t) {
		return s.curated
	}
	for _, c := range slices.Backward(s.forms) {
		if c.Genesis.terms().allow(t) {
			return c
		}
	}
	return nil
}

// take makes a curated form the one that goes on.
func (s *stream) take(c *curated) {
	s.curated = c
	if !slices.Contains(s.forms, c) {
		s.forms = append(s.forms, c)
	}
}

// uncurate forgets all forms.
func (s *stream) uncurate() { s.curated, s.forms = nil, nil }

// curatedTo leaves of the curated forms what leads up to the first n steps of the
// path.
func (s *stream) curatedTo(n int) {
	if n == 0 {
		s.uncurate()
	}
	for _, c := range s.forms {
		c.cut(n)
	}
}

// forkOf takes the forms of another stream, as far as they lead up to the first n
// steps of it.
func (s *stream) forkOf(other *stream, n int) {
	s.sent = slices.Clone(other.sent)
	for _, c := range other.forms {
		f := c.fork(n)
		s.forms = append(s.forms, f)
		if c == other.curated {
			s.curated = f
		}
	}
}
