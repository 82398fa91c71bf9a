package assemble

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/schedule"
)

// A world is a session with everything around an assembler: the texts, the
// scheduler, a model that signs its thinking, and a provider that is strict.
type world struct {
	t      failer
	pieces []Piece
	blocks []schedule.Block
	sched  *schedule.Scheduler
	asm    *Assembler
	strict strict
	head   Head
	moment schedule.Moment

	page     quire.PageNumber
	uses     int
	replies  int
	gone     map[int]bool // blocks that were rewound
	notices  int
	call     quire.Call
	plan     schedule.Plan
	prompt   digest   // of the last call
	prefixes []digest // of its blocks
	fold     func(schedule.Span) string
}

type failer interface {
	Fatalf(format string, args ...any)
	Helper()
}

func frame(source, text string) string {
	return fmt.Sprintf("<data from=%q>\n%s\n</data>", source, text)
}

func newWorld(t failer, set schedule.Settings, table *schedule.Table) *world {
	w := &world{t: t, gone: map[int]bool{}, strict: strict{images: 100, imageSide: 8000}}
	set.Table = table
	w.sched = schedule.New(set, forms{w})
	w.asm = New(w, frame)
	profile, _ := price.ProfileByName("claude-new")
	w.head = Head{
		Model: "m", Recall: "recall",
		Tools:  []quire.ToolSpec{{Name: "Read"}, {Name: "recall", Description: "reads pages back"}},
		System: []quire.Block{{Part: quire.Part{Kind: quire.PartSystem, Text: "You are an agent."}}},
		Rules:  Rules{Rules: profile.Rules, Bound: true},
		Limits: Limits{Images: 100, ImageSide: 8000},
	}
	if set.Window > 0 {
		w.head.Limits.Window = set.Window + 500
	}
	w.moment = schedule.Moment{Prices: price.Prices{Input: 1, Read: .1, Write: 1.25, Output: 5}, Write: 1.25}
	return w
}

func (w *world) Block(i int) (Piece, error) {
	if i < 0 || i >= len(w.pieces) {
		return Piece{}, errors.New("no such block")
	}
	return w.pieces[i], nil
}

func (w *world) Lowered(i int, form quire.Rendition) (string, error) {
	p := w.pieces[i]
	if form == quire.RenditionHandle {
		return fmt.Sprintf("[%s: recall %s]", p.Page, p.Page), nil
	}
	return fmt.Sprintf("%s %s: %.20q", p.Page, form, p.Text), nil
}

func (w *world) Fold(s schedule.Span) (string, error) {
	if w.fold != nil {
		return w.fold(s), nil
	}
	return fmt.Sprintf("turns %d to %d: %s–%s", s.First, s.Last, s.FirstPage, s.LastPage), nil
}

// size is the tokens of a text: not those of any model, but always the same.
func size(text string) int { return len(text)/4 + 1 }

// forms answers the scheduler from the same texts.
type forms struct{ w *world }

func (f forms) Size(i int, form quire.Rendition) int {
	if p := f.w.pieces[i]; p.call() {
		return size(Arguments(p.Text, p.Page, "recall"))
	}
	text, _ := f.w.Lowered(i, form)
	return size(text)
}

func (f forms) Fold(s schedule.Span) int {
	text, _ := f.w.Fold(s)
	return size(text)
}

// enter puts a piece into the stream.
func (w *world) enter(p Piece, by int, page quire.Page) int {
	tokens := size(p.Text)
	if p.media() {
		tokens = 800
	}
	page.Number = p.Page
	page.Tokens = tokens
	b := schedule.Block{Page: page, Part: p.Kind, Tokens: tokens, Call: w.moment.Call, By: by, Turn: w.moment.Turn, Fixed: p.Opaque != nil}
	w.pieces, w.blocks = append(w.pieces, p), append(w.blocks, b)
	return w.sched.Enter(b)
}

func (w *world) newPage() quire.PageNumber { w.page++; return w.page }

// user begins a turn.
func (w *world) user(text string) int {
	if len(w.pieces) > 0 {
		w.moment.Turn++
	}
	n := w.newPage()
	return w.enter(Piece{Block: quire.Block{Part: quire.Part{Kind: quire.PartUser, Text: text}}, Role: quire.RoleUser, Page: n}, -1, quire.Page{Kind: quire.PageUser})
}

// machine enters a text in the user's role that a machine made.
func (w *world) machine(text string) int {
	return w.enter(Piece{Block: quire.Block{Part: quire.Part{Kind: quire.PartMachine, Text: text}}, Role: quire.RoleUser, Page: w.newPage()}, -1, quire.Page{Kind: quire.PageMachine})
}

