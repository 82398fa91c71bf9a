package token

import (
	"strings"

	"github.com/quire-agent/quire/internal/quire"
)

// A Class is a kind of content that a model's own vocabulary may cut finer or
// coarser than o200k does, or a thing that costs tokens without being text.
type Class uint8

// The classes. Those up to Thinking are counted in o200k tokens.
const (
	Prose     Class = iota // words of people and of models
	Code                   // results of tools: program text, output, listings
	Numbered               // results with a number before each line
	Arguments              // arguments of tool calls
	Wide                   // Chinese, Japanese and Korean characters, wherever they stand
	Thinking               // thinking as it is recorded
	Native                 // tokens of the model itself: recorded output, images and documents by the vendor's rule
	Message                // parts: each is framed
	Call                   // calls: what a harness adds to each without recording it
	classCount
)

var classNames = [classCount]string{"prose", "code", "numbered", "arguments", "wide", "thinking", "native", "message", "call"}

// String names the class.
func (c Class) String() string {
	if c < classCount {
		return classNames[c]
	}
	return "unknown"
}

// Features are amounts of content by class. Those of a prompt are the sums of
// those of its parts; those of a growth may be negative where parts left.
type Features [classCount]int

// Plus returns the sum.
func (x Features) Plus(y Features) Features {
	for i, n := range y {
		x[i] += n
	}
	return x
}

// Minus returns the difference.
func (x Features) Minus(y Features) Features {
	for i, n := range y {
		x[i] -= n
	}
	return x
}

// Measure counts a part by class as it stands in a prompt of the model. Which
// model it is matters for images and documents only.
func (c *Counter) Measure(p quire.Part, model string) Features {
	n := c.measure(p.Text)
	x := Features{Wide: int(n.wide), Message: 1}
	x[contentClass(p)] += int(n.total - n.wide)
	if p.Media == nil {
		return x
	}
	if p.Kind == quire.PartDocument {
		x[Native] += Document(model, *p.Media)
	} else {
		x[Native] += Image(model, *p.Media)
	}
	return x
}

func contentClass(p quire.Part) Class {
	switch p.Kind {
	case quire.PartThinking:
		return Thinking
	case quire.PartToolCall, quire.PartTools:
		return Arguments
	case quire.PartToolResult:
		if numbered(p.Text) {
			return Numbered
		}
		return Code
	}
	return Prose
}

// numbered reports whether the first lines of text carry rising line numbers,
// as file-reading tools write them: "   12→", "12\t" or "12: ".
func numbered(text string) bool {
	seen := 0
	for line := range strings.Lines(text) {
		if !lineNumber(line) {
			return false
		}
		if seen++; seen == 3 {
			return true
		}
	}
	return seen > 0
}

func lineNumber(line string) bool {
	line = strings.TrimLeft(line, " ")
	digits := 0
	for digits < len(line) && '0' <= line[digits] && line[digits] <= '9' {
		digits++
	}
	rest := line[digits:]
	return digits > 0 && digits < 8 &&
		(strings.HasPrefix(rest, "→") || strings.HasPrefix(rest, "\t") || strings.HasPrefix(rest, ": "))
}
