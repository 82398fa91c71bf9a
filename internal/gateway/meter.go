package gateway

import (
	"encoding/binary"
	"time"

	"github.com/quire-agent/quire/internal/curation"
	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/token"
	"github.com/quire-agent/quire/internal/x/rawjson"
	"github.com/quire-agent/quire/internal/x/recent"
)

// A meter puts each view, as the client sent it, through the simulator of its
// cache: the shadow account (G18). It belongs to the observer.
type meter struct {
	counter *token.Counter
	prices  *price.Table
	lanes   map[string]*lane
	known   recent.Map[[]price.Block] // of messages, by model and key
}

// A lane is the cache of one model under one credential.
type lane struct {
	model  price.Model
	known  bool
	fit    *token.Fit
	shadow flow            // the client's own views
	live   *flow           // what went up, nil while that is the same
	made   map[uint64]bool // blocks of answers, where the cache keeps answers
	used   time.Time
}

// lanes is how many caches are simulated at a time.
const lanes = 64

// charged is what a call cost, in US dollars.
type charged struct {
	priced bool    // its model has prices
	cost   float64 // by what the provider reported, by the simulator where it did not
	shadow float64 // by the simulator
	cold   bool    // nothing of the prompt was in the cache
	lapsed int     // tokens that were not read only because their time was over
	why    string  // of a cold prompt, as far as the request alone shows it
	prompt int     // tokens, as they are counted here
}

func newMeter(counter *token.Counter, prices *price.Table) *meter {
	return &meter{counter: counter, prices: prices, lanes: map[string]*lane{}, known: recent.Map[[]price.Block]{Limit: remembered}}
}

// into puts the money into a line.
func (c charged) into(line *Line) {
	line.Cost, line.Priced, line.Prompt = c.cost, c.priced, c.prompt
	if line.Usage.Has(quire.KnownInput) {
		line.Prompt = int(line.Usage.Prompt())
	}
}

// charge charges a call with its answer. relayed says that the view is what went up.
func (m *meter) charge(cred string, v *view, r *quire.Reply, at time.Time, relayed bool) charged {
	l := m.lane(cred, v.call.Model, at)
	blocks := m.prompt(l, v)
	if relayed && l.live != nil {
		l.live.send(at, blocks)
	}
	c := l.shadow.send(at, blocks)
	l.answered(r.Blocks)
	return l.bill(v, c, r.Usage, at)
}

// bill makes money of tokens.
func (l *lane) bill(v *view, c price.Charge, u quire.Usage, at time.Time) charged {
	out := charged{priced: l.known, cold: c.Cold, lapsed: c.Lapsed, prompt: c.Prompt()}
	reported := price.Recorded(u)
	if !u.Has(quire.KnownInput | quire.KnownCache) {
		reported = c
	} else {
		out.cold = reported.Cold
	}
	if l.known {
		rates := l.model.Rates(at)
		out.shadow, out.cost = rates.Cost(c, int(u.Output)), rates.Cost(reported, int(u.Output))
	}
	out.why = l.why(v, out.prompt)
	return out
}

// why is why a prompt is cold that extends the one before it.
func (l *lane) why(v *view, prompt int) string {
	rules := l.model.Rules()
	switch {
	case !l.known:
		return "unknown"
	case prompt < rules.Minimum:
		return "too short to be cached"
	case rules.Match == price.AtBreakpoints && !rules.Implicit && !v.marked():
		return "no cache marker"
	}
	return "the provider did not keep it"
}

// marked reports whether the client asked for caching.
func (v *view) marked() bool {
	if rawjson.Get(v.call.Rest, "cache_control") != nil {
		return true
	}
	for _, t := range v.call.Tools {
		if t.Cache != quire.MarkNone {
			return true
		}
	}
	lists := [][]quire.Block{v.call.System}
	for i := range v.call.Messages {
		lists = append(lists, v.call.Messages[i].Blocks)
	}
	for _, blocks := range lists {
		for i := range blocks {
			if deepMark(&blocks[i]) != quire.MarkNone {
				return true
			}
		}
	}
	return false
}

func laneKey(cred, model string) string { return cred + "\x00" + model }

