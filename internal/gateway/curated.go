package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/quire-agent/quire/internal/assemble"
	"github.com/quire-agent/quire/internal/curation"
	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/rendition"
	"github.com/quire-agent/quire/internal/retrieve"
	"github.com/quire-agent/quire/internal/run"
	"github.com/quire-agent/quire/internal/schedule"
	"github.com/quire-agent/quire/internal/secret"
	"github.com/quire-agent/quire/internal/token"
)

// Curation says how sessions are curated.
type Curation struct {
	Secrets *secret.Finder // hides secrets from cards and handles
	Budget  int            // tokens that a stream should not exceed, for the quality of answers; 0: 80,000
	Cache   bool           // mark prompts for the cache also where the client asks for none
}

// A curated is the stream that is sent in the place of a client's list (design, G5):
// everything that entered it, in order, so that the same bytes can be made of it
// again, in this process or another.
type curated struct {
	Genesis genesis
	feeds   []feed
	nodes   []int // for each step of the path, how many feeds lead up to it
	number  int   // among the forms of its stream of which a record says that they began, from 1; 0: none does yet
	mirror  *curation.Mirror
	pending *pending
	broken  bool // it could not be gone on with: it begins anew from the client's view
}

// A genesis is what a stream was begun with.
type genesis struct {
	API    API            `json:"api"`
	Model  string         `json:"model"`
	At     time.Time      `json:"at"`               // of the prices
	Window int            `json:"window,omitempty"` // of the model, in tokens
	Room   int            `json:"room,omitempty"`   // of it, what a stream may have at most
	Prefix int            `json:"prefix"`           // tokens of tools and system
	Output int            `json:"output"`           // reserved for the answer
	Life   price.Lifetime `json:"life,omitempty"`
	Budget int            `json:"budget,omitempty"`
	System quire.Hash     `json:"system,omitzero"` // in front of it
	Tools  quire.Hash     `json:"tools,omitzero"`
	Open   bool           `json:"open,omitempty"` // the tool for recalling stood in front of it from the beginning
}

// A feed is one thing that entered a stream: an element of its list, or a call.
type feed struct {
	Raw   quire.Hash   `json:"raw,omitzero"`   // of the element's bytes, which are in the pool
	Uses  []string     `json:"uses,omitempty"` // ids of its calls and results, where the bytes have none
	Parts span         `json:"parts,omitzero"`
	At    time.Time    `json:"at,omitzero"` // of a call that was planned; of an element of the model, when it was asked for
	Call  bool         `json:"call,omitempty"`
	Ours  bool         `json:"ours,omitempty"` // of a call: it was made from the stream
	Cold  string       `json:"cold,omitempty"`
	Mark  quire.Mark   `json:"mark,omitempty"`  // in front of the list
	Tail  quire.Mark   `json:"tail,omitempty"`  // in the list; none: as in front
	Bare  bool         `json:"bare,omitempty"`  // there are none in the list
	Anew  bool         `json:"anew,omitempty"`  // the client changed what stands in front of it
	Usage *quire.Usage `json:"usage,omitempty"` // of the answer that ends with this element
	Back  int          `json:"back,omitempty"`  // the client went back: what the first so many feeds brought stays; 0: this is another kind of feed

	bytes json.RawMessage // of Raw, while they are at hand
}

// A pending is a call that was planned and has no answer yet.
type pending struct {
	call  curation.Call
	steps int // of the path
}

// errNoModel says that nothing is known of a model that curation needs.
var errNoModel = errors.New("neither prices nor window of the model are known")

// dialect is an API as curation needs it.
func (a API) dialect() *curation.Dialect {
	switch a {
	case Messages:
		return curation.Messages()
	case Responses:
		return curation.Responses()
	case Chat:
		return curation.Chat()
	}
	return curation.Gemini()
}

// qualityBudget is the default of Curation.Budget (design, section 6.1).
const qualityBudget = 80_000

// reserve is how many tokens are kept for an answer whose limit the client does not
// say, and the share of the window that it takes at most.
const (
	reserve      = 16_000
	reserveShare = 4
)

