package assemble

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/quire-agent/quire/internal/quire"
)

// A link is a block of the prompt in the chain of all blocks. Sums and counts are
// of everything up to it.
type link struct {
	sum            quire.Hash
	bytes          int // of the body, reckoned
	images         int
	message, block int // its place
	role           quire.Role
	marks          bool // it may carry a cache mark
}

// overhead is at least how many bytes a dialect writes around the texts of a
// block.
const overhead = 120

// An encoder writes the canonical encoding of a prompt: every text with its
// length before it, in a fixed order, cache marks left out.
type encoder struct{ buf []byte }

// sum continues a chain of sums by what was written, and begins anew.
func (e *encoder) sum(before quire.Hash) quire.Hash {
	e.buf = append(e.buf, before[:]...)
	h := sha256.Sum256(e.buf)
	e.buf = e.buf[:0]
	return h
}

func (e *encoder) number(n int) { e.buf = binary.AppendVarint(e.buf, int64(n)) }

func (e *encoder) text(s string) {
	e.number(len(s))
	e.buf = append(e.buf, s...)
}

func (e *encoder) raw(b []byte) {
	e.number(len(b))
	e.buf = append(e.buf, b...)
}

func (e *encoder) fields(list []quire.Field) {
	e.number(len(list))
	for _, f := range list {
		e.text(f.Name)
		e.raw(f.Value)
	}
}

func (e *encoder) block(b *quire.Block) {
	e.number(int(b.Kind))
	e.text(b.Text)
	e.text(b.Tool)
	e.text(b.ToolUse)
	e.text(b.Signature)
	e.raw(b.Opaque)
	e.text(b.Data)
	if b.IsError {
		e.number(1)
	}
	e.fields(b.Rest)
	e.number(len(b.Content))
	for i := range b.Content {
		e.block(&b.Content[i])
	}
}

func (e *encoder) tool(t *quire.ToolSpec) {
	e.text(t.Name)
	e.text(t.Description)
	e.text(t.Type)
	e.raw(t.Schema)
	e.fields(t.Rest)
}

// weigh is about how many bytes a block takes in a body, media in base64, and how
// many images it holds.
func weigh(b *quire.Block) (bytes, images int) {
	bytes = overhead + len(b.Text) + len(b.Tool) + len(b.ToolUse) + len(b.Signature) + len(b.Opaque) + (len(b.Data)+2)/3*4
	if b.Kind == quire.PartImage {
		images = 1
		if b.Data == "" && b.Media != nil {
			bytes += (b.Media.Bytes + 2) / 3 * 4
		}
	}
	for _, f := range b.Rest {
		bytes += len(f.Name) + len(f.Value)
	}
	for i := range b.Content {
		n, m := weigh(&b.Content[i])
		bytes, images = bytes+n, images+m
	}
	return bytes, images
}

// A key is what a cache is looked up by besides the stream, in sums.
type key struct{ model, tools, system, opening, settings quire.Hash }

func keyOf(h *Head) (k key) {
	var e encoder
	e.text(h.Model)
	k.model = e.sum(quire.Hash{})
	for i := range h.Tools {
		e.tool(&h.Tools[i])
	}
	k.tools = e.sum(quire.Hash{})
	for i := range h.System {
		e.block(&h.System[i])
	}
	k.system = e.sum(quire.Hash{})
	for _, t := range h.Opening {
		e.text(t.Source)
		e.text(t.Text)
	}
	k.opening = e.sum(quire.Hash{})
	k.settings = settingsSum(&e, h)
	return k
}

func settingsSum(e *encoder, h *Head) quire.Hash {
	e.text(h.Choice.Mode)
	e.text(h.Choice.Tool)
	e.fields(h.Choice.Rest)
	e.text(h.Thinking.Mode)
	e.number(h.Thinking.Budget)
	e.text(h.Thinking.Effort)
	e.fields(h.Thinking.Rest)
	e.fields(h.Rest)
	e.number(h.Limits.ImageBytes)
	e.number(h.Limits.ImageSide)
	return e.sum(quire.Hash{})
}

// changed names the first part that differs, "" for none.
func (k key) changed(o key) string {
	switch {
	case k.model != o.model:
		return "the model"
	case k.tools != o.tools:
		return "the tool list"
	case k.system != o.system:
		return "the system text"
	case k.opening != o.opening:
		return "the opening"
	case k.settings != o.settings:
		return "a setting that the cache is looked up by"
	}
	return ""
}

// seed is what the chain of a prompt begins with. Generation counts how often the
// head was renewed: what was signed before is bound to another one.
func (k key) seed(generation int) quire.Hash {
	var e encoder
	e.number(generation)
	for _, h := range [...]quire.Hash{k.model, k.tools, k.system, k.opening, k.settings} {
		e.buf = append(e.buf, h[:]...)
	}
	return e.sum(quire.Hash{})
}

// headBytes is about how many bytes the head takes in a body.
func headBytes(h *Head) int {
	n := 2 * overhead
	for i := range h.Tools {
		t := &h.Tools[i]
		n += overhead + len(t.Name) + len(t.Description) + len(t.Schema)
	}
	for i := range h.System {
		bytes, _ := weigh(&h.System[i])
		n += bytes
	}
	return n
}
