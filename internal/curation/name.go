package curation

import (
	"strconv"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
)

// names are the names that calls without an id get, where an API gives none (Gemini):
// those that the client's next view will be read with, so that its results answer
// them. They are "#" with a number; a view is numbered from 1 on.
type names struct {
	dialect *Dialect
	body    []byte // the view that is answered; nil once it was counted
	given   int    // numbers of that view, and of the answer so far
}

// give names a call that the client will see and that has no id.
func (n *names) give(b *quire.Block) {
	if b.Kind != quire.PartToolCall || b.Opaque != nil || !unnamed(b.ToolUse) || recalls(b) {
		return
	}
	if n.body != nil {
		n.given, n.body = n.count(), nil
	}
	n.given++
	b.ToolUse = "#" + strconv.Itoa(n.given)
}

// count is the last number of the view. What cannot be read was not numbered.
func (n *names) count() (last int) {
	call, err := n.dialect.decodeCall(n.body)
	if err != nil {
		return 0
	}
	for i := range call.Messages {
		for k := range call.Messages[i].Blocks {
			if id := call.Messages[i].Blocks[k].ToolUse; unnamed(id) {
				number, _ := strconv.Atoi(id[1:])
				last = max(last, number)
			}
		}
	}
	return last
}

func unnamed(id string) bool { return strings.HasPrefix(id, "#") }
