package schedule

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/quire-agent/quire/internal/quire"
)

// A Hint is an earlier page that new words point to.
type Hint struct {
	Page  quire.PageNumber
	Sign  Sign
	Named bool // the user asked for it, by the goal of its task
}

// A Sign is whose words point to a page, and by what.
type Sign struct {
	By   Speaker
	What What
}

// A Speaker is who said the words.
type Speaker uint8

// The speakers: the user with what is new, and the model with its last text and
// the arguments of its calls.
const (
	ByUser Speaker = iota
	ByModel
	speakers
)

// What points to a page, the weakest first.
type What uint8

// The things that point to a page.
const (
	SignSymbol  What = iota // a name that few pages hold
	SignSymbols             // two of them
	SignMany                // more
	SignPath                // the path of its file
	SignBoth                // path and names
	SignQuote               // a quotation of its text
	SignGoal                // the goal of the task whose hottest page it is
	whats
)

var whatNames = [whats]string{"a name in it", "two names in it", "several names in it", "its path", "its path and names in it", "a quotation of it", "the goal of its task"}

// String says it in words.
func (s Sign) String() string {
	if s.By == ByUser {
		return "the user's new words hold " + whatNames[s.What]
	}
	return "the model's last words hold " + whatNames[s.What]
}

// Bounds of what is brought in because it is foreseen (design, section 6.8):
// pages and tokens at a call, tokens in an epoch, and which share of the last
// ones of a class must have been used for the next one to come.
const (
	foreseenPages  = 5
	foreseenTokens = 2_000
	foreseenEpoch  = 8_000
	foreseenLast   = 20
	foreseenUsed   = 1. / 3
)

// foresight is what a scheduler keeps of what it foresaw.
type foresight struct {
	hints   map[quire.PageNumber]Sign // new since the last plan, the strongest of a page
	named   map[quire.PageNumber]bool // of these, the ones that the user asked for
	stands  []Foreseen                // that came in and stand, whose use is not known yet
	past    map[quire.Class][]bool    // whether the last ones of a class were used, the oldest first
	brought map[quire.PageNumber]bool // in this epoch, by a fault or because it was foreseen
	tokens  int                       // foreseen in this epoch
	settled []Foreseen                // since the last plan
	sum     Foresights
}

// Foreseen is a page that was brought in because words pointed to it.
type Foreseen struct {
	Call   int // whose prompt held it first
	Page   quire.PageNumber
	Block  int
	Tokens int
	Chance float64 // that it is used before the next epoch
	Used   bool    // known once it is settled
	Reason string
}

// Foresights are the pages foreseen in a stream so far.
type Foresights struct{ Used, Wasted int }

// Foresee tells which pages new words point to. It holds for the next plan.
func (s *Scheduler) Foresee(hints []Hint) {
	f := &s.foresight
	for _, h := range hints {
		if f.hints == nil {
			f.hints = map[quire.PageNumber]Sign{}
		}
		if old, ok := f.hints[h.Page]; !ok || s.set.Table.Foresight.of(h.Sign) > s.set.Table.Foresight.of(old) {
			f.hints[h.Page] = h.Sign
		}
		if h.Named {
			if f.named == nil {
				f.named = map[quire.PageNumber]bool{}
			}
			f.named[h.Page] = true
		}
	}
}

// Foresights counts the pages that were brought in because they were foreseen and
// whose use is known.
func (s *Scheduler) Foresights() Foresights { return s.foresight.sum }

// glimpse is how the table of foresight sees a block.
func (s *Scheduler) glimpse(i int, sign Sign, now Moment) Glimpse {
	c := s.Case(i, now)
	return Glimpse{Sign: sign, Size: c.Size, Idle: idleStep(c.Idle)}
}

// Glimpse is how the table of foresight sees a page that something points to; ok
// is false where the page stands, or has no block that could be brought in.
func (s *Scheduler) Glimpse(h Hint, now Moment) (g Glimpse, ok bool) {
	i, ok := s.holder(h.Page)
	if !ok || !s.Away(i) {
		return g, false
	}
	return s.glimpse(i, h.Sign, now), true
}

// holder is the block that holds what a page says.
func (s *Scheduler) holder(page quire.PageNumber) (block int, ok bool) {
	u := s.pages[page]
	if u == nil || u.block < 0 {
		return 0, false
	}
	return u.block, true
}

// foresee appends the pages that are worth it. It runs when all else is decided,
// so that what was taken out just now counts as well.
func (s *Scheduler) foresee(now Moment) (in []Foreseen) {
	f := &s.foresight
	room := min(foreseenTokens, foreseenEpoch-f.tokens)
	funds := now.Account - max(0, s.plan.price)
	for _, c := range s.foreseeable(now) {
		price := s.carried(c.Tokens, now)
		if len(in) == foreseenPages || c.Tokens > room || price > funds || s.full(c.Tokens) || s.outgrows(c.Tokens, now) {
			continue
		}
		room, funds = room-c.Tokens, funds-price
		f.tokens += c.Tokens
		s.append(c.Block)
		in = append(in, c)
	}
	f.stands = append(f.stands, in...)
	clear(f.hints)
	clear(f.named)
	return in
}

