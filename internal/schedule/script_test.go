package schedule

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/quire"
)

var update = flag.Bool("update", false, "write what the scripts answer into testdata")

// A script plays a stream from text. Lines that begin with "|" are what it
// answered to the line before them; all others are its commands:
//
//	set KEY=VALUE …       settings, sizes of forms, chances; before anything else
//	user N                a user message begins a turn
//	more N                a user message within the turn
//	think N, text N       of the model
//	tool ACTION TARGET ARGS RESULT [fixed]
//	calls N               that many reads of one response, then all results
//	image N, note N       an image and a line of ours
//	refer P, pin P [CALL], unpin P, drop P, back BLOCK, rewind BLOCK, undo EPOCH
//	plan [KEY=VALUE …]    the next call: cold, account, prefix, ends, least, step
//	weigh BLOCK, heat P, restored EPOCH, lowered BLOCK, epochs
type script struct {
	t       *testing.T
	set     Settings
	handle  int
	card    int
	fold    int
	wider   int // tokens of a fold for each turn
	s       *Scheduler
	page    quire.PageNumber
	call    int
	turn    int
	now     Moment
	out     strings.Builder
	chances [2]float64
}

func (x *script) Size(_ int, form quire.Rendition) int {
	if form == quire.RenditionHandle {
		return x.handle
	}
	return x.card
}

func (x *script) Fold(s Span) int { return x.fold + x.wider*(s.Last-s.First) }

// flat is a table in which every block is as likely to be needed as any other.
func flat(strict, wide float64) *Table {
	t := &Table{Strict: neutral(), Wide: neutral()}
	for k := range kinds {
		for q := range quotings {
			t.Strict.Kind[k][q], t.Wide.Kind[k][q] = strict, wide
		}
	}
	return t
}

func TestScripts(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) { runScript(t, file) })
	}
}

func runScript(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	x := newScript(t)
	for line := range strings.Lines(strings.ReplaceAll(string(text), "\r\n", "\n")) {
		if strings.HasPrefix(line, "|") {
			continue
		}
		out.WriteString(line)
		if strings.HasPrefix(line, "---") { // the next case
			x = newScript(t)
			continue
		}
		x.out.Reset()
		x.do(strings.Fields(line))
		out.WriteString(x.out.String())
	}
	if *update {
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got, want := out.String(), strings.ReplaceAll(string(text), "\r\n", "\n"); got != want {
		t.Fatalf("%s: the first difference is at\n%s", file, difference(got, want))
	}
}

func difference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d:\n got %s\nwant %s", i+1, a[i], b[i])
		}
	}
	return "the end"
}

func newScript(t *testing.T) *script {
	return &script{t: t, set: Settings{Care: 1}, handle: 10, card: 5, fold: 20, now: Moment{Prefix: 1000, Prices: claude(), Write: 1.25}}
}

func (x *script) say(format string, args ...any) { fmt.Fprintf(&x.out, "| "+format+"\n", args...) }

func (x *script) int(text string) int {
	n, err := strconv.Atoi(strings.TrimLeft(text, "pb"))
	if err != nil {
		x.t.Fatalf("%q is no number", text)
	}
	return n
}

func (x *script) float(text string) float64 {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		x.t.Fatal(err)
	}
	return f
}

func (x *script) do(words []string) {
	if len(words) == 0 || strings.HasPrefix(words[0], "#") {
		return
	}
	if words[0] == "set" {
		x.settings(words[1:])
		return
	}
	if x.s == nil {
		x.set.Table = flat(x.chances[0], x.chances[1])
		x.s = New(x.set, x)
	}
	if !x.enters(words) && !x.marks(words) && !x.asks(words) {
		x.t.Fatalf("unknown: %v", words)
	}
}

func (x *script) settings(words []string) {
	for _, w := range words {
		key, value, _ := strings.Cut(w, "=")
		into := map[string]*int{"window": &x.set.Window, "room": &x.set.Room, "budget": &x.set.Budget, "notice": &x.set.Notice, "schema": &x.set.Schema, "turn": &x.turn, "handle": &x.handle, "card": &x.card, "fold": &x.fold, "wider": &x.wider}
		floats := map[string]*float64{"care": &x.set.Care, "user": &x.set.User, "strict": &x.chances[0], "wide": &x.chances[1]}
		switch {
		case into[key] != nil:
			*into[key] = x.int(value)
		case floats[key] != nil:
			*floats[key] = x.float(value)
		case key == "paid":
			x.set.Paid = true
		case key == "spare":
			for k := range kinds {
				if strings.ReplaceAll(k.String(), " ", "-") == value {
					x.set.Spared = append(x.set.Spared, k)
				}
			}
		default:
			x.t.Fatalf("unknown setting %s", w)
		}
	}
}

func (x *script) next(p quire.Page) quire.Page {
	x.page++
	p.Number = x.page
	return p
}

func (x *script) enter(b Block) {
	b.Call, b.Turn = x.call, x.turn
	x.s.Enter(b)
}

