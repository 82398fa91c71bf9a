package retrieve

import (
	"fmt"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
)

// ToolName is the name of the tool that reads pages back.
const ToolName = "recall"

// OwnTool reports whether a tool of that name is the one that reads pages back,
// by itself or through a server of ours (mcp__quire__recall). What it returns is
// made of pages and is none itself.
func OwnTool(name string) bool {
	return name == ToolName || strings.HasSuffix(name, "quire__"+ToolName) || strings.HasSuffix(name, "quire_"+ToolName)
}

// Frame puts text that Quire adds to a prompt into a frame that names its
// source: whoever reads it knows that it is data and where it is from, and an
// ingest that meets it again knows that it is ours. The frame holds a checksum
// of the text, so that no other text has it by accident.
func Frame(source, text string) string {
	source = strings.NewReplacer("\"", "'", "\n", " ").Replace(source)
	return fmt.Sprintf("%s%s\" sum=\"%s\">\n%s\n%s", frameOpen, source, checksum(text), text, frameClose)
}

const (
	frameOpen  = `<quire source="`
	frameClose = `</quire>`
)

func checksum(text string) string { return quire.Sum(text).String()[:16] }

// Unframed takes the framed passages out of a text. A frame whose checksum does
// not fit is text like any other.
func Unframed(text string) string {
	var out strings.Builder
	for {
		at := strings.Index(text, frameOpen)
		if at < 0 {
			break
		}
		out.WriteString(text[:at])
		n := framed(text[at:])
		if n == 0 {
			n = len(frameOpen)
			out.WriteString(frameOpen)
		}
		text = text[at+n:]
	}
	if out.Len() == 0 {
		return text
	}
	out.WriteString(text)
	return out.String()
}

// framed is the length of the frame at the beginning of a text, 0 where it is
// none of ours. A framed text may hold the closing mark itself: the checksum
// says which one closes.
func framed(text string) int {
	head, body, ok := strings.Cut(text, ">\n")
	if !ok {
		return 0
	}
	_, sum, ok := strings.Cut(head, `" sum="`)
	if !ok {
		return 0
	}
	sum = strings.TrimSuffix(sum, `"`)
	for end, tries := 0, 0; tries < maxClosings; tries++ {
		at := strings.Index(body[end:], "\n"+frameClose)
		if at < 0 {
			return 0
		}
		end += at
		if checksum(body[:end]) == sum {
			return len(head) + len(">\n") + end + len("\n"+frameClose)
		}
		end++
	}
	return 0
}

// maxClosings bounds the work that a text full of closing marks makes.
const maxClosings = 16
