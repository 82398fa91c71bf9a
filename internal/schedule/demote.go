package schedule

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/quire-agent/quire/internal/quire"
)

// What a fault costs besides the lines it brings: a round trip over the prompt
// and this much output of the model that asks (evaluation document, section 3);
// and how many tokens of a page it brings at most.
const (
	faultOutput = 100
	faultLines  = 400
)

// ownWords is for how many calls the model's own text and the arguments of its
// calls stay as they were. Replays cannot tell that a model needs them, since
// it does not quote itself as a source; so this is not fitted.
const ownWords = 3

// demote gives blocks that are not protected a lower form where carrying them
// costs more than missing them would. Once
// something changed no thinking stays behind it, wherever it stands (I3).
func (s *Scheduler) demote(now Moment, from int) {
	guard, first := s.guard(now), len(s.stream)
	for i := from; i < guard.from; i++ {
		if v := s.judge(i, now); v.goes && !guard.has(i) {
			s.lower(i, v)
			first = min(first, i)
		}
	}
	s.forgetThinking(first)
	s.sweep(first)
}

// squeeze lowers, beyond what pays, the blocks that cost least to miss for what
// they free, one after the other until the stream has at most target tokens. It
// reports whether it lowered any. Blocks that cost the same go in the order of
// the stream.
func (s *Scheduler) squeeze(now Moment, target int) bool {
	type candidate struct {
		place int
		v     verdict
	}
	var list []candidate
	guard := s.guard(now)
	for i := range guard.from {
		if v := s.judge(i, now); v.carry > 0 && (v.goes || v.miss > 0) && !guard.has(i) {
			list = append(list, candidate{i, v})
		}
	}
	slices.SortStableFunc(list, func(a, b candidate) int {
		return cmp.Compare((a.v.carry-a.v.net)/a.v.carry, (b.v.carry-b.v.net)/b.v.carry)
	})
	first := len(s.stream)
	for _, c := range list {
		if s.net <= target {
			break
		}
		s.lower(c.place, c.v)
		first = min(first, c.place)
	}
	if first == len(s.stream) {
		return false
	}
	s.forgetThinking(first)
	s.sweep(first)
	return true
}

// A verdict is what becomes of a placed block.
type verdict struct {
	goes   bool
	to     quire.Rendition
	tokens int
	net    float64 // gain less loss
	reason string

	carry, chance, strict, miss float64 // those of [quire.Decision]
}

// judge compares what it costs to carry the block at place i until the next
// epoch with what it would cost to miss it.
func (s *Scheduler) judge(i int, now Moment) verdict {
	p := s.stream[i]
	if !p.Form.Resident() { // a fold holds no content either
		return verdict{}
	}
	b := &s.blocks[p.Block]
	to := s.lowestAt(i)
	if b.Fixed || s.unseen(i, now.Call) || s.fetched(p, now.Call) || to == quire.RenditionFull || s.holds(b.Page.Number, now.Call) {
		return verdict{}
	}
	v := verdict{to: to, tokens: s.size(p.Block, to)}
	if v.tokens >= p.Tokens {
		return verdict{}
	}
	return s.weigh(v, p, b, now)
}

func (s *Scheduler) weigh(v verdict, p Placed, b *Block, now Moment) verdict {
	n := s.horizon(now.Call)
	gain := float64(p.Tokens-v.tokens) * (now.Write + now.Prices.Read*float64(n))
	v.carry = gain
	if s.drops[b.Page.Number] {
		v.goes, v.net, v.reason = true, gain, "dropped by the user"
		return v
	}
	switch kind := KindOf(b); {
	case slices.Contains(s.set.Spared, kind):
	case kind == KindThinking || b.Page.Number == 0:
		v.goes, v.net, v.reason = true, gain, "nothing refers to it again"
	case kind == KindText || kind == KindArgs:
		v.goes, v.net = now.Call-b.Call > ownWords, gain
		v.reason = fmt.Sprintf("the model's own words, %d calls ago", now.Call-b.Call)
	default:
		s.compare(&v, p, now, gain, n)
	}
	return v
}

// compare weighs a fault: its price times its likelihood, in which a need that
// the model would have to repeat word for word (strict) counts Care times.
func (s *Scheduler) compare(v *verdict, p Placed, now Moment, gain float64, n int) {
	c := s.Case(p.Block, now)
	strict, wide := s.set.Table.Strict.Within(c, n), s.set.Table.Wide.Within(c, n)
	fault := now.Prices.Read*float64(s.net+now.Prefix) + faultOutput*now.Prices.Output + now.Write*float64(min(p.Tokens, faultLines))
	loss := fault * (s.set.Care*strict + wide)
	v.net = gain - loss
	v.chance, v.strict, v.miss = wide, strict, fault
	v.goes = gain > loss
	v.reason = fmt.Sprintf("%s, unused for %d calls: needed within %d calls with %.1f %%, and %d tokens to carry", c.Kind, c.Idle, n, 100*wide, p.Tokens)
}

