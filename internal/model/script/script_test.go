package script

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/script"
	"github.com/quire-agent/quire/internal/wire/wiretest"
)

const play = `
turn
  when tool look
  think Where is it?
  call look as c1 {"at": "lake"}
turn
  when answered c1
  say Seen: ${result}
turn always
  say nothing
  stop length
`

func open(t *testing.T, text string) *Model {
	s, err := script.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return New(s.Play(), func(c quire.Call, r quire.Reply) quire.Usage {
		return quire.Usage{Input: int64(len(c.Messages)), Output: int64(len(r.Blocks))}
	})
}

func ask(ctx context.Context, m *Model, c quire.Call) (text string, deltas []quire.Delta, err error) {
	for d, err := range m.Call(ctx, c) {
		if err != nil {
			return text, deltas, err
		}
		if g, ok := d.(quire.BlockGrew); ok {
			text += g.Text
		}
		deltas = append(deltas, d)
	}
	return text, deltas, nil
}

func fold(t *testing.T, m *Model, c quire.Call) quire.Reply {
	_, deltas, err := ask(t.Context(), m, c)
	if err != nil {
		t.Fatal(err)
	}
	r, err := wiretest.Fold(deltas)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestPlays(t *testing.T) {
	m := open(t, play)
	c := quire.Call{Model: "made", Tools: []quire.ToolSpec{{Name: "look"}}}
	first := fold(t, m, c)
	if len(first.Blocks) != 2 || first.Blocks[1].ToolUse != "c1" || first.Blocks[1].Text != `{"at": "lake"}` || first.Stop != quire.StopTool {
		t.Fatalf("the first answer is %+v", first)
	}
	c.Messages = []quire.Message{
		{Role: quire.RoleAssistant, Blocks: first.Blocks},
		{Role: quire.RoleTool, Blocks: []quire.Block{{Part: quire.Part{Kind: quire.PartToolResult, ToolUse: "c1", Text: "a boat"}}}},
	}
	second := fold(t, m, c)
	if second.Blocks[0].Text != "Seen: a boat" || second.Model != "made" || second.Usage.Input != 2 {
		t.Errorf("the second answer is %+v", second)
	}
	if third := fold(t, m, c); third.Stop != quire.StopLength || third.ID == second.ID {
		t.Errorf("the third answer is %+v", third)
	}
}

// TestFaults holds what of an answer comes before its fault, and which it is.
func TestFaults(t *testing.T) {
	const words = "turn\n say Words of a lake, 湖.\n "
	for _, c := range []struct {
		script, text string
		kind         quire.CallErrorKind
		after        float64
	}{
		{"turn\n fail 529 after 3 busy", "", quire.CallOverloaded, 3},
		{"turn\n fail 401", "", quire.CallAuth, 0},
		{"turn\n fail 429", "", quire.CallRate, 0},
		{"turn\n drop", "", quire.CallNetwork, 0},
		{words + "cut 5", "Words", quire.CallCut, 0},
		{words + "cut 18", "Words of a lake, ", quire.CallCut, 0},
		{words + "cut 500", "Words of a lake, 湖.", quire.CallCut, 0},
		{words + "garbage 5", "Words", quire.CallGarbled, 0},
		{"turn 2 times\n when call 2\n say x", "", quire.CallInvalid, 0},
	} {
		text, _, err := ask(t.Context(), open(t, c.script), quire.Call{})
		e, ok := errors.AsType[*quire.CallError](err)
		if !ok || e.Kind != c.kind || e.After != c.after || text != c.text {
			t.Errorf("%q says %q and fails with %v", c.script, text, err)
		}
	}
}

func TestWaits(t *testing.T) {
	const words = "turn\n say Words of a lake.\n "
	for _, c := range []struct {
		script, text string
		took         time.Duration
		ends         bool // with the context, after a minute
	}{
		{words + "wait 3s", "Words of a lake.", 3 * time.Second, false},
		{words + "wait 3m", "", time.Minute, true},
		{words + "stall 5 for 4s", "Words of a lake.", 4 * time.Second, false},
		{words + "stall 5", "Words", time.Minute, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			begin := time.Now()
			text, _, err := ask(ctx, open(t, c.script), quire.Call{})
			if text != c.text || time.Since(begin) != c.took || c.ends != errors.Is(err, context.DeadlineExceeded) || !c.ends && err != nil {
				t.Errorf("%q says %q after %v and ends with %v", c.script, text, time.Since(begin), err)
			}
		})
	}
}

func TestReaderLeaves(t *testing.T) {
	m := open(t, "turn always\n say "+strings.Repeat("word ", 100))
	n := 0
	for range m.Call(t.Context(), quire.Call{}) {
		if n++; n == 4 {
			break
		}
	}
	if n != 4 {
		t.Errorf("%d deltas came", n)
	}
}
