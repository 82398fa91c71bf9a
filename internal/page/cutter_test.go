package page

import (
	"fmt"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/quire"
	"pgregory.net/rapid"
)

// row shows a page in one line.
func row(p quire.Page) string {
	body := "-"
	if p.Body != (quire.Hash{}) {
		body = p.Body.String()[:4]
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s %s call=%d bytes=%d body=%s %s %s %s", p.Number, p.Kind, p.Class, p.Call, p.Bytes, body, p.Tool, p.Action, p.Target))
}

func short(text string) string { return quire.Sum(text).String()[:4] }

func TestCutter(t *testing.T) {
	var c Cutter
	image := quire.Media{Type: "image/png", Bytes: 77, Hash: quire.Sum("png")}
	for _, step := range []struct {
		part quire.Part
		call int
		want []string
	}{
		{quire.Part{Kind: quire.PartSystem, Text: "be good"}, 0, []string{"p1 system prose call=0 bytes=7 body=" + short("be good")}},
		{quire.Part{Kind: quire.PartUser, Text: "hi"}, 0, []string{"p2 user prose call=0 bytes=2 body=" + short("hi")}},
		{quire.Part{Kind: quire.PartThinking, Text: "hm"}, 1, nil},
		{quire.Part{Kind: quire.PartText, Text: "ok"}, 1, []string{"p3 assistant prose call=1 bytes=2 body=" + short("ok")}},
		{quire.Part{Kind: quire.PartToolCall, Tool: "Read", ToolUse: "a", Text: `{"file_path":"x.go"}`}, 1,
			[]string{"p4 tool  call=1 bytes=0 body=- Read read x.go"}},
		{quire.Part{Kind: quire.PartToolCall, Tool: "Write", ToolUse: "b", Text: `{"file_path":"y.json","content":"{}"}`}, 1,
			[]string{"p5 tool  call=1 bytes=0 body=- Write write y.json", "p6 written json call=1 bytes=2 body=" + short("{}") + " Write write y.json"}},
		{quire.Part{Kind: quire.PartToolResult, ToolUse: "b", Text: "done"}, 1, []string{"p5 tool json call=1 bytes=4 body=" + short("done") + " Write write y.json"}},
		{quire.Part{Kind: quire.PartImage, ToolUse: "a", Media: &image}, 2, []string{"p7 image image call=2 bytes=77 body=" + short("png")}},
		{quire.Part{Kind: quire.PartToolResult, ToolUse: "a", Text: "package x"}, 2, []string{"p4 tool source call=2 bytes=9 body=" + short("package x") + " Read read x.go"}},
		{quire.Part{Kind: quire.PartToolResult, ToolUse: "?", Tool: "Bash", Text: "lost"}, 2, []string{"p8 tool prose call=2 bytes=4 body=" + short("lost") + " Bash"}},
		{quire.Part{Kind: quire.PartMachine, Text: `{"a":1}`}, 3, []string{"p9 machine json call=3 bytes=7 body=" + short(`{"a":1}`)}},
		{quire.Part{Kind: quire.PartTools, Text: "[]"}, 3, []string{"p10 system json call=3 bytes=2 body=" + short("[]")}},
		{quire.Part{Kind: quire.PartDocument}, 3, []string{"p11 document prose call=3 bytes=0 body=" + short("")}},
	} {
		got := c.Cut(step.part, step.call)
		if len(got) != len(step.want) {
			t.Fatalf("%v: %d pages, want %d", step.part, len(got), len(step.want))
		}
		for i := range got {
			if row(got[i]) != step.want[i] {
				t.Errorf("got  %s\nwant %s", row(got[i]), step.want[i])
			}
		}
	}
}

// Numbers begin at 1 and have no gaps, whatever comes in which order.
func TestCutterNumbersWithoutGaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c Cutter
		last := quire.PageNumber(0)
		for i := range rapid.IntRange(0, 60).Draw(t, "parts") {
			part := quire.Part{
				Kind:    quire.PartKind(rapid.IntRange(1, 10).Draw(t, "kind")),
				Tool:    rapid.SampledFrom([]string{"Read", "Write", "Bash", ""}).Draw(t, "tool"),
				ToolUse: rapid.SampledFrom([]string{"a", "b", "c", ""}).Draw(t, "use"),
				Text:    rapid.SampledFrom([]string{"", `{"file_path":"x","content":"y"}`, `{"command":"ls"}`, "plain"}).Draw(t, "text"),
			}
			for _, p := range c.Cut(part, i) {
				if p.Number > last+1 || p.Number < 1 {
					t.Fatalf("page %s after %s", p.Number, last)
				}
				last = max(last, p.Number)
			}
		}
	})
}
