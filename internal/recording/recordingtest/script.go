package recordingtest

import (
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/token"
	"github.com/quire-agent/quire/internal/trace"
)

// A checker is what tests and drawn cases have in common.
type Checker interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
	Errorf(string, ...any)
}

func NewCounter(t testing.TB) *token.Counter {
	t.Helper()
	c, err := token.NewCounter()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A script writes the events of one recorded session, as an importer would.
type Script struct {
	Name   string
	Model  string
	Events []quire.Event
	At     time.Time
	Node   int
	Calls  int
	uses   int
	last   string // id of the last call
}

func NewScript(name string, at time.Time) *Script {
	s := &Script{Name: name, Model: "claude-opus-4-5", At: at}
	return s.Add(quire.Opened{Info: quire.SessionInfo{ID: name, Agent: quire.AgentClaudeCode, Project: "/base/ada/ledger"}})
}

func (s *Script) Add(e quire.Event) *Script {
	s.Events = append(s.Events, e)
	return s
}

func (s *Script) Stamp() quire.Stamp { return quire.Stamp{At: s.At} }

func (s *Script) Pause(d time.Duration) *Script {
	s.At = s.At.Add(d)
	return s
}

func (s *Script) Enter(p quire.Part) *Script {
	s.Add(quire.Entered{Stamp: s.Stamp(), Node: s.Node, Part: p})
	s.Node++
	return s
}

func (s *Script) User(text string) *Script {
	return s.Enter(quire.Part{Kind: quire.PartUser, Text: text})
}

// Call opens a call a second later.
func (s *Script) Call() *Script {
	s.Pause(time.Second)
	s.last = fmt.Sprintf("%s-%d", s.Name, s.Calls)
	s.Calls++
	return s.Add(quire.Called{Stamp: s.Stamp(), Call: s.last, Model: s.Model})
}

func (s *Script) Answer(p quire.Part) *Script {
	s.Add(quire.Answered{Stamp: s.Stamp(), Call: s.last, Node: s.Node, Part: p})
	s.Node++
	return s
}

func (s *Script) Text(text string) *Script {
	return s.Answer(quire.Part{Kind: quire.PartText, Text: text})
}

func (s *Script) Meter(u quire.Usage) *Script {
	return s.Add(quire.Metered{Stamp: s.Stamp(), Call: s.last, Usage: u})
}

// Use answers with a tool call and returns the id that pairs it.
func (s *Script) Use(tool string, args any) string {
	s.uses++
	id := fmt.Sprintf("%s-use-%d", s.Name, s.uses)
	raw, ok := args.(string)
	if !ok {
		data, _ := json.Marshal(args) // of structs of strings
		raw = string(data)
	}
	s.Answer(quire.Part{Kind: quire.PartToolCall, Tool: tool, ToolUse: id, Text: raw})
	return id
}

func (s *Script) Result(id, text string) *Script {
	return s.Enter(quire.Part{Kind: quire.PartToolResult, ToolUse: id, Text: text})
}

// Round is a call that uses a tool, with its result.
func (s *Script) Round(tool string, args any, result string) *Script {
	s.Call()
	return s.Result(s.Use(tool, args), result)
}

// Arguments of the tools.
type (
	Reading struct {
		Path string `json:"file_path"`
	}
	Editing struct {
		Path string `json:"file_path"`
		Old  string `json:"old_string"`
		New  string `json:"new_string"`
	}
	edited struct {
		Path  string `json:"file_path"`
		Edits []hunk `json:"edits"`
	}
	hunk struct {
		Old string `json:"old_string"`
		New string `json:"new_string"`
	}
	Writing struct {
		Path string `json:"file_path"`
		Text string `json:"content"`
	}
	Running struct {
		Command string `json:"command"`
	}
)

func Morning() time.Time { return time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC) }

// File is the text of one of three files of 24 different lines.
func File(n int) []string {
	names := []string{"ledger", "account", "balance", "currency", "statement"}
	lines := make([]string, 24)
	for i := range lines {
		a, b := names[(i+n)%5], names[(i*2+n)%5]
		lines[i] = fmt.Sprintf("\t%s%d := compute(%s, %sTotal%d + offset%d)", a, i, b, a, n*100+i, (i*7+n)%11)
	}
	return lines
}

// An author draws what happens in sessions. What it quotes was there before.
type author struct {
	dice  Dice
	s     *Script
	said  []string // texts that entered or were said
	owed  []string // tool calls whose results come later
	media bool
}