func (w *world) image(width int, use string) int {
	media := &quire.Media{Type: "image/png", Bytes: 90, Width: width, Height: 10}
	p := Piece{Block: quire.Block{Part: quire.Part{Kind: quire.PartImage, Media: media, Data: strings.Repeat("x", 90), ToolUse: use}}, Role: quire.RoleUser, Page: w.newPage()}
	page := quire.Page{Kind: quire.PageImage, Class: quire.ClassImage}
	if use != "" {
		p.Role, page.Tool = quire.RoleTool, "Read"
	}
	return w.enter(p, -1, page)
}

// A tool is a call that the model makes, and what comes back.
type tool struct {
	args, result string
	image        bool
	action       quire.Action
}

// reply enters what the model answers to the last call, with the results.
func (w *world) reply(thinks bool, text string, server bool, tools ...tool) {
	w.replies++
	id := fmt.Sprintf("r%d", w.replies)
	d := w.prompt
	say := func(p quire.Block, page quire.PageNumber, kind quire.PageKind, action quire.Action) {
		d = digestBlock(d, quire.RoleAssistant, p)
		w.enter(Piece{Block: p, Role: quire.RoleAssistant, Response: id, Page: page}, w.moment.Call-1, quire.Page{Kind: kind, Action: action, Tool: p.Tool})
	}
	if thinks {
		say(quire.Block{Part: quire.Part{Kind: quire.PartThinking, Text: "thought " + id}, Signature: string(d)}, 0, quire.PageAssistant, "")
	}
	if server {
		use := "srv" + id
		say(quire.Block{Opaque: []byte(`{"type":"server_tool_use"}`), Part: quire.Part{ToolUse: use}}, 0, quire.PageAssistant, "")
		say(quire.Block{Opaque: []byte(`{"type":"server_tool_result"}`), Part: quire.Part{ToolUse: use}}, 0, quire.PageAssistant, "")
	}
	if text != "" {
		say(quire.Block{Part: quire.Part{Kind: quire.PartText, Text: text}}, w.newPage(), quire.PageAssistant, "")
	}
	uses, pages := make([]string, len(tools)), make([]quire.PageNumber, len(tools))
	for i, tl := range tools {
		w.uses++
		uses[i], pages[i] = fmt.Sprintf("u%d", w.uses), w.newPage()
		say(quire.Block{Part: quire.Part{Kind: quire.PartToolCall, Tool: "Read", ToolUse: uses[i], Text: tl.args}}, pages[i], quire.PageTool, tl.action)
	}
	for i, tl := range tools {
		w.result(uses[i], pages[i], tl)
	}
}

func (w *world) result(use string, page quire.PageNumber, tl tool) {
	w.enter(Piece{Block: quire.Block{Part: quire.Part{Kind: quire.PartToolResult, Tool: "Read", ToolUse: use, Text: tl.result}}, Role: quire.RoleTool, Page: page},
		-1, quire.Page{Kind: quire.PageTool, Tool: "Read", Action: tl.action})
	if tl.image {
		w.image(100, use)
	}
}

// try plans and assembles a call.
func (w *world) try() error {
	w.plan = w.sched.Plan(w.moment)
	var err error
	w.call, err = w.asm.Assemble(w.plan, w.head)
	return err
}

// send makes a call that must succeed, and looks at it from all sides.
func (w *world) send() {
	w.t.Helper()
	if err := w.try(); err != nil {
		w.t.Fatalf("call %d (%s): %v", w.moment.Call, w.plan.Kind, err)
	}
	w.judge()
}

func (w *world) judge() {
	w.t.Helper()
	if why := w.strict.refuses(&w.call); why != "" {
		w.t.Fatalf("call %d (%s): refused: %s\n%s", w.moment.Call, w.plan.Kind, why, dump(&w.call))
	}
	w.extends()
	if w.plan.Kind != "" {
		w.reachable()
	}
	w.verbatim()
	w.moment.Call++
	w.moment.Cold, w.head.Renewed, w.head.Notices = "", false, nil
}

// extends holds I1 by the bytes of the prompts alone.
func (w *world) extends() {
	whole, each := digestCall(&w.call)
	if w.plan.Kind == "" && !w.head.Renewed && len(w.prefixes) > 0 {
		n := len(w.prefixes)
		if len(each) < n || each[n-1] != w.prefixes[n-1] {
			w.t.Fatalf("call %d does not extend the one before", w.moment.Call)
		}
	}
	w.prompt, w.prefixes = whole, each
}

