package run

import (
	"github.com/quire-agent/quire/internal/assemble"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/tool"
)

// Restore takes the events of a session that was recorded before, in their
// order, so that the loop goes on where it ended: each call is planned again
// from what was known then, and none is made. Thinking is not restored, since
// what binds it is not in the record. The head is that of all these calls.
// After the last event comes [Loop.Restored].
func (l *Loop) Restore(e quire.Event, head assemble.Head) error {
	switch e := e.(type) {
	case quire.Entered:
		l.settle()
		l.node = e.Node + 1
		l.Step.Enter(roleOf(e.Part.Kind), quire.Block{Part: e.Part})
	case quire.Called:
		l.settle()
		l.calls++
		_, _, err := l.Step.Plan(e.At, head)
		return err
	case quire.Answered:
		l.node = e.Node + 1
		if e.Part.Kind != quire.PartThinking {
			l.reply.Blocks = append(l.reply.Blocks, quire.Block{Part: e.Part})
		}
	case quire.Metered:
		l.reply.Usage = e.Usage
	}
	return nil
}

// settle enters the answer that was restored.
func (l *Loop) settle() {
	if len(l.reply.Blocks) > 0 {
		l.Step.Answer(l.reply)
		l.open = toolCalls(l.reply)
	}
	l.reply = quire.Reply{}
}

// Restored ends restoring. Calls of tools that have no result in the record get
// one that says so: whether they had an effect is not known.
func (l *Loop) Restored() error {
	l.settle()
	var lost []quire.Block
	for _, c := range l.open {
		if !l.Step.answered(c.ToolUse) {
			lost = append(lost, c)
		}
	}
	l.open = nil
	for _, c := range lost {
		if err := l.result(c, tool.Result{Text: "The session was interrupted here: whether this call had an effect is not known.", Error: true}); err != nil {
			return err
		}
	}
	return nil
}

// answered reports whether a call has its result.
func (s *Step) answered(use string) bool {
	for i := len(s.texts.blocks) - 1; i >= 0; i-- {
		if p := &s.texts.blocks[i].piece; p.Kind == quire.PartToolResult && p.ToolUse == use {
			return true
		}
	}
	return false
}

func roleOf(k quire.PartKind) quire.Role {
	switch k {
	case quire.PartToolResult:
		return quire.RoleTool
	case quire.PartSystem, quire.PartTools:
		return quire.RoleSystem
	default:
		return quire.RoleUser
	}
}
