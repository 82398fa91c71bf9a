package ledger

import (
	"fmt"

	"github.com/quire-agent/quire/internal/page"
	"github.com/quire-agent/quire/internal/quire"
)

// benchmarked is a ledger of a session with so many pages.
func benchmarked(pages int) *Ledger {
	var l Ledger
	var cutter page.Cutter
	add := func(p quire.Part) { l.Add(&p, cutter.Cut(p, 0)) }
	for i := range pages / 4 {
		use := fmt.Sprint(i)
		add(quire.Part{Kind: quire.PartUser, Text: fmt.Sprintf("Look at part %d. Never touch file %d.", i, i%40)})
		add(quire.Part{Kind: quire.PartToolCall, Tool: "bash", ToolUse: use, Text: fmt.Sprintf(`{"command":"go test ./p%d"}`, i)})
		add(quire.Part{Kind: quire.PartToolResult, ToolUse: use, Text: "Exit code 1\n--- FAIL: TestA (0.0s)"})
		add(quire.Part{Kind: quire.PartToolCall, Tool: "Read", ToolUse: use + "r", Text: fmt.Sprintf(`{"file_path":"/p/%d.go"}`, i)})
		add(quire.Part{Kind: quire.PartToolResult, ToolUse: use + "r", Text: "package p\n"})
		add(quire.Part{Kind: quire.PartText, Text: "I looked.\n\nIt fails for the same reason as before."})
	}
	return &l
}
