package recording

import (
	"encoding/binary"
	"slices"
	"sort"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/quire-agent/quire/internal/ledger"
	"github.com/quire-agent/quire/internal/page"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/run"
	"github.com/quire-agent/quire/internal/schedule"
	"github.com/quire-agent/quire/internal/shingle"
	"github.com/quire-agent/quire/internal/token"
	"github.com/quire-agent/quire/internal/x/recent"
)

// An entry is a part that waits for its place: what enters while a call still
// answers belongs behind the answer.
type entry struct {
	part quire.Part
	node int
	at   time.Time
}

// builder makes a Session out of events.
type builder struct {
	s      *Session
	count  *token.Counter
	gauge  *token.Gauge
	fit    *token.Fit // nil until the first growth is known
	cutter page.Cutter
	needs  *needs
	lines  *lines
	names  *run.Foresight
	ins    []entry
	outs   []entry
	open   int32 // the call that answers, -1 before the first
	turn   int32
	spoken bool   // a call was made in this turn
	hint   string // first line of the words that began the turn
	joined int    // logs read before this one
	model  string
	lastIn time.Time // when the last input of the next call entered
	before bool      // lastIn is of the log before this one
	calls  recent.Map[int32]
	side   recent.Map[int32]
	uses   recent.Map[int32] // tool use → the call that made it
	pairs  recent.Map[int32] // tool use → its number
	paired int32             // tool uses so far
	nodes  []int32           // node → items when it was placed, so that no earlier node has a higher one
	feats  []lean            // by item
	sides  []lean            // by side call: what it answered
	answer []lean            // by call: what it answered
	held   int               // shingles in needs
	hints  []schedule.Hint   // of what is new since the last call
	tasks  run.Work
	work   []schedule.Work // the same of the task at hand
}

// lean is token.Features in half the memory.
type lean [len(token.Features{})]int32

func (x lean) plus(y token.Features) lean {
	for i, n := range y {
		x[i] += int32(n)
	}
	return x
}

func (x lean) features() (y token.Features) {
	for i, n := range x {
		y[i] = int(n)
	}
	return y
}

// late is how many calls and tool uses may lie between one and what still
// comes for it: usage, a result.
const late = 4096

func newBuilder(c *token.Counter) *builder {
	n := newNeeds()
	return &builder{
		s:     &Session{Notes: map[quire.Note]int{}, Bodies: &Bodies{}, Starts: []Start{{}}, forms: forms{ledger: &ledger.Ledger{}}},
		count: c, gauge: token.NewGauge(c, ""), needs: n, lines: newLines(), names: run.NewForesight(n.index), open: -1,
		calls: recent.Map[int32]{Limit: late}, side: recent.Map[int32]{Limit: late}, uses: recent.Map[int32]{Limit: late}, pairs: recent.Map[int32]{Limit: late},
	}
}

// boundary begins another recorded session that is joined to this one.
func (b *builder) boundary() {
	b.joined++
	b.s.Starts = append(b.s.Starts, Start{int32(len(b.s.Calls)), int32(len(b.s.Items))})
	b.needs.reset(b.nextPage())
	b.nodes = b.nodes[:0]
	b.open = -1
	b.model = ""
	b.before = true
	b.uses.Clear()
	b.learn(b.gauge.Close())
	b.gauge = token.NewGauge(b.count, "")
}

func (b *builder) nextPage() quire.PageNumber { return quire.PageNumber(len(b.s.Pages) + 1) }

// called opens a call.
func (b *builder) called(e quire.Called) error {
	model := e.Model
	if model == "" {
		model = b.model
	}
	if e.Chain != "" {
		b.side.Put(e.Call, int32(len(b.s.Side)))
		b.s.Side = append(b.s.Side, Call{ID: e.Call, Model: model, At: e.At})
		b.sides = append(b.sides, lean{})
		return nil
	}
	if err := b.flush(); err != nil {
		return err
	}
	b.model = model
	b.open = int32(len(b.s.Calls))
	b.calls.Put(e.Call, b.open)
	c := Call{ID: e.Call, Model: model, At: b.started(e.At), Items: int32(len(b.s.Items)), Turn: b.turn}
	if !b.spoken {
		c.Hint = b.hint
	}
	b.spoken = true
	b.s.Calls = append(b.s.Calls, c)
	b.foresee()
	b.answer = append(b.answer, lean{})
	return nil
}