// DrawScripts draws up to three recorded sessions.
func DrawScripts(dice Dice, calls int, rewinds bool) []*Script {
	a := &author{dice: dice}
	var out []*Script
	at := Morning()
	for i := range a.upTo("sessions", 2) + 1 {
		a.s, a.owed = NewScript(fmt.Sprintf("s%d", i), at), nil
		a.session(a.upTo("calls", calls-1)+1, rewinds)
		out = append(out, a.s)
		at = a.s.At.Add(a.idle())
	}
	return out
}

func (a *author) upTo(what string, n int) int { return a.dice(what, n) }

// Dice throw a number from 0 to n, for what is named.
type Dice func(what string, n int) int

// one reports true in one of n cases.
func (a *author) one(n int, what string) bool { return a.upTo(what, n-1) == n-1 }

func (a *author) idle() time.Duration {
	times := []time.Duration{
		0, time.Second, 20 * time.Second, 299 * time.Second, 300 * time.Second, 301 * time.Second, 20 * time.Minute, 7 * time.Hour,
	}
	return times[a.upTo("idle", len(times)-1)]
}

func (a *author) session(calls int, rewinds bool) {
	if a.one(3, "system") {
		a.s.Enter(quire.Part{Kind: quire.PartSystem, Text: "You keep the books."})
	}
	for i := range calls {
		if i == 0 || a.one(4, "speaks") {
			a.s.User(a.keep(a.words()))
		}
		a.between(rewinds)
		a.call()
		if i == 0 {
			a.first()
		}
		a.answer()
	}
}

// first meters the first call: the constant prefix is what its prompt has more
// than its parts.
func (a *author) first() {
	prompts := []int64{0, 900, 3_000, 95_000, 150_000}
	prompt := prompts[a.upTo("recorded prompt", len(prompts)-1)]
	if prompt > 0 {
		a.s.Meter(quire.Usage{Input: prompt, Known: quire.KnownInput})
	}
}

// between is what may happen before a call.
func (a *author) between(rewinds bool) {
	switch a.upTo("between", 9) {
	case 0:
		a.s.Pause(a.idle())
	case 1:
		a.s.Enter(quire.Part{Kind: quire.PartMachine, Text: a.keep(a.passage())})
	case 2:
		a.s.Enter(quire.Part{Kind: quire.PartDocument, Media: &quire.Media{Type: "application/pdf", Pages: a.upTo("pages", 12)}})
	case 3:
		if rewinds {
			a.s.Add(quire.Rewound{Stamp: a.s.Stamp(), Keep: a.upTo("keep", a.s.Node+1) - 1})
		}
	case 4:
		a.compact()
	case 5:
		for _, id := range a.owed {
			a.s.Result(id, a.keep(a.passage()))
		}
		a.owed = nil
	}
}

func (a *author) compact() {
	if a.one(3, "micro") {
		a.s.Add(quire.Compacted{Stamp: a.s.Stamp(), Trigger: "micro"})
		return
	}
	a.s.Add(quire.Compacted{Stamp: a.s.Stamp(), Trigger: "auto"})
	a.s.Enter(quire.Part{Kind: quire.PartMachine, Origin: quire.OriginSummary, Text: a.words()})
	if len(a.said) > 0 && a.one(2, "reinjected") {
		a.s.Enter(quire.Part{Kind: quire.PartMachine, Origin: quire.OriginReinjected, Text: a.said[len(a.said)-1]})
	}
}

func (a *author) call() {
	a.s.Pause(time.Duration(a.upTo("seconds", 3)) * time.Second)
	a.s.Call()
}

func (a *author) answer() {
	if a.one(4, "thinks") {
		a.s.Answer(quire.Part{Kind: quire.PartThinking, Text: a.passage()})
	}
	if a.one(2, "says") {
		a.s.Text(a.keep(a.quote()))
	}
	for range a.upTo("tools", 3) {
		a.tool()
	}
}

func (a *author) tool() {
	var id, result string
	n := a.upTo("file", 2)
	path := fmt.Sprintf("/base/ada/ledger/file%d.go", n)
	switch a.upTo("tool", 5) {
	case 0:
		id, result = a.s.Use("Edit", Editing{path, a.excerpt(n), a.quote()}), "ok"
	case 1:
		id, result = a.s.Use("Write", Writing{path, a.passage()}), "written"
	case 2:
		id, result = a.s.Use("Bash", Running{a.quote()}), a.passage()
	case 3:
		id, result = a.s.Use("MultiEdit", edited{path, []hunk{{a.excerpt(n), a.passage()}, {a.excerpt(n), a.passage()}}}), "ok"
	default:
		id, result = a.s.Use("Read", Reading{path}), a.excerpt(n)
	}
	a.keep(result)
	switch a.upTo("comes", 7) {
	case 0:
		a.owed = append(a.owed, id)
	case 1: // never
	default:
		a.s.Result(id, result)
	}
}

