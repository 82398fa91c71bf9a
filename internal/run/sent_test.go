package run

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/quire"
)

// thinks answers each question with signed thinking, a tool call and an answer.
func thinks(n int, _ quire.Call) ([]quire.Block, error) {
	thought := quire.Block{Part: quire.Part{Kind: quire.PartThinking, Text: fmt.Sprintf("hm %d", n)}, Signature: fmt.Sprintf("sig%d", n), Rest: []quire.Field{{Name: "x", Value: json.RawMessage(`1`)}}}
	if n%2 == 1 {
		return []quire.Block{thought, use(fmt.Sprintf("u%d", n), "read", fmt.Sprintf(`{"path":"f%d"}`, n))}, nil
	}
	return append([]quire.Block{thought}, says(fmt.Sprintf("answer %d", n))...), nil
}

// signatures of a call's thinking.
func signatures(c quire.Call) (list []string) {
	for _, m := range c.Messages {
		for _, b := range m.Blocks {
			if b.Kind == quire.PartThinking {
				list = append(list, b.Signature)
			}
		}
	}
	return list
}

// failures.md A35: another list of tools costs one prompt, and is said; from then
// on each prompt extends the one before it.
func TestOtherToolsAreOneNewPrompt(t *testing.T) {
	first, _, k := newLoop(t, thinks)
	if _, err := first.Turn(t.Context(), ask("question")); err != nil {
		t.Fatal(err)
	}
	second, m, k2 := newLoop(t, thinks)
	second.Head.Tools = append(second.Head.Tools, quire.ToolSpec{Name: "more"})
	k.restore(t, second)
	if _, err := second.Turn(t.Context(), ask("and again")); err != nil {
		t.Fatal(err)
	}
	var cold []string
	for i, kind := range k2.records {
		var p quire.PlanRecord
		if r, ok := k2.record(i); kind == quire.RecordPlan && ok && json.Unmarshal(r.Line, &p) == nil {
			cold = append(cold, p.Inputs.Cold)
		}
	}
	if len(cold) != 2 || !strings.Contains(cold[0], "changed") || cold[1] != "" {
		t.Errorf("the plans say %q", cold)
	}
	before, after := m.calls[0].Messages, m.calls[1].Messages
	for i, b := range before {
		if marshal(t, unmarked(after[i], len(b.Blocks))) != marshal(t, unmarked(b, len(b.Blocks))) {
			t.Errorf("message %d of the next call is another", i)
		}
	}
}

// A session that was killed goes on with its thinking, signature by signature,
// under the same head; under another one none of it is sent. failures.md A10.
func TestThinkingIsRestoredUnderTheSameHeadOnly(t *testing.T) {
	first, m1, k := newLoop(t, thinks)
	for i := range 2 {
		if _, err := first.Turn(t.Context(), ask(fmt.Sprintf("question %d", i))); err != nil {
			t.Fatal(err)
		}
	}
	same, m2, k2 := newLoop(t, thinks)
	k.restore(t, same)
	same.Now, m2.calls = first.Now, make([]quire.Call, len(m1.calls))
	for _, l := range []*Loop{first, same} {
		if _, err := l.Turn(t.Context(), ask("and again")); err != nil {
			t.Fatal(err)
		}
	}
	a, _ := json.Marshal(m1.calls[5].Messages)
	b, _ := json.Marshal(m2.calls[5].Messages)
	if string(a) != string(b) || len(signatures(m2.calls[5])) == 0 {
		t.Errorf("the restored session sends\n%s\nwant\n%s", b, a)
	}

	other, m3, k3 := newLoop(t, thinks)
	other.Head.Model = "claude-opus-5-5"
	k.all = append(k.all, k2.all...)
	k.restore(t, other)
	before := len(m3.calls)
	if _, err := other.Turn(t.Context(), ask("who are you?")); err != nil {
		t.Fatal(err)
	}
	if got := signatures(m3.calls[before]); len(got) > 0 {
		t.Errorf("thinking of another model is sent: %v", got)
	}
	if got := signatures(m3.calls[len(m3.calls)-1]); len(got) == 0 {
		t.Error("the new model's own thinking is not sent")
	}

	// Going on once more under the new head is going on with what it sent.
	again, m4, _ := newLoop(t, thinks)
	again.Head.Model, again.Now = other.Head.Model, other.Now
	k.all = append(k.all, k3.all...)
	k.restore(t, again)
	m4.calls = make([]quire.Call, len(m3.calls))
	for _, l := range []*Loop{other, again} {
		if _, err := l.Turn(t.Context(), ask("go on")); err != nil {
			t.Fatal(err)
		}
	}
	a, _ = json.Marshal(m3.calls[len(m3.calls)-1].Messages)
	b, _ = json.Marshal(m4.calls[len(m4.calls)-1].Messages)
	if string(a) != string(b) {
		t.Errorf("resumed twice it sends\n%s\nwant\n%s", b, a)
	}
}
