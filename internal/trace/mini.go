package trace

import (
	"io"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
)

// miniImporter reads trajectories of mini-swe-agent, format 1.1 (tool calls, the
// provider's whole reply with each answer) and format 1 (actions in fenced
// blocks, results in the user's role). All of the prompt but the tool schema is
// in the file. What the model saw of a result is its content; raw_output is not
// read. Stamp.Line is the ordinal of the message, Stamp.At the end of the call.
func miniImporter() importer {
	return importer{agent: quire.AgentMini, match: matchMini, read: readMini}
}

func matchMini(head []byte) bool {
	v := headOf(head)
	if strings.HasPrefix(headField(v, "trajectory_format").text(), "mini-swe-agent") {
		return true
	}
	info := headField(v, "info")
	if !info.isObject() || headField(v, "history") != nil || headField(v, "trajectory") != nil {
		return false
	}
	for _, name := range []string{"mini_version", "model_stats", "exit_status"} {
		if headField(info, name) != nil {
			return true
		}
	}
	return false
}

func readMini(src io.Reader, yield func(quire.Event) bool) error {
	r := miniReader{chat: newChat(newSink(yield)), doc: newDocument(src)}
	r.actions = func(string) string { return "bash" }
	r.opener.info.Agent = quire.AgentMini
	err := r.doc.object(r.member)
	r.opener.open(r.sink)
	return r.ended(err)
}

// A miniReader reads one trajectory.
type miniReader struct {
	*chat
	doc    *document
	opener opener
	tasked bool // the task, which is the first message of the user, was read
}

func (r *miniReader) member(key string) error {
	switch key {
	case "messages":
		r.opener.open(r.sink)
		return r.doc.records(r.sink, r.one)
	case "info", "instance_id":
	default:
		return r.doc.skip()
	}
	v, err := r.doc.take()
	if err != nil {
		return err
	}
	if key == "instance_id" {
		replace(&r.opener.info.ID, v)
		return nil
	}
	r.info(v)
	return nil
}

// info describes the session. It may stand in front of the messages or behind
// them; behind them it names the model of calls that did not.
func (r *miniReader) info(v value) {
	info, model := &r.opener.info, v.get("config", "model", "model_name")
	replace(&info.Project, v.get("config", "environment", "cwd"))
	replace(&info.Version, v.get("mini_version"))
	replace(&r.model, model)
	if r.nameless {
		replace(&info.Model, model)
	}
}

func (r *miniReader) one(n int, v value) {
	m, err := parseMessage(v)
	x := parseMiniExtra(m)
	r.record(n, moment(x.at), "")
	if err != nil {
		r.skip(err)
		return
	}
	r.read(v)
	switch {
	case m.role.is("exit"): // the result of the run; no model sees it
	case m.answer():
		r.exchange(m, x)
	case m.role.is("user"):
		r.user(m, x)
	case m.role.is("tool"), m.kind.is("function_call_output"):
		r.result(m, x.failed(m))
	default:
		r.message(m)
	}
}

// A miniExtra is what the agent adds to a message.
type miniExtra struct {
	at        value
	interrupt value // why a message stands in the user's role
	code      value // the exit code of a command

	id, model, usage value // of the provider's reply
}

func parseMiniExtra(m message) miniExtra {
	x := miniExtra{id: m.id, model: m.model, usage: m.usage}
	for w := m.extra.members(); w.next(); {
		switch string(w.key) {
		case "timestamp":
			x.at = w.val
		case "interrupt_type":
			x.interrupt = w.val
		case "returncode":
			x.code = w.val
		case "response":
			x.reply(w.val)
		}
	}
	return x
}

func (x *miniExtra) reply(v value) {
	for w := v.members(); w.next(); {
		switch string(w.key) {
		case "id":
			x.id = w.val
		case "model":
			x.model = w.val
		case "usage":
			x.usage = w.val
		}
	}
}

// failed reports whether the command of a result failed, by its recorded exit
// code or by what the model was told of it.
func (x *miniExtra) failed(m message) bool {
	if !x.code.isNull() {
		return x.code.integer() != 0
	}
	code, told := strings.CutPrefix(plain(m.content), "<returncode>")
	return told && !strings.HasPrefix(code, "0<")
}

// exchange sends a call with the usage of the provider's reply.
func (r *miniReader) exchange(m message, x miniExtra) {
	id := x.id.text()
	if id == "" || r.called(id) {
		id = r.callID()
	}
	m.model = x.model
	if r.reply(m, id) {
		r.meter(id, chatUsage(x.usage))
	}
}

// user sends a message in the user's role: the task, then results of actions,
// and in between words of a user who interrupted and complaints of the agent
// about answers that it cannot read.
func (r *miniReader) user(m message, x miniExtra) {
	kind := quire.PartMachine
	switch {
	case !r.tasked, x.interrupt.is("UserInterruption"), x.interrupt.is("UserRejection"):
		kind = quire.PartUser
	case x.interrupt.isNull() && r.acted(m, x.failed(m)):
		return
	}
	r.tasked = true
	r.prompt(m.content, kind)
}