// started is when the request of a call that began to answer at a time was
// sent: when the last of its inputs was there. Cache lifetimes count from it.
func (b *builder) started(at time.Time) time.Time {
	if !b.lastIn.IsZero() && (at.IsZero() || b.lastIn.Before(at)) {
		at = b.lastIn
	}
	b.lastIn, b.before = time.Time{}, false
	if n := len(b.s.Calls); n > 0 {
		at = later(at, b.s.Calls[n-1].At)
	}
	return at
}

func (b *builder) metered(e quire.Metered) {
	if e.Chain != "" {
		if i, ok := b.side.Get(e.Call); ok {
			b.s.Side[i].Usage = e.Usage
		}
	} else if i, ok := b.calls.Get(e.Call); ok {
		b.s.Calls[i].Usage = e.Usage
	}
}

// sideOut sizes what a side chain's call answered.
func (b *builder) sideOut(e quire.Answered) {
	if i, ok := b.side.Get(e.Call); ok {
		b.sides[i] = b.sides[i].plus(b.measure(e.Part))
	}
}

func (b *builder) compacted(e quire.Compacted) error {
	if e.Chain != "" {
		return nil
	}
	if err := b.flush(); err != nil {
		return err
	}
	if e.Trigger == triggerMicro {
		return nil
	}
	b.needs.reset(b.nextPage())
	b.cut(Cut{Trigger: e.Trigger})
	return nil
}

// triggerMicro marks a compaction that only cleared old tool results.
const triggerMicro = "micro"

func (b *builder) rewound(e quire.Rewound) error {
	if e.Chain != "" {
		return nil
	}
	if err := b.flush(); err != nil {
		return err
	}
	keep := b.s.Starts[b.joined].Item
	if last := min(e.Keep, len(b.nodes)-1); last >= 0 {
		keep = b.nodes[last]
	}
	b.cut(Cut{Rewind: true, Keep: keep})
	return nil
}

func (b *builder) cut(c Cut) {
	c.Call, c.Item = int32(len(b.s.Calls)), int32(len(b.s.Items))
	b.s.Cuts = append(b.s.Cuts, c)
}

// foresee notes which pages the words that are new at the call just opened point
// to: those that the user said since the call before, and what that one answered.
func (b *builder) foresee() {
	if b.s.TooLong {
		return
	}
	b.working()
	b.s.Hints, b.hints = append(b.s.Hints, b.hints), nil
	b.s.Work, b.work = append(b.s.Work, b.work), nil
}

// working notes which task the turn at hand belongs to, where that is new.
func (b *builder) working() {
	if d, changed := b.tasks.Decide(int(b.turn)); changed {
		b.work = append(b.work, b.tasks.Of(d, int(b.turn)))
		b.hints = append(b.hints, b.tasks.Back(d)...)
	}
}

// flush places what the open call answered and then what entered meanwhile.
func (b *builder) flush() error {
	if b.open >= 0 {
		b.need()
	}
	for _, e := range b.outs {
		b.answer[b.open] = b.answer[b.open].plus(b.measure(e.part))
		if err := b.place(e, b.open); err != nil {
			return err
		}
	}
	for _, e := range b.ins {
		b.entered(e.at)
		if err := b.place(e, -1); err != nil {
			return err
		}
	}
	b.outs, b.ins = b.outs[:0], b.ins[:0]
	return nil
}

// entered notes when an input of the next call entered. One of this log counts
// alone; a log that begins with a call goes on with what the one before it ended
// with.
func (b *builder) entered(at time.Time) {
	if b.before {
		b.lastIn, b.before = time.Time{}, false
	}
	b.lastIn = later(at, b.lastIn)
}

