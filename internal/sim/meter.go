package sim

import (
	"sync"
	"time"

	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/token"
)

// A meter counts tokens and keeps a prompt cache for each credential and model.
// It is safe for concurrent use.
type meter struct {
	counter *token.Counter
	prices  *price.Table

	mu    sync.Mutex // guards what follows
	lanes map[string]*lane
	fits  map[string]*token.Fit
}

// A lane is the cache of one model under one credential, with the prompt that was
// sent to it last.
type lane struct {
	cache *price.Cache
	last  []price.Block
	made  map[uint64]bool // blocks of answers that it gave, where its rules keep answers
}

func newMeter(counter *token.Counter, prices *price.Table) *meter {
	return &meter{counter: counter, prices: prices, lanes: map[string]*lane{}, fits: map[string]*token.Fit{}}
}

// model is what the table knows of a model, or of the stock model of the API, and
// its window.
func (m *meter) model(api API, name string) (price.Model, int) {
	stock, window := api.stock()
	found, ok := m.prices.Model(name)
	if !ok {
		found, _ = m.prices.Model(stock)
	}
	if ok && found.Window > 0 {
		window = found.Window
	}
	return found, window
}

// fit is the frozen fit of a model, as it was measured for its family.
func (m *meter) fit(model string) *token.Fit {
	m.mu.Lock()
	defer m.mu.Unlock()
	f, ok := m.fits[model]
	if !ok {
		f = token.NewFit(model)
		f.Freeze()
		m.fits[model] = f
	}
	return f
}

// tokens counts a block with all that is in it.
func (m *meter) tokens(model string, b quire.Block) int {
	return max(1, m.fit(model).Tokens(m.measure(model, b)))
}

// answerTokens counts a block as it was produced: without what frames it in a
// prompt.
func (m *meter) answerTokens(model string, b quire.Block) int {
	x := m.measure(model, b)
	x[token.Message] = 0
	b = quire.Block{Part: quire.Part{Kind: quire.PartToolCall, Text: b.Tool}}
	if b.Text != "" {
		x = x.Plus(m.measure(model, b))
		x[token.Message] = 0
	}
	return max(1, m.fit(model).Tokens(x))
}

func (m *meter) measure(model string, b quire.Block) token.Features {
	if b.Opaque != nil {
		b.Text = string(b.Opaque)
	}
	part := b.Part
	if part.Kind == quire.PartDocument && len(b.Content) > 0 || part.Media == nil {
		part.Media = nil
	} else {
		measured := *part.Media
		sized(&measured, b.Data)
		part.Media = &measured
	}
	x := m.counter.Measure(part, model)
	for _, inner := range b.Content {
		x = x.Plus(m.measure(model, inner))
	}
	return x
}

// blocks is a prompt as its cache sees it, and its size. On Messages, what the key
// of the cache holds beside the prompt (the choice of tools, thinking) is a block
// of its own behind the system prompt, as a change of it loses the messages only.
func (m *meter) blocks(api API, c *quire.Call) (list []price.Block, total int) {
	add := func(d digest, tokens int, mark quire.Mark) {
		list = append(list, price.Block{Hash: d.short(), Tokens: tokens, Mark: lifetime(mark)})
		total += tokens
	}
	for _, t := range c.Tools {
		text := quire.Block{Part: quire.Part{Kind: quire.PartTools, Text: t.Name + "\n" + t.Description + "\n" + string(t.Schema)}}
		add(digestTool(t), m.tokens(c.Model, text), t.Cache)
	}
	for _, b := range c.System {
		add(digestBlock(quire.RoleSystem, b), m.tokens(c.Model, b), deepMark(b))
	}
	if api == Messages {
		add(digestSettings(c), 0, quire.MarkNone)
	}
	for _, msg := range c.Messages {
		for _, b := range msg.Blocks {
			add(digestBlock(msg.Role, b), m.tokens(c.Model, b), deepMark(b))
		}
	}
	if mark := topMark(api, c); mark != quire.MarkNone && len(list) > 0 {
		list[len(list)-1].Mark = max(list[len(list)-1].Mark, lifetime(mark))
	}
	return list, total
}

func digestSettings(c *quire.Call) digest {
	w := newHasher()
	w.add(c.Choice.Mode, c.Choice.Tool, c.Thinking.Mode, c.Thinking.Effort)
	w.rest(c.Choice.Rest)
	return w.sum()
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
func deepMark(b quire.Block) quire.Mark {
	mark := b.Cache
	for _, inner := range b.Content {
		mark = max(mark, deepMark(inner))
	}
	return mark
}

// charge sends a prompt through its cache.
func (m *meter) charge(credential string, known price.Model, model string, blocks []price.Block, at time.Time) price.Charge {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.lane(credential, known, model)
	for i := range blocks {
		blocks[i].Answer = l.made[blocks[i].Hash]
	}
	keep := 0
	for keep < len(blocks) && keep < len(l.last) && blocks[keep] == l.last[keep] {
		keep++
	}
	l.last = blocks
	return l.cache.Send(at, keep, blocks[keep:])
}

func (m *meter) lane(credential string, known price.Model, model string) *lane {
	key := credential + "\x00" + model
	l := m.lanes[key]
	if l == nil {
		l = &lane{cache: price.NewCache(known.Rules()), made: map[uint64]bool{}}
		m.lanes[key] = l
	}
	return l
}

// answered notes the blocks of an answer, where the cache keeps answers.
func (m *meter) answered(credential string, known price.Model, model string, blocks []quire.Block) {
	if !known.Rules().Answers {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.lane(credential, known, model)
	for _, b := range blocks {
		l.made[digestBlock(quire.RoleAssistant, b).short()] = true
	}
}

// usage is a charge with an answer, as it is reported.
func (m *meter) usage(charge price.Charge, model string, answer []quire.Block) quire.Usage {
	u := quire.Usage{
		Input: int64(charge.Uncached), CacheRead: int64(charge.Read),
		CacheWrite: int64(charge.Write + charge.Write1h), CacheWrite1h: int64(charge.Write1h),
		Known: quire.KnownInput | quire.KnownCache | quire.KnownOutput,
	}
	for _, b := range answer {
		n := int64(m.answerTokens(model, b))
		u.Output += n
		if b.Kind == quire.PartThinking {
			u.Reasoning += n
		}
	}
	return u
}
