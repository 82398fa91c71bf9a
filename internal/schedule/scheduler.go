package schedule

import (
	"cmp"
	"slices"

	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/quire"
)

// Settings are what a scheduler is made with. They do not change within a
// session.
type Settings struct {
	Table  *Table
	Window int     // most tokens that a stream may have: what the window leaves when the constant part and the answer are taken off; 0: no bound is known
	Room   int     // of Window, what a stream should not exceed if the account can pay for it; 0 or less: all
	Budget int     // tokens that a stream should not exceed, for the quality of answers, once the session has outlived its window; 0 or less: none
	Care   float64 // how many times its price a strict need weighs that is not served
	Manual bool    // only forced epochs begin, and those that the user asks for
	Paid   bool    // epochs may be paid for from the account where big idle tails pay
	Notice int     // tokens of the line that tells of an epoch, 0: none
	Schema int     // tokens that the first epoch adds to the constant part of the prompt: the tool for recalling
	Blind  bool    // nothing is brought in because it is foreseen
	Spared []Kind  // kinds of blocks that an epoch does not lower one by one; folds under pressure take them still
	User   float64 // share of the budget that the user's own words may take, the newest first
}

// The settings that are not the user's. Care is the least at which replays of
// the recorded sessions stay below the faults that were aimed at
// (docs/scheduler.md has the curve).
const (
	DefaultCare = 68
	PaidCare    = 50 // where epochs may be paid for
	defaultUser = .25
)

// A Moment is the state of the world at one call: a plan's inputs besides the
// stream. Everything in it is written into the journal with the plan.
type Moment struct {
	Call    int
	Turn    int
	Prefix  int          // tokens of the constant part of the prompt
	Cold    string       // why nothing of the stream is in the cache any more; "" while it is or may be
	Prices  price.Prices // per token, for a prompt of this size
	Write   float64      // price of writing a token to the cache, for the lifetime that is asked for
	Account float64      // what was saved so far, in the unit of the prices
	Step    int          // tokens: what the cache serves is rounded down to a multiple of it; 0 or 1: to the token
	Least   int          // tokens: the cache serves no shorter prompt
	Ends    bool         // the cache serves only what a prompt before ended with, or its constant part; otherwise any prefix of one

	// Appended is the tokens of the stream as it would be without us; 0 where that is
	// not known, since it would have been compacted.
	Appended int

	unlabelled bool // tasks count for nothing: they begin no epoch
}

// A Plan is what a call's prompt holds, as a change against the prompt before:
// the first Keep placed blocks stand, Placed follow them.
type Plan struct {
	Keep      int
	Back      int      // 1 + how many blocks of the prompt before were left standing when the user went back behind the rest; 0: he did not
	Placed    []Placed // valid until the next call of Plan
	Kind      string   // of the epoch that begins, "" if none does
	Reason    string
	Notice    int     // the block that tells of the epoch, -1 for none
	Before    int     // tokens of the stream, had it only been appended to
	After     int     // tokens of the stream
	Price     float64 // what the epoch costs more than appending, at this call
	Saves     float64 // what it is expected to save before the next one, needs that it misses taken off
	Decisions []quire.Decision
	Foreseen  []Foreseen // pages that were brought in because words pointed to them; they stand at the end of Placed
	Settled   []Foreseen // pages foreseen earlier of which it is known now whether they were used
}

// A Scheduler decides for one stream. Its methods are called in the order of
// the session: blocks enter, then the call is planned, then what its answer
// referred to is reported. It is deterministic, and not safe for concurrent use.
type Scheduler struct {
	set     Settings
	forms   Forms
	blocks  []Block
	units   []int // block → the response that it belongs to
	pages   map[quire.PageNumber]*usage
	edited  map[string]int // path → the last call that edited it
	stream  []Placed
	at      []int  // block → its place in the stream, the last of several; below 0 for none
	net     int    // tokens of the stream
	entered int    // tokens of all blocks that ever entered
	dirty   int    // places before it are as they were in the last plan
	ends    []int  // places behind which prompts ended that were sent, rising, as far as what is before them stands
	epochs  []int  // calls at which epochs began
	pasts   []past // before each of them
	undo    int    // the epoch that the next plan undoes, 0 for none
	pins    map[quire.PageNumber]int
	drops   map[quire.PageNumber]bool
	fresh   bool  // blocks entered since the last epoch
	paged   []int // blocks paged in since the last plan
	budget  int   // that of the settings, or what it grew to
	spiral  spiral
	chances int // calls at which pages could go
	calls   int // that were planned
	plan    pending

	foresight foresight
	tasks     tasks
	cap       Cap
}

