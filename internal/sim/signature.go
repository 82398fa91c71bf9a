package sim

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"

	"github.com/quire-agent/quire/internal/quire"
)

// A signer signs thinking. It holds for one process: what another simulator with
// another key has signed is not valid.
type signer struct{ key []byte }

// sealSize is the length of each of the three hashes of a signature.
const sealSize = 16

func (s signer) seal(what string, parts ...string) []byte {
	mac := hmac.New(sha256.New, s.key)
	w := hasher{mac}
	w.add(what)
	w.add(parts...)
	return mac.Sum(nil)[:sealSize]
}

// sign signs a text of a model. The prefix is everything in front of it but
// thinking; before is the signature of the thinking that came last, "" for none.
func (s signer) sign(model, text string, prefix digest, before string) string {
	out := s.seal("text", model, text)
	out = append(out, s.seal("prefix", text, string(prefix[:]))...)
	out = append(out, s.seal("before", text, before)...)
	return base64.StdEncoding.EncodeToString(out)
}

// genuine reports whether a signature was made for that text and model.
func (s signer) genuine(model, text, signature string) bool {
	raw, err := base64.StdEncoding.DecodeString(signature)
	return err == nil && len(raw) == 3*sealSize && hmac.Equal(raw[:sealSize], s.seal("text", model, text))
}

// bound reports whether a genuine signature was made behind that prefix and, where
// thinking stands before it, behind that thinking.
func (s signer) bound(text, signature string, prefix digest, before string) bool {
	raw, err := base64.StdEncoding.DecodeString(signature)
	if err != nil || len(raw) != 3*sealSize {
		return false
	}
	if !hmac.Equal(raw[sealSize:2*sealSize], s.seal("prefix", text, string(prefix[:]))) {
		return false
	}
	return before == "" || hmac.Equal(raw[2*sealSize:], s.seal("before", text, before))
}

// A chain walks a prompt and knows what stands in front of each block.
type chain struct {
	prefix digest
	before string // signature of the last thinking
}

// begin is the chain behind the tools and the system prompt.
func begin(c *quire.Call) chain {
	w := newHasher()
	w.add(c.Model)
	ch := chain{prefix: w.sum()}
	for _, t := range c.Tools {
		ch.prefix = ch.prefix.then(digestTool(t))
	}
	for _, b := range c.System {
		ch.pass(quire.RoleSystem, b)
	}
	return ch
}

// pass goes on behind a block.
func (ch *chain) pass(role quire.Role, b quire.Block) {
	if b.Kind == quire.PartThinking {
		ch.before = b.Signature
		return
	}
	ch.prefix = ch.prefix.then(digestBlock(role, b))
}

// end is the chain behind a whole prompt.
func end(c *quire.Call) chain {
	ch := begin(c)
	for _, m := range c.Messages {
		for _, b := range m.Blocks {
			ch.pass(m.Role, b)
		}
	}
	return ch
}
