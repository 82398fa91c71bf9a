package quire

import "strings"

// A Part is one piece of content of a prompt or of an answer.
type Part struct {
	Kind    PartKind `json:"kind"`
	Origin  Origin   `json:"origin,omitempty"`
	Text    string   `json:"text,omitempty"`    // decoded text; for a tool call its arguments (JSON, or the raw input of a custom tool)
	Tool    string   `json:"tool,omitempty"`    // tool name, on calls and, where known, on results
	ToolUse string   `json:"toolUse,omitempty"` // pairs a tool call with its result
	IsError bool     `json:"isError,omitempty"` // of a tool result, where recorded
	Cuts    []int    `json:"cuts,omitempty"`    // where in Text, joined from several blocks, each block but the first begins; see Blocks
	Media   *Media   `json:"media,omitempty"`   // of PartImage and PartDocument
	After   int      `json:"after,omitempty"`   // of an image or document in a tool result: blocks of text of the result that stand before it
	Data    string   `json:"-"`                 // the bytes that Media describes, where the record holds them; no part of what is written down
}

// Joined is the text of several blocks, a line end between them, and where it is
// cut to have them again.
func Joined(blocks []string) (text string, cuts []int) {
	at := 0
	for i, b := range blocks {
		if i > 0 {
			cuts = append(cuts, at)
		}
		at += len(b) + 1
	}
	return strings.Join(blocks, "\n"), cuts
}

// Blocks are the blocks that Text was joined from, byte for byte. Cuts that do
// not fit to the text give it in one piece.
func (p *Part) Blocks() []string {
	from := 0
	var out []string
	for _, cut := range p.Cuts {
		if cut <= from || cut > len(p.Text) || p.Text[cut-1] != '\n' {
			return []string{p.Text}
		}
		out = append(out, p.Text[from:cut-1])
		from = cut
	}
	return append(out, p.Text[from:])
}

// PartKind says what a part is in the prompt.
type PartKind uint8

// The kinds of parts.
const (
	PartSystem     PartKind = iota + 1 // system prompt, developer message
	PartTools                          // tool schemas
	PartUser                           // the user's own words
	PartMachine                        // text in the user's role that a machine made: reminders, hook output, command expansions
	PartText                           // the model's text
	PartThinking                       // the model's thinking; Text is empty where it is encrypted or dropped
	PartToolCall                       // a tool call of the model
	PartToolResult                     // its result
	PartImage                          // an image, alone or inside a tool result (ToolUse says which)
	PartDocument                       // a PDF or other file sent as such
)

var partKindNames = [...]string{"", "system", "tools", "user", "machine", "text", "thinking", "tool call", "tool result", "image", "document"}

// String names the kind as reports show it.
func (k PartKind) String() string {
	if int(k) < len(partKindNames) {
		return partKindNames[k]
	}
	return "unknown"
}

// MarshalText writes the name of the kind.
func (k PartKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// Answer reports whether parts of this kind are made by the model.
func (k PartKind) Answer() bool {
	return k == PartText || k == PartThinking || k == PartToolCall
}

// Origin tells parts that entered once from parts that a compaction put back.
type Origin uint8

// The origins.
const (
	OriginFirst      Origin = iota // it entered here for the first time
	OriginSummary                  // the summary that opens a new context after a compaction
	OriginReinjected               // a copy that the harness put back after a compaction
	OriginOwn                      // Quire itself put it in, as state or a notice: it is no page
)

// Media describes an image or a document without its bytes.
type Media struct {
	Type   string `json:"type"`             // MIME type
	Bytes  int    `json:"bytes"`            // decoded size
	Width  int    `json:"width,omitempty"`  // pixels, 0 when unknown
	Height int    `json:"height,omitempty"` // pixels, 0 when unknown
	Pages  int    `json:"pages,omitempty"`  // of a document, 0 when unknown
	Hash   Hash   `json:"hash,omitzero"`    // SHA-256 of the decoded bytes; zero when they are not in the record
}