// A pending is the plan in the making.
type pending struct {
	kind, reason string
	decisions    []quire.Decision
	price, saves float64
	past         past
	back         int // that of the plan
}

// usage is what is known of a page's use.
type usage struct {
	block  int // that holds what the page says, -1: none
	asked  int // the call that gave the last tool call of it, -1: none
	missed int // the call before which it was last asked for, 0: never
	last   int // last call that used it; that it entered counts
	turn   int // and its turn
	quoted int
	heat   float64 // at last
}

// New returns the scheduler of an empty stream. forms is asked during Plan.
func New(set Settings, forms Forms) *Scheduler {
	if set.User == 0 {
		set.User = defaultUser
	}
	return &Scheduler{set: set, forms: forms, pages: map[quire.PageNumber]*usage{}, edited: map[string]int{}, pins: map[quire.PageNumber]int{}, drops: map[quire.PageNumber]bool{}, budget: set.Budget}
}

// Enter appends a block to the stream and returns its number.
func (s *Scheduler) Enter(b Block) int {
	n := len(s.blocks)
	s.blocks = append(s.blocks, b)
	s.at = append(s.at, len(s.stream))
	s.stream = append(s.stream, Placed{Block: n, Form: quire.RenditionFull, Tokens: b.Tokens})
	s.net += b.Tokens
	s.entered += b.Tokens
	s.fresh = true
	if b.Page.Number > 0 {
		s.use(b.Page.Number, b.Call, b.Turn, 0)
		if KindOf(&b) != KindArgs {
			s.pages[b.Page.Number].block = n
		}
	}
	if b.Part == quire.PartToolCall && b.Page.Number > 0 {
		s.pages[b.Page.Number].asked = b.By
	}
	s.units = append(s.units, s.unitOf(n, &b))
	if b.Part == quire.PartToolCall && (b.Page.Action == quire.ActionEdit || b.Page.Action == quire.ActionWrite) && b.Page.Target != "" {
		s.edited[b.Page.Target] = b.Call
	}
	return n
}

// Refer reports that the answer of a call referred to a page.
func (s *Scheduler) Refer(page quire.PageNumber, call, turn int) {
	s.use(page, call, turn, 1)
	s.used(page)
}

func (s *Scheduler) use(page quire.PageNumber, call, turn, quoted int) {
	u := s.pages[page]
	if u == nil {
		u = &usage{last: call - 1, turn: turn, block: -1, asked: -1}
		s.pages[page] = u
	}
	if call > u.last { // at most one a call
		u.heat = u.heat*decay(call-u.last) + 1
	}
	u.last, u.turn = max(u.last, call), max(u.turn, turn)
	u.quoted += quoted
}

// PageIn appends a block once more, in full, since the model asked for its page.
// Its first place keeps its form.
func (s *Scheduler) PageIn(i int) {
	s.append(i)
	s.Missed(i)
}

// Missed reports that the page of a block was asked for and is read otherwise: a
// budget that is too small for its task shows by it.
func (s *Scheduler) Missed(i int) {
	page := s.blocks[i].Page.Number
	if u := s.pages[page]; u != nil {
		u.missed = s.calls
	}
	s.fault(page)
}

// Asked reports that the answer of a call asked for a page by its name.
func (s *Scheduler) Asked(page quire.PageNumber, call, turn int) {
	if i, ok := s.holder(page); ok && s.Away(i) {
		s.Missed(i)
	}
	if s.pages[page] != nil {
		s.Refer(page, call, turn)
	}
}

