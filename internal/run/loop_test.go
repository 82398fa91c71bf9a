package run

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/permit"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/schedule"
	"github.com/quire-agent/quire/internal/tool"
)

// scripted answers calls by a function of their number and content.
type scripted struct {
	calls  []quire.Call
	answer func(n int, c quire.Call) ([]quire.Block, error)
}

func (m *scripted) Call(ctx context.Context, c quire.Call) iter.Seq2[quire.Delta, error] {
	return func(yield func(quire.Delta, error) bool) {
		m.calls = append(m.calls, c)
		blocks, err := m.answer(len(m.calls), c)
		if err != nil {
			yield(nil, err)
			return
		}
		if ctx.Err() != nil {
			yield(nil, ctx.Err())
			return
		}
		stop := quire.StopEnd
		yield(quire.ReplyBegun{ID: fmt.Sprint(len(m.calls))}, nil)
		for i, b := range blocks {
			text := b.Text
			b.Text = ""
			yield(quire.BlockBegun{Index: i, Block: b}, nil)
			yield(quire.BlockGrew{Index: i, Text: text}, nil)
			yield(quire.BlockEnded{Index: i}, nil)
			if b.Kind == quire.PartToolCall {
				stop = quire.StopTool
			}
		}
		yield(quire.ReplyEnded{Stop: stop, Usage: quire.Usage{Output: 7, Known: quire.KnownOutput}}, nil)
	}
}

// kept is a record in memory.
type kept struct {
	events  []quire.Event
	records []string
	all     []any // events and records in their order
	synced  int
}

func (k *kept) Add(e quire.Event) error {
	k.events, k.all = append(k.events, e), append(k.all, e)
	return nil
}

func (k *kept) Record(kind string, payload any) error {
	line, err := json.Marshal(payload)
	k.records, k.all = append(k.records, kind), append(k.all, quire.Record{Type: kind, Line: line})
	return err
}

// record is the record of a number.
func (k *kept) record(n int) (r quire.Record, ok bool) {
	for _, one := range k.all {
		if r, is := one.(quire.Record); is {
			if n == 0 {
				return r, true
			}
			n--
		}
	}
	return r, false
}

