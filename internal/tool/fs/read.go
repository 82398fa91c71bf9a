package fs

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/tool"
	"github.com/quire-agent/quire/internal/x/pdf"
)

//go:embed read.md
var readPrompt string

type readArgs struct {
	Path   string `json:"path" jsonschema:"the file"`
	Offset int    `json:"offset,omitempty" jsonschema:"first line, from 1"`
	Limit  int    `json:"limit,omitempty" jsonschema:"number of lines"`
}

// The bounds of one read.
const (
	readLines = 2000    // lines, when none are asked for
	maxLine   = 8 << 10 // bytes of a line that are shown
)

func (f *Files) read() tool.Tool {
	return tool.New("read", readPrompt, func(a readArgs) tool.Want { return reads(a.Path) }, f.runRead)
}

func (f *Files) runRead(_ context.Context, a readArgs) (tool.Result, error) {
	rel, failed := f.resolve(a.Path)
	if failed != nil {
		return *failed, nil
	}
	data, failed := f.load(rel, a.Path)
	if failed != nil {
		return *failed, nil
	}
	if a.Offset < 0 || a.Limit < 0 {
		return tool.Failed("offset and limit are counted from 1; got %d and %d.", a.Offset, a.Limit), nil
	}
	version, text := quire.Sum(string(data)), string(data)
	r, ok := Shown(a.Path, data)
	switch {
	case ok && (r.Error || r.Media != nil):
		return r, nil
	case ok:
		text = r.Text
	default:
		if failed := unreadable(a.Path, data); failed != nil {
			return *failed, nil
		}
		f.Saw(rel, version)
	}
	r = numbered(text, max(a.Offset, 1), a.Limit)
	r.Read = version
	return r, nil
}

// Shown is what can be shown of a file that is no text: an image as such, a PDF
// document as its text, page by page. ok is false where it is neither; a result
// with an error says why it cannot be shown. named is how the file is called.
func Shown(named string, data []byte) (r tool.Result, ok bool) {
	if r, ok := picture(named, data); ok {
		return r, true
	}
	if !bytes.HasPrefix(data, []byte("%PDF-")) {
		return r, false
	}
	text, err := pdf.Text(data)
	switch {
	case err != nil:
		return tool.Failed("%s is a PDF, and %v.", named, err), true
	case empty(text):
		return tool.Failed("%s is a PDF without text, of scanned pages perhaps. Make images of its pages with bash, if a program for that is installed, and read those.", named), true
	}
	return tool.Result{Text: text}, true
}

// empty reports whether there is nothing in a text but the marks of its pages.
func empty(text string) bool {
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "[page ") && strings.TrimSpace(line) != "" {
			return false
		}
	}
	return true
}

// unreadable says why a file cannot be shown as text.
func unreadable(named string, data []byte) *tool.Result {
	head := data[:min(len(data), 8000)]
	var r tool.Result
	switch {
	case bytes.HasPrefix(data, []byte("%PDF-")):
		r = tool.Failed("%s is a PDF, which cannot be read as text here. Convert it with bash if a program for that is installed: pdftotext -layout FILE - | head -300.", named)
	case bytes.IndexByte(head, 0) >= 0:
		r = tool.Failed("%s is a binary file of %d bytes. Use bash (file, xxd | head, strings | head) if you need to know what is in it.", named, len(data))
	default:
		return nil
	}
	return &r
}

// numbered shows lines of a text with their numbers.
func numbered(text string, first, limit int) tool.Result {
	lines := splitLines(strings.TrimPrefix(text, "\ufeff"))
	if len(lines) == 0 {
		return tool.Result{Text: "(the file is empty)"}
	}
	if first > len(lines) {
		return tool.Failed("The file has %d lines; line %d does not exist.", len(lines), first)
	}
	count := limit
	if count == 0 {
		count = readLines
	}
	var b strings.Builder
	next := first
	for ; next <= len(lines) && next-first < count && b.Len() < tool.MaxText; next++ {
		fmt.Fprintf(&b, "%6d\t%s\n", next, clipLine(tool.Valid(lines[next-1])))
	}
	if next <= len(lines) {
		fmt.Fprintf(&b, "\n[lines %d-%d of %d; the next begins at offset %d]\n", first, next-1, len(lines), next)
	}
	return tool.Result{Text: b.String()}
}

// splitLines gives the lines of a text without their ends.
func splitLines(text string) []string {
	if text == "" {
		return nil
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimSuffix(l, "\r")
	}
	return lines
}

func clipLine(line string) string {
	if len(line) <= maxLine {
		return line
	}
	head := strings.ToValidUTF8(line[:maxLine], "")
	return fmt.Sprintf("%s [… %d bytes of this line left out …]", head, len(line)-len(head))
}