func (a *author) keep(text string) string {
	a.said = append(a.said, text)
	return text
}

// words are new every time, nearly.
func (a *author) words() string {
	n := a.upTo("words", 1000)
	return fmt.Sprintf("please check statement number%d against account%d and explain difference%d", n, n%7, n%13)
}

// excerpt is a part of a file.
func (a *author) excerpt(n int) string {
	lines := File(n)
	from := a.upTo("from", len(lines)-1)
	to := min(from+1+a.upTo("lines", 9), len(lines))
	return strings.Join(lines[from:to], "\n")
}

// passage is text of any kind: part of a file, numbered or not, or new words.
func (a *author) passage() string {
	switch a.upTo("passage", 3) {
	case 0:
		return a.words()
	case 1:
		var b strings.Builder
		for i, l := range strings.Split(a.excerpt(a.upTo("file", 2)), "\n") {
			fmt.Fprintf(&b, "%6d→%s\n", i+1, l)
		}
		return b.String()
	}
	return a.excerpt(a.upTo("file", 2))
}

// quote is a part of what was there before, cut anywhere.
func (a *author) quote() string {
	if len(a.said) == 0 || a.one(4, "new") {
		return a.words()
	}
	text := a.said[a.upTo("source", len(a.said)-1)]
	from := a.upTo("cut", len(text))
	return strings.ToValidUTF8(text[from:min(from+40+a.upTo("length", 400), len(text))], "")
}