func (m *meter) lane(cred, model string, at time.Time) *lane {
	key := laneKey(cred, model)
	l := m.lanes[key]
	if l == nil {
		m.makeRoom()
		known, ok := m.prices.Model(model)
		l = &lane{model: known, known: ok, fit: token.NewFit(model), shadow: flow{cache: price.NewCache(known.Rules())}, made: map[uint64]bool{}}
		l.fit.Freeze()
		m.lanes[key] = l
	}
	l.used = at
	return l
}

// makeRoom forgets the lane that was not used for the longest time.
func (m *meter) makeRoom() {
	if len(m.lanes) < lanes {
		return
	}
	oldest := ""
	for key, l := range m.lanes {
		if o := m.lanes[oldest]; o == nil || l.used.Before(o.used) || l.used.Equal(o.used) && key < oldest {
			oldest = key
		}
	}
	delete(m.lanes, oldest)
}

// answered notes the blocks of an answer, where the cache keeps answers.
func (l *lane) answered(blocks []quire.Block) {
	if !l.model.Rules().Answers {
		return
	}
	for i := range blocks {
		l.made[digest(quire.RoleAssistant, &blocks[i])] = true
	}
}

// blocks is a view as the provider's cache sees it.
func (m *meter) blocks(l *lane, v *view) []price.Block {
	var list []price.Block
	for _, t := range v.call.Tools {
		part := toolsPart([]quire.ToolSpec{t})
		b := quire.Block{Part: part}
		list = append(list, price.Block{Hash: digest(0, &b), Tokens: m.tokens(l, v.call.Model, &b), Mark: lifetime(t.Cache)})
	}
	list = append(list, m.message(l, v.call.Model, quire.RoleSystem, v.call.System)...)
	for i := range v.call.Messages {
		list = append(list, m.knownMessage(l, v, i)...)
	}
	if n := len(list); n > 0 && rawjson.Get(v.call.Rest, "cache_control") != nil {
		list[n-1].Mark = max(list[n-1].Mark, lifetime(curation.TopMark(&v.call)))
	}
	return list
}

// knownMessage is message i of a view, from memory where it was measured before.
func (m *meter) knownMessage(l *lane, v *view, i int) []price.Block {
	one := &v.call.Messages[i]
	if v.keys == nil {
		return m.message(l, v.call.Model, one.Role, one.Blocks)
	}
	key := v.call.Model + v.keys[i].text()
	blocks, ok := m.known.Get(key)
	if !ok {
		blocks = m.message(l, v.call.Model, one.Role, one.Blocks)
		m.known.Put(key, blocks)
	}
	return blocks
}

// message is blocks under one role.
func (m *meter) message(l *lane, model string, role quire.Role, blocks []quire.Block) []price.Block {
	list := make([]price.Block, len(blocks))
	for i := range blocks {
		b := &blocks[i]
		list[i] = price.Block{Hash: digest(role, b), Tokens: m.tokens(l, model, b), Mark: lifetime(deepMark(b))}
	}
	return list
}

// digest identifies a block with all that the provider sees of it, thinking too.
func digest(role quire.Role, b *quire.Block) uint64 {
	s := newSum(role.String())
	s.block(b)
	s.fields(b.Signature)
	sum := s.end()
	return binary.LittleEndian.Uint64(sum[:])
}

func (m *meter) tokens(l *lane, model string, b *quire.Block) int {
	return max(1, l.fit.Tokens(m.measure(model, b)))
}

func (m *meter) measure(model string, b *quire.Block) token.Features {
	part := b.Part
	if b.Opaque != nil {
		part.Text = string(b.Opaque)
	}
	if part.Media != nil && part.Kind != quire.PartImage && part.Kind != quire.PartDocument {
		part.Media = nil
	}
	x := m.counter.Measure(part, model)
	for i := range b.Content {
		x = x.Plus(m.measure(model, &b.Content[i]))
	}
	return x
}

func lifetime(m quire.Mark) price.Lifetime {
	switch m {
	case quire.MarkShort:
		return price.Short
	case quire.MarkLong:
		return price.Long
	}
	return price.Unmarked
}

// deepMark is the longest mark of a block and of the pieces in it.
func deepMark(b *quire.Block) quire.Mark {
	mark := b.Cache
	for i := range b.Content {
		mark = max(mark, deepMark(&b.Content[i]))
	}
	return mark
}
