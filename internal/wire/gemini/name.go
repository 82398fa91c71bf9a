package gemini

import (
	"strconv"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
)

// ownName reports whether an id is a name that this package gave to a call
// without one. It is not sent.
func ownName(id string) bool { return strings.HasPrefix(id, "#") }

// nameCalls names the calls of a request that have no id, and gives each result
// without one the name of the first call before it, with the same function, that
// has no result yet. A result that answers no call gets a name of its own.
func nameCalls(messages []quire.Message) {
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
	open   []quire.Part // calls that it named and that have no result yet
}

func (n *namer) name(b *quire.Block) {
	if b.ToolUse != "" || b.Opaque != nil {
		return
	}
	switch b.Kind {
	case quire.PartToolCall:
		b.ToolUse = n.next()
		n.open = append(n.open, b.Part)
	case quire.PartToolResult:
		b.ToolUse = n.pair(b.Tool)
	}
}

func (n *namer) next() string {
	n.given++
	return "#" + n.prefix + strconv.Itoa(n.given)
}

func (n *namer) pair(tool string) string {
	for i, call := range n.open {
		if call.Tool == tool {
			n.open = append(n.open[:i], n.open[i+1:]...)
			return call.ToolUse
		}
	}
	return n.next()
}
