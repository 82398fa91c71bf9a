package run

import (
	"slices"
	"sort"
	"time"

	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/schedule"
)

// Recall is how much one recall answers at most, in tokens; the output that a
// call for it has; and what its schema adds to the constant part of a prompt
// (design, sections 6.8, G6).
const (
	RecallAnswer = 4_000
	RecallOutput = 100
	RecallSchema = 120
)

// Notice is the size in tokens of the line that tells of an epoch.
const Notice = 40

// Terms are what a context is kept by. Window, Room and Notice of the settings
// are the caller's.
type Terms struct {
	schedule.Terms
	Settings schedule.Settings
	Own      bool // the agent is ours: the recall tool is part of the prefix from the first call on, and so it is of the shadow's
}

// Forms knows the texts of a context besides their sizes.
type Forms interface {
	schedule.Forms
	// Hash is that of a placed block's text as it stands: equal texts have
	// equal hashes. It is not asked for notices.
	Hash(p schedule.Placed) uint64
}

// A Context is one stream with its account. It is deterministic and not safe
// for concurrent use.
type Context struct {
	terms   Terms
	forms   Forms
	sched   *schedule.Scheduler
	account *schedule.Account
	schema  int
	back    []int
	out     []price.Block
	last    time.Time
	calls   int
	missed  bool
	lost    string // why the cache holds nothing of the next prompt, whatever the time
	errand  bool
	own     []int        // blocks that would be there without us, rising
	notices map[int]bool // blocks that are notices: their text follows from the plan
}

// NewContext begins a context. forms is asked for blocks that entered.
func NewContext(t Terms, forms Forms) *Context {
	if !t.Own {
		t.Settings.Schema = RecallSchema
	}
	return &Context{terms: t, forms: forms, sched: schedule.New(t.Settings, forms), account: schedule.NewAccount(t.Terms), notices: map[int]bool{}}
}

// Enter appends a block and returns its number. hash is that of its text.
func (c *Context) Enter(b schedule.Block, hash uint64) int {
	c.account.Entered(hash, b.Tokens, b.By >= 0)
	n := c.sched.Enter(b)
	c.own = append(c.own, n)
	return n
}

// Add appends a block that Quire itself put in: without us it would not be there.
func (c *Context) Add(b schedule.Block) int { return c.sched.Enter(b) }

// Errand reports that the next call would not be made without us: the one before
// it only asked for what had left the prompt.
func (c *Context) Errand() { c.errand = true }

// Refer reports that the answer of a call referred to a page.
func (c *Context) Refer(page quire.PageNumber, call, turn int) { c.sched.Refer(page, call, turn) }

// Asked reports that the last call asked for a page of this session. What it asked
// for is used, and one that was away counts as missed.
func (c *Context) Asked(page quire.PageNumber, turn int) {
	c.sched.Asked(page, max(0, c.calls-1), turn)
}

// Stands reports whether what a page says stands in the prompt.
func (c *Context) Stands(page quire.PageNumber) bool { return c.sched.Stands(page) }

// Foresee tells which pages new words point to, before the call that follows them.
func (c *Context) Foresee(hints []schedule.Hint) { c.sched.Foresee(hints) }

// Work says which task the turn at hand belongs to.
func (c *Context) Work(w schedule.Work) { c.sched.Work(w) }

// Hold sets what the next calls are held to besides their tokens.
func (c *Context) Hold(cap schedule.Cap) { c.sched.Hold(cap) }

// Affords reports whether so many tokens more could be read until the next epoch
// without any call being dearer than it would be without us.
func (c *Context) Affords(tokens int) bool { return c.sched.Affords(tokens, c.moment(0, "")) }

// Rewind takes out all blocks from number keep on.
func (c *Context) Rewind(keep int) { c.sched.Rewind(keep) }

// Back takes out all blocks from number keep on, on both sides of the account, and
// leaves what is before them as it stands: the next prompt goes on from there.
func (c *Context) Back(keep int) {
	n, tokens := sort.SearchInts(c.own, keep), 0
	for _, b := range c.own[n:] {
		tokens += c.sched.Block(b).Tokens
	}
	c.account.Left(len(c.own)-n, tokens)
	c.own, c.errand = c.own[:n], false
	c.back = slices.DeleteFunc(c.back, func(b int) bool { return b >= keep })
	c.sched.Back(keep)
}