// restore goes on with what was kept in another loop.
func (k *kept) restore(t *testing.T, l *Loop) {
	t.Helper()
	for _, one := range k.all {
		var err error
		switch one := one.(type) {
		case quire.Event:
			err = l.Restore(one, l.Head)
		case quire.Record:
			err = l.Recorded(one)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Restored(); err != nil {
		t.Fatal(err)
	}
}
func (k *kept) Sync(context.Context) error { k.synced = len(k.events); return nil }

type open struct{}

func (open) Check(context.Context, permit.Request, string) (permit.Decision, error) {
	return permit.Decision{Verdict: permit.Allow}, nil
}

type shut struct{}

func (shut) Check(context.Context, permit.Request, string) (permit.Decision, error) {
	return permit.Decision{Verdict: permit.Deny, Reason: "the mode is read-only"}, nil
}

type pathArgs struct {
	Path string `json:"path" jsonschema:"the path"`
}

func newLoop(t *testing.T, answer func(n int, c quire.Call) ([]quire.Block, error)) (*Loop, *scripted, *kept) {
	t.Helper()
	s, head := newTestStep(t, schedule.Settings{Window: 100_000})
	read := tool.New("read", "Reads.", func(pathArgs) tool.Want { return tool.Want{} }, func(_ context.Context, a pathArgs) (tool.Result, error) {
		return tool.Result{Text: "text of " + a.Path}, nil
	})
	m, k := &scripted{answer: answer}, &kept{}
	now := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	l := &Loop{
		Step: s, Model: m, Tools: []tool.Tool{read, Recall(s, nil)}, Gate: open{}, Record: k, Head: head,
		Now: func() time.Time { now = now.Add(time.Second); return now },
	}
	return l, m, k
}

func use(id, name, args string) quire.Block {
	return quire.Block{Part: quire.Part{Kind: quire.PartToolCall, Tool: name, ToolUse: id, Text: args}}
}

func says(s string) []quire.Block { return []quire.Block{text(quire.PartText, s)} }

func ask(s string) quire.Block { return text(quire.PartUser, s) }

// results of a call's prompt by the id of their tool call.
func results(c quire.Call) map[string]string {
	out := map[string]string{}
	for _, m := range c.Messages {
		for _, b := range m.Blocks {
			if b.Kind == quire.PartToolResult {
				out[b.ToolUse] = b.Text
			}
		}
	}
	return out
}

func TestTurnRunsToolsUntilItIsDone(t *testing.T) {
	l, m, k := newLoop(t, func(n int, c quire.Call) ([]quire.Block, error) {
		switch n {
		case 1:
			return []quire.Block{use("a", "read", `{"path":"x.go"}`), use("b", "nothing", `{}`), use("c", "read", `{"path":`)}, nil
		default:
			return says("done: " + results(c)["a"]), nil
		}
	})
	out, err := l.Turn(t.Context(), ask("read x.go"))
	if err != nil || out.Stop != StopDone || out.Text != "done: text of x.go" || out.Rounds != 2 || out.Usage.Output != 14 {
		t.Fatalf("%+v, %v", out, err)
	}
	got := results(m.calls[1])
	if !strings.Contains(got["b"], "no tool") || !strings.Contains(got["c"], "cannot be read") {
		t.Errorf("results %q", got)
	}
	if k.synced != len(k.events) {
		t.Errorf("%d of %d events are durable", k.synced, len(k.events))
	}
}

// A denied call goes back to the model as a result.
func TestDeniedCallsComeBack(t *testing.T) {
	l, m, _ := newLoop(t, func(n int, _ quire.Call) ([]quire.Block, error) {
		if n == 1 {
			return []quire.Block{use("a", "read", `{"path":"x.go"}`)}, nil
		}
		return says("I may not"), nil
	})
	l.Gate = shut{}
	if out, err := l.Turn(t.Context(), ask("read x.go")); err != nil || out.Stop != StopDone {
		t.Fatalf("%+v, %v", out, err)
	}
	if got := results(m.calls[1])["a"]; got != "Not permitted: the mode is read-only" {
		t.Errorf("the model was told %q", got)
	}
}

// failures.md A36, A40, A43: at the round limit there is one closing call with the
// same bytes in front, calls in its answer are not run but answered, and the
// outcome says that it was cut off.
func TestRoundLimitClosesOnce(t *testing.T) {
	l, m, _ := newLoop(t, func(n int, c quire.Call) ([]quire.Block, error) {
		return append(says(fmt.Sprintf("report %d", n)), use(fmt.Sprintf("u%d", n), "read", fmt.Sprintf(`{"path":"%d"}`, n))), nil
	})
	l.Rounds = 3
	out, err := l.Turn(t.Context(), ask("read all"))
	if err != nil || out.Stop != StopRounds || out.CutOff != "rounds" || out.Text != "report 4" || out.Rounds != 4 {
		t.Fatalf("%+v, %v", out, err)
	}
	last := m.calls[3]
	before, after := m.calls[2].Messages, last.Messages
	for i, b := range before {
		if a, _ := json.Marshal(unmarked(after[i], len(b.Blocks))); string(a) != marshal(t, unmarked(b, len(b.Blocks))) {
			t.Errorf("message %d of the closing call is another", i)
		}
	}
	if len(last.Tools) != len(m.calls[0].Tools) || !strings.Contains(fmt.Sprint(last.Messages), "Write the final report") {
		t.Error("the closing call is not the call before with a request for the report")
	}
	l.Rounds = 0
	m.answer = func(_ int, c quire.Call) ([]quire.Block, error) {
		if got := results(c)["u4"]; !strings.Contains(got, "was not run") {
			t.Errorf("the call that was not run was answered by %q", got)
		}
		return says("ok"), nil
	}
	if out, err := l.Turn(t.Context(), ask("go on")); err != nil || out.Stop != StopDone {
		t.Fatalf("%+v, %v", out, err)
	}
}

// unmarked is a message up to a block, without its marks for the cache.
func unmarked(m quire.Message, blocks int) quire.Message {
	m.Blocks = slices.Clone(m.Blocks[:blocks])
	for i := range m.Blocks {
		m.Blocks[i].Cache = quire.MarkNone
	}
	return m
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// failures.md B20: usage and account of a call are durable before anything comes
// of its answer, so that a crash loses none.
func TestUsageIsRecordedAsItHappens(t *testing.T) {
	var k *kept
	l, m, k := newLoop(t, func(n int, _ quire.Call) ([]quire.Block, error) {
		if n < 4 {
			return []quire.Block{use(fmt.Sprint("u", n), "look", fmt.Sprintf(`{"path":"%d"}`, n))}, nil
		}
		return says("done"), nil
	})
	metered := func(events []quire.Event) (n int) {
		for _, e := range events {
			if _, ok := e.(quire.Metered); ok {
				n++
			}
		}
		return n
	}
	l.Tools = append(l.Tools, tool.New("look", "Looks.", func(pathArgs) tool.Want { return tool.Want{} }, func(context.Context, pathArgs) (tool.Result, error) {
		if n := metered(k.events[:k.synced]); n != len(m.calls) {
			t.Errorf("after %d calls the usage of %d is durable", len(m.calls), n)
		}
		return tool.Result{Text: "seen"}, nil
	}))
	if _, err := l.Turn(t.Context(), ask("go")); err != nil {
		t.Fatal(err)
	}
	accounts := 0
	for i, kind := range k.records {
		if kind == quire.RecordAccount {
			accounts++
			var a quire.AccountRecord
			if r, ok := k.record(i); !ok || json.Unmarshal(r.Line, &a) != nil || a.Live <= 0 || a.Call != callID(accounts) {
				t.Errorf("the account of call %d is %+v", accounts, a)
			}
		}
	}
	if accounts != 4 || metered(k.events) != 4 {
		t.Errorf("%d accounts and %d usages of 4 calls", accounts, metered(k.events))
	}
}

// Check D12: the same call four times in a row with the same result is stopped, and
// the model is told to change direction.
func TestRepeatedCallsAreStopped(t *testing.T) {
	l, m, _ := newLoop(t, func(n int, c quire.Call) ([]quire.Block, error) {
		if strings.Contains(results(c)[fmt.Sprintf("u%d", n-1)], "in a row") {
			return says("I stop"), nil
		}
		return []quire.Block{use(fmt.Sprintf("u%d", n), "read", `{"path":"same"}`)}, nil
	})
	l.Rounds = 20
	out, err := l.Turn(t.Context(), ask("go"))
	if err != nil || out.Stop != StopDone || len(m.calls) != mostRepeats+2 {
		t.Fatalf("%+v after %d calls, %v", out, len(m.calls), err)
	}
}

// failures.md A2: an interrupt leaves no call without its result, and the
// session goes on.
func TestInterruptLeavesPairs(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	l, m, _ := newLoop(t, func(n int, _ quire.Call) ([]quire.Block, error) {
		if n == 1 {
			return []quire.Block{use("a", "stop", `{}`), use("b", "read", `{"path":"x"}`)}, nil
		}
		return says("here I am"), nil
	})
	l.Tools = append(l.Tools, tool.New("stop", "Stops.", func(struct{}) tool.Want { return tool.Want{Serial: true} }, func(context.Context, struct{}) (tool.Result, error) {
		cancel()
		return tool.Result{Text: "stopping"}, nil
	}))
	if out, err := l.Turn(ctx, ask("stop")); err != nil || out.Stop != StopAborted {
		t.Fatalf("%+v, %v", out, err)
	}
	if out, err := l.Turn(t.Context(), ask("and now?")); err != nil || out.Stop != StopDone {
		t.Fatalf("%+v, %v", out, err)
	}
	if got := results(m.calls[1]); !strings.Contains(got["b"], "interrupted") || got["a"] != "stopping" {
		t.Errorf("results %q", got)
	}
}

func TestProviderErrorsEndTheTurn(t *testing.T) {
	l, _, k := newLoop(t, func(int, quire.Call) ([]quire.Block, error) {
		return nil, &quire.CallError{Kind: quire.CallOverloaded}
	})
	out, err := l.Turn(t.Context(), ask("hi"))
	if err != nil || out.Stop != StopFailed || out.CutOff != "error" || !strings.Contains(out.Err.Error(), "overloaded") {
		t.Fatalf("%+v, %v", out, err)
	}
	if k.synced != len(k.events) {
		t.Error("what the user said is not durable")
	}
}

// Recall reads a page back in parts, says what follows, and finds by words.
func TestRecallReadsBack(t *testing.T) {
	var page string
	l, m, _ := newLoop(t, func(n int, c quire.Call) ([]quire.Block, error) {
		switch n {
		case 1:
			return []quire.Block{use("a", "big", `{}`)}, nil
		case 2:
			return []quire.Block{use("b", RecallName, `{"page":"p2"}`), use("c", RecallName, `{"page":"p2#L900-L901"}`), use("d", RecallName, `{"query":"part3_77"}`), use("e", RecallName, `{"page":"p99"}`), use("f", RecallName, `{}`)}, nil
		}
		return says("ok"), nil
	})
	for i := range 9 {
		page += file(i)
	}
	l.Tools = append(l.Tools, tool.New("big", "Big.", func(struct{}) tool.Want { return tool.Want{} }, func(context.Context, struct{}) (tool.Result, error) {
		return tool.Result{Text: page}, nil
	}))
	if out, err := l.Turn(t.Context(), ask("go")); err != nil || out.Stop != StopDone {
		t.Fatalf("%+v, %v", out, err)
	}
	got := results(m.calls[2])
	if !strings.Contains(got["b"], "p2#L1-L") || !strings.Contains(got["b"], "reads on") || !strings.Contains(got["b"], "func part0_0(") {
		t.Errorf("a page: %.200q", got["b"])
	}
	if n := l.Step.count.Count(got["b"]); n > RecallAnswer+200 {
		t.Errorf("an answer of %d tokens", n)
	}
	if want := strings.Split(page, "\n")[899]; !strings.Contains(got["c"], want) {
		t.Errorf("lines: %q, want %q", got["c"], want)
	}
	if !strings.Contains(got["d"], "part3_77") || !strings.Contains(got["d"], "p2") {
		t.Errorf("a search: %.300q", got["d"])
	}
	if !strings.Contains(got["e"], "no page p99") || !strings.Contains(got["f"], "wants a page") {
		t.Errorf("wrong questions: %q, %q", got["e"], got["f"])
	}
}

// A session that was killed goes on with the very prompt that it would have had.
func TestRestoredSessionGoesOnTheSame(t *testing.T) {
	answer := func(n int, c quire.Call) ([]quire.Block, error) {
		if n%2 == 1 {
			return []quire.Block{use(fmt.Sprintf("u%d", n), "read", fmt.Sprintf(`{"path":"f%d"}`, n))}, nil
		}
		return says(fmt.Sprintf("answer %d", n)), nil
	}
	first, m1, k := newLoop(t, answer)
	for i := range 4 {
		if _, err := first.Turn(t.Context(), ask(fmt.Sprintf("question %d", i))); err != nil {
			t.Fatal(err)
		}
	}
	second, m2, _ := newLoop(t, answer)
	k.restore(t, second)
	second.Now = first.Now
	m2.calls = make([]quire.Call, len(m1.calls))
	for _, l := range []*Loop{first, second} {
		if _, err := l.Turn(t.Context(), ask("and again")); err != nil {
			t.Fatal(err)
		}
	}
	a, _ := json.Marshal(m1.calls[8].Messages)
	b, _ := json.Marshal(m2.calls[8].Messages)
	if string(a) != string(b) {
		t.Errorf("the restored session sends\n%s\nwant\n%s", b, a)
	}
}