// enters are the commands that append blocks.
func (x *script) enters(words []string) bool {
	by := x.call - 1
	n := func(i int) int { return x.int(words[i]) }
	switch words[0] {
	case "user", "more":
		if words[0] == "user" && x.page > 0 {
			x.turn++
		}
		x.enter(Block{Page: x.next(quire.Page{Kind: quire.PageUser}), Part: quire.PartUser, Tokens: n(1), By: -1})
	case "think":
		x.enter(Block{Part: quire.PartThinking, Tokens: n(1), By: by})
	case "text":
		x.enter(Block{Page: x.next(quire.Page{}), Part: quire.PartText, Tokens: n(1), By: by})
	case "note":
		x.enter(Block{Part: quire.PartMachine, Tokens: n(1), By: -1})
	case "image":
		x.enter(Block{Page: x.next(quire.Page{Tool: "view"}), Part: quire.PartImage, Tokens: n(1), By: -1})
	case "tool":
		p := x.next(tool(words[1], words[2]))
		fixed := len(words) > 5
		x.enter(Block{Page: p, Part: quire.PartToolCall, Tokens: n(3), By: by, Fixed: fixed})
		x.enter(Block{Page: p, Part: quire.PartToolResult, Tokens: n(4), By: -1, Fixed: fixed})
	case "calls":
		var pages []quire.Page
		for range n(1) {
			p := x.next(tool("read", "a.go"))
			pages = append(pages, p)
			x.enter(Block{Page: p, Part: quire.PartToolCall, Tokens: 10, By: by})
		}
		for _, p := range pages {
			x.enter(Block{Page: p, Part: quire.PartToolResult, Tokens: 100, By: -1})
		}
	default:
		return false
	}
	return true
}

func tool(action, target string) quire.Page {
	p := quire.Page{Tool: action, Action: quire.Action(action), Target: target, Class: quire.ClassSource}
	if p.Action == quire.ActionEdit || p.Action == quire.ActionWrite {
		p.Kind = quire.PageWritten
	}
	return p
}

// marks are the commands of what happened to pages.
func (x *script) marks(words []string) bool {
	known := []string{"refer", "pin", "unpin", "drop", "back", "rewind", "undo"}
	if !slices.Contains(known, words[0]) {
		return false
	}
	n := x.int(words[1])
	page := quire.PageNumber(n)
	switch words[0] {
	case "refer":
		x.s.Refer(page, x.call-1, x.turn)
	case "pin":
		until := 0
		if len(words) > 2 {
			until = x.int(words[2])
		}
		x.s.Pin(page, until)
	case "unpin":
		x.s.Unpin(page)
	case "drop":
		x.s.Drop(page)
	case "back":
		x.s.PageIn(n)
	case "rewind":
		x.s.Rewind(n)
	case "undo":
		x.say("%v", x.s.Undo(n))
	}
	return true
}

// asks are the commands that answer.
func (x *script) asks(words []string) bool {
	switch words[0] {
	case "plan":
		x.plan(words[1:])
	case "weigh":
		d := x.s.Weigh(x.int(words[1]), x.moment())
		x.say("%v: %s → %s %d: %s (carry %.1f, chance %.3f, strict %.3f, miss %.1f)", d.Page, d.From, d.To, d.Tokens, d.Reason, d.Carry, d.Chance, d.Strict, d.Miss)
	case "heat":
		x.say("%.3f", x.s.Heat(quire.PageNumber(x.int(words[1])), x.call))
	case "restored":
		tokens, kept, ok := x.s.Restored(x.int(words[1]))
		x.say("%d tokens, of them %d as they stand, %v", tokens, kept, ok)
	case "lowered":
		x.say("%v", x.s.Away(x.int(words[1])))
	case "epochs":
		x.say("%d of %d blocks", x.s.Epochs(), x.s.Blocks())
	default:
		return false
	}
	return true
}

func (x *script) moment() Moment {
	now := x.now
	now.Call, now.Turn = x.call, x.turn
	return now
}

func (x *script) plan(words []string) {
	now := x.moment()
	for _, w := range words {
		key, value, _ := strings.Cut(w, "=")
		switch key {
		case "cold":
			now.Cold = "the cache has lapsed"
		case "account":
			now.Account = x.float(value)
		case "prefix":
			now.Prefix = x.int(value)
		case "ends":
			now.Ends = true
		case "least":
			now.Least = x.int(value)
		case "step":
			now.Step = x.int(value)
		default:
			x.t.Fatalf("unknown: %s", w)
		}
	}
	p := x.s.Plan(now)
	x.say("call %d keeps %d, %d → %d tokens", x.call, p.Keep, p.Before, p.After)
	if p.Kind != "" {
		x.say("%s: %s; price %.2f, saves %.2f, notice %d", p.Kind, p.Reason, p.Price, p.Saves, p.Notice)
	}
	for _, d := range p.Decisions {
		x.say("  %v %s %d → %s %d: %s", d.Page, d.From, d.Was, d.To, d.Tokens, d.Reason)
	}
	var stream strings.Builder
	for _, q := range x.s.Stream() {
		stream.WriteString(" " + place(q))
	}
	x.say("=%s", stream.String())
	x.call++
}

func place(q Placed) string {
	if q.Block >= 0 {
		text := "b" + strconv.Itoa(q.Block)
		if q.Form != quire.RenditionFull {
			text += ":" + string(q.Form)
		}
		return text
	}
	s := q.Span
	return fmt.Sprintf("[turns %d-%d, b%d-b%d, %v-%v, level %d, %d tokens]", s.First, s.Last, s.FirstBlock, s.LastBlock, s.FirstPage, s.LastPage, s.Level, q.Tokens)
}
