package audit

import (
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/recording"
	"github.com/quire-agent/quire/internal/replay"
)

// digest is what an audit keeps of one session: its figures, no bodies.
type digest struct {
	path        string
	info        quire.SessionInfo
	recorded    int    // calls of the record, before any filter
	calls       []call // counted ones, main chain first, each id once
	dups        int    // calls left out because their id came before in this session
	compactions int
	rewinds     int
	outcomes    []replay.Outcome
	whole       *float64 // cost of the whole main chain, nil if some call has no price
	mainCalls   int      // calls of the whole main chain
	tools       []ToolShare
	residency   residency
	rewrites    [len(causes)]Rewrite
	pages       []PageCost
	repeats     Repeats
	compacted   []int   // first calls after a compaction, counted ones, from 1
	paused      []int   // first calls after a pause that outlived the cache
	spent       float64 // cost of calls, estimates included
	notes       map[quire.Note]int
	counted     recording.Counting
}

// call is one counted call.
type call struct {
	key    uint64 // of the call over all files
	number int    // within the main chain, from 1; 0 in a side chain
	at     time.Time
	model  string
	side   bool
	usage  quire.Usage
	output int   // best known
	prompt int64 // recorded, otherwise as counted
	bill   bill
	kinds  [promptKinds]int32   // counted tokens in the prompt
	fresh  [promptKinds]int32   // of those, the ones that no earlier call had sent
	share  [promptKinds]float64 // of bill.prompt
}

// key names a call over all files. An id that only counts within its file (a
// plain number, or one that begins with #) is made unique by the file's path,
// so that calls of different sessions are never taken for one.
func key(s *recording.Session, c recording.Call) uint64 {
	h := fnv.New64a()
	h.Write([]byte(c.ID))
	if local(c.ID) {
		h.Write([]byte("\x00" + s.Path + "\x00" + s.Info.ID))
	}
	return h.Sum64()
}

func local(id string) bool {
	return strings.HasPrefix(id, "#") || strings.Trim(id, "0123456789") == ""
}

// reader reads the figures of one session.
type reader struct {
	s            *recording.Session
	opts         Options
	ends         []int32 // by item: first call whose prompt no longer holds it
	kinds        []Kind  // by item
	fills        []fill  // by call of the main chain
	idle         []bool  // by call: the lifetime of the cache had passed since the call before
	bills        []bill  // by call, of all calls, counted or not
	rates        meter
	strict, wide []int32 // by page: last call that needed it
}

func newReader(s *recording.Session, opts Options) *reader {
	r := &reader{s: s, opts: opts, ends: lifetimes(s), kinds: kindsOf(s)}
	r.fills = fills(s, r.kinds, r.ends)
	r.strict, r.wide = lastNeeds(s)
	r.price()
	r.rates = newMeter(r)
	return r
}

func (r *reader) digest(outcomes []replay.Outcome) digest {
	d := digest{
		path: r.s.Path, info: r.s.Info, outcomes: slices.Clone(outcomes),
		recorded: len(r.s.Calls) + len(r.s.Side),
		notes:    maps.Clone(r.s.Notes), counted: r.s.Counted,
	}
	r.calls(&d)
	r.cuts(&d)
	r.whole(&d)
	if len(d.calls) == 0 {
		return d
	}
	d.rewrites = r.rewrites()
	d.tools, d.residency, d.pages = r.pages()
	d.repeats = r.repeats()
	r.marks(&d)
	return d
}

// calls gathers the calls that the options let in, each id once.
func (r *reader) calls(d *digest) {
	seen := make(map[uint64]bool, d.recorded)
	d.calls = make([]call, 0, d.recorded)
	take := func(c call) {
		if seen[c.key] {
			d.dups++
			return
		}
		seen[c.key] = true
		d.calls = append(d.calls, c)
	}
	for k, c := range r.s.Calls {
		if r.counts(c) {
			take(r.mainCall(k))
		}
	}
	for _, c := range r.s.Side {
		if r.counts(c) {
			take(r.sideCall(c))
		}
	}
}

func (r *reader) counts(c recording.Call) bool { return r.opts.counts(c, r.model(c)) }

// model is the model of a call, where it does not say itself the session's.
func (r *reader) model(c recording.Call) string {
	if c.Model == "" {
		return r.s.Info.Model
	}
	return c.Model
}

func (r *reader) mainCall(k int) call {
	c := r.call(r.s.Calls[k])
	c.number, c.bill, c.prompt = k+1, r.bills[k], r.prompt(k)
	c.kinds, c.fresh = r.fills[k].all, r.fills[k].fresh
	c.share = r.rates.shares(k, r.fills[k])
	return c
}

func (r *reader) sideCall(src recording.Call) call {
	c := r.call(src)
	c.side, c.prompt = true, src.Usage.Prompt()
	if m, ok := r.opts.Prices.Model(c.model); ok && src.Usage.Has(quire.KnownInput) {
		c.bill = charge(m, src.Usage, src.Output, src.At)
	} else if ok {
		c.bill = charge(m, quire.Usage{}, src.Output, src.At)
		c.bill.estimated = true
	}
	return c
}

func (r *reader) call(c recording.Call) call {
	return call{key: key(r.s, c), at: c.At, model: r.model(c), usage: c.Usage, output: c.Output}
}

// prompt is the size of the prompt of call k: recorded, otherwise as counted.
func (r *reader) prompt(k int) int64 {
	if u := r.s.Calls[k].Usage; u.Has(quire.KnownInput) {
		return u.Prompt()
	}
	all, _ := r.fills[k].sizes()
	return all
}

// price bills every call of the main chain and finds the pauses.
func (r *reader) price() {
	r.bills, r.idle = make([]bill, len(r.s.Calls)), make([]bool, len(r.s.Calls))
	var life time.Duration
	for k, c := range r.s.Calls {
		m, ok := r.opts.Prices.Model(r.model(c))
		gap := r.gap(k)
		r.idle[k] = life > 0 && gap > life
		if ok {
			r.bills[k] = r.bill(m, k)
			life = lifetime(c, life, m.Rules().TTL)
		} else {
			life = lifetime(c, life, 0)
		}
	}
}

// gap is the time from the call before to call k, 0 where that is not known.
func (r *reader) gap(k int) time.Duration {
	if k == 0 || r.s.Calls[k-1].At.IsZero() || r.s.Calls[k].At.IsZero() {
		return 0
	}
	return r.s.Calls[k].At.Sub(r.s.Calls[k-1].At)
}

func (r *reader) bill(m price.Model, k int) bill {
	c := r.s.Calls[k]
	if c.Usage.Has(quire.KnownInput) {
		return charge(m, c.Usage, c.Output, c.At)
	}
	all, fresh := r.fills[k].sizes()
	warm := k > 0 && !r.idle[k] && r.model(r.s.Calls[k-1]) == r.model(c)
	b := charge(m, guess(all, all-fresh, warm, m.Rules().ChargesWrites), c.Output, c.At)
	b.estimated = true
	return b
}

func (r *reader) cuts(d *digest) {
	for _, c := range r.s.Cuts {
		if c.Rewind {
			d.rewinds++
		} else {
			d.compactions++
		}
	}
}

// whole prices the whole main chain, whatever the options leave out: what was
// replayed is whole too.
func (r *reader) whole(d *digest) {
	d.mainCalls = len(r.bills)
	sum := 0.0
	for _, b := range r.bills {
		if !b.priced {
			return
		}
		sum += b.total()
	}
	d.whole = &sum
}
