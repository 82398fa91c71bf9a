package gateway

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"hash"
	"slices"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

// A message is one message of a view with what identifies it (design, G1): the
// hash of its canonical form, which leaves out cache marks, the order of keys,
// bookkeeping, ids of items and thinking, and has one form for a text.
type message struct {
	quire.Message
	sum     quire.Hash // of the canonical form
	outline quire.Hash // the same without the contents of tool results
	results []result
	first   int // of the messages that it was made of
	end     int // behind the last of them
}

// A result is what is known of the content of a tool result.
type result struct {
	sum  quire.Hash
	size int
}

// canonical is the messages of a call as they are identified. What the model said
// in a row is one message, as an answer is; what holds nothing but thinking is none.
func canonical(list []quire.Message) []message {
	var out []message
	for i := 0; i < len(list); i++ {
		m, first := list[i], i
		for m.Role == quire.RoleAssistant && i+1 < len(list) && list[i+1].Role == quire.RoleAssistant {
			i++
			m.Blocks = append(slices.Clip(m.Blocks), list[i].Blocks...)
		}
		if c, ok := canonicalOf(m); ok {
			c.first, c.end = first, i+1
			out = append(out, c)
		}
	}
	return out
}

func canonicalOf(m quire.Message) (message, bool) {
	c := message{Message: m}
	full, outline := newSum(m.Role.String()), newSum(m.Role.String())
	some := false
	for i := range m.Blocks {
		b := &m.Blocks[i]
		if !matters(b) {
			continue
		}
		some = true
		if b.Kind == quire.PartToolResult && b.Opaque == nil {
			r := contentOf(b)
			c.results = append(c.results, r)
			outline.fields("result", useOf(b))
			full.fields("result", useOf(b), string(r.sum[:]))
			continue
		}
		full.block(b)
		outline.block(b)
	}
	c.sum, c.outline = full.end(), outline.end()
	return c, some
}

// matters reports whether a block is part of the canonical form.
func matters(b *quire.Block) bool {
	if b.Kind == quire.PartThinking {
		return false
	}
	text := b.Kind == quire.PartText || b.Kind == quire.PartUser || b.Kind == quire.PartMachine || b.Kind == quire.PartSystem
	return b.Opaque != nil || !text || b.Text != ""
}

func contentOf(b *quire.Block) result {
	s := newSum("content")
	size := len(b.Text)
	if b.Text != "" {
		s.fields("text", b.Text)
	}
	for i := range b.Content {
		if c := &b.Content[i]; matters(c) {
			s.block(c)
			size += len(c.Text) + len(c.Data) + len(c.Opaque)
		}
	}
	return result{s.end(), size}
}

// A summer hashes fields so that no two lists of fields have one form.
type summer struct {
	h      hash.Hash
	buffer *[1024]byte // texts go through it, as a hash takes bytes only and a text may be long
}

func newSum(fields ...string) summer {
	s := summer{sha256.New(), new([1024]byte)}
	s.fields(fields...)
	return s
}

func (s summer) fields(list ...string) {
	for _, f := range list {
		binary.LittleEndian.PutUint64(s.buffer[:8], uint64(len(f)))
		s.h.Write(s.buffer[:8])
		for len(f) > 0 {
			n := copy(s.buffer[:], f)
			s.h.Write(s.buffer[:n])
			f = f[n:]
		}
	}
}

func (s summer) end() (out quire.Hash) {
	s.h.Sum(out[:0])
	return out
}

// block adds a block that is no tool result with content.
func (s summer) block(b *quire.Block) {
	switch {
	case b.Opaque != nil:
		s.fields("opaque", string(canonJSON(b.Opaque)))
	case b.Kind == quire.PartToolCall:
		s.fields("call", useOf(b), b.Tool, argumentsOf(b.Text))
	case b.Kind == quire.PartToolResult:
		r := contentOf(b)
		s.fields("result", useOf(b), string(r.sum[:]))
	case b.Kind == quire.PartImage, b.Kind == quire.PartDocument:
		s.media(b)
	default:
		s.fields("text", b.Text)
	}
}

// useOf is the id by which a call and its result are paired, "" where the API gave
// none: names for those are made of where they stand, and differ between an answer
// and a view.
func useOf(b *quire.Block) string {
	if strings.HasPrefix(b.ToolUse, "#") {
		return ""
	}
	return b.ToolUse
}

func (s summer) media(b *quire.Block) {
	id := b.Text
	if b.Media != nil && b.Media.Hash != (quire.Hash{}) {
		id = string(b.Media.Hash[:])
	}
	s.fields(b.Kind.String(), id)
	for i := range b.Content {
		s.block(&b.Content[i])
	}
	if id == "" && len(b.Content) == 0 {
		for _, f := range b.Rest {
			if f.Name == "source" {
				s.fields(string(canonJSON(f.Value)))
			}
		}
	}
}

// argumentsOf is the canonical form of arguments, which some tools take as text.
func argumentsOf(text string) string {
	if !rawjson.Valid([]byte(text)) {
		return text
	}
	return string(canonJSON(json.RawMessage(text)))
}

// bookkeeping lists members that say nothing to the model and that clients change
// or leave out when they send something again.
func bookkeeping(name string) bool {
	return name == "cache_control" || name == "id" || name == "status"
}

// canonJSON is valid JSON in one form: the members of objects by name, those that
// are bookkeeping left out at the top, no white space, texts escaped one way.
// Numbers keep their digits.
func canonJSON(raw json.RawMessage) json.RawMessage {
	var fields []quire.Field
	if rawjson.IsObject(raw) {
		for _, f := range rawjson.Members(raw) {
			if !bookkeeping(f.Name) || f.Name == "id" && len(f.Value) > 0 && !rawjson.IsString(f.Value) {
				fields = append(fields, f)
			}
		}
		return appendObject(nil, fields, 1)
	}
	return appendCanon(nil, raw, 0)
}

// deepest is how deep JSON is brought into one form. What stands deeper stays as it
// is: each level is read once more for the one around it.
const deepest = 64

func appendCanon(dst []byte, raw json.RawMessage, depth int) []byte {
	switch {
	case depth >= deepest:
	case rawjson.IsObject(raw):
		return appendObject(dst, rawjson.Members(raw), depth+1)
	case rawjson.IsArray(raw):
		dst = append(dst, '[')
		for i, e := range rawjson.Elements(raw) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendCanon(dst, e, depth+1)
		}
		return append(dst, ']')
	case rawjson.IsString(raw):
		if text, exact := rawjson.TextOf(raw); exact {
			return rawjson.AppendText(dst, text)
		}
	}
	return append(dst, bytes.TrimSpace(raw)...)
}

// appendObject writes members by name; of those with one name the last counts.
func appendObject(dst []byte, fields []quire.Field, depth int) []byte {
	slices.SortStableFunc(fields, func(a, b quire.Field) int { return strings.Compare(a.Name, b.Name) })
	dst = append(dst, '{')
	first := true
	for i, f := range fields {
		if i+1 < len(fields) && fields[i+1].Name == f.Name {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(rawjson.AppendText(dst, f.Name), ':')
		dst = appendCanon(dst, f.Value, depth)
	}
	return append(dst, '}')
}
