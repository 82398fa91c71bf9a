package run

import (
	"context"
	"fmt"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
)

// A State measures what the world around a session is like now, in a few lines.
type State interface {
	State(ctx context.Context) string
}

// Tell appends the state of the world, where it is not what the prompt says
// already (design, section 5). It comes before the user's words.
func (l *Loop) Tell(ctx context.Context, s State) error {
	text, epochs := strings.TrimSpace(s.State(ctx)), l.Step.Context().Scheduler().Epochs()
	if text == "" || text == l.state && epochs == l.since {
		return nil
	}
	l.told(text)
	return l.enter(quire.RoleUser, quire.Block{Part: quire.Part{Kind: quire.PartMachine, Origin: quire.OriginOwn, Text: text}})
}

// told notes what the prompt says of the world. An epoch takes the message out, so
// that it is said again after one.
func (l *Loop) told(text string) {
	l.state, l.since = text, l.Step.Context().Scheduler().Epochs()
}

// isState tells a message of state from the others of ours.
func isState(p *quire.Part) bool {
	return p.Kind == quire.PartMachine && p.Origin == quire.OriginOwn && strings.HasPrefix(p.Text, StateHead)
}

// StateHead begins every message of state.
const StateHead = "The state of the project now"

// Put back is what a state says of paths that the user had put back.
func PutBack(paths []string) string {
	const most = 20
	more := ""
	if n := len(paths) - most; n > 0 {
		paths, more = paths[:most], fmt.Sprintf(" and %d more", n)
	}
	return "The user put back what was changed in " + strings.Join(paths, ", ") + more + ": these files are as they were before."
}
