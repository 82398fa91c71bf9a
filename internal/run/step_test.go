package run

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/assemble"
	"github.com/quire-agent/quire/internal/ingest"
	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/rendition"
	"github.com/quire-agent/quire/internal/schedule"
	"github.com/quire-agent/quire/internal/secret"
	"github.com/quire-agent/quire/internal/token"
)

var oneCounter = sync.OnceValues(token.NewCounter)

func newTestStep(t *testing.T, set schedule.Settings) (*Step, assemble.Head) {
	t.Helper()
	counter, err := oneCounter()
	if err != nil {
		t.Fatal(err)
	}
	table, err := schedule.Default()
	if err != nil {
		t.Fatal(err)
	}
	profile, _ := price.ProfileByName("claude")
	set.Table, set.Care, set.Notice = table, schedule.DefaultCare, Notice
	s := NewStep(Parts{
		Terms: Terms{Terms: schedule.Terms{Rates: profile.Rates, Rules: profile.Rules, Life: profile.Life, Prefix: 1_000}, Settings: set, Own: true},
		Count: counter, Cut: &ingest.Cutter{}, Maker: rendition.NewMaker(secret.NewFinder(), counter, rendition.Recall), Model: "claude-opus-4-6",
		Frame: func(source, text string) string { return "<quire source=" + source + ">\n" + text + "\n</quire>" },
	})
	head := assemble.Head{
		Model: "claude-opus-4-6", Recall: RecallName, Constant: 1_000,
		Tools:  []quire.ToolSpec{{Name: "read"}, {Name: RecallName}},
		System: []quire.Block{{Part: quire.Part{Kind: quire.PartSystem, Text: "You help."}}},
		Rules:  assemble.Rules{Rules: profile.Rules, TailMark: quire.MarkShort, HeadMark: quire.MarkShort},
	}
	return s, head
}

func text(kind quire.PartKind, s string) quire.Block {
	return quire.Block{Part: quire.Part{Kind: kind, Text: s}}
}

// file is the text of a source file that is like no other.
func file(n int) string {
	var b strings.Builder
	for i := range 120 {
		fmt.Fprintf(&b, "func part%d_%d(input%d string) error { return check%d(input%d, limit%d) }\n", n, i, i, n*i, i, n+i)
	}
	return b.String()
}

// A session of many turns with a pause before each: what lies idle becomes
// handles, what the user said stays, and every call is one the assembler makes.
func TestStepFoldsWhatLiesIdle(t *testing.T) {
	s, head := newTestStep(t, schedule.Settings{Window: 100_000})
	now := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	var last quire.Call
	kinds := map[string]int{}
	for turn := range 30 {
		s.Enter(quire.RoleUser, text(quire.PartUser, fmt.Sprintf("Please look at file number %d of the archive.", turn)))
		for range 2 {
			call, plan, err := s.Plan(now, head)
			if err != nil {
				t.Fatal(err)
			}
			kinds[plan.Kind]++
			last = call
			now = now.Add(10 * time.Second)
			if use := fmt.Sprintf("t%d", turn); call.Messages[len(call.Messages)-1].Role == quire.RoleUser {
				path := fmt.Sprintf(`{"path":"dir/file%d.go"}`, turn)
				s.Answer(quire.Reply{Blocks: []quire.Block{{Part: quire.Part{Kind: quire.PartToolCall, Tool: "read", ToolUse: use, Text: path}}}})
				s.Enter(quire.RoleTool, quire.Block{Part: quire.Part{Kind: quire.PartToolResult, Tool: "read", ToolUse: use, Text: file(turn)}})
			} else {
				s.Answer(quire.Reply{Blocks: []quire.Block{text(quire.PartText, fmt.Sprintf("File %d has 120 parts.", turn))}})
			}
		}
		now = now.Add(time.Hour)
	}
	if kinds[quire.EpochFree] < 12 {
		t.Errorf("epochs %v: want a free one in every turn that has something to let go", kinds)
	}
	said := fmt.Sprintf("%+v", last.Messages)
	for turn := range 30 {
		if want := fmt.Sprintf("file number %d of", turn); !strings.Contains(said, want) {
			t.Errorf("the last call has lost %q", want)
		}
	}
	if handles := strings.Count(said, "recall p"); handles < 20 {
		t.Errorf("%d handles in the last call, want one for most of the 30 files", handles)
	}
	if balance := s.Context().Account().Balance(); balance <= 0 {
		t.Errorf("the account is at %.0f, want a saving", balance)
	}
}