// begin is what a stream of a view begins with.
func (o *observer) genesis(api API, v *view, at time.Time) (genesis, error) {
	m, known := o.gateway.options.Prices.Model(v.call.Model)
	window := m.Window
	if learnt := o.windows[v.call.Model]; learnt > 0 {
		window = learnt
	}
	if !known && window == 0 {
		return genesis{}, errNoModel
	}
	g := genesis{API: api, Model: v.call.Model, System: v.system, Tools: v.tools, At: at, Window: window, Prefix: o.prefix(v), Budget: or(o.gateway.options.Curate.Budget, qualityBudget)}
	g.Output = or(v.call.MaxOutput, reserve)
	if window > 0 {
		g.Output = min(g.Output, window/reserveShare)
		g.Room = max(1, window-g.Prefix-g.Output)
	}
	if api.dialect().Longest(&v.call) == quire.MarkLong {
		g.Life = price.Long
	} else {
		g.Life = price.Short
	}
	return g, nil
}

// A scale counts tokens as a model's provider does, as far as it was measured.
type scale struct {
	counter *token.Counter
	fit     *token.Fit
	model   string
}

func (o *observer) scale(model string) scale {
	f := token.NewFit(model)
	f.Freeze()
	return scale{o.gateway.options.Pool.Counter, f, model}
}

// Count is the tokens of a text.
func (s scale) Count(text string) int {
	if text == "" {
		return 0
	}
	return max(1, s.fit.Tokens(s.counter.Measure(quire.Part{Kind: quire.PartText, Text: text}, s.model)))
}

// prefix is how many tokens stand in front of all messages.
func (o *observer) prefix(v *view) (n int) {
	counter := o.scale(v.call.Model)
	for i := range v.call.Tools {
		t := &v.call.Tools[i]
		n += counter.Count(t.Name) + counter.Count(t.Description) + counter.Count(string(t.Schema))
	}
	for i := range v.call.System {
		n += counter.Count(curation.TextOf(&v.call.System[i]))
	}
	return n
}

// facts are prices and rules of a model; of one that is only known by its window,
// those that most providers have.
func (o *observer) facts(g *genesis) (price.Rates, price.Rules) {
	if m, ok := o.gateway.options.Prices.Model(g.Model); ok {
		return m.Rates(g.At), m.Rules()
	}
	p, _ := price.ProfileByName(usualProfile)
	return p.Rates, p.Rules
}

// usualProfile is how the parts of a prompt are weighed where no price is known.
const usualProfile = "claude"

// windowSlack is the share of a window that is better kept free, cliffSlack that of
// a price cliff (design, section 6.1).
const (
	windowSlack = .10
	cliffSlack  = .05
)

// mirrorOf begins the stream of a genesis.
func (o *observer) mirrorOf(g *genesis) (*curation.Mirror, error) {
	table, err := schedule.Default()
	if err != nil {
		return nil, err
	}
	rates, rules := o.facts(g)
	terms := run.Terms{Terms: schedule.Terms{Rates: rates, Rules: rules, Life: g.Life, Prefix: g.Prefix, Window: g.Window}, Own: g.Open}
	terms.Settings = schedule.Settings{Table: table, Care: schedule.DefaultCare, Notice: run.Notice, Budget: g.Budget, Window: g.Room}
	if cliff := rates.CliffAt; cliff > 0 && g.Room > 0 {
		terms.Settings.Window = max(1, min(g.Room, int((1-cliffSlack)*float64(cliff))-g.Prefix))
	}
	if g.Window > 0 {
		terms.Settings.Room = max(1, terms.Settings.Window-int(windowSlack*float64(g.Window)))
	}
	pool := o.gateway.options.Pool
	return g.API.dialect().NewMirror(run.Parts{
		Terms: terms, Count: o.scale(g.Model), Maker: rendition.NewMaker(o.gateway.options.Curate.Secrets, pool.Counter, rendition.Recall),
		Frame: retrieve.Frame, Mask: pool.Mask, Model: g.Model,
	}), nil
}

// load sees to it that a stream is in mind. What its last call was is made again
// with it.
func (c *curated) load(ctx context.Context, o *observer, b *book) error {
	if c.mirror != nil {
		return nil
	}
	m, err := o.mirrorOf(&c.Genesis)
	if err != nil {
		return err
	}
	c.mirror, c.pending = m, nil
	for i := range c.feeds {
		if err := c.again(ctx, o, b, &c.feeds[i]); err != nil {
			c.mirror = nil
			return fmt.Errorf("make a stream again: %w", err)
		}
	}
	return nil
}

// again takes one feed into the mirror.
func (c *curated) again(ctx context.Context, o *observer, b *book, f *feed) error {
	switch {
	case f.Call:
		return c.callAgain(o, f)
	case f.Back > 0:
		c.back(f.Back)
		return nil
	}
	raw := f.bytes
	if raw == nil {
		body, err := o.gateway.options.Pool.Bodies.Body(ctx, f.Raw)
		if err != nil {
			return err
		}
		raw = body
	}
	it, err := c.Genesis.API.dialect().Read(raw, f.Uses)
	if err != nil {
		return err
	}
	c.enter(&it, f, b.known(f.Parts))
	c.pending = nil
	return nil
}

