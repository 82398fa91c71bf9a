package recording

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/recording/recordingtest"
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
	s := recordingtest.NewScript("s", recordingtest.Morning()).User("begin").Call()
	first := s.Use("Read", recordingtest.Reading{Path: "/base/ada/a.go"})
	s.Result(first, "package a")
	second := s.Use("Write", recordingtest.Writing{Path: "/base/ada/b.go", Text: "package b"})
	s.Text("and so on").Result(second, "written").Call().Answer(quire.Part{Kind: quire.PartThinking, Text: "hm"})
	got := showItems(build(t, recordingtest.NewCounter(t), s))
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
	s := recordingtest.NewScript("s", recordingtest.Morning()).User("\n  first words\nmore").User("second words").Call().Text("I see.").Call()
	s.User(strings.Repeat("é", 100)).Call().Enter(quire.Part{Kind: quire.PartMachine, Text: "a reminder"}).Call()
	var got []string
	for _, c := range build(t, recordingtest.NewCounter(t), s).Calls {
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
	s := recordingtest.NewScript("s", recordingtest.Morning()).User("a").Pause(time.Minute).Call() // asked a minute ago
	s.Pause(time.Hour).Call()                                                                      // nothing entered
	s.Pause(time.Minute).User("b").Pause(-2 * time.Hour).Call()                                    // answered before it was asked
	b := recordingtest.NewScript("t", time.Time{})
	b.Call().Call()
	c := recordingtest.NewCounter(t)
	var got []string
	for _, call := range build(t, c, s).Calls {
		got = append(got, call.At.Sub(recordingtest.Morning()).String())
	}
	if want := []string{"0s", "1h1m2s", "1h1m2s"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	joined := build(t, c, s, b)
	if !joined.Calls[3].At.Equal(joined.Calls[2].At) {
		t.Errorf("a call without a time was made at %v, the one before at %v", joined.Calls[3].At, joined.Calls[2].At)
	}
}

// A log that begins with a call answers what the log before it ended with; its
// own inputs, if it has any, count alone.
func TestRequestTimesOfJoinedLogs(t *testing.T) {
	c := recordingtest.NewCounter(t)
	for _, tt := range []struct {
		name string
		in   bool
		want time.Duration
	}{{"no input of its own", false, time.Minute + time.Second}, {"an input of its own", true, 6*time.Minute + time.Second}} {
		a := recordingtest.NewScript("a", recordingtest.Morning()).User("a").Call().Pause(time.Minute).User("b")
		b := recordingtest.NewScript("b", a.At.Add(5*time.Minute))
		if tt.in {
			b.User("c")
		}
		s := build(t, c, a, b.Call())
		if got := s.Calls[1].At.Sub(recordingtest.Morning()); got != tt.want {
			t.Errorf("%s: the call was made after %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestRewindsCutWhatFollows(t *testing.T) {
	c := recordingtest.NewCounter(t)
	said := func() *recordingtest.Script { // nodes 0…3, items 0…3
		return recordingtest.NewScript("s", recordingtest.Morning()).User("zero").Call().Text("one").User("two").Call().Text("three")
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
		s.Add(quire.Rewound{Stamp: s.Stamp(), Keep: tt.keep}).User("again").Call()
		got := build(t, c, s).Cuts
		if len(got) != 1 || !got[0].Rewind || got[0].Keep != tt.want || got[0].Item != 4 || got[0].Call != 2 {
			t.Errorf("%s: got %+v, want %d items to stay", tt.name, got, tt.want)
		}
	}
	// In a joined session a rewind stops where its own recorded session begins.
	second := recordingtest.NewScript("t", recordingtest.Morning()).User("zero")
	second.Add(quire.Rewound{Keep: -1}).User("again").Call()
	if got := build(t, c, said(), second).Cuts; len(got) != 1 || got[0].Keep != 4 {
		t.Errorf("joined: got %+v, want four items to stay", got)
	}
	// A result that came before the last part of the answer stands behind it.
	early := recordingtest.NewScript("e", recordingtest.Morning()).User("zero").Call()
	early.Result("none", "result").Text("answer")
	early.Add(quire.Rewound{Keep: 2}).Call()
	if got := build(t, c, early).Cuts; len(got) != 1 || got[0].Keep != 3 {
		t.Errorf("early result: got %+v, want three items to stay", got)
	}
}

func TestCompactionsEndStrictNeeds(t *testing.T) {
	c := recordingtest.NewCounter(t)
	text := strings.Join(recordingtest.File(0)[:6], "\n")
	for _, tt := range []struct {
		trigger string
		strict  bool
		cuts    int
	}{{"auto", false, 1}, {"micro", true, 0}} {
		s := recordingtest.NewScript("s", recordingtest.Morning()).User(text).Call()
		s.Add(quire.Compacted{Stamp: s.Stamp(), Trigger: tt.trigger})
		s.Enter(quire.Part{Kind: quire.PartMachine, Origin: quire.OriginSummary, Text: "they talked"}).Call().Text(text)
		got := build(t, c, s)
		if len(got.Needs) != 1 || got.Needs[0].Strict != tt.strict || len(got.Cuts) != tt.cuts {
			t.Errorf("%s: needs %+v, cuts %+v", tt.trigger, got.Needs, got.Cuts)
		}
	}
}

// What a harness puts back may be shortened. It is no page of its own and does
// not change the one that it is a copy of.
func TestCopiesLeaveTheOriginal(t *testing.T) {
	s := recordingtest.NewScript("s", recordingtest.Morning()).User("begin").Call()
	id := s.Use("Read", recordingtest.Reading{Path: "/a.go"})
	s.Result(id, "the whole text").Call()
	s.Add(quire.Compacted{Trigger: "auto"})
	s.Enter(quire.Part{Kind: quire.PartToolResult, Origin: quire.OriginReinjected, ToolUse: id, Text: "the who"}).Call()
	got := build(t, recordingtest.NewCounter(t), s)
	if p := got.Pages[1]; p.Bytes != len("the whole text") || p.Call != 1 || got.PageItem[1] != 2 || got.Items[3].Page != 2 {
		t.Errorf("page %+v in item %d, the copy shows %v", p, got.PageItem[1], got.Items[3].Page)
	}
	checkSession(t, got)
}

// A recorded session that is joined serves no strict need of the next one.
func TestJoinedSessionsAreApart(t *testing.T) {
	text := strings.Join(recordingtest.File(0)[:6], "\n")
	a := recordingtest.NewScript("a", recordingtest.Morning()).User(text).Call().Text("yes")
	b := recordingtest.NewScript("b", recordingtest.Morning().Add(time.Hour)).User("hello").Call().Text(text)
	s := build(t, recordingtest.NewCounter(t), a, b)
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
		got, ok := (&Session{Starts: tt.starts}).StartAt(tt.call)
		if got.Item != tt.want || ok != tt.ok {
			t.Errorf("%v: call %d begins %+v, %t", tt.starts, tt.call, got, ok)
		}
	}
}

// The growth from the last prompt of one session to the first of the next says
// nothing about tokens.
func TestJoinTeachesTheFitNothing(t *testing.T) {
	c := recordingtest.NewCounter(t)
	sized := func(name string, prompts ...int64) *recordingtest.Script {
		s := recordingtest.NewScript(name, recordingtest.Morning())
		for _, n := range prompts {
			s.User("some words").Call().Meter(quire.Usage{Input: n, Known: quire.KnownInput})
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
	c := recordingtest.NewCounter(t)
	plain := build(t, c, recordingtest.NewScript("s", recordingtest.Morning()).User("hello").Call())
	if plain.Overhead != 18_000 || plain.Measured {
		t.Errorf("not recorded: %d, %t", plain.Overhead, plain.Measured)
	}
	s := recordingtest.NewScript("s", recordingtest.Morning()).Enter(quire.Part{Kind: quire.PartSystem, Text: "You keep the books."}).User("hello").Call()
	got := build(t, c, s.Meter(quire.Usage{Input: 100, CacheRead: 30_000, Known: quire.KnownInput}))
	if want := 30_100 - int(got.Items[1].Tokens); got.Overhead != want || !got.Measured || got.Items[1].Tokens == 0 {
		t.Errorf("recorded: %d, %t, want %d", got.Overhead, got.Measured, want)
	}
}

// Side chains are metered and nothing else.
func TestSideChains(t *testing.T) {
	side := quire.Stamp{At: recordingtest.Morning(), Chain: "agent-1"}
	s := recordingtest.NewScript("s", recordingtest.Morning()).User("begin").Call()
	s.Model = ""
	s.Add(quire.Entered{Stamp: side, Part: quire.Part{Kind: quire.PartUser, Text: "aside"}})
	s.Add(quire.Called{Stamp: side, Call: "x", Model: "claude-haiku-4-5"})
	s.Add(quire.Answered{Stamp: side, Call: "x", Part: quire.Part{Kind: quire.PartText, Text: strings.Repeat("many words ", 50)}})
	s.Add(quire.Answered{Stamp: side, Call: "unknown", Part: quire.Part{Kind: quire.PartText, Text: "lost"}})
	s.Add(quire.Metered{Stamp: side, Call: "x", Usage: quire.Usage{Input: 7, Known: quire.KnownInput}})
	s.Add(quire.Metered{Stamp: side, Call: "unknown", Usage: quire.Usage{Input: 9}})
	s.Add(quire.Compacted{Stamp: side}).Add(quire.Rewound{Stamp: side})
	s.Add(quire.Skipped{Stamp: quire.Stamp{Line: 3}, Reason: "torn"}).Add(quire.Noted{Note: quire.NoteFork}).Add(quire.Noted{Note: quire.NoteFork})
	s.Call()
	got := build(t, recordingtest.NewCounter(t), s)
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
	s := recordingtest.NewScript("s", recordingtest.Morning())
	s.Add(quire.Opened{Info: quire.SessionInfo{Branch: "main", Window: 200_000, Started: recordingtest.Morning(), Model: "claude-opus-4-5"}})
	s.Add(quire.Opened{Info: quire.SessionInfo{Branch: "topic", Version: "2"}})
	s.Model = ""
	s.Call()
	got := build(t, recordingtest.NewCounter(t), s, recordingtest.NewScript("t", recordingtest.Morning()).Add(quire.Opened{Info: quire.SessionInfo{Branch: "other", Parent: "p"}}))
	want := quire.SessionInfo{
		ID: "s", Agent: quire.AgentClaudeCode, Project: "/base/ada/ledger", Branch: "topic", Version: "2", Parent: "p",
		Window: 200_000, Started: recordingtest.Morning(), Model: "claude-opus-4-5",
	}
	if got.Info != want || got.Calls[0].Model != "claude-opus-4-5" {
		t.Errorf("got %+v, model %q", got.Info, got.Calls[0].Model)
	}
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

func TestLoad(t *testing.T) {
	l := Loader{Counter: recordingtest.NewCounter(t)}
	log := recordingtest.ClaudeLog(t, t.TempDir(), "one", 30)
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
	l := Loader{Counter: recordingtest.NewCounter(t)}
	dir := t.TempDir()
	one, two := recordingtest.ClaudeLog(t, dir, "one", 2), recordingtest.ClaudeLog(t, dir, "two", 2)
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
func checkSession(t recordingtest.Checker, s *Session) {
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
	rising("edit", len(s.Edits), func(i int) bool { return s.Edits[i].Call < s.Edits[i-1].Call })
	rising("re-read", len(s.Rereads), func(i int) bool { return s.Rereads[i].Call < s.Rereads[i-1].Call })
	for k, c := range s.Calls {
		if c.Items < 0 || int(c.Items) > len(s.Items) || c.Output < 0 || len(c.Hint) > 120 {
			t.Fatalf("call %d: %+v", k, c)
		}
	}
	checkItems(t, s)
	checkPages(t, s)
}

func checkItems(t recordingtest.Checker, s *Session) {
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

func checkPages(t recordingtest.Checker, s *Session) {
	if len(s.PageItem) != len(s.Pages) {
		t.Fatalf("%d pages, %d have items", len(s.Pages), len(s.PageItem))
	}
	for i, p := range s.Pages {
		if int(p.Number) != i+1 || int(s.PageItem[i]) >= len(s.Items) || p.Call > len(s.Calls) {
			t.Fatalf("page %d: %+v in item %d", i+1, p, s.PageItem[i])
		}
	}
	for _, n := range s.Needs {
		if n.Page < 1 || int(n.Page) > len(s.Pages) || int(n.Call) >= len(s.Calls) || !n.Wide || n.Strict != (len(n.StrictShingles) > 0) || !slices.IsSorted(n.Shingles) {
			t.Fatalf("need %+v", n)
		}
	}
	if good, err := s.Restored(); err != nil || good != 1 {
		t.Fatalf("%v of the pages came back, %v", good, err)
	}
}

// FuzzBuilder feeds arbitrary events, two bytes each, and a text to choose from.
func FuzzBuilder(f *testing.F) {
	text := recordingtest.SomeText()
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
	f.Fuzz(func(t *testing.T, ops []byte, text string) {
		if len(ops) > 120 || len(text) > 4_000 {
			t.Skip("long enough already")
		}
		takeAnything(t, c, recordingtest.Anything(ops, text))
	})
}

// The same without a fuzzer, a few cases in every run.
func TestBuilderTakesAnything(t *testing.T) {
	c := recordingtest.NewCounter(t)
	sample(t, 100, func(t *rapid.T) {
		ops := rapid.SliceOfN(rapid.Byte(), 0, 120).Draw(t, "ops")
		takeAnything(t, c, recordingtest.Anything(ops, recordingtest.SomeText()))
	})
}

func takeAnything(t recordingtest.Checker, c *token.Counter, logs [][]quire.Event) {
	b := newBuilder(c)
	for i, log := range logs {
		if i > 0 {
			b.boundary()
		}
		for _, e := range log {
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
	checkSession(t, b.s)
}

// build makes a session of what the scripts say, joined if there are several.
func build(t recordingtest.Checker, c *token.Counter, scripts ...*recordingtest.Script) *Session {
	t.Helper()
	b := newBuilder(c)
	for i, s := range scripts {
		if i > 0 {
			b.boundary()
		}
		for _, e := range s.Events {
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

// Every page comes back unless its bytes changed.
func TestRestored(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 5).Draw(t, "texts")
		s := &Session{Bodies: &Bodies{}}
		bad := 0
		for i := range n {
			text := strings.Repeat("x", i)
			ref, err := s.Bodies.Put(text)
			if err != nil {
				t.Fatal(err)
			}
			s.Items = append(s.Items, Item{Kind: quire.PartText, Body: ref})
			s.Pages = append(s.Pages, quire.Page{Number: quire.PageNumber(i + 1), Body: quire.Sum(text)})
			s.PageItem = append(s.PageItem, int32(i))
			if rapid.Bool().Draw(t, "changed") {
				s.Pages[i].Body = quire.Sum("other")
				bad++
			}
		}
		got, err := s.Restored()
		if want := 1 - float64(bad)/float64(max(n, 1)); err != nil || got-want > 1e-9 || want-got > 1e-9 {
			t.Fatalf("got %v, %v, want %v", got, err, want)
		}
	})
}

// sample draws n cases, as many as fit the time of the suite. Whoever has more time
// asks for more with -rapid.checks.
func sample(t *testing.T, n int, prop func(*rapid.T)) {
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