// A reference keeps a page: what every answer quotes stays when all else goes.
func TestStepKeepsWhatIsQuoted(t *testing.T) {
	s, head := newTestStep(t, schedule.Settings{Window: 1_000_000})
	now := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	read := func(n int) {
		use := fmt.Sprintf("t%d", n)
		s.Answer(quire.Reply{Blocks: []quire.Block{{Part: quire.Part{Kind: quire.PartToolCall, Tool: "read", ToolUse: use, Text: fmt.Sprintf(`{"path":"f%d.go"}`, n)}}}})
		s.Enter(quire.RoleTool, quire.Block{Part: quire.Part{Kind: quire.PartToolResult, Tool: "read", ToolUse: use, Text: file(n)}})
	}
	var last quire.Call
	for turn := range 12 {
		s.Enter(quire.RoleUser, text(quire.PartUser, "go on"))
		for round := range 6 {
			call, _, err := s.Plan(now, head)
			if err != nil {
				t.Fatal(err)
			}
			last = call
			if round < 5 {
				read(turn*5 + round)
				continue
			}
			line := strings.SplitN(file(0), "\n", 8)[turn%7]
			s.Answer(quire.Reply{Blocks: []quire.Block{text(quire.PartText, "As it says: "+line)}})
		}
		now = now.Add(time.Hour)
	}
	said := fmt.Sprintf("%+v", last.Messages)
	if !strings.Contains(said, "func part0_50(") {
		t.Error("the quoted file is gone")
	}
	if strings.Contains(said, "func part1_50(") {
		t.Error("a file that nothing referred to is still there")
	}
}

// failures.md A14, A42: no result and no round of results can fill the window; a
// result above its bound says at its beginning that it is shortened, and recall
// has the rest.
func TestAdmissionBoundsARound(t *testing.T) {
	s, head := newTestStep(t, schedule.Settings{Window: 40_000})
	now := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	s.Enter(quire.RoleUser, text(quire.PartUser, "read everything"))
	if _, _, err := s.Plan(now, head); err != nil {
		t.Fatal(err)
	}
	var calls []quire.Block
	for i := range 7 {
		calls = append(calls, quire.Block{Part: quire.Part{Kind: quire.PartToolCall, Tool: "read", ToolUse: fmt.Sprint("t", i), Text: fmt.Sprintf(`{"path":"f%d.go"}`, i)}})
	}
	s.Answer(quire.Reply{Blocks: calls})
	for i := range 7 {
		big := strings.Repeat(file(i), 20)
		s.Enter(quire.RoleTool, quire.Block{Part: quire.Part{Kind: quire.PartToolResult, Tool: "read", ToolUse: fmt.Sprint("t", i), Text: big}})
	}
	call, plan, err := s.Plan(now.Add(time.Second), head)
	if err != nil {
		t.Fatal(err)
	}
	if plan.After > 20_000 {
		t.Errorf("the round takes %d of 40,000 tokens", plan.After)
	}
	for _, b := range call.Messages[len(call.Messages)-1].Blocks {
		if first, _, _ := strings.Cut(b.Text, "\n"); !strings.Contains(first, "recall p") {
			t.Errorf("a shortened result begins %.100q", b.Text)
		}
	}
	if whole, ok := s.text(2); !ok || len(whole) != len(strings.Repeat(file(0), 20)) {
		t.Error("the page is not whole")
	}
}