// full reports whether the stream has no place for more tokens.
func (s *Scheduler) full(more int) bool {
	return s.set.Window > 0 && s.net+more > s.set.Window || s.set.Room > 0 && s.net+more > s.set.Room
}

// Affords reports whether so many tokens more can be read until the next epoch from
// what the account has, in every call from the next one on.
func (s *Scheduler) Affords(tokens int, now Moment) bool {
	return s.carried(tokens, now) <= now.Account && !s.full(tokens) && !s.outgrows(tokens, now)
}

// outgrows reports whether so many tokens more might make a call dearer than it
// would be without us. What is paid for the calls until the next epoch does not
// help if that comes later than expected.
func (s *Scheduler) outgrows(more int, now Moment) bool {
	spare := now.Appended - s.net - s.schema() - more
	return now.Appended > 0 && float64(spare)*now.Prices.Read < rounding(now)
}

// foreseeable are the pages that are worth bringing in, the likeliest for their
// size first.
func (s *Scheduler) foreseeable(now Moment) (list []Foreseen) {
	f := &s.foresight
	if s.set.Blind || s.set.Table == nil {
		return nil
	}
	for page, sign := range f.hints {
		i, ok := s.holder(page)
		if !ok || !s.Away(i) || f.brought[page] || s.drops[page] || f.distrusted(s.blocks[i].Page.Class) {
			continue
		}
		tokens := s.blocks[i].Tokens
		chance, reason := s.expects(i, sign, now)
		if tokens > 0 && (f.named[page] || chance >= s.worth(tokens, now)) {
			list = append(list, Foreseen{Call: now.Call, Page: page, Block: i, Tokens: tokens, Chance: chance, Reason: reason})
		}
	}
	slices.SortFunc(list, func(a, b Foreseen) int {
		return cmp.Or(cmp.Compare(b.Chance/float64(b.Tokens), a.Chance/float64(a.Tokens)), cmp.Compare(b.Page, a.Page))
	})
	return list
}

// expects is the chance that a page is used before the next epoch, with the reason
// to bring it in. What the user asked for is taken to be used.
func (s *Scheduler) expects(block int, sign Sign, now Moment) (chance float64, reason string) {
	if s.foresight.named[s.blocks[block].Page.Number] {
		return 1, "the user named its task"
	}
	chance = s.set.Table.Foresight.chance(s.glimpse(block, sign, now))
	return chance, fmt.Sprintf("%s: used before the next epoch with %.0f %%", sign, 100*chance)
}

// worth is the chance of use from which on a page of so many tokens is worth
// carrying until the next epoch: what that costs, over what fetching it would
// (design, section 6.8).
func (s *Scheduler) worth(tokens int, now Moment) float64 {
	p := float64(tokens)
	fetch := now.Prices.Read*float64(s.net+now.Prefix) + faultOutput*now.Prices.Output + now.Write*p
	if fetch <= 0 {
		return 1
	}
	return s.carried(tokens, now) / fetch
}

// carried is what so many tokens cost from now on until the next epoch. That much
// must be in the account, since the calls that follow read them.
func (s *Scheduler) carried(tokens int, now Moment) float64 {
	return float64(tokens) * (now.Write + now.Prices.Read*float64(s.horizon(now.Call)))
}

// distrusted reports whether too few of the last pages of a class were used.
func (f *foresight) distrusted(c quire.Class) bool {
	past := f.past[c]
	if len(past) < foreseenLast {
		return false
	}
	used := 0
	for _, u := range past {
		if u {
			used++
		}
	}
	return float64(used) < foreseenUsed*float64(len(past))
}

// used settles a foreseen page that was referred to.
func (s *Scheduler) used(page quire.PageNumber) {
	f := &s.foresight
	if i := slices.IndexFunc(f.stands, func(p Foreseen) bool { return p.Page == page }); i >= 0 {
		s.settle(i, true)
	}
}

// settle enters whether the foreseen page at i was used.
func (s *Scheduler) settle(i int, used bool) {
	f := &s.foresight
	p := f.stands[i]
	f.stands = slices.Delete(f.stands, i, i+1)
	p.Used = used
	f.settled = append(f.settled, p)
	if used {
		f.sum.Used++
	} else {
		f.sum.Wasted++
	}
	class := s.blocks[p.Block].Page.Class
	if f.past == nil {
		f.past = map[quire.Class][]bool{}
	}
	past := append(f.past[class], used)
	f.past[class] = past[max(0, len(past)-foreseenLast):]
}

// renewed begins an epoch: what was foreseen before it and is out again was not
// used.
func (f *foresight) renewed(s *Scheduler) {
	f.tokens = 0
	clear(f.brought)
	for i := len(f.stands) - 1; i >= 0; i-- {
		if s.Away(f.stands[i].Block) {
			s.settle(i, false)
		}
	}
}
