package run

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/quire-agent/quire/internal/assemble"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/schedule"
)

// unmarkedText are the blocks of messages up to the first that holds a text, as they
// are sent, cache marks aside.
func unmarkedText(t *rapid.T, list []quire.Message, until string) (out []string) {
	for i := range list {
		for _, b := range list[i].Blocks {
			if until != "" && strings.Contains(b.Text, until) {
				return out
			}
			b.Cache = quire.MarkNone
			raw, err := json.Marshal(b)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, fmt.Sprint(list[i].Role)+string(raw))
		}
	}
	return out
}

func asks(turn int) string { return fmt.Sprintf("Please look at file number %d of the archive.", turn) }

// turnOf lets a session go on by one turn, and returns its last call.
func turnOf(t *rapid.T, plan func(cold string) quire.Call, s *Step, turn int, cold string) (last quire.Call) {
	s.Enter(quire.RoleUser, text(quire.PartUser, asks(turn)))
	last = plan(cold)
	use := fmt.Sprintf("t%d", turn)
	s.Answer(quire.Reply{Blocks: []quire.Block{{Part: quire.Part{Kind: quire.PartToolCall, Tool: "read", ToolUse: use, Text: fmt.Sprintf(`{"path":"dir/file%d.go"}`, turn)}}}})
	s.Enter(quire.RoleTool, quire.Block{Part: quire.Part{Kind: quire.PartToolResult, Tool: "read", ToolUse: use, Text: file(turn)[:2500]}})
	last = plan("")
	s.Answer(quire.Reply{Blocks: []quire.Block{text(quire.PartText, fmt.Sprintf("File %d is fine.", turn))}})
	return last
}

// Whatever was folded before, what stands in front of the place to which the user
// goes back is sent again byte for byte, nothing of what was left is, and no line
// tells of it (G2).
func TestBackSendsTheSameBytesAgain(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s, head := newTestStep(t, schedule.Settings{Window: 100_000})
		now := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
		plan := func(cold string) quire.Call {
			now = now.Add(10 * time.Second)
			call, _, err := s.PlanAs(now, cold, func(schedule.Plan) assemble.Head { return head })
			if err != nil {
				rt.Fatal(err)
			}
			return call
		}
		turns := rapid.IntRange(2, 8).Draw(rt, "turns")
		var last quire.Call
		for turn := range turns {
			last = turnOf(rt, plan, s, turn, rapid.SampledFrom([]string{"", "", "the cache has lapsed"}).Draw(rt, "cold"))
		}
		to := asks(rapid.IntRange(1, turns-1).Draw(rt, "to"))
		want := unmarkedText(rt, last.Messages, to)
		s.Back(func(b *quire.Block) bool { return b.Text == to })
		s.Enter(quire.RoleUser, text(quire.PartUser, "Something else, please."))
		call := plan("")
		got := unmarkedText(rt, call.Messages, "")
		folded := len(want) == len(unmarkedText(rt, last.Messages, ""))
		if !folded && len(got) != len(want)+1 {
			rt.Fatalf("%d blocks, want %d and the new words", len(got), len(want))
		}
		for i := range min(len(want), len(got)-1) {
			if got[i] != want[i] {
				rt.Fatalf("block %d is\n%s\nand was\n%s", i, got[i], want[i])
			}
		}
		if !strings.Contains(got[len(got)-1], "Something else") {
			rt.Fatalf("the last block is %s", got[len(got)-1])
		}
		turnOf(rt, plan, s, turns, "the cache has lapsed")
	})
}