// need finds what the open call took from earlier pages.
func (b *builder) need() {
	if b.s.TooLong {
		return
	}
	var texts []string
	for _, e := range b.outs {
		switch e.part.Kind {
		case quire.PartText:
			texts = append(texts, e.part.Text)
		case quire.PartToolCall:
			texts = append(texts, arguments(e.part.Text)...)
			b.edit(page.Describe(e.part.Tool, e.part.Text).Old)
		}
	}
	b.hints = append(b.hints, b.names.Hints(schedule.ByModel, texts)...)
	for _, n := range b.needs.of(b.open, texts) {
		b.held += len(n.Shingles) + len(n.StrictShingles)
		b.s.Needs = append(b.s.Needs, n)
	}
	if b.held > heldShingles || len(b.s.Calls) > heldCalls {
		b.forget()
	}
}

// The bounds of what is replayed: shingles that the needs of a session hold in
// all, five times those of the 50 sessions of the evaluation joined, and calls,
// seven times theirs.
const (
	heldShingles = 2 << 20
	heldCalls    = 60_000
)

// forget gives up the needs of a session that is too long to be replayed, and
// the memory that finding them takes.
func (b *builder) forget() {
	b.s.TooLong = true
	b.s.Notes[quire.NoteTooLong]++
	b.s.Needs, b.s.Edits, b.s.Rereads = nil, nil, nil
	b.needs, b.lines = newNeeds(), newLines()
	b.names = run.NewForesight(b.needs.index)
	b.s.Hints, b.s.Work, b.tasks = nil, nil, run.Work{}
	b.s.forms = forms{}
}

func (b *builder) edit(old []string) {
	e, ok := edits(b.open, old, b.needs, b.lines)
	if !ok {
		return
	}
	n := LineNeed{Call: e.Call, lines: e.Shingles}
	for _, h := range e.Lines {
		n.lines = append(n.lines, h^lineSalt)
	}
	b.s.Edits = append(b.s.Edits, n)
}

// place makes an item of a part, and the page that it belongs to.
func (b *builder) place(e entry, by int32) error {
	p := &e.part
	if p.Kind == quire.PartUser && p.Origin == quire.OriginFirst {
		b.begin(p.Text)
		b.hints = append(b.hints, b.names.Hints(schedule.ByUser, []string{p.Text})...)
	}
	text := bodyOf(p)
	ref, err := b.s.Bodies.Put(text)
	if err != nil {
		return err
	}
	it := Item{
		Kind: p.Kind, Origin: p.Origin, Error: p.IsError, Call: int32(len(b.s.Calls)), By: by,
		Bytes: int32(len(text)), Body: ref, Hash: ItemHash(p, text), Use: b.pair(p), Media: p.Media,
	}
	if p.Kind == quire.PartToolCall {
		if it.Raw, err = b.s.Bodies.Put(p.Text); err != nil {
			return err
		}
	}
	it.Page, it.Turn = b.page(p, text, len(b.s.Items)), b.turn
	b.s.Items = append(b.s.Items, it)
	b.feats = append(b.feats, lean{}.plus(b.measure(*p)))
	for len(b.nodes) <= e.node {
		b.nodes = append(b.nodes, 0)
	}
	for n := e.node; n < len(b.nodes); n++ {
		b.nodes[n] = int32(len(b.s.Items))
	}
	return nil
}

// pair is the number of the tool use that a part belongs to. A call whose id came
// before is another use.
func (b *builder) pair(p *quire.Part) int32 {
	if p.ToolUse == "" {
		return 0
	}
	if p.Kind == quire.PartToolCall {
		b.paired++
		b.pairs.Put(p.ToolUse, b.paired)
	}
	n, _ := b.pairs.Get(p.ToolUse)
	return n
}

// begin notes a user message: it begins a turn unless nothing was called since
// the last one.
func (b *builder) begin(words string) {
	if b.spoken {
		if b.s.TooLong { // the ledger that counts turns is given up
			b.turn++
		}
		b.spoken, b.hint = false, ""
	}
	if b.hint == "" {
		line, _, _ := strings.Cut(strings.TrimSpace(words), "\n")
		b.hint = strings.ToValidUTF8(Shorten(line, 120), "�")
	}
}

