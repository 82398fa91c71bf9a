package trace

import "github.com/quire-agent/quire/internal/quire"

// An opener sends what is known of a session: before its first event, and again
// before the next one when more has become known.
type opener struct {
	info   quire.SessionInfo
	sent   quire.SessionInfo
	opened bool
}

func (o *opener) open(s *sink) {
	if o.opened && o.info == o.sent {
		return
	}
	o.opened, o.sent = true, o.info
	s.open(o.info)
}

// fill sets a field that is not yet known.
func fill(field *string, v value) {
	if *field == "" {
		*field = v.text()
	}
}

// toolNames are the names of tools by the ids of their calls, for results that
// do not name their tool.
type toolNames map[string]string

// toolNamesLimit bounds the calls that wait for a result. Results come soon or
// never, so forgetting all of them at the bound loses next to nothing.
const toolNamesLimit = 4096

func (t toolNames) put(use, tool string) {
	if len(t) >= toolNamesLimit {
		clear(t)
	}
	t[use] = tool
}

// take returns the name of the tool and forgets it.
func (t toolNames) take(use string) string {
	tool := t[use]
	delete(t, use)
	return tool
}