// thrash is for how many calls what was asked for again stays, unless its turn is
// folded: within so few a second going is thrash (evaluation document, section 3).
const thrash = 10

// fetched reports whether the model asked for a page not long ago, and it stands
// for that.
func (s *Scheduler) fetched(p Placed, call int) bool {
	if !p.Again {
		return false
	}
	u := s.pages[s.blocks[p.Block].Page.Number]
	return u != nil && u.missed > 0 && call-u.missed <= thrash
}

// lowestAt is the form that the block at a place takes when it goes. What was
// shown again leaves nothing: its first place, or the card of its turn, names it.
func (s *Scheduler) lowestAt(i int) quire.Rendition {
	p, to := s.stream[i], quire.RenditionAbsent
	if low := lowest(&s.blocks[p.Block]); !p.Again || low == quire.RenditionFull {
		to = low
	}
	return to
}

// lowest is the form that a block takes when it goes. Of what the model said a
// line stays, so that it knows what it did; of what tools returned, how to read
// it back.
func lowest(b *Block) quire.Rendition {
	if b.Page.Number == 0 {
		return quire.RenditionAbsent
	}
	switch KindOf(b) {
	case KindThinking:
		return quire.RenditionAbsent
	case KindText, KindArgs, KindEdit, KindWrite:
		return quire.RenditionCard
	case KindUser:
		return quire.RenditionFull
	default:
		return quire.RenditionHandle
	}
}

func (s *Scheduler) size(i int, form quire.Rendition) int {
	if form == quire.RenditionAbsent {
		return 0
	}
	return s.forms.Size(i, form)
}

// holds reports whether a page keeps its form at an epoch because of what the user
// wants, or works on.
func (s *Scheduler) holds(page quire.PageNumber, call int) bool {
	return s.pinned(page, call) || s.tasks.kept(page) && !s.drops[page]
}

func (s *Scheduler) pinned(page quire.PageNumber, call int) bool {
	until, ok := s.pins[page]
	return ok && page > 0 && (until == 0 || call <= until)
}

// Of how many calls lie between two epochs before a session shows it, and how
// strongly that is believed: the mean of the recorded sessions, as if seen twice.
const (
	usualGap    = 33
	usualWeight = 2
)

// horizon is the expected number of calls to the next chance to let a page go: a
// cold call, or an epoch for another reason.
func (s *Scheduler) horizon(call int) int {
	return (usualGap*usualWeight + call) / (usualWeight + s.chances)
}

// lower gives the block at place i its verdict's form.
func (s *Scheduler) lower(i int, v verdict) {
	p := &s.stream[i]
	if n := s.blocks[p.Block].Page.Number; n > 0 {
		s.plan.decisions = append(s.plan.decisions, quire.Decision{
			Page: n, From: p.Form, To: v.to, Tokens: v.tokens, Was: p.Tokens, Reason: v.reason, Carry: v.carry, Chance: v.chance, Strict: v.strict, Miss: v.miss,
		})
	}
	s.plan.saves += v.net
	s.net += v.tokens - p.Tokens
	p.Form, p.Tokens = v.to, v.tokens
	s.dirty = min(s.dirty, i)
}

// forgetThinking takes all thinking from place first on out.
func (s *Scheduler) forgetThinking(first int) {
	for i := first; i < len(s.stream); i++ {
		if p := &s.stream[i]; p.Block >= 0 && s.blocks[p.Block].Part == quire.PartThinking && !s.blocks[p.Block].Fixed {
			s.net -= p.Tokens
			p.Form, p.Tokens = quire.RenditionAbsent, 0
		}
	}
}

// sweep takes out what shows nothing, from place first on.
func (s *Scheduler) sweep(first int) {
	n, again := first, false
	for i := first; i < len(s.stream); i++ {
		p := s.stream[i]
		if p.Form == quire.RenditionAbsent {
			if s.at[p.Block] == i {
				s.at[p.Block] = nowhere
			}
			again = again || p.Again
			continue
		}
		if p.Block >= 0 && s.at[p.Block] == i {
			s.at[p.Block] = n
		}
		s.stream[n] = p
		n++
	}
	s.stream = s.stream[:n]
	s.dirty = min(s.dirty, first)
	if again { // the first place of a page that was shown again counts once more
		s.locate()
	}
}

// locate finds the places of all blocks that stand.
func (s *Scheduler) locate() {
	for i, p := range s.stream {
		if p.Block >= 0 {
			s.at[p.Block] = i
		}
	}
}
