package gateway

import (
	"slices"
	"time"

	"github.com/quire-agent/quire/internal/curation"
	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/run"
)

// A flow is what goes through one cache of a provider, request by request.
type flow struct {
	cache *price.Cache
	last  []price.Block
}

// send sends a prompt.
func (f *flow) send(at time.Time, blocks []price.Block) price.Charge {
	keep := f.common(blocks)
	f.last = blocks
	return f.cache.Send(at, keep, blocks[keep:])
}

// quote is what a prompt would cost if it were sent.
func (f *flow) quote(at time.Time, blocks []price.Block) price.Charge {
	keep := f.common(blocks)
	return f.cache.Clone().Send(at, keep, blocks[keep:])
}

// common is how many blocks of the prompt before a prompt begins with.
func (f *flow) common(blocks []price.Block) (n int) {
	for n < len(blocks) && n < len(f.last) && blocks[n] == f.last[n] {
		n++
	}
	return n
}

// went notes that something else than its view went up for a call: from here on the
// provider's cache holds other prompts than the client's own.
func (m *meter) went(cred string, sent *view, at time.Time) {
	l := m.lane(cred, sent.call.Model, at)
	if l.live == nil {
		l.live = &flow{cache: l.shadow.cache.Clone(), last: l.shadow.last}
	}
	l.live.send(at, m.prompt(l, sent))
}

// A quote is what a prompt would cost.
type quote struct {
	cost   float64 // of the prompt, in the unit of the rates
	known  bool    // prices and what the cache holds are known
	tokens int
	read   float64 // price of reading one token
	write  float64 // price of one that is not in the cache
}

// quote says what a prompt would cost if it went up now, by what went up before.
func (m *meter) quote(cred string, v *view, at time.Time) quote {
	l := m.lane(cred, v.call.Model, at)
	f := &l.shadow
	if l.live != nil {
		f = l.live
	}
	c := f.quote(at, m.prompt(l, v))
	rates := l.rates(at)
	p := rates.For(c.Prompt())
	return quote{cost: rates.Cost(c, 0), known: l.known, tokens: c.Prompt(), read: p.Read, write: max(p.Write, p.Input)}
}

// rates are those of the model, or the usual ones where no prices are known.
func (l *lane) rates(at time.Time) price.Rates {
	if l.known {
		return l.model.Rates(at)
	}
	p, _ := price.ProfileByName(usualProfile)
	return p.Rates
}

// prompt is a view as blocks, with those known that the model made.
func (m *meter) prompt(l *lane, v *view) []price.Block {
	blocks := m.blocks(l, v)
	for i := range blocks {
		blocks[i].Answer = l.made[blocks[i].Hash]
	}
	return blocks
}

// dearer reports whether a body would cost more now than the client's own view, or
// not less.
func (w *writing) dearer(body []byte) bool {
	ours, theirs, ok := w.quotes(body)
	return !ok || ours.cost >= theirs.cost
}

// quotes are what a body and the client's own view would cost now; ok is false where
// the body cannot be read.
func (w *writing) quotes(body []byte) (ours, theirs quote, ok bool) {
	v, err := w.gateway.reader.view(w.x.route, plainBody(body))
	if err != nil {
		return ours, theirs, false
	}
	m := w.observer.meter
	return m.quote(w.x.cred, v, w.x.began), m.quote(w.x.cred, w.view, w.x.began), true
}

// startsHeaded reports whether a view is cheaper with the tool for recalling behind
// its tools, by more than reading the tool costs until an epoch can be expected.
func (o *observer) startsHeaded(x *exchange, v *view) bool {
	d := x.api.dialect()
	if !o.meter.curated(x.cred, v.call.Model) || !d.Place(&v.call) {
		return false
	}
	tools, err := recallTool(x)
	if err != nil {
		return false
	}
	with := *v
	with.call.Tools = slices.Concat(v.call.Tools, tools)
	ours, theirs := o.meter.quote(x.cred, &with, x.began), o.meter.quote(x.cred, v, x.began)
	const calls = 33 // as the scheduler expects between epochs (docs/scheduler.md)
	return theirs.cost-ours.cost > calls*run.RecallSchema*ours.read
}

// recallTool is the tool for recalling as it stands in requests of an API.
func recallTool(x *exchange) ([]quire.ToolSpec, error) {
	body, err := x.api.dialect().Edit([]byte("{}"), &curation.Call{})
	if err != nil {
		return nil, err
	}
	call, err := x.decode(body)
	return call.Tools, err
}

// curated reports whether something else than clients' own views went up to a model.
func (m *meter) curated(cred, model string) bool {
	l := m.lanes[laneKey(cred, model)]
	return l != nil && l.live != nil
}
