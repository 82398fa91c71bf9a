package eval

import (
	"encoding/json"
	"flag"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/token"
)

// A checker is what tests and drawn cases have in common.
type checker interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
	Errorf(string, ...any)
}

// check draws n cases, as many as fit the time of the suite. Whoever has more time
// asks for more with -rapid.checks.
func check(t *testing.T, n int, prop func(*rapid.T)) {
	t.Helper()
	f := flag.Lookup("rapid.checks")
	if f.Value.String() == f.DefValue {
		if err := f.Value.Set(strconv.Itoa(n)); err != nil {
			t.Fatal(err)
		}
		defer f.Value.Set(f.DefValue)
	}
	rapid.Check(t, prop)
}

func newCounter(t testing.TB) *token.Counter {
	t.Helper()
	c, err := token.NewCounter()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A script writes the events of one recorded session, as an importer would.
type script struct {
	name   string
	model  string
	events []quire.Event
	at     time.Time
	node   int
	calls  int
	uses   int
	last   string // id of the last call
}

func newScript(name string, at time.Time) *script {
	s := &script{name: name, model: "claude-opus-4-5", at: at}
	return s.add(quire.Opened{Info: quire.SessionInfo{ID: name, Agent: quire.AgentClaudeCode, Project: "/home/ada/ledger"}})
}

func (s *script) add(e quire.Event) *script {
	s.events = append(s.events, e)
	return s
}

func (s *script) stamp() quire.Stamp { return quire.Stamp{At: s.at} }

func (s *script) pause(d time.Duration) *script {
	s.at = s.at.Add(d)
	return s
}

func (s *script) enter(p quire.Part) *script {
	s.add(quire.Entered{Stamp: s.stamp(), Node: s.node, Part: p})
	s.node++
	return s
}

func (s *script) user(text string) *script {
	return s.enter(quire.Part{Kind: quire.PartUser, Text: text})
}

// call opens a call a second later.
func (s *script) call() *script {
	s.pause(time.Second)
	s.last = fmt.Sprintf("%s-%d", s.name, s.calls)
	s.calls++
	return s.add(quire.Called{Stamp: s.stamp(), Call: s.last, Model: s.model})
}

func (s *script) answer(p quire.Part) *script {
	s.add(quire.Answered{Stamp: s.stamp(), Call: s.last, Node: s.node, Part: p})
	s.node++
	return s
}

func (s *script) text(text string) *script {
	return s.answer(quire.Part{Kind: quire.PartText, Text: text})
}

func (s *script) meter(u quire.Usage) *script {
	return s.add(quire.Metered{Stamp: s.stamp(), Call: s.last, Usage: u})
}

// use answers with a tool call and returns the id that pairs it.
func (s *script) use(tool string, args any) string {
	s.uses++
	id := fmt.Sprintf("%s-use-%d", s.name, s.uses)
	raw, ok := args.(string)
	if !ok {
		data, _ := json.Marshal(args) // of structs of strings
		raw = string(data)
	}
	s.answer(quire.Part{Kind: quire.PartToolCall, Tool: tool, ToolUse: id, Text: raw})
	return id
}

func (s *script) result(id, text string) *script {
	return s.enter(quire.Part{Kind: quire.PartToolResult, ToolUse: id, Text: text})
}

// round is a call that uses a tool, with its result.
func (s *script) round(tool string, args any, result string) *script {
	s.call()
	return s.result(s.use(tool, args), result)
}

// Arguments of the tools.
type (
	reading struct {
		Path string `json:"file_path"`
	}
	editing struct {
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
	writing struct {
		Path string `json:"file_path"`
		Text string `json:"content"`
	}
	running struct {
		Command string `json:"command"`
	}
)

// build makes a session of what the scripts say, joined if there are several.
func build(t checker, c *token.Counter, scripts ...*script) *Session {
	t.Helper()
	b := newBuilder(c)
	for i, s := range scripts {
		if i > 0 {
			b.boundary()
		}
		for _, e := range s.events {
			if err := b.event(e); err != nil {
				t.Fatal(err)
			}
		}
		if err := b.flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.finish(); err != nil {
		t.Fatal(err)
	}
	return b.s
}

func morning() time.Time { return time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC) }

// file is the text of one of three files of 24 different lines.
func file(n int) []string {
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
	t     *rapid.T
	s     *script
	said  []string // texts that entered or were said
	owed  []string // tool calls whose results come later
	media bool
}

// drawScripts draws up to three recorded sessions.
func drawScripts(t *rapid.T, calls int, rewinds bool) []*script {
	a := &author{t: t}
	var out []*script
	at := morning()
	for i := range a.upTo("sessions", 2) + 1 {
		a.s, a.owed = newScript(fmt.Sprintf("s%d", i), at), nil
		a.session(a.upTo("calls", calls-1)+1, rewinds)
		out = append(out, a.s)
		at = a.s.at.Add(a.idle())
	}
	return out
}

func (a *author) upTo(what string, n int) int { return rapid.IntRange(0, n).Draw(a.t, what) }

// one reports true in one of n cases.
func (a *author) one(n int, what string) bool { return a.upTo(what, n-1) == n-1 }

func (a *author) idle() time.Duration {
	return rapid.SampledFrom([]time.Duration{
		0, time.Second, 20 * time.Second, 299 * time.Second, 300 * time.Second, 301 * time.Second, 20 * time.Minute, 7 * time.Hour,
	}).Draw(a.t, "idle")
}

func (a *author) session(calls int, rewinds bool) {
	if a.one(3, "system") {
		a.s.enter(quire.Part{Kind: quire.PartSystem, Text: "You keep the books."})
	}
	for i := range calls {
		if i == 0 || a.one(4, "speaks") {
			a.s.user(a.keep(a.words()))
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
	prompt := rapid.SampledFrom([]int64{0, 900, 3_000, 95_000, 150_000}).Draw(a.t, "recorded prompt")
	if prompt > 0 {
		a.s.meter(quire.Usage{Input: prompt, Known: quire.KnownInput})
	}
}

// between is what may happen before a call.
func (a *author) between(rewinds bool) {
	switch a.upTo("between", 9) {
	case 0:
		a.s.pause(a.idle())
	case 1:
		a.s.enter(quire.Part{Kind: quire.PartMachine, Text: a.keep(a.passage())})
	case 2:
		a.s.enter(quire.Part{Kind: quire.PartDocument, Media: &quire.Media{Type: "application/pdf", Pages: a.upTo("pages", 12)}})
	case 3:
		if rewinds {
			a.s.add(quire.Rewound{Stamp: a.s.stamp(), Keep: a.upTo("keep", a.s.node+1) - 1})
		}
	case 4:
		a.compact()
	case 5:
		for _, id := range a.owed {
			a.s.result(id, a.keep(a.passage()))
		}
		a.owed = nil
	}
}

func (a *author) compact() {
	if a.one(3, "micro") {
		a.s.add(quire.Compacted{Stamp: a.s.stamp(), Trigger: "micro"})
		return
	}
	a.s.add(quire.Compacted{Stamp: a.s.stamp(), Trigger: "auto"})
	a.s.enter(quire.Part{Kind: quire.PartMachine, Origin: quire.OriginSummary, Text: a.words()})
	if len(a.said) > 0 && a.one(2, "reinjected") {
		a.s.enter(quire.Part{Kind: quire.PartMachine, Origin: quire.OriginReinjected, Text: a.said[len(a.said)-1]})
	}
}

func (a *author) call() {
	a.s.pause(time.Duration(a.upTo("seconds", 3)) * time.Second)
	a.s.call()
}

func (a *author) answer() {
	if a.one(4, "thinks") {
		a.s.answer(quire.Part{Kind: quire.PartThinking, Text: a.passage()})
	}
	if a.one(2, "says") {
		a.s.text(a.keep(a.quote()))
	}
	for range a.upTo("tools", 3) {
		a.tool()
	}
}

func (a *author) tool() {
	var id, result string
	n := a.upTo("file", 2)
	path := fmt.Sprintf("/home/ada/ledger/file%d.go", n)
	switch a.upTo("tool", 5) {
	case 0:
		id, result = a.s.use("Edit", editing{path, a.excerpt(n), a.quote()}), "ok"
	case 1:
		id, result = a.s.use("Write", writing{path, a.passage()}), "written"
	case 2:
		id, result = a.s.use("Bash", running{a.quote()}), a.passage()
	case 3:
		id, result = a.s.use("MultiEdit", edited{path, []hunk{{a.excerpt(n), a.passage()}, {a.excerpt(n), a.passage()}}}), "ok"
	default:
		id, result = a.s.use("Read", reading{path}), a.excerpt(n)
	}
	a.keep(result)
	switch a.upTo("comes", 7) {
	case 0:
		a.owed = append(a.owed, id)
	case 1: // never
	default:
		a.s.result(id, result)
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
	lines := file(n)
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