// append shows a block again at the tail.
func (s *Scheduler) append(i int) {
	s.at[i] = len(s.stream)
	s.stream = append(s.stream, Placed{Block: i, Form: quire.RenditionFull, Tokens: s.blocks[i].Tokens, Again: true})
	s.net += s.blocks[i].Tokens
	s.paged = append(s.paged, i)
	if s.foresight.brought == nil {
		s.foresight.brought = map[quire.PageNumber]bool{}
	}
	s.foresight.brought[s.blocks[i].Page.Number] = true
}

// Away reports whether a block has left the prompt: it stands in a form that holds
// no content, or a card stands for its turn. What a rewind took out is not away.
func (s *Scheduler) Away(i int) bool {
	return s.at[i] == nowhere || s.at[i] >= 0 && !s.stream[s.at[i]].Form.Resident()
}

// Stands reports whether a page is in the prompt with what it says.
func (s *Scheduler) Stands(page quire.PageNumber) bool {
	i, ok := s.holder(page)
	return ok && s.at[i] >= 0 && !s.Away(i)
}

// Where a block is that has no place in the stream.
const (
	nowhere = -1 // a card stands for it, or nothing does
	rewound = -2 // the user went back behind it
)

// Pin keeps a page as it is until a call, 0: until Unpin. Drop lets it go at the
// next epoch, whatever is known of it.
func (s *Scheduler) Pin(page quire.PageNumber, until int) {
	s.pins[page] = until
	delete(s.drops, page)
}

// Unpin takes a pin off.
func (s *Scheduler) Unpin(page quire.PageNumber) { delete(s.pins, page) }

// Drop lets a page go at the next epoch.
func (s *Scheduler) Drop(page quire.PageNumber) {
	s.drops[page] = true
	delete(s.pins, page)
}

// Rewind takes out all blocks from number keep on, with what entered or was
// shown again behind the first of them: the user went back. Folds that stand for
// some of them stay as long as they stand for others.
func (s *Scheduler) Rewind(keep int) {
	s.rewindPasts(keep)
	defer s.unwind(keep)
	if n := upTo(s.stream, keep); n < len(s.stream) {
		s.cut(n)
		s.plan.kind, s.plan.reason = quire.EpochFree, "the session was rewound"
	}
}

// Back is Rewind where the next prompt goes on from what is left as it stands, and
// no epoch begins with it: of the prompt before a part is sent again, byte for byte.
func (s *Scheduler) Back(keep int) {
	s.rewindPasts(keep)
	defer s.unwind(keep)
	n := upTo(s.stream, keep)
	if n == len(s.stream) {
		return
	}
	s.cut(n)
	s.plan.back = min(cmp.Or(s.plan.back, n+1), n+1)
}

// unwind marks the blocks from number keep on as gone for good.
func (s *Scheduler) unwind(keep int) {
	for i := max(keep, 0); i < len(s.at); i++ {
		s.at[i] = rewound
	}
	f := &s.foresight
	f.stands = slices.DeleteFunc(f.stands, func(p Foreseen) bool { return s.at[p.Block] < 0 })
}

// upTo is how many places of a stream stand before the first that shows nothing
// but blocks from number keep on.
func upTo(stream []Placed, keep int) int {
	n := slices.IndexFunc(stream, func(p Placed) bool { return max(p.Block, p.Span.FirstBlock) >= keep })
	if n < 0 {
		return len(stream)
	}
	return n
}

// cut takes out the places from n on. A block that stands before them too is
// found there again.
func (s *Scheduler) cut(n int) {
	for _, p := range s.stream[n:] {
		s.net -= p.Tokens
		if p.Block >= 0 {
			s.at[p.Block] = nowhere
		}
	}
	s.stream = s.stream[:n]
	s.locate()
	s.dirty = min(s.dirty, n)
}

// Stream is the stream as it stands. It is valid until the next call of a
// method that changes it.
func (s *Scheduler) Stream() []Placed { return s.stream }

// Net is the size of the stream in tokens.
func (s *Scheduler) Net() int { return s.net }

// Block is block i as it entered.
func (s *Scheduler) Block(i int) *Block { return &s.blocks[i] }