// page enters a part into the page table and into the indexes, and returns the
// page whose text the item shows: of a call that writes a file that of the
// content, otherwise that of the call; 0 for thinking.
func (b *builder) page(p *quire.Part, text string, item int) (shows quire.PageNumber) {
	pages := b.cutter.Cut(*p, len(b.s.Calls))
	if !b.s.TooLong {
		b.task(p, pages)
	}
	b.keepForms(p, pages)
	for _, pg := range pages {
		if p.Origin == quire.OriginFirst || pg.Number == b.nextPage() { // a copy does not complete the page of its original
			b.enter(pg, item)
		}
		shows = pg.Number
	}
	if shows > 0 && p.Origin == quire.OriginFirst {
		b.index(p, shows, text)
	}
	return shows
}

// task follows the task of the turn at hand.
func (b *builder) task(p *quire.Part, pages []quire.Page) {
	if b.tasks.Begins(p) {
		b.working()
	}
	b.tasks.Add(p, pages)
}

// enter puts a page into the table, or completes it there.
func (b *builder) enter(pg quire.Page, item int) {
	if int(pg.Number) > len(b.s.Pages) {
		b.s.Pages = append(b.s.Pages, pg)
		b.s.PageItem = append(b.s.PageItem, int32(item))
		return
	}
	b.s.Pages[pg.Number-1] = pg
	b.s.PageItem[pg.Number-1] = int32(item)
}

// index makes what a page holds findable. The constant prefix is in every
// prompt and needs no finding.
func (b *builder) index(p *quire.Part, n quire.PageNumber, text string) {
	pg := &b.s.Pages[n-1]
	kind := pg.Kind
	switch p.Kind {
	case quire.PartSystem, quire.PartTools:
		return
	case quire.PartToolCall:
		b.uses.Put(p.ToolUse, b.open)
		if kind == quire.PageTool {
			kind = quire.PageAssistant // arguments are the model's own words
		}
	case quire.PartToolResult:
		if by, ok := b.uses.Get(p.ToolUse); ok && by >= 0 && pg.Action == quire.ActionRead {
			b.reread(by, text)
		}
	}
	if !b.s.TooLong {
		b.needs.add(n, kind, text)
		b.lines.add(n, text)
		if kind != quire.PageAssistant {
			b.names.Add(pg, text)
		}
	}
}

// rereadAt is the share of known lines that makes a read a re-read.
const rereadAt = 0.9

// rereadLines bounds what is remembered of a re-read: of a longer one every n-th
// line stands for all.
const rereadLines = 128

func (b *builder) reread(by int32, text string) {
	if known, _ := b.lines.seen(text); known < rereadAt {
		return
	}
	n := LineNeed{Call: by, Hash: quire.Sum(text)}
	hashes := shingle.LineHashes(text) // each occurrence counts, as in seen
	for i := 0; i < len(hashes); i += 1 + len(hashes)/rereadLines {
		n.lines = append(n.lines, hashes[i]^lineSalt)
	}
	at := sort.Search(len(b.s.Rereads), func(i int) bool { return b.s.Rereads[i].Call > by }) // results may come late
	b.s.Rereads = slices.Insert(b.s.Rereads, at, n)
}

// bodyOf is the text of a part as the model reads it: of a tool call its name
// and its arguments without the JSON around them.
func bodyOf(p *quire.Part) string {
	switch p.Kind {
	case quire.PartToolCall:
		return p.Tool + "\n" + strings.Join(arguments(p.Text), "\n")
	case quire.PartImage, quire.PartDocument:
		if p.Text == "" && p.Media != nil {
			return "[" + p.Media.Type + " " + p.Media.Hash.String()[:16] + "]"
		}
	}
	return p.Text
}

// ItemHash identifies a part for the prompt cache.
func ItemHash(p *quire.Part, text string) uint64 {
	h := quire.Sum(text)
	return binary.LittleEndian.Uint64(h[:]) ^ uint64(p.Kind)*lineSalt
}

// Shorten cuts a text at a rune so that it has at most n bytes.
func Shorten(t string, n int) string {
	if len(t) <= n {
		return t
	}
	for n > 0 && !utf8.RuneStart(t[n]) {
		n--
	}
	return t[:n]
}
