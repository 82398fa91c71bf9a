package responses

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/wire/openai"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

// dressAll gives the blocks of an answer what the items of one must have and
// blocks that were made elsewhere lack: ids, a status, annotations.
func dressAll(blocks []quire.Block, reply string) []quire.Block {
	blocks = slices.Clone(blocks)
	for i := range blocks {
		inside := i > 0 && isPart(blocks[i-1]) && continues(blocks[i])
		blocks[i] = dress(blocks[i], reply, i, inside)
	}
	return blocks
}

// dress is one block of an answer, the n-th. Inside says that it goes on with
// the message before it. The ids follow from that of the answer, so that the
// same answer always gets the same.
func dress(b quire.Block, reply string, n int, inside bool) quire.Block {
	if b.Opaque != nil {
		return b
	}
	id := openai.Quote(reply + "_" + strconv.Itoa(n))
	switch b.Kind {
	case quire.PartThinking:
		return withMembers(b, quire.Field{Name: "id", Value: prefixed("rs_", id)})
	case quire.PartToolCall:
		return withMembers(b, quire.Field{Name: "id", Value: prefixed("fc_", id)}, quire.Field{Name: "status", Value: json.RawMessage(`"completed"`)})
	}
	if rawjson.Get(b.Rest, itemMessage) == nil && !inside {
		head := openai.Object([]quire.Field{
			{Name: "type", Value: openai.Quote(itemMessage)},
			{Name: "id", Value: prefixed("msg_", id)},
			{Name: "status", Value: json.RawMessage(`"completed"`)},
		})
		b = withMembers(b, quire.Field{Name: itemMessage, Value: head})
	}
	if isRefusal(b) || b.Plain {
		return b
	}
	return withMembers(b, quire.Field{Name: "annotations", Value: json.RawMessage("[]")})
}

func prefixed(prefix string, quoted json.RawMessage) json.RawMessage {
	return slices.Concat(json.RawMessage(`"`+prefix), quoted[1:])
}

// withMembers is a block with members added that it does not have.
func withMembers(b quire.Block, members ...quire.Field) quire.Block {
	rest := slices.Clone(b.Rest)
	for _, m := range members {
		if rawjson.Get(rest, m.Name) == nil {
			rest = append(rest, m)
		}
	}
	b.Rest = rest
	return b
}