// Fault reports that a call needed the page of a block that did not stand. One
// more call fetches it; a page that one answer holds comes back whole with the
// next plan.
func (c *Context) Fault(block int) {
	c.account.Trip(RecallOutput, 0)
	switch {
	case !c.sched.Away(block):
	case c.sched.Block(block).Tokens <= RecallAnswer:
		c.back = append(c.back, block)
	default:
		c.sched.Missed(block)
	}
}

// Lost reports that the next prompt begins with other bytes than those before, so
// that nothing of it is in a cache.
func (c *Context) Lost(why string) { c.lost, c.missed = why, c.calls > 0 }

// Missed reports that the provider lost the cache before its time.
func (c *Context) Missed() { c.missed = true }

// Plan plans a call that starts at a time. cold says why nothing of the stream
// is in the cache any more, "" while it may be: see [Context.Lapsed].
func (c *Context) Plan(at time.Time, turn int, cold string) schedule.Plan {
	for _, b := range c.back {
		c.sched.PageIn(b)
	}
	c.back = c.back[:0]
	if c.missed {
		c.account.Missed()
		c.missed = false
	}
	plan := c.sched.Plan(c.moment(turn, cold))
	if plan.Notice >= 0 {
		c.notices[plan.Notice] = true
	}
	c.charge(at, plan)
	c.calls++
	c.last, c.lost = at, ""
	return plan
}

// Lapsed says why a call at a time finds nothing in the cache, "" where it may
// find something: the guaranteed lifetime, counted from the start of the last
// request, and a margin have passed.
func (c *Context) Lapsed(at time.Time) string {
	if c.lost != "" {
		return c.lost
	}
	if c.calls > 0 && c.terms.Rules.Cold(at.Sub(c.last), c.terms.Life) {
		return "the cache has lapsed"
	}
	return ""
}

// moment is the state of the world at the next call.
func (c *Context) moment(turn int, cold string) schedule.Moment {
	prices := c.terms.Rates.For(c.sched.Net() + c.terms.Prefix)
	write := prices.Write
	if c.terms.Life == price.Long && c.terms.Rules.LongTTL > 0 {
		write = prices.Write1h
	}
	return schedule.Moment{
		Call: c.calls, Turn: turn, Prefix: c.terms.Prefix, Cold: cold, Prices: prices, Write: write, Account: c.account.Balance(),
		Step: c.terms.Rules.Step, Least: c.terms.Rules.Minimum, Ends: c.terms.Rules.Match == price.AtBreakpoints, Appended: c.account.Appended(),
	}
}

// charge keeps the account. The first epoch brings the recall tool in, and with
// it another head.
func (c *Context) charge(at time.Time, plan schedule.Plan) {
	keep, placed := plan.Keep, plan.Placed
	if plan.Kind != "" && c.schema == 0 && !c.terms.Own {
		c.schema = RecallSchema
		keep, placed = 0, c.sched.Stream()
	}
	c.out = c.out[:0]
	for _, p := range placed {
		made := p.Block >= 0 && p.Form == quire.RenditionFull && c.sched.Block(p.Block).By >= 0
		c.out = append(c.out, price.Block{Hash: c.hash(p), Tokens: p.Tokens, Answer: made})
	}
	charge := c.account.Sent
	if c.errand {
		charge, c.errand = c.account.Errand, false
	}
	charge(at, keep, c.out, c.sched.Net(), c.schema)
}

func (c *Context) hash(p schedule.Placed) uint64 {
	if c.notices[p.Block] {
		return ^uint64(p.Block)
	}
	return c.forms.Hash(p)
}

// Schema is what the recall tool adds to the constant part of the prompt now.
func (c *Context) Schema() int { return c.schema }

// Scheduler is the scheduler of the stream, to be read.
func (c *Context) Scheduler() *schedule.Scheduler { return c.sched }

// Account is the account, to be read.
func (c *Context) Account() *schedule.Account { return c.account }
