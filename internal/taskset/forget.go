package taskset

import (
	"context"
	"iter"
	"slices"

	"github.com/quire-agent/quire/internal/quire"
)

// A Model answers calls; [Forgetful] stands between one and the loop that calls it.
type Model interface {
	Call(ctx context.Context, c quire.Call) iter.Seq2[quire.Delta, error]
}

// Forgetful is the policy "none": a model that is sent the user's newest message
// and, behind it, the newest answer with its results; nothing older, and no tool to
// read it back. recall is the name of that tool.
func Forgetful(m Model, recall string) Model { return forgetful{m, recall} }

type forgetful struct {
	model  Model
	recall string
}

// Call sends what is left of a call.
func (f forgetful) Call(ctx context.Context, c quire.Call) iter.Seq2[quire.Delta, error] {
	c.Messages = newest(c.Messages)
	c.Tools = slices.DeleteFunc(slices.Clone(c.Tools), func(t quire.ToolSpec) bool { return t.Name == f.recall })
	return f.model.Call(ctx, c)
}

// newest are the last message of the user and what stands behind the last answer
// but one.
func newest(list []quire.Message) []quire.Message {
	user := lastOf(list, func(m quire.Message) bool {
		return m.Role == quire.RoleUser && slices.ContainsFunc(m.Blocks, func(b quire.Block) bool { return b.Kind == quire.PartUser })
	})
	if user < 0 {
		return list
	}
	out := []quire.Message{list[user]}
	if from := lastOf(list, func(m quire.Message) bool { return m.Role == quire.RoleAssistant }); from > user {
		out = append(out, list[from:]...)
	}
	return out
}

func lastOf(list []quire.Message, is func(quire.Message) bool) int {
	for i, m := range slices.Backward(list) {
		if is(m) {
			return i
		}
	}
	return -1
}
