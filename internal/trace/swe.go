package trace

import (
	"errors"
	"io"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
)

// sweImporter reads trajectories of SWE-agent, both those with actions in fenced
// blocks and those with tool calls. It reads the history: what processors of the
// agent took out of a prompt again (old observations, for instance) is not
// recorded there. Usage is recorded as totals only, so no call has any. Other
// attempts of a run that was tried several times are reported as skipped.
// Stamp.Line is the ordinal of the item in the history; times are not recorded.
func sweImporter() importer {
	return importer{agent: quire.AgentSWE, match: matchSWE, read: readSWE}
}

func matchSWE(head []byte) bool {
	v := headOf(head)
	if steps := headField(v, "trajectory"); steps.isArray() {
		step := headItem(steps)
		return len(step) == 0 || headField(step, "action") != nil || headField(step, "observation") != nil
	}
	item := headItem(headField(v, "history"))
	return isMessage(item) || headField(v, "attempts").isArray()
}

// errAttempts is how other attempts of a run are reported.
var errAttempts = errors.New("other attempts of the run are not read")

func readSWE(src io.Reader, yield func(quire.Event) bool) error {
	r := sweReader{chat: newChat(newSink(yield)), doc: newDocument(src)}
	r.actions = firstWord
	r.opener.info.Agent = quire.AgentSWE
	err := r.doc.object(r.member)
	r.opener.open(r.sink)
	return r.ended(err)
}

// firstWord is the name of the tool of an action, which is written like a shell
// command.
func firstWord(action string) string {
	if words := strings.Fields(action); len(words) > 0 {
		return words[0]
	}
	return ""
}

// A sweReader reads one trajectory.
type sweReader struct {
	*chat
	doc    *document
	opener opener
	tasked bool // the task, which is the first message of the user, was read
}

func (r *sweReader) member(key string) error {
	switch key {
	case "history":
		r.opener.open(r.sink)
		return r.doc.records(r.sink, r.one)
	case "attempts":
		r.opener.open(r.sink)
		r.skip(errAttempts)
		return r.doc.skip()
	case "info", "replay_config":
	default:
		return r.doc.skip()
	}
	v, err := r.doc.take()
	if err != nil {
		return err
	}
	r.describe(key, v)
	return nil
}

// describe sends what the members beside the history say of the session. The
// configuration is JSON within a string.
func (r *sweReader) describe(key string, v value) {
	info := &r.opener.info
	if key == "info" {
		replace(&info.Version, v.get("swe_agent_version"))
		return
	}
	if v.isString() {
		v = value(strings.TrimSpace(v.text()))
	}
	replace(&info.ID, v.get("problem_statement", "id"))
	replace(&r.model, v.get("agent", "model", "name"))
	if r.nameless {
		info.Model = r.model
	}
}

func (r *sweReader) one(n int, v value) {
	m, err := parseMessage(v)
	r.record(n, moment(m.at), chainOf(v.get("agent").text()))
	if err != nil {
		r.skip(err)
		return
	}
	r.read(v)
	switch {
	case m.demo.truth():
		r.prompt(m.content, quire.PartMachine)
	case m.role.is("user"):
		r.user(m)
	default:
		r.message(m)
	}
}

// user sends a message in the user's role: the task, then observations, which
// are the results of actions, and complaints of the agent about answers that it
// cannot read.
func (r *sweReader) user(m message) {
	switch {
	case !r.tasked:
		r.prompt(m.content, quire.PartUser)
	case !r.acted(m, false):
		r.prompt(m.content, quire.PartMachine)
	}
	r.tasked = true
}

// chainOf is the chain of an agent's items: agents other than the one that was
// started have side chains.
func chainOf(agent string) string {
	if agent == "main" || agent == "primary" {
		return ""
	}
	return agent
}
