package run

import (
	"context"
	"encoding/json"
	"iter"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/quire"
)

// replies answers calls with whole replies, of which one may break off.
type replies struct {
	list  []quire.Reply
	errs  []error
	calls []quire.Call
}

func (m *replies) Call(_ context.Context, c quire.Call) iter.Seq2[quire.Delta, error] {
	return func(yield func(quire.Delta, error) bool) {
		n := len(m.calls)
		m.calls = append(m.calls, c)
		r := m.list[n]
		for i, b := range r.Blocks {
			if !yield(quire.BlockBegun{Index: i, Block: b}, nil) {
				return
			}
		}
		if n < len(m.errs) && m.errs[n] != nil {
			yield(nil, m.errs[n])
			return
		}
		yield(quire.ReplyEnded{Stop: r.Stop, Usage: r.Usage}, nil)
	}
}

// checkPairs fails where a call has no result or more than one, or arguments that
// are no object.
func checkPairs(t *testing.T, c quire.Call) {
	t.Helper()
	calls, results := map[string]int{}, map[string]int{}
	for _, m := range c.Messages {
		for _, b := range m.Blocks {
			switch b.Kind {
			case quire.PartToolCall:
				calls[b.ToolUse]++
				if !json.Valid([]byte(b.Text)) {
					t.Errorf("arguments %q are sent", b.Text)
				}
			case quire.PartToolResult:
				results[b.ToolUse]++
			}
		}
	}
	for id, n := range calls {
		if n != 1 || results[id] != 1 {
			t.Errorf("call %s stands %d times, with %d results", id, n, results[id])
		}
	}
	if len(calls) != len(results) {
		t.Errorf("%d calls, %d results", len(calls), len(results))
	}
}

// failures.md A2: whatever an answer breaks off at, the session goes on with a
// prompt that a provider takes.
func TestBrokenAnswersLeaveAWholeStream(t *testing.T) {
	half := use("b", "read", `{"path":"x`)
	thought := quire.Block{Part: quire.Part{Kind: quire.PartThinking, Text: "hm"}}
	whole := use("a", "read", `{"path":"y"}`)
	for name, first := range map[string]struct {
		blocks []quire.Block
		stop   quire.Stop
		err    error
	}{
		"limit in arguments":  {[]quire.Block{whole, half}, quire.StopLength, nil},
		"limit in thinking":   {[]quire.Block{thought}, quire.StopLength, nil},
		"nothing but a limit": {nil, quire.StopLength, nil},
		"connection":          {[]quire.Block{text(quire.PartText, "I"), whole, half}, "", &quire.CallError{Kind: quire.CallCut}},
		"interrupt":           {[]quire.Block{half}, "", context.Canceled},
		"odd arguments":       {[]quire.Block{half, whole}, quire.StopTool, nil},
		"the same id twice":   {[]quire.Block{whole, whole}, quire.StopTool, nil},
		"no id":               {[]quire.Block{use("", "read", `{"path":"z"}`)}, quire.StopTool, nil},
	} {
		t.Run(name, func(t *testing.T) {
			l, _, _ := newLoop(t, nil)
			m := &replies{errs: []error{first.err}}
			for range 4 {
				m.list = append(m.list, quire.Reply{Stop: quire.StopEnd, Blocks: says("well")})
			}
			m.list[0] = quire.Reply{Stop: first.stop, Blocks: first.blocks}
			l.Model = m
			out, err := l.Turn(t.Context(), ask("begin"))
			if err != nil {
				t.Fatal(err)
			}
			if broke := out.CutOff != ""; broke != (first.stop != quire.StopTool) {
				t.Errorf("cut off: %q", out.CutOff)
			}
			if out, err := l.Turn(t.Context(), ask("go on")); err != nil || out.Stop != StopDone {
				t.Fatalf("%+v, %v", out, err)
			}
			checkPairs(t, m.calls[len(m.calls)-1])
		})
	}
}

// What the model sent in place of arguments comes back to it.
func TestOddArgumentsAreShown(t *testing.T) {
	l, m, _ := newLoop(t, func(n int, _ quire.Call) ([]quire.Block, error) {
		if n == 1 {
			return []quire.Block{use("a", "read", `path=x "quoted"`)}, nil
		}
		return says("oh"), nil
	})
	if _, err := l.Turn(t.Context(), ask("go")); err != nil {
		t.Fatal(err)
	}
	checkPairs(t, m.calls[1])
	if got := results(m.calls[1])["a"]; !strings.Contains(got, "cannot be read") {
		t.Errorf("the model was told %q", got)
	}
}

// Text that is Quire's own is no page: the pages of a session have the numbers that
// they have in the pool, and the other side of the account does not pay for it.
func TestOwnTextIsNoPage(t *testing.T) {
	l, m, k := newLoop(t, func(n int, _ quire.Call) ([]quire.Block, error) {
		if n == 1 {
			return []quire.Block{use("a", RecallName, `{"page":"p1"}`)}, nil
		}
		return says("yes"), nil
	})
	if err := l.Tell(t.Context(), weather("sunny")); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Turn(t.Context(), ask("what did I say?")); err != nil {
		t.Fatal(err)
	}
	var pages []quire.PageNumber
	for _, s := range l.Step.Standing() {
		pages = append(pages, s.Page)
	}
	if len(pages) != 5 || pages[0] != 0 || pages[1] != 1 || pages[2] != 0 || pages[3] != 0 || pages[4] != 2 {
		t.Errorf("pages %v, want state, p1, recall and its result, p2", pages)
	}
	if b := l.Bill(); b.Live <= b.Shadow {
		t.Errorf("the errand is free: %f, without us %f", b.Live, b.Shadow)
	}
	if err := l.Tell(t.Context(), weather("sunny")); err != nil || len(k.events) != len(pages)+4 {
		t.Errorf("%d events, %v: the same state was told again", len(k.events), err)
	}
	checkPairs(t, m.calls[1])
}

type weather string

func (w weather) State(context.Context) string { return StateHead + ": " + string(w) }
