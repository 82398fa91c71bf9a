package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/recording"
	"github.com/quire-agent/quire/internal/replay"
	"github.com/quire-agent/quire/internal/schedule"
	"github.com/quire-agent/quire/internal/token"
)

// ErrNoPrice says that the model of a session has no price: a profile must be
// named.
var ErrNoPrice = errors.New("the price of its model is not known")

// A Way is how a session is played.
type Way struct {
	Counter *token.Counter
	Table   *schedule.Table
	Prices  replay.PriceList
	Profile *price.Profile // in place of the prices and pauses as they were; nil: those
	Budget  int            // quality budget in tokens; 0: that of the evaluation
}

// Play plays the session through the scheduler. The errors are ErrNoPrice,
// [recording.ErrTooLong], or what the system says.
func (s *Source) Play(ctx context.Context, way Way) (*History, error) {
	h, err := s.play(ctx, way)
	if err != nil {
		return nil, fmt.Errorf("play %s: %w", s.Path, err)
	}
	return h, nil
}

func (s *Source) play(ctx context.Context, way Way) (h *History, err error) {
	o, err := s.outline()
	if err != nil {
		return nil, err
	}
	load := recording.Loader{Counter: way.Counter}
	session, nodes, err := load.Read(ctx, s.Path, s.events(ctx, o.head))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	under, err := way.setting(session)
	if err != nil {
		return nil, err
	}
	p := &played{session: session, outline: o, names: newNames(session, nodes, o)}
	set := schedule.Settings{Care: schedule.DefaultCare}
	if p.telling, err = replay.Tell(session, under, set, way.Table, p.marks); err != nil {
		return nil, err
	}
	return p.history(under.Name, way.Profile != nil), nil
}

func (w *Way) setting(s *recording.Session) (replay.Setting, error) {
	budget := cmp.Or(w.Budget, replay.SingleBudget)
	if w.Profile != nil {
		return replay.UnderProfile(s, *w.Profile, budget), nil
	}
	under, ok := replay.AsRecorded(s, w.Prices, budget)
	if !ok {
		return under, ErrNoPrice
	}
	return under, nil
}

// names translate between the pages of the journal and those of the replay, which
// knows the main chain only.
type names struct {
	journal map[quire.PageNumber]quire.PageNumber // by page of the replay
	replay  map[quire.PageNumber]quire.PageNumber // by page of the journal
}

// newNames pairs the pages of items with those of the records that they are from.
func newNames(s *recording.Session, nodes []int, o *outline) names {
	n := names{map[quire.PageNumber]quire.PageNumber{}, map[quire.PageNumber]quire.PageNumber{}}
	for i := range s.Items {
		pages := o.pages[nodes[i]]
		if it := &s.Items[i]; it.Page > 0 && len(pages) > 0 {
			own := pages[len(pages)-1]
			n.journal[it.Page], n.replay[own] = own, it.Page
		}
	}
	return n
}

// played is a session that was played.
type played struct {
	session *recording.Session
	outline *outline
	names   names
	telling *replay.Telling
	marked  int // marks that were handed on
}

// marks are those between call k and the one before it, with the pages as the
// replay names them.
func (p *played) marks(k int) (due []quire.MarkRecord) {
	for ; p.marked < len(p.outline.marks) && p.outline.marks[p.marked].after <= k; p.marked++ {
		m := p.outline.marks[p.marked].MarkRecord
		if m.Page > 0 {
			if m.Page = p.names.replay[m.Page]; m.Page == 0 {
				continue // of a side chain: it is in no prompt of this one
			}
		}
		due = append(due, m)
	}
	return due
}

func (p *played) history(prices string, relative bool) *History {
	h := &History{Prices: prices, Relative: relative, Calls: []Call{}, Epochs: []Epoch{}, ends: p}
	for k := range p.telling.Calls {
		c := p.call(k)
		if plan := &p.telling.Calls[k].Plan; plan.Kind != "" {
			e := p.epoch(&c, plan, len(h.Epochs)+1)
			c.Begins = true
			h.Epochs = append(h.Epochs, e)
		}
		c.Epoch = len(h.Epochs)
		h.Calls = append(h.Calls, c)
	}
	h.Pending = p.outline.undone(len(h.Calls), len(h.Calls))
	p.settled(h)
	h.prices = func(int) schedule.Moment { return p.telling.Context().Moment(p.telling.Turn()) }
	h.settle()
	return h
}