// reachable holds that each byte that entered stands in the call, or its page is
// named there, or a fold names pages around it.
func (w *world) reachable() {
	text := textOf(&w.call)
	folded := func(i int) bool {
		for _, p := range w.sched.Stream() {
			if fold, _ := w.Fold(p.Span); p.Block < 0 && p.Span.FirstPage <= w.pieces[i].Page && w.pieces[i].Page <= p.Span.LastPage && strings.Contains(text, fold) {
				return true
			}
		}
		return false
	}
	for i, p := range w.pieces {
		if w.gone[i] || p.Page == 0 || strings.TrimSpace(p.Text) == "" && !p.media() {
			continue
		}
		if !p.media() && strings.Contains(text, p.Text) || names(text, p.Page) || folded(i) || p.media() && w.stands(i) {
			continue
		}
		w.t.Fatalf("call %d: block %d (%s, %s) is neither shown nor named\n%s", w.moment.Call, i, p.Kind, p.Page, dump(&w.call))
	}
}

func (w *world) stands(i int) bool {
	for _, p := range w.sched.Stream() {
		if p.Block == i && p.Form == quire.RenditionFull {
			return true
		}
	}
	return false
}

// verbatim holds that the last user message is a block of its own, word for word.
func (w *world) verbatim() {
	last := -1
	for i, p := range w.pieces {
		if !w.gone[i] && p.Kind == quire.PartUser {
			last = i
		}
	}
	if last < 0 {
		return
	}
	for _, m := range w.call.Messages {
		for _, b := range m.Blocks {
			if m.Role == quire.RoleUser && b.Kind == quire.PartUser && b.Text == w.pieces[last].Text {
				return
			}
		}
	}
	w.t.Fatalf("call %d: the last user message is not word for word", w.moment.Call)
}

// rewind takes the session back to before a block.
func (w *world) rewind(keep int) {
	for i := keep; i < len(w.pieces); i++ {
		w.gone[i] = true
	}
	w.sched.Rewind(keep)
}

func textOf(c *quire.Call) string {
	var b strings.Builder
	var add func(list []quire.Block)
	add = func(list []quire.Block) {
		for _, x := range list {
			b.WriteString(x.Text + "\x00")
			add(x.Content)
		}
	}
	for _, m := range c.Messages {
		add(m.Blocks)
	}
	return b.String()
}

// dump is a call as a test failure shows it.
func dump(c *quire.Call) string {
	var b strings.Builder
	for i, m := range c.Messages {
		fmt.Fprintf(&b, "%d %s\n", i, m.Role)
		for _, x := range m.Blocks {
			fmt.Fprintf(&b, "    %s %s %.60q %d mark=%d\n", x.Kind, x.ToolUse, x.Text, len(x.Content), x.Cache)
		}
	}
	return b.String()
}

// table is one in which what is idle for long is not needed.
func table(chance float64) *schedule.Table {
	var f schedule.Fit
	for i := range 200 {
		hit := float64(i) < 200*chance
		f.Seen(schedule.Case{Kind: schedule.KindResult, Idle: 1 + i%60, Size: uint8(i % 7)}, hit, hit)
	}
	return f.Table("test")
}

// full places blocks in full.
func full(blocks ...int) (out []schedule.Placed) {
	for _, b := range blocks {
		out = append(out, schedule.Placed{Block: b, Form: quire.RenditionFull, Tokens: 10})
	}
	return out
}

// fold places a fold of blocks first to last.
func (w *world) folded(first, last int) schedule.Placed {
	s := schedule.Span{FirstBlock: first, LastBlock: last, FirstPage: w.pieces[first].Page, LastPage: w.pieces[last].Page, Level: 1}
	return schedule.Placed{Block: -1, Form: quire.RenditionCard, Tokens: 10, Span: s}
}

// give assembles a plan that no scheduler made, and lets the strict provider see
// the call.
func (w *world) give(p schedule.Plan) error {
	w.plan = p
	var err error
	if w.call, err = w.asm.Assemble(p, w.head); err != nil {
		return err
	}
	if why := w.strict.refuses(&w.call); why != "" {
		w.t.Fatalf("refused: %s\n%s", why, dump(&w.call))
	}
	w.prompt, w.prefixes = digestCall(&w.call)
	w.moment.Call++
	return nil
}

// must fails the test on an error.
func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatalf("%v", err)
	}
}

// count is how many blocks of a call a test of them takes.
func count(c *quire.Call, is func(role quire.Role, b *quire.Block) bool) (n int) {
	for _, m := range c.Messages {
		for i := range m.Blocks {
			if is(m.Role, &m.Blocks[i]) {
				n++
			}
		}
	}
	return n
}

func broke(t *testing.T, err error, want Invariant) *Error {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) || e.Invariant != want {
		t.Fatalf("got %v, want an error of %s", err, want)
	}
	return e
}
