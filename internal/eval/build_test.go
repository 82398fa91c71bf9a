package eval

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/token"
	"github.com/quire-agent/quire/internal/trace"
)

// showItems is the items of a session in short: kind, page, the call that made
// it, the first call that has it.
func showItems(s *Session) string {
	var out []string
	for _, it := range s.Items {
		out = append(out, fmt.Sprintf("%v %v by %d in %d", it.Kind, it.Page, it.By, it.Call))
	}
	return strings.Join(out, "\n")
}

// What a tool returned while the call was still answering belongs behind the
// answer. A call that writes a file shows the page of the content.
func TestItemsStandInPromptOrder(t *testing.T) {
	s := newScript("s", morning()).user("begin").call()
	first := s.use("Read", reading{"/home/ada/a.go"})
	s.result(first, "package a")
	second := s.use("Write", writing{"/home/ada/b.go", "package b"})
	s.text("and so on").result(second, "written").call().answer(quire.Part{Kind: quire.PartThinking, Text: "hm"})
	got := showItems(build(t, newCounter(t), s))
	want := `user p1 by -1 in 0
tool call p2 by 0 in 1
tool call p4 by 0 in 1
text p5 by 0 in 1
tool result p2 by -1 in 1
tool result p3 by -1 in 1
thinking p0 by 1 in 2`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestTurnsAndHints(t *testing.T) {
	s := newScript("s", morning()).user("\n  first words\nmore").user("second words").call().text("I see.").call()
	s.user(strings.Repeat("é", 100)).call().enter(quire.Part{Kind: quire.PartMachine, Text: "a reminder"}).call()
	var got []string
	for _, c := range build(t, newCounter(t), s).Calls {
		got = append(got, fmt.Sprintf("%d %s", c.Turn, c.Hint))
	}
	want := []string{"0 first words", "0 ", "1 " + strings.Repeat("é", 60), "1 "}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A request starts when the last of its inputs is there, not when the answer
// begins, and no call goes back in time.
func TestRequestTimes(t *testing.T) {
	s := newScript("s", morning()).user("a").pause(time.Minute).call() // asked a minute ago
	s.pause(time.Hour).call()                                          // nothing entered
	s.pause(time.Minute).user("b").pause(-2 * time.Hour).call()        // answered before it was asked
	b := newScript("t", time.Time{})
	b.call().call()
	c := newCounter(t)
	var got []string
	for _, call := range build(t, c, s).Calls {
		got = append(got, call.At.Sub(morning()).String())
	}
	if want := []string{"0s", "1h1m2s", "1h1m2s"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	joined := build(t, c, s, b)
	if !joined.Calls[3].At.Equal(joined.Calls[2].At) {
		t.Errorf("a call without a time was made at %v, the one before at %v", joined.Calls[3].At, joined.Calls[2].At)
	}
}

func TestRewindsCutWhatFollows(t *testing.T) {
	c := newCounter(t)
	said := func() *script { // nodes 0…3, items 0…3
		return newScript("s", morning()).user("zero").call().text("one").user("two").call().text("three")
	}
	tests := []struct {
		name string
		keep int
		want int32 // items that stay
	}{
		{"to the beginning", -1, 0}, {"to the first", 0, 1}, {"in the middle", 1, 2}, {"nothing", 3, 4}, {"beyond the end", 9, 4},
	}
	for _, tt := range tests {
		s := said()
		s.add(quire.Rewound{Stamp: s.stamp(), Keep: tt.keep}).user("again").call()
		got := build(t, c, s).Cuts
		if len(got) != 1 || !got[0].Rewind || got[0].Keep != tt.want || got[0].Item != 4 || got[0].Call != 2 {
			t.Errorf("%s: got %+v, want %d items to stay", tt.name, got, tt.want)
		}
	}
	// In a joined session a rewind stops where its own recorded session begins.
	second := newScript("t", morning()).user("zero")
	second.add(quire.Rewound{Keep: -1}).user("again").call()
	if got := build(t, c, said(), second).Cuts; len(got) != 1 || got[0].Keep != 4 {
		t.Errorf("joined: got %+v, want four items to stay", got)
	}
	// A result that came before the last part of the answer stands behind it.
	early := newScript("e", morning()).user("zero").call()
	early.result("none", "result").text("answer")
	early.add(quire.Rewound{Keep: 2}).call()
	if got := build(t, c, early).Cuts; len(got) != 1 || got[0].Keep != 3 {
		t.Errorf("early result: got %+v, want three items to stay", got)
	}
}

func TestCompactionsEndStrictNeeds(t *testing.T) {
	c := newCounter(t)
	text := strings.Join(file(0)[:6], "\n")
	for _, tt := range []struct {
		trigger string
		strict  bool
		cuts    int
	}{{"auto", false, 1}, {"micro", true, 0}} {
		s := newScript("s", morning()).user(text).call()
		s.add(quire.Compacted{Stamp: s.stamp(), Trigger: tt.trigger})
		s.enter(quire.Part{Kind: quire.PartMachine, Origin: quire.OriginSummary, Text: "they talked"}).call().text(text)
		got := build(t, c, s)
		if len(got.Needs) != 1 || got.Needs[0].Strict != tt.strict || len(got.Cuts) != tt.cuts {
			t.Errorf("%s: needs %+v, cuts %+v", tt.trigger, got.Needs, got.Cuts)
		}
	}
}

// What a harness puts back may be shortened. It is no page of its own and does
// not change the one that it is a copy of.
func TestCopiesLeaveTheOriginal(t *testing.T) {
	s := newScript("s", morning()).user("begin").call()
	id := s.use("Read", reading{"/a.go"})
	s.result(id, "the whole text").call()
	s.add(quire.Compacted{Trigger: "auto"})
	s.enter(quire.Part{Kind: quire.PartToolResult, Origin: quire.OriginReinjected, ToolUse: id, Text: "the who"}).call()
	got := build(t, newCounter(t), s)
	if p := got.Pages[1]; p.Bytes != len("the whole text") || p.Call != 1 || got.pageItem[1] != 2 || got.Items[3].Page != 2 {
		t.Errorf("page %+v in item %d, the copy shows %v", p, got.pageItem[1], got.Items[3].Page)
	}
	checkSession(t, got)
}

// A recorded session that is joined serves no strict need of the next one.
func TestJoinedSessionsAreApart(t *testing.T) {
	text := strings.Join(file(0)[:6], "\n")
	a := newScript("a", morning()).user(text).call().text("yes")
	b := newScript("b", morning().Add(time.Hour)).user("hello").call().text(text)
	s := build(t, newCounter(t), a, b)
	if want := []Start{{0, 0}, {1, 2}}; !slices.Equal(s.Starts, want) {
		t.Errorf("starts %v, want %v", s.Starts, want)
	}
	if len(s.Needs) != 1 || s.Needs[0].Strict || s.Needs[0].Call != 1 {
		t.Errorf("needs %+v", s.Needs)
	}
	if s.Info.ID != "a" {
		t.Errorf("id %q", s.Info.ID)
	}
	for _, tt := range []struct {
		starts []Start
		call   int
		want   int32
		ok     bool
	}{
		{s.Starts, 0, 0, true}, {s.Starts, 1, 2, true}, {s.Starts, 2, 0, false}, {nil, 0, 0, false},
		{[]Start{{0, 0}, {3, 5}, {3, 7}}, 3, 7, true}, // the second made no call
	} {
		got, ok := (&Session{Starts: tt.starts}).startAt(tt.call)
		if got.Item != tt.want || ok != tt.ok {
			t.Errorf("%v: call %d begins %+v, %t", tt.starts, tt.call, got, ok)
		}
	}
}

// The growth from the last prompt of one session to the first of the next says
// nothing about tokens.
func TestJoinTeachesTheFitNothing(t *testing.T) {
	c := newCounter(t)
	sized := func(name string, prompts ...int64) *script {
		s := newScript(name, morning())
		for _, n := range prompts {
			s.user("some words").call().meter(quire.Usage{Input: n, Known: quire.KnownInput})
		}
		return s
	}
	if n := build(t, c, sized("a", 20_000, 20_050), sized("b", 90_000, 90_050)).Counted.Samples; n != 2 {
		t.Errorf("the fit saw %d growths, want 2", n)
	}
}

func TestOutput(t *testing.T) {
	for _, tt := range []struct {
		name     string
		usage    quire.Usage
		estimate int
		want     int
	}{
		{"recorded", quire.Usage{Output: 40, Known: quire.KnownOutput}, 70, 40},
		{"recorded at the start", quire.Usage{Output: 9, Known: quire.KnownOutput | quire.OutputAtStart}, 70, 70},
		{"at the start, and more than the text", quire.Usage{Output: 90, Known: quire.KnownOutput | quire.OutputAtStart}, 70, 90},
		{"not recorded", quire.Usage{}, 70, 70},
		{"nothing", quire.Usage{}, -5, 0},
	} {
		if got := output(&Call{Usage: tt.usage}, tt.estimate); got != tt.want {
			t.Errorf("%s: got %d, want %d", tt.name, got, tt.want)
		}
	}
}

func TestOverhead(t *testing.T) {
	c := newCounter(t)
	plain := build(t, c, newScript("s", morning()).user("hello").call())
	if plain.Overhead != 18_000 || plain.Measured {
		t.Errorf("not recorded: %d, %t", plain.Overhead, plain.Measured)
	}
	s := newScript("s", morning()).enter(quire.Part{Kind: quire.PartSystem, Text: "You keep the books."}).user("hello").call()
	got := build(t, c, s.meter(quire.Usage{Input: 100, CacheRead: 30_000, Known: quire.KnownInput}))
	if want := 30_100 - int(got.Items[1].Tokens); got.Overhead != want || !got.Measured || got.Items[1].Tokens == 0 {
		t.Errorf("recorded: %d, %t, want %d", got.Overhead, got.Measured, want)
	}
}

// Side chains are metered and nothing else.
func TestSideChains(t *testing.T) {
	side := quire.Stamp{At: morning(), Chain: "agent-1"}
	s := newScript("s", morning()).user("begin").call()
	s.model = ""
	s.add(quire.Entered{Stamp: side, Part: quire.Part{Kind: quire.PartUser, Text: "aside"}})
	s.add(quire.Called{Stamp: side, Call: "x", Model: "claude-haiku-4-5"})
	s.add(quire.Answered{Stamp: side, Call: "x", Part: quire.Part{Kind: quire.PartText, Text: strings.Repeat("many words ", 50)}})
	s.add(quire.Answered{Stamp: side, Call: "unknown", Part: quire.Part{Kind: quire.PartText, Text: "lost"}})
	s.add(quire.Metered{Stamp: side, Call: "x", Usage: quire.Usage{Input: 7, Known: quire.KnownInput}})
	s.add(quire.Metered{Stamp: side, Call: "unknown", Usage: quire.Usage{Input: 9}})
	s.add(quire.Compacted{Stamp: side}).add(quire.Rewound{Stamp: side})
	s.add(quire.Skipped{Stamp: quire.Stamp{Line: 3}, Reason: "torn"}).add(quire.Noted{Note: quire.NoteFork}).add(quire.Noted{Note: quire.NoteFork})
	s.call()
	got := build(t, newCounter(t), s)
	if len(got.Items) != 1 || len(got.Cuts) != 0 || len(got.Calls) != 2 || len(got.Side) != 1 {
		t.Fatalf("%d items, %d cuts, %d calls, %d side calls", len(got.Items), len(got.Cuts), len(got.Calls), len(got.Side))
	}
	if c := got.Side[0]; c.ID != "x" || c.Model != "claude-haiku-4-5" || c.Usage.Input != 7 || c.Output < 50 {
		t.Errorf("side call %+v", c)
	}
	if m := got.Calls[1].Model; m != "claude-opus-4-5" {
		t.Errorf("a call that names no model has %q", m)
	}
	if !slices.Equal(got.Skips, []Skip{{3, "torn"}}) || got.Notes[quire.NoteFork] != 2 {
		t.Errorf("skips %v, notes %v", got.Skips, got.Notes)
	}
}

func TestSessionInfoIsAddedTo(t *testing.T) {
	s := newScript("s", morning())
	s.add(quire.Opened{Info: quire.SessionInfo{Branch: "main", Window: 200_000, Started: morning(), Model: "claude-opus-4-5"}})
	s.add(quire.Opened{Info: quire.SessionInfo{Branch: "topic", Version: "2"}})
	s.model = ""
	s.call()
	got := build(t, newCounter(t), s, newScript("t", morning()).add(quire.Opened{Info: quire.SessionInfo{Branch: "other", Parent: "p"}}))
	want := quire.SessionInfo{
		ID: "s", Agent: quire.AgentClaudeCode, Project: "/home/ada/ledger", Branch: "topic", Version: "2", Parent: "p",
		Window: 200_000, Started: morning(), Model: "claude-opus-4-5",
	}
	if got.Info != want || got.Calls[0].Model != "claude-opus-4-5" {
		t.Errorf("got %+v, model %q", got.Info, got.Calls[0].Model)
	}
}

// A read of known lines is a re-read of the call that asked, whenever its result
// comes. A handle of the page with those bytes serves it too, for a fault.
func TestRereads(t *testing.T) {
	text := strings.Join(file(0)[:10], "\n")
	known := strings.Join(append(file(0)[:9:9], "a line that nobody has seen"), "\n")
	s := newScript("s", morning()).user("begin")
	s.round("Read", reading{"/a.go"}, text) // call 0
	s.call()                                // call 1: the result comes after that of call 2
	late := s.use("Read", reading{"/a.go"})
	s.round("Read", reading{"/a.go"}, known) // call 2
	s.result(late, text)
	s.round("Bash", running{"cat /b.go"}, strings.Join(file(1)[:3], "\n")) // call 3: new
	s.call()
	got := build(t, newCounter(t), s)
	var calls []int32
	for _, r := range got.rereads {
		calls = append(calls, r.call)
	}
	if !slices.Equal(calls, []int32{1, 2}) {
		t.Fatalf("re-reads by calls %v, want 1 and 2", calls)
	}
	claude, _ := price.ProfileByName("claude")
	for _, tt := range []struct {
		from       int
		text, both int
	}{{9, 2, 2}, {2, 1, 1}, {1, 0, 1}} {
		out, err := Replay(got, []Policy{handleFrom(tt.from)}, []Setting{UnderProfile(got, claude, 0)})
		if err != nil {
			t.Fatal(err)
		}
		if o := out[0][0]; o.Rereads != 2 || o.ServedText != tt.text || o.Served != tt.both {
			t.Errorf("handle from call %d: %d of %d served by text, %d in all", tt.from, o.ServedText, o.Rereads, o.Served)
		}
	}
}

// handleFrom shows the first result as a handle from some call on.
func handleFrom(call int) Policy {
	return Policy{Name: "handle", Start: func(s *Session, _ Setting) Player {
		return &handler{results: newResults(s, nil), from: call}
	}}
}

type handler struct {
	*results
	from int
}

func (p *handler) Step(k int) Prompt {
	p.see(k)
	if k == p.from {
		p.replace(p.at[p.queue[0]], p.s.handle(p.queue[0]), "handle")
	}
	return p.prompt()
}

func TestBodyOfImage(t *testing.T) {
	m := &quire.Media{Type: "image/png", Hash: quire.Sum("x")}
	for _, tt := range []struct {
		part quire.Part
		want string
	}{
		{quire.Part{Kind: quire.PartImage, Media: m}, "[image/png " + quire.Sum("x").String()[:16] + "]"},
		{quire.Part{Kind: quire.PartImage}, ""},
		{quire.Part{Kind: quire.PartDocument, Media: m, Text: "words"}, "words"},
		{quire.Part{Kind: quire.PartToolCall, Tool: "Bash", Text: `{"command":"a \"b\"","timeout":5}`}, "Bash\na \"b\""},
	} {
		if got := bodyOf(&tt.part); got != tt.want {
			t.Errorf("%+v: got %q, want %q", tt.part, got, tt.want)
		}
	}
}

// claudeLog writes a log of Claude Code: each call quotes half of what it read
// last and reads on.
func claudeLog(t testing.TB, dir, name string, calls int) *trace.Log {
	t.Helper()
	var b strings.Builder
	at := morning()
	line := func(format string, args ...any) {
		at = at.Add(20 * time.Second)
		fmt.Fprintf(&b, `{"isSidechain":false,"sessionId":%q,"cwd":"/home/ada","version":"2","timestamp":%q,`, name, at.Format(time.RFC3339))
		fmt.Fprintf(&b, format+"}\n", args...)
	}
	line(`"type":"user","uuid":"u","message":{"role":"user","content":"check the books"}`)
	for i := range calls {
		text := strings.Join(file(i % 40)[i%20:], "\n")
		line(`"type":"assistant","uuid":"a%[1]d","message":{"role":"assistant","model":"claude-opus-4-5","id":"%[2]s-%[1]d","content":[`+
			`{"type":"text","text":%[3]q},{"type":"tool_use","id":"%[2]s-t%[1]d","name":"Read","input":{"file_path":"/home/ada/%[4]d.go"}}],`+
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

func TestLoad(t *testing.T) {
	l := Loader{Counter: newCounter(t)}
	log := claudeLog(t, t.TempDir(), "one", 30)
	s, err := l.Load(context.Background(), log)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if len(s.Calls) != 30 || len(s.Items) != 1+3*30 || s.Info.ID != "one" || s.Path != log.Path || len(s.Needs) == 0 || s.Counted.Samples == 0 {
		t.Errorf("%d calls, %d items, %d needs, %d samples: %+v", len(s.Calls), len(s.Items), len(s.Needs), s.Counted.Samples, s.Info)
	}
	if s.Counted.Family != token.FamilyClaude || !s.Measured || s.Density <= 0 {
		t.Errorf("family %q, measured %t, density %v", s.Counted.Family, s.Measured, s.Density)
	}
	checkSession(t, s)
}

func TestLoadFails(t *testing.T) {
	l := Loader{Counter: newCounter(t)}
	dir := t.TempDir()
	one, two := claudeLog(t, dir, "one", 2), claudeLog(t, dir, "two", 2)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := l.Load(ctx, one); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), one.Path) {
		t.Errorf("cancelled: %v", err)
	}
	if err := os.Remove(two.Path); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Join(context.Background(), []*trace.Log{one, two}); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), two.Path) {
		t.Errorf("removed: %v", err)
	}
}

// checkSession holds a session to what its fields promise.
func checkSession(t checker, s *Session) {
	t.Helper()
	rising := func(what string, n int, less func(i int) bool) {
		for i := 1; i < n; i++ {
			if less(i) {
				t.Fatalf("%s %d comes before the one in front of it", what, i)
			}
		}
	}
	rising("call", len(s.Calls), func(i int) bool {
		a, b := s.Calls[i-1], s.Calls[i]
		return b.At.Before(a.At) || b.Items < a.Items || b.Turn < a.Turn
	})
	rising("item", len(s.Items), func(i int) bool { return s.Items[i].Call < s.Items[i-1].Call })
	rising("need", len(s.Needs), func(i int) bool { return s.Needs[i].Call < s.Needs[i-1].Call })
	rising("cut", len(s.Cuts), func(i int) bool { return s.Cuts[i].Call < s.Cuts[i-1].Call })
	rising("start", len(s.Starts), func(i int) bool { return s.Starts[i].Call < s.Starts[i-1].Call })
	rising("edit", len(s.edits), func(i int) bool { return s.edits[i].call < s.edits[i-1].call })
	rising("re-read", len(s.rereads), func(i int) bool { return s.rereads[i].call < s.rereads[i-1].call })
	for k, c := range s.Calls {
		if c.Items < 0 || int(c.Items) > len(s.Items) || c.Output < 0 || len(c.Hint) > 120 {
			t.Fatalf("call %d: %+v", k, c)
		}
	}
	checkItems(t, s)
	checkPages(t, s)
}

func checkItems(t checker, s *Session) {
	for i, it := range s.Items {
		if int(it.Page) > len(s.Pages) || it.Page == 0 != (it.Kind == quire.PartThinking) || it.Tokens < 0 {
			t.Fatalf("item %d: %+v", i, it)
		}
		if it.By < -1 || int(it.By) >= len(s.Calls) || int(it.Call) > len(s.Calls) || it.By >= it.Call {
			t.Fatalf("item %d: %+v of %d calls", i, it, len(s.Calls))
		}
		if int(it.Call) < len(s.Calls) && s.Calls[it.Call].Items <= int32(i) || it.Call > 0 && s.Calls[it.Call-1].Items > int32(i) {
			t.Fatalf("item %d is not in the prompt of call %d first", i, it.Call)
		}
		if text, err := s.Bodies.Get(it.Body); err != nil || len(text) != int(it.Bytes) {
			t.Fatalf("item %d: %d bytes, %v", i, len(text), err)
		}
	}
	for _, c := range s.Cuts {
		if c.Keep < 0 || c.Keep > c.Item || int(c.Item) > len(s.Items) || int(c.Call) > len(s.Calls) || !c.Rewind && c.Keep > 0 {
			t.Fatalf("cut %+v", c)
		}
	}
}

func checkPages(t checker, s *Session) {
	if len(s.pageItem) != len(s.Pages) {
		t.Fatalf("%d pages, %d have items", len(s.Pages), len(s.pageItem))
	}
	for i, p := range s.Pages {
		if int(p.Number) != i+1 || int(s.pageItem[i]) >= len(s.Items) || p.Call > len(s.Calls) {
			t.Fatalf("page %d: %+v in item %d", i+1, p, s.pageItem[i])
		}
	}
	for _, n := range s.Needs {
		if n.Page < 1 || int(n.Page) > len(s.Pages) || int(n.Call) >= len(s.Calls) || !n.Wide || n.Strict != (len(n.StrictShingles) > 0) || !slices.IsSorted(n.Shingles) {
			t.Fatalf("need %+v", n)
		}
	}
	if good, err := s.restored(); err != nil || good != 1 {
		t.Fatalf("%v of the pages came back, %v", good, err)
	}
}

// FuzzBuilder feeds arbitrary events, two bytes each, and a text to choose from.
func FuzzBuilder(f *testing.F) {
	text := strings.Join(file(0)[:4], "\n") + strings.Join(file(0)[:3], "\n")
	ordinary := []byte{0, 0, 1, 0, 2, 0, 3, 20, 4, 9, 1, 1, 3, 200, 6, 0, 5, 1}
	f.Add(ordinary, text)
	f.Add([]byte{3, 0, 3, 1, 2, 0, 4, 0}, text)                                                       // answers without a call
	f.Add([]byte{4, 3, 4, 3, 1, 0, 4, 3, 2, 0, 4, 3, 2, 0, 4, 3}, text)                               // results without calls, twice
	f.Add([]byte{0, 0, 1, 0, 1, 0, 1, 0, 5, 0, 5, 0, 3, 5}, "")                                       // one id for all calls, empty texts
	f.Add([]byte{0, 40, 1, 0, 3, 2, 7, 60, 1, 1, 7, 0, 1, 2, 7, 1, 0, 0, 7, 59, 1, 3}, text)          // rewinds anywhere
	f.Add([]byte{0, 0, 1, 0, 2, 0, 8, 0, 8, 1, 2, 0, 1, 1, 8, 2, 0, 0, 4, 0, 9, 0, 9, 0, 1, 2}, text) // compactions and joins
	f.Add([]byte{10, 0, 10, 1, 1, 0, 10, 2, 11, 0, 11, 3, 12, 9, 12, 200, 1, 1}, text)                // media, side chains, pauses
	f.Add([]byte{}, text)
	c, err := token.NewCounter()
	if err != nil {
		f.Fatal(err)
	}
	claude, _ := price.ProfileByName("claude")
	f.Fuzz(func(t *testing.T, ops []byte, text string) {
		if len(ops) > 120 || len(text) > 4_000 {
			t.Skip("long enough already")
		}
		takeAnything(t, c, claude, ops, text)
	})
}

// The same without a fuzzer, a few cases in every run.
func TestBuilderTakesAnything(t *testing.T) {
	c := newCounter(t)
	claude, _ := price.ProfileByName("claude")
	check(t, 100, func(t *rapid.T) {
		ops := rapid.SliceOfN(rapid.Byte(), 0, 120).Draw(t, "ops")
		takeAnything(t, c, claude, ops, strings.Join(file(0)[:4], "\n")+strings.Join(file(0)[:3], "\n"))
	})
}

func takeAnything(t checker, c *token.Counter, p price.Profile, ops []byte, text string) {
	z := fuzzer{b: newBuilder(c), text: text, at: morning()}
	for i := 0; i+1 < len(ops); i += 2 {
		if err := z.step(ops[i], int(ops[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.b.finish(); err != nil {
		t.Fatal(err)
	}
	checkSession(t, z.b.s)
	if _, err := Replay(z.b.s, append(Baselines(200), flipFlop()), []Setting{UnderProfile(z.b.s, p, 200)}); err != nil {
		t.Fatal(err)
	}
}

// A fuzzer turns numbers into events. Nodes, ids and times come as they like.
type fuzzer struct {
	b    *builder
	text string
	at   time.Time
	node int
}

func (z *fuzzer) step(op byte, n int) error {
	stamp := quire.Stamp{At: z.at}
	cut := z.text[:len(z.text)*n/255]
	z.node = (z.node + 1 + n/64*7) % 50
	answer := func(p quire.Part) error {
		return z.b.event(quire.Answered{Stamp: stamp, Call: fmt.Sprint(n % 3), Node: z.node, Part: p})
	}
	enter := func(p quire.Part) error { return z.b.event(quire.Entered{Stamp: stamp, Node: z.node, Part: p}) }
	switch op % 13 {
	case 0:
		return enter(quire.Part{Kind: quire.PartUser, Text: cut})
	case 1:
		return z.b.event(quire.Called{Stamp: stamp, Call: fmt.Sprint(n % 3), Model: []string{"", "claude-opus-4-5", "gpt-5.5"}[n%3]})
	case 2:
		return answer(quire.Part{Kind: quire.PartToolCall, Tool: []string{"Read", "Edit", ""}[n%3], ToolUse: fmt.Sprint(n % 4), Text: cut})
	case 3:
		return answer(quire.Part{Kind: quire.PartKind(n%12 + 1), Text: cut})
	case 4:
		return enter(quire.Part{Kind: quire.PartToolResult, ToolUse: fmt.Sprint(n % 4), Text: cut, IsError: n%2 == 0})
	case 5:
		return z.b.event(quire.Metered{Stamp: stamp, Call: fmt.Sprint(n % 3), Usage: quire.Usage{Input: int64(n) * 100, Output: int64(n), Known: quire.UsageFields(n)}})
	case 6:
		return z.b.event(quire.Opened{Info: quire.SessionInfo{ID: cut, Model: cut, Window: n}})
	case 7:
		return z.b.event(quire.Rewound{Stamp: stamp, Keep: n - 1})
	case 8:
		return z.b.event(quire.Compacted{Stamp: stamp, Trigger: []string{"auto", "micro", ""}[n%3]})
	case 9:
		if err := z.b.flush(); err != nil {
			return err
		}
		z.b.boundary()
		return nil
	case 10:
		return enter(quire.Part{Kind: quire.PartKind(n%12 + 1), Origin: quire.Origin(n % 3), ToolUse: fmt.Sprint(n % 4), Text: cut, Media: &quire.Media{Type: "image/png", Bytes: n, Width: n * 10, Height: n * 10}})
	case 11:
		stamp.Chain = "side"
		return z.b.event([]quire.Event{quire.Called{Stamp: stamp, Call: "x"}, quire.Answered{Stamp: stamp, Call: "x", Part: quire.Part{Text: cut}}, quire.Metered{Stamp: stamp, Call: "y"}}[n%3])
	default:
		z.at = z.at.Add(time.Duration(n-30) * 10 * time.Second)
		return nil
	}
}