func (p *played) call(k int) Call {
	told, of := &p.telling.Calls[k], &p.session.Calls[k]
	c := Call{
		Call: k, ID: of.ID, Model: of.Model, At: of.At, Reason: told.Plan.Reason,
		Prefix: told.Prefix, Before: told.Plan.Before, After: told.Plan.After, Account: told.Account,
	}
	c.Foreseen, c.Hits = p.foreseen(&told.Plan), p.hits(k, len(told.Missed))
	for _, d := range told.Plan.Decisions {
		if d.Page = p.names.journal[d.Page]; d.Page > 0 {
			c.Decisions = append(c.Decisions, d)
		}
	}
	for _, b := range told.Entered {
		block := p.telling.Context().Scheduler().Block(b)
		if n := p.names.journal[block.Page.Number]; n > 0 {
			c.Entered = append(c.Entered, Entered{Page: n, Part: block.Part, Tokens: block.Tokens})
		}
	}
	for _, m := range told.Missed {
		if n := p.names.journal[m.Page]; n > 0 {
			c.Faults = append(c.Faults, Fault{Page: n, Call: k, Cost: m.Cost})
		}
	}
	return c
}

// settled notes of what was foreseen whether it was used.
func (p *played) settled(h *History) {
	for k := range p.telling.Calls {
		for _, f := range p.telling.Calls[k].Plan.Settled {
			h.used(p.names.journal[f.Page], f.Call, f.Used)
		}
	}
}

// foreseen are the pages that a plan brought in because words pointed to them.
func (p *played) foreseen(plan *schedule.Plan) (all []Foreseen) {
	for _, f := range plan.Foreseen {
		if n := p.names.journal[f.Page]; n > 0 {
			all = append(all, Foreseen{Page: n, Call: f.Call, Tokens: f.Tokens, Reason: f.Reason})
		}
	}
	return all
}

// hits is how many pages a call needed and had.
func (p *played) hits(k, missed int) (n int) {
	needs := p.session.Needs
	at, _ := slices.BinarySearchFunc(needs, int32(k), func(n recording.Need, k int32) int { return cmp.Compare(n.Call, k) })
	pages := map[quire.PageNumber]bool{}
	for ; at < len(needs) && needs[at].Call == int32(k); at++ {
		pages[needs[at].Page] = true
	}
	return max(0, len(pages)-missed)
}

func (p *played) epoch(c *Call, plan *schedule.Plan, number int) Epoch {
	e := Epoch{
		Epoch: number, Call: c.Call, At: c.At, Kind: plan.Kind, Reason: plan.Reason,
		Before: plan.Before, After: plan.After, Price: plan.Price, Saves: plan.Saves, Pages: pagesOf(c.Decisions),
	}
	if plan.Kind == quire.EpochUndo {
		e.Undoes = p.outline.undone(0, c.Call)
	}
	return e
}

// undone is the epoch that the last mark undoes which was made after from calls and
// before call to; 0 for none.
func (o *outline) undone(from, to int) (epoch int) {
	for _, m := range o.marks {
		if m.What == quire.MarkUndo && m.after >= from && m.after <= to {
			epoch = m.Epoch
		}
	}
	return epoch
}

// pagesOf counts the pages of decisions.
func pagesOf(all []quire.Decision) int {
	var pages []quire.PageNumber
	for _, d := range all {
		pages = append(pages, d.Page)
	}
	slices.Sort(pages)
	return len(slices.Compact(pages))
}

// standing looks the blocks of a page up in the stream.
func (p *played) standing(page quire.PageNumber) (all []Standing) {
	n := p.names.replay[page]
	if n == 0 {
		return nil
	}
	sched := p.telling.Context().Scheduler()
	for i := range sched.Blocks() {
		if b := sched.Block(i); b.Page.Number == n {
			all = append(all, p.stands(i, b))
		}
	}
	return all
}

// stands says how a block stands: by itself, or in a card that stands for its
// turn.
func (p *played) stands(i int, b *schedule.Block) Standing {
	d := p.telling.Context().Weigh(i, p.telling.Turn())
	d.Page = p.names.journal[b.Page.Number]
	if d.From == quire.RenditionAbsent {
		for _, pl := range p.telling.Context().Scheduler().Stream() {
			if pl.Block < 0 && pl.Span.FirstBlock <= i && i <= pl.Span.LastBlock {
				d.From, d.To, d.Reason = quire.RenditionCard, quire.RenditionCard, "a card stands for its turn"
			}
		}
	}
	return Standing{b.Part, d}
}

func (p *played) away(page quire.PageNumber) string { return p.outline.apart[page] }

func (p *played) restored(epoch int) (Restored, bool) {
	sched := p.telling.Context().Scheduler()
	then, kept, ok := sched.Restored(epoch)
	r := Restored{Epoch: epoch, Now: sched.Net(), Then: then}
	r.cost(kept, p.telling.Context().Moment(p.telling.Turn()))
	return r, ok
}
