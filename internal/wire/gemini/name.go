package gemini

import (
	"strconv"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
)

// ownName reports whether an id is a name that this package gave to a call
// without one. It is not sent.
func ownName(id string) bool { return strings.HasPrefix(id, "#") }

// NameCalls names the calls of a request that have no id, and gives each result
// without one the name of the first call before it, with the same function, that
// has no result yet. So it does for a result whose id no call before it has: clients
// make ids up where the API gave none. A result without an id that answers no call
// gets a name of its own. Names begin with #. [DecodeCall] does this with all messages of
// a request; who puts a request together of messages that were decoded one by one does
// it anew, in blocks that nobody else has.
func NameCalls(messages []quire.Message) {
	var n namer
	for _, m := range messages {
		for i := range m.Blocks {
			n.name(&m.Blocks[i])
		}
	}
}

// A namer gives names in their order.
type namer struct {
	prefix string
	given  int
	open   []quire.Part    // calls that it named and that have no result yet
	ids    map[string]bool // of calls that have some
}

func (n *namer) name(b *quire.Block) {
	switch {
	case b.Opaque != nil:
	case b.Kind == quire.PartToolCall && b.ToolUse != "":
		if n.ids == nil {
			n.ids = map[string]bool{}
		}
		n.ids[b.ToolUse] = true
	case b.Kind == quire.PartToolCall:
		b.ToolUse = n.next()
		n.open = append(n.open, b.Part)
	case b.Kind == quire.PartToolResult && !n.ids[b.ToolUse]:
		b.ToolUse = n.pair(b.Tool, b.ToolUse)
	}
}

func (n *namer) next() string {
	n.given++
	return "#" + n.prefix + strconv.Itoa(n.given)
}

func (n *namer) pair(tool, id string) string {
	for i, call := range n.open {
		if call.Tool == tool {
			n.open = append(n.open[:i], n.open[i+1:]...)
			return call.ToolUse
		}
	}
	if id != "" {
		return id
	}
	return n.next()
}
