package replay

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"testing"

	"github.com/quire-agent/quire/internal/quire"
)

func events(list ...quire.Event) iter.Seq2[quire.Event, error] {
	return func(yield func(quire.Event, error) bool) {
		for _, e := range list {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func part(kind quire.PartKind, text string) quire.Part {
	return quire.Part{Kind: kind, Tool: "read", ToolUse: "u", Text: text}
}

// told is an answer in a line.
func told(t *testing.T, m *Model) (out string, usage quire.Usage) {
	t.Helper()
	for d, err := range m.Call(t.Context(), quire.Call{Model: "m"}) {
		if err != nil {
			t.Fatal(err)
		}
		switch d := d.(type) {
		case quire.ReplyBegun:
			out += d.Model + ":"
		case quire.BlockBegun:
			out += fmt.Sprintf(" %v ", d.Block.Kind)
		case quire.BlockGrew:
			out += d.Text
		case quire.ReplyEnded:
			out += " " + string(d.Stop)
			usage = d.Usage
		}
	}
	return out, usage
}

// Answers come in the order of their calls, without thinking, without what
// subagents answered, and with their usage.
func TestAnswersComeAgain(t *testing.T) {
	m, err := Read(events(
		quire.Called{Call: "a"}, quire.Called{Call: "b"}, quire.Called{Call: "lost"},
		quire.Answered{Call: "a", Part: part(quire.PartThinking, "hm")},
		quire.Answered{Call: "a", Part: part(quire.PartText, "I look")},
		quire.Answered{Call: "b", Part: part(quire.PartText, "done")},
		quire.Answered{Call: "x", Stamp: quire.Stamp{Chain: "side"}, Part: part(quire.PartText, "aside")},
		quire.Answered{Call: "a", Part: part(quire.PartToolCall, `{"path":"x"}`)},
		quire.Metered{Call: "a", Usage: quire.Usage{Output: 9, Known: quire.KnownOutput}},
	))
	if err != nil || m.Answers() != 2 {
		t.Fatalf("%d answers, %v", m.Answers(), err)
	}
	got, usage := told(t, m)
	if want := `m: text I look tool call {"path":"x"} tool`; got != want || usage.Output != 9 {
		t.Errorf("first %q, %+v, want %q", got, usage, want)
	}
	if got, _ := told(t, m); got != "m: text done end" {
		t.Errorf("second %q", got)
	}
	for _, err := range m.Call(t.Context(), quire.Call{}) {
		if e, ok := errors.AsType[*quire.CallError](err); !ok || e.Kind != quire.CallInvalid {
			t.Errorf("after the last: %v", err)
		}
	}
}

func TestReadingAndContextsEnd(t *testing.T) {
	broken := errors.New("broken")
	if _, err := Read(func(yield func(quire.Event, error) bool) { yield(nil, broken) }); !errors.Is(err, broken) {
		t.Errorf("the error is %v", err)
	}
	m, err := Read(events(quire.Answered{Call: "a", Part: part(quire.PartText, "x")}))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range m.Call(ctx, quire.Call{}) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("an ended context gives %v", err)
		}
	}
}
