package run

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/schedule"
)

// failures.md A21: a rule that the user stated once, in Chinese and in the middle of
// a long message, stands in every call, verbatim, through twenty forced epochs: by
// then the message itself has long been folded.
func TestARuleOutlivesTwentyForcedEpochs(t *testing.T) {
	const rule = "所有数据库迁移必须先在测试环境跑一遍，不要直接改生产库。"
	s, head := newTestStep(t, schedule.Settings{Window: 24_000})
	now := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	forced, folded := 0, false
	for turn := 0; forced < 20; turn++ {
		if turn == 400 {
			t.Fatalf("%d forced epochs in %d turns", forced, turn)
		}
		words := told(turn)
		if turn == 0 {
			words += rule + told(1000)
		}
		s.Enter(quire.RoleUser, text(quire.PartUser, words))
		for range 2 {
			call, plan, err := s.Plan(now, head)
			if err != nil {
				t.Fatal(err)
			}
			if plan.Kind == quire.EpochForced {
				forced++
			}
			said := wordsOf(call)
			if !strings.Contains(said, rule) {
				t.Fatalf("turn %d, after %d forced epochs: the rule is gone", turn, forced)
			}
			folded = folded || !strings.Contains(said, told(1000))
			now = now.Add(time.Second)
			s.reads(call, turn)
		}
	}
	if !folded {
		t.Error("the message with the rule was never folded: nothing was shown")
	}
}

// told is a message of the user that is like no other and states no rule.
func told(n int) string {
	var b strings.Builder
	for i := range 60 {
		fmt.Fprintf(&b, "第%d个文件的第%d部分昨天改过，现在看起来有点慢。", n, i)
	}
	return b.String()
}

// reads answers a call: a user's message by reading a file, a result by a text.
func (s *Step) reads(call quire.Call, turn int) {
	if call.Messages[len(call.Messages)-1].Role != quire.RoleUser {
		s.Answer(quire.Reply{Blocks: []quire.Block{text(quire.PartText, fmt.Sprintf("File %d has 120 parts.", turn))}})
		return
	}
	use, path := fmt.Sprintf("t%d", turn), fmt.Sprintf(`{"path":"dir/file%d.go"}`, turn)
	s.Answer(quire.Reply{Blocks: []quire.Block{{Part: quire.Part{Kind: quire.PartToolCall, Tool: "read", ToolUse: use, Text: path}}}})
	s.Enter(quire.RoleTool, quire.Block{Part: quire.Part{Kind: quire.PartToolResult, Tool: "read", ToolUse: use, Text: file(turn)}})
}

func wordsOf(c quire.Call) string {
	var b strings.Builder
	for _, m := range c.Messages {
		for i := range m.Blocks {
			b.WriteString(m.Blocks[i].Text + "\n")
		}
	}
	return b.String()
}
