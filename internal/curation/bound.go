package curation

import (
	"bytes"
	"encoding/json"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

// Thinks reports whether the list of a body holds what is bound to the prompt that
// it was made behind: see [Dialect.Unbound].
func (d *Dialect) Thinks(body []byte) bool {
	raw := rawjson.Get(rawjson.Members(body), d.list)
	bound, _ := d.unthought(raw)
	before, after := rawjson.Elements(raw), rawjson.Elements(bound)
	if len(before) != len(after) {
		return true
	}
	for i := range before {
		if !bytes.Equal(compact(before[i]), compact(after[i])) {
			return true
		}
	}
	return false
}

func compact(raw []byte) []byte {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}

// TopMark is the lifetime that a request asks for over all of it, MarkNone where it
// asks for none so.
func TopMark(c *quire.Call) quire.Mark { return lifeOf(rawjson.Get(c.Rest, markName)) }