func (c *curated) enter(it *curation.Item, f *feed, known []curation.Known) {
	c.mirror.AsSent(!c.mirror.Lowers())
	c.mirror.Enter(*it, known, f.At)
	if f.Usage != nil {
		c.mirror.Metered(*f.Usage)
	}
}

func (c *curated) callAgain(o *observer, f *feed) error {
	if !f.Ours {
		c.mirror.Relayed(f.At)
		return nil
	}
	call, err := c.mirror.Call(c.terms(o, f))
	if err != nil {
		return err
	}
	c.pending = &pending{call: call, steps: len(c.nodes)}
	return nil
}

// terms are those of a call. Limits of the provider's that are known by their error
// only are not among them.
func (c *curated) terms(o *observer, f *feed) curation.Terms {
	_, rules := o.facts(&c.Genesis)
	t := curation.Terms{At: f.At, Cold: f.Cold, Mark: f.Mark, Tail: or(f.Tail, f.Mark), Bare: f.Bare, Anew: f.Anew, Rules: assemble.Rules{Rules: rules}}
	if c.Genesis.Window > 0 {
		t.Limits.Window = c.Genesis.Window - c.Genesis.Output - c.Genesis.Prefix
	}
	return t
}

// take feeds an element that is new.
func (c *curated) take(it *curation.Item, parts span, at time.Time, b *book) *feed {
	f := feed{Raw: quire.Sum(string(it.Raw)), Parts: parts, At: at, bytes: it.Raw, Uses: named(it)}
	c.feeds = append(c.feeds, f)
	c.enter(it, &c.feeds[len(c.feeds)-1], b.known(parts))
	c.pending = nil
	return &c.feeds[len(c.feeds)-1]
}

// named are the ids that the bytes of an element do not say.
func named(it *curation.Item) []string {
	uses := it.Uses()
	if slices.ContainsFunc(uses, func(u string) bool { return len(u) > 0 && u[0] == '#' }) {
		return uses
	}
	return nil
}

// call plans the next call.
func (c *curated) call(o *observer, f feed) (curation.Call, error) {
	f.Call, f.Ours = true, true
	c.feeds = append(c.feeds, f)
	call, err := c.mirror.Call(c.terms(o, &f))
	if err != nil {
		return call, err
	}
	c.pending = &pending{call: call, steps: len(c.nodes)}
	return call, nil
}

// back takes out what entered the mirror behind the first so many feeds.
func (c *curated) back(feeds int) {
	items := 0
	for i := range c.feeds[:feeds] {
		if f := &c.feeds[i]; !f.Call && f.Back == 0 {
			items++
		}
	}
	c.mirror.Back(items)
	c.pending = nil
}

// cut leaves the first n steps of the path, at least one. They stand as they were
// sent last, so that a cache that holds them is read (G2).
func (c *curated) cut(n int) {
	if n >= len(c.nodes) {
		return
	}
	keep := c.nodes[n-1]
	c.nodes = slices.Clip(c.nodes[:n])
	c.feeds = append(c.feeds, feed{Back: keep})
	if c.pending = nil; c.mirror != nil {
		c.back(keep)
	}
}

// fork is a stream of its own that begins with the first n steps of this one.
func (c *curated) fork(n int) *curated {
	f := *c
	f.feeds, f.nodes = slices.Clone(c.feeds), slices.Clone(c.nodes)
	f.number, f.mirror, f.pending = 0, nil, nil
	f.cut(n)
	return &f
}

// under is the stream as it stands, for a client that changed what stands in front
// of it.
func (c *curated) under(t terms) *curated {
	n := c.fork(len(c.nodes))
	n.Genesis.System, n.Genesis.Tools = t.system, t.tools
	n.mirror, c.mirror = c.mirror, nil
	c.pending = nil
	return n
}

// anew is the stream begun again under other terms: all that entered, and nothing
// of how it was sent.
func (c *curated) anew(g genesis) *curated {
	n := &curated{Genesis: g, nodes: slices.Clone(c.nodes)}
	for _, f := range c.feeds {
		f = feed{Raw: f.Raw, Uses: f.Uses, Parts: f.Parts, At: f.At, Call: f.Call, Usage: f.Usage, Back: f.Back, bytes: f.bytes}
		n.feeds = append(n.feeds, f)
	}
	return n
}
