package sim

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"hash"
	"slices"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/wire/openai"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

// A digest is a SHA-256 over what a provider sees of a piece of a prompt. Cache
// marks, the order of members that ride along, and whether a single text stands
// alone or in a list make no difference.
type digest [sha256.Size]byte

// short is the digest as a cache tells blocks apart.
func (d digest) short() uint64 { return binary.LittleEndian.Uint64(d[:]) }

// then chains digests: the order matters.
func (d digest) then(next digest) digest {
	return sha256.Sum256(append(d[:], next[:]...))
}

// A hasher writes fields, each with its length.
type hasher struct{ h hash.Hash }

func newHasher() hasher { return hasher{sha256.New()} }

func (w hasher) add(fields ...string) {
	for _, f := range fields {
		var size [8]byte
		binary.LittleEndian.PutUint64(size[:], uint64(len(f)))
		w.h.Write(size[:])
		w.h.Write([]byte(f))
	}
}

func (w hasher) sum() (d digest) {
	w.h.Sum(d[:0])
	return d
}

func digestTool(t quire.ToolSpec) digest {
	w := newHasher()
	w.add("tool", t.Type, t.Name, t.Description, string(t.Schema))
	w.rest(t.Rest)
	return w.sum()
}

func digestBlock(role quire.Role, b quire.Block) digest {
	w := newHasher()
	w.add(role.String())
	w.block(b, role != quire.RoleAssistant)
	return w.sum()
}

// block writes a block. What a client adds to the blocks of an answer when it
// sends them back (states, annotations that are empty) is not looked at.
func (w hasher) block(b quire.Block, rest bool) {
	if b.Opaque != nil {
		w.add("opaque", string(unmarked(b.Opaque)))
		return
	}
	pieces := b.Content
	if b.Kind == quire.PartToolResult && b.Text != "" {
		pieces = []quire.Block{{Part: quire.Part{Kind: quire.PartMachine, Text: b.Text}}}
		b.Text = ""
	}
	w.add(b.Kind.String(), b.Text, b.Tool, called(b.ToolUse), b.Signature, b.Data)
	if b.IsError {
		w.add("failed")
	}
	if rest {
		w.rest(b.Rest)
	}
	for _, p := range pieces {
		w.add("(")
		w.block(p, rest)
		w.add(")")
	}
}

// called is an id as it was sent: names that the codec gave are not.
func called(id string) string {
	if strings.HasPrefix(id, "#") {
		return ""
	}
	return id
}

// rest writes members in the order of their names.
func (w hasher) rest(fields []quire.Field) {
	fields = slices.Clone(fields)
	slices.SortStableFunc(fields, func(a, b quire.Field) int { return strings.Compare(a.Name, b.Name) })
	for _, f := range fields {
		if !isMark(f.Name) && f.Name != "role" && f.Name != "item" {
			w.add(f.Name, string(unmarked(f.Value)))
		}
	}
}

func isMark(name string) bool { return name == openai.CacheControl || name == openai.Breakpoint }

// unmarked is JSON without white space and without cache marks in its objects.
func unmarked(raw json.RawMessage) json.RawMessage {
	switch {
	case rawjson.IsObject(raw):
		var w rawjson.Writer
		for _, m := range rawjson.Members(raw) {
			if !isMark(m.Name) {
				w.Made(m.Name, unmarked(m.Value))
			}
		}
		out, _ := w.Bytes()
		return out
	case rawjson.IsArray(raw):
		list := rawjson.Elements(raw)
		for i := range list {
			list[i] = unmarked(list[i])
		}
		return rawjson.Array(list)
	}
	return bytes.TrimSpace(raw)
}
