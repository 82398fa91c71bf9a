package schedule

import (
	"time"

	"github.com/quire-agent/quire/internal/price"
)

// An Account compares what a session costs with what it would have cost without
// us: the same events appended, each prompt extending the one before it. Both
// sides go through the cache simulator. Where appending would not have fitted
// the window, the other side compacts as agents do: a model call that reads
// everything and writes a summary (evaluation document, section 2).
//
// All costs are in the unit of the rates. An Account must not be used
// concurrently.
type Account struct {
	rates     price.Rates
	prefix    int
	window    int // of the model, in tokens; 0: none is known
	shadow    side
	compacted uint64 // how often the shadow was
	live      side
}

// Terms are what an account is kept by.
type Terms struct {
	Rates  price.Rates
	Rules  price.Rules
	Life   price.Lifetime
	Prefix int // tokens of the constant part of the prompt
	Window int // of the model, in tokens, for the other side; 0: none is known
}

// A side is one of the two streams.
type side struct {
	cache  *price.Cache
	cost   float64
	tokens int // of the latest prompt, its constant part included
	schema int // tokens of the tool for recalling in the latest prompt
	sent   int // blocks of the latest prompt, the constant part being one
	out    []price.Block
}

// Compaction as agents ship it (evaluation document, section 2).
const (
	CompactAt   = .835
	SummaryOut  = 4_000
	SummaryLeft = 8_000
)

// NewAccount opens an account.
func NewAccount(t Terms) *Account {
	a := &Account{rates: t.Rates, prefix: t.Prefix, window: t.Window}
	for _, s := range []*side{&a.shadow, &a.live} {
		s.cache = price.NewCache(t.Rules)
		s.cache.Plan(1, t.Life)
	}
	return a
}

// Balance is shadow less live: what was saved.
func (a *Account) Balance() float64 { return a.shadow.cost - a.live.cost }

// Shadow and Live are the two sums.
func (a *Account) Shadow() float64 { return a.shadow.cost }

// Live is what the session cost.
func (a *Account) Live() float64 { return a.live.cost }

// Appended is the tokens of the shadow's stream as long as it only grew; 0 once it
// was compacted.
func (a *Account) Appended() int {
	if a.compacted > 0 {
		return 0
	}
	return a.shadow.tokens
}

// Entered appends a block to the shadow. made says that the model produced it.
func (a *Account) Entered(hash uint64, tokens int, made bool) {
	a.shadow.out = append(a.shadow.out, price.Block{Hash: hash, Tokens: tokens, Answer: made})
	a.shadow.tokens += tokens
}

// Left takes the last blocks that entered the shadow out of it, which have so many
// tokens together: the user went back behind them. What the shadow had compacted
// stays.
func (a *Account) Left(blocks, tokens int) {
	s := &a.shadow
	fresh := min(blocks, len(s.out))
	s.out = s.out[:len(s.out)-fresh]
	if s.sent > 0 {
		s.sent = max(1, s.sent-(blocks-fresh))
	}
	s.tokens = max(0, s.tokens-tokens)
}

// Sent charges a call at a time: the shadow's prompt, and the live one, of which
// the first keep blocks stood in the prompt before and placed follow; together
// they have that many tokens. schema is what the tool for recalling adds to the
// constant part; at the call where it comes in keep must be 0.
func (a *Account) Sent(at time.Time, keep int, placed []price.Block, tokens, schema int) {
	a.compact()
	a.shadow.send(at, a.rates, a.shadow.sent, a.prefix, 0)
	a.Errand(at, keep, placed, tokens, schema)
}

// Errand charges a call that would not have been made without us, as the one that
// follows a recall: the other side does not have it. The arguments are those of
// Sent.
func (a *Account) Errand(at time.Time, keep int, placed []price.Block, tokens, schema int) {
	a.live.out = append(a.live.out[:0], placed...)
	a.live.tokens = tokens + a.prefix + schema
	if a.live.schema != schema {
		a.live.schema, keep = schema, -1
	}
	a.live.send(at, a.rates, keep+1, a.prefix, schema)
}

// Schema is what the tool for recalling added to the latest prompt.
func (a *Account) Schema() int { return a.live.schema }

// Missed says that the provider lost the cache before its time: both sides are
// charged.
func (a *Account) Missed() {
	a.shadow.cache.Forget()
	a.live.cache.Forget()
}

// Trip charges an extra call of ours over the prompt sent last, with that much
// output, and lines that it appended.
func (a *Account) Trip(output, lines int) {
	a.live.cost += a.rates.Cost(price.Charge{Read: a.live.tokens, Write: lines}, output)
}

func (s *side) send(at time.Time, rates price.Rates, keep, prefix, schema int) {
	if s.sent == 0 || keep == 0 {
		s.out = append([]price.Block{{Hash: uint64(1 + schema), Tokens: prefix + schema}}, s.out...)
		keep = 0
	}
	s.cost += rates.Cost(s.cache.Send(at, keep, s.out), 0)
	s.sent = keep + len(s.out)
	s.out = s.out[:0]
}

// compact replaces what the shadow sent before by a summary when its prompt
// would not fit.
func (a *Account) compact() {
	s := &a.shadow
	if a.window == 0 || float64(s.tokens+a.prefix) < CompactAt*float64(a.window) || s.sent == 0 {
		return
	}
	fresh := 0
	for _, b := range s.out {
		fresh += b.Tokens
	}
	s.cost += a.rates.Cost(price.Charge{Read: s.tokens - fresh + a.prefix}, SummaryOut)
	a.compacted++ // each summary is another text
	s.out = append([]price.Block{{Hash: ^a.compacted, Tokens: SummaryLeft}}, s.out...)
	s.tokens = SummaryLeft + fresh
	s.sent = 1
}