// Told yields the events of a script.
func (s *Script) Told() iter.Seq2[quire.Event, error] {
	return func(yield func(quire.Event, error) bool) {
		for _, e := range s.Events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// Renamed is a script whose files have other names of the same length.
func (s *Script) Renamed(old, name string) *Script {
	other := *s
	other.Events = nil
	for _, e := range s.Events {
		switch e := e.(type) {
		case quire.Entered:
			e.Part.Text = strings.ReplaceAll(e.Part.Text, old, name)
			other.Events = append(other.Events, e)
		case quire.Answered:
			e.Part.Text = strings.ReplaceAll(e.Part.Text, old, name)
			other.Events = append(other.Events, e)
		default:
			other.Events = append(other.Events, e)
		}
	}
	return &other
}

// Split is a script as two journals: what belongs to the calls before one, and
// the rest.
func (s *Script) Split(call int) []*Script {
	at := len(s.Until(call).Events)
	for at > 1 && opensTurn(s.Events[at-1]) {
		at--
	}
	first, second := *s, *s
	first.Events = s.Events[:at]
	second.Events = append(s.Events[:1:1], s.Events[max(at, 1):]...)
	return []*Script{&first, &second}
}

// opensTurn reports whether an event is what a call answers to, and not what a
// tool returned.
func opensTurn(e quire.Event) bool {
	in, ok := e.(quire.Entered)
	return ok && in.Part.Kind != quire.PartToolResult
}

// Until cuts a script off before call n; there are that many calls in it at most.
func (s *Script) Until(n int) *Script {
	short := *s
	for i, e := range s.Events {
		if _, ok := e.(quire.Called); !ok {
			continue
		}
		if n--; n < 0 {
			short.Events = s.Events[:i]
			break
		}
	}
	return &short
}

// Busy reads, quotes and edits.
func Busy(name string, rounds, n int) *Script {
	s := NewScript(name, Morning()).User("look at the ledger")
	for i := range rounds {
		lines := File(n)[i%12:]
		if i%7 == 6 {
			s.Pause(10 * time.Minute).User("go on")
		}
		s.Round("Read", Reading{"/base/ada/ledger.go"}, strings.Join(lines, "\n"))
		s.Call().Text(strings.Join(File(n)[i%20:i%20+3], "\n"))
		s.Result(s.Use("Edit", Editing{"/base/ada/ledger.go", lines[0], lines[0] + " // changed"}), "ok")
	}
	return s.Call()
}

// ClaudeLog writes a log of Claude Code: each call quotes half of what it read
// last and reads on.
func ClaudeLog(t testing.TB, dir, name string, calls int) *trace.Log {
	t.Helper()
	var b strings.Builder
	at := Morning()
	line := func(format string, args ...any) {
		at = at.Add(20 * time.Second)
		fmt.Fprintf(&b, `{"isSidechain":false,"sessionId":%q,"cwd":"/base/ada","version":"2","timestamp":%q,`, name, at.Format(time.RFC3339))
		fmt.Fprintf(&b, format+"}\n", args...)
	}
	line(`"type":"user","uuid":"u","message":{"role":"user","content":"check the books"}`)
	for i := range calls {
		text := strings.Join(File(i % 40)[i%20:], "\n")
		line(`"type":"assistant","uuid":"a%[1]d","message":{"role":"assistant","model":"claude-opus-4-5","id":"%[2]s-%[1]d","content":[`+
			`{"type":"text","text":%[3]q},{"type":"tool_use","id":"%[2]s-t%[1]d","name":"Read","input":{"file_path":"/base/ada/%[4]d.go"}}],`+
			`"usage":{"input_tokens":%[5]d,"output_tokens":9}}`, i, name, text[:len(text)/2], i%40, 20_000+600*i)
		line(`"type":"user","uuid":"r%[1]d","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"%[2]s-t%[1]d","content":%[3]q}]}`, i, name, text)
	}
	path := filepath.Join(dir, name+".jsonl")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	logs, err := trace.Open(path)
	if err != nil || len(logs) != 1 {
		t.Fatalf("%d logs, %v", len(logs), err)
	}
	return logs[0]
}

// SomeText is what events made of bytes choose from.
func SomeText() string {
	return strings.Join(File(0)[:4], "\n") + strings.Join(File(0)[:3], "\n")
}

// Anything makes the events of logs out of bytes, two each, and a text to choose
// from.
func Anything(ops []byte, text string) [][]quire.Event {
	z := fuzzer{logs: make([][]quire.Event, 1), text: text, at: Morning()}
	for i := 0; i+1 < len(ops); i += 2 {
		z.step(ops[i], int(ops[i+1]))
	}
	return z.logs
}

func (z *fuzzer) add(e quire.Event) {
	n := len(z.logs) - 1
	z.logs[n] = append(z.logs[n], e)
}

// A fuzzer turns numbers into events. Nodes, ids and times come as they like.
type fuzzer struct {
	logs [][]quire.Event
	text string
	at   time.Time
	node int
}

func (z *fuzzer) step(op byte, n int) {
	stamp := quire.Stamp{At: z.at}
	cut := z.text[:len(z.text)*n/255]
	z.node = (z.node + 1 + n/64*7) % 50
	answer := func(p quire.Part) {
		z.add(quire.Answered{Stamp: stamp, Call: fmt.Sprint(n % 3), Node: z.node, Part: p})
	}
	enter := func(p quire.Part) { z.add(quire.Entered{Stamp: stamp, Node: z.node, Part: p}) }
	switch op % 13 {
	case 0:
		enter(quire.Part{Kind: quire.PartUser, Text: cut})
	case 1:
		z.add(quire.Called{Stamp: stamp, Call: fmt.Sprint(n % 3), Model: []string{"", "claude-opus-4-5", "gpt-5.5"}[n%3]})
	case 2:
		answer(quire.Part{Kind: quire.PartToolCall, Tool: []string{"Read", "Edit", ""}[n%3], ToolUse: fmt.Sprint(n % 4), Text: cut})
	case 3:
		answer(quire.Part{Kind: quire.PartKind(n%12 + 1), Text: cut})
	case 4:
		enter(quire.Part{Kind: quire.PartToolResult, ToolUse: fmt.Sprint(n % 4), Text: cut, IsError: n%2 == 0})
	case 5:
		z.add(quire.Metered{Stamp: stamp, Call: fmt.Sprint(n % 3), Usage: quire.Usage{Input: int64(n) * 100, Output: int64(n), Known: quire.UsageFields(n)}})
	case 6:
		z.add(quire.Opened{Info: quire.SessionInfo{ID: cut, Model: cut, Window: n}})
	case 7:
		z.add(quire.Rewound{Stamp: stamp, Keep: n - 1})
	case 8:
		z.add(quire.Compacted{Stamp: stamp, Trigger: []string{"auto", "micro", ""}[n%3]})
	case 9:
		z.logs = append(z.logs, nil)
	case 10:
		enter(quire.Part{Kind: quire.PartKind(n%12 + 1), Origin: quire.Origin(n % 3), ToolUse: fmt.Sprint(n % 4), Text: cut, Media: &quire.Media{Type: "image/png", Bytes: n, Width: n * 10, Height: n * 10}})
	case 11:
		stamp.Chain = "side"
		z.add([]quire.Event{quire.Called{Stamp: stamp, Call: "x"}, quire.Answered{Stamp: stamp, Call: "x", Part: quire.Part{Text: cut}}, quire.Metered{Stamp: stamp, Call: "y"}}[n%3])
	default:
		z.at = z.at.Add(time.Duration(n-30) * 10 * time.Second)
	}
}
