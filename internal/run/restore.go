package run

import (
	"slices"

	"github.com/quire-agent/quire/internal/assemble"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/tool"
)

// Restore takes the events of a session that was recorded before, in their
// order, so that the loop goes on where it ended: each call is planned again
// from what was known then, and none is made. The head is that of all these
// calls. The records between them go to [Loop.Recorded], in their place. After
// the last event comes [Loop.Restored].
func (l *Loop) Restore(e quire.Event, head assemble.Head) error {
	switch e := e.(type) {
	case quire.Entered:
		l.settle()
		l.entered(e)
	case quire.Called:
		l.settle()
		_, _, err := l.Step.Plan(e.At, l.headed(head))
		l.calls++
		return err
	case quire.Answered:
		l.node = e.Node + 1
		l.reply.Blocks = append(l.reply.Blocks, l.block(e.Node, e.Part))
	case quire.Metered:
		l.reply.Usage = e.Usage
	}
	return nil
}

func (l *Loop) entered(e quire.Entered) {
	l.node = e.Node + 1
	if e.Part.Kind == quire.PartUser {
		l.turn++
	}
	if isState(&e.Part) {
		l.told(e.Part.Text)
	}
	l.open = slices.DeleteFunc(l.open, func(c quire.Block) bool {
		return e.Part.Kind == quire.PartToolResult && c.ToolUse == e.Part.ToolUse
	})
	l.Step.Enter(roleOf(e.Part), l.block(e.Node, e.Part))
}

// settle enters the answer that was restored.
func (l *Loop) settle() {
	if len(l.reply.Blocks) > 0 {
		l.took(l.reply)
		l.open = toolCalls(l.reply)
		l.named(l.open)
	}
	l.reply = quire.Reply{}
}

// Restored ends restoring. Calls of tools that have no result in the record get
// one that says so: whether they had an effect is not known.
func (l *Loop) Restored() error {
	l.settle()
	lost := l.open
	l.open = nil
	for _, c := range lost {
		if err := l.result(c, tool.Result{Text: "The session was interrupted here: whether this call had an effect is not known.", Error: true}); err != nil {
			return err
		}
	}
	return nil
}

// roleOf is who says a part. Media that a tool returned are the tool's.
func roleOf(p quire.Part) quire.Role {
	switch {
	case p.Kind == quire.PartToolResult, p.Kind == quire.PartImage && p.ToolUse != "":
		return quire.RoleTool
	case p.Kind == quire.PartSystem, p.Kind == quire.PartTools:
		return quire.RoleSystem
	default:
		return quire.RoleUser
	}
}
