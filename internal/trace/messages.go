package trace

import (
	"fmt"
	"io"
	"time"

	"github.com/quire-agent/quire/internal/quire"
)

// messagesImporter reads plain message lists in the shape of the OpenAI or the
// Anthropic interface:
//
//   - an array of messages;
//   - an object with the array in "messages" and, beside it, any of model,
//     system, tools, id and session_id, in front of it;
//   - any number of either, or of single messages, one after the other, as in
//     JSON lines.
//
// Each message of the model is a call; no usage is recorded. Where a file holds
// several lists, each begins with an empty context. Stamp.Line is the ordinal of
// the message in the file, or the line where each line is a message.
func messagesImporter() importer {
	return importer{agent: quire.AgentMessages, match: matchMessages, read: readMessages}
}

func matchMessages(head []byte) bool {
	v := headOf(head)
	switch {
	case v.isArray():
		return isMessage(headItem(v))
	case v.isObject():
		return isMessage(v) || isMessage(headItem(headField(v, "messages"))) && !matchMini(head)
	}
	return false
}

// isMessage reports whether the beginning of a value is that of a message.
func isMessage(v value) bool {
	switch headField(v, "role").text() {
	case "system", "developer", "user", "assistant", "tool", "function":
	default:
		return false
	}
	return headField(v, "content") != nil || headField(v, "tool_calls") != nil
}

func readMessages(src io.Reader, yield func(quire.Event) bool) error {
	r := messagesReader{chat: newChat(newSink(yield)), doc: newDocument(src)}
	r.opener.info.Agent = quire.AgentMessages
	if r.single() {
		return r.lines()
	}
	err := r.all()
	r.opener.open(r.sink)
	return r.ended(err)
}

// A messagesReader reads the messages of one file.
type messagesReader struct {
	*chat
	doc    *document
	opener opener
	count  int // messages in the lists read so far
	lists  int // lists read so far
}

// single reports whether the text begins with a message that stands in no list.
func (r *messagesReader) single() bool {
	_, _ = r.doc.src.Peek(headSize) // a fault is reported by the read that meets it
	head, _ := r.doc.src.Peek(r.doc.src.Buffered())
	v := headOf(head)
	return v.isObject() && isMessage(v)
}

// lines reads a message a line; a damaged line is reported and passed over.
func (r *messagesReader) lines() error {
	r.opener.open(r.sink)
	l := newLineReader(r.doc.src)
	for !r.done && l.next() {
		r.record(l.number, time.Time{}, "")
		if l.long {
			r.skip(errOversized)
			continue
		}
		r.one(l.number, l.line)
	}
	if l.err != nil {
		return fmt.Errorf("read log: %w", l.err)
	}
	return nil
}

// all reads one list after the other. Damage ends it: behind that nothing can
// be told apart any more.
func (r *messagesReader) all() error {
	for {
		c, err := r.doc.peek()
		switch {
		case err != nil:
			return err
		case c == '[':
			err = r.list()
		case c == '{':
			err = r.doc.object(r.member)
		default:
			err = errSyntax
		}
		if err != nil {
			return err
		}
	}
}

// member reads what a list is wrapped in.
func (r *messagesReader) member(key string) error {
	switch key {
	case "messages":
		return r.list()
	case "model", "id", "session_id", "system", "tools":
	default:
		return r.doc.skip()
	}
	v, err := r.doc.take()
	if err == nil {
		r.around(key, v)
	}
	return err
}

func (r *messagesReader) around(key string, v value) {
	switch info := &r.opener.info; key {
	case "model":
		replace(&r.model, v)
		if r.nameless {
			info.Model = r.model
		}
	case "id", "session_id":
		replace(&info.ID, v)
	case "system":
		r.opener.open(r.sink)
		r.prompt(v, quire.PartSystem)
	case "tools":
		r.opener.open(r.sink)
		r.enter(quire.Part{Kind: quire.PartTools, Text: compact(v)})
	}
}

// list reads one array of messages. The context of the list before it is gone.
func (r *messagesReader) list() error {
	r.opener.open(r.sink)
	if r.lists > 0 {
		r.send(quire.Rewound{Stamp: r.Stamp, Keep: -1})
	}
	r.lists++
	first := r.count
	return r.doc.records(r.sink, func(n int, v value) {
		r.count = first + n
		r.one(r.count, v)
	})
}

func (r *messagesReader) one(line int, v value) {
	m, err := parseMessage(v)
	r.record(line, moment(m.at), "")
	if err != nil {
		r.skip(err)
		return
	}
	r.read(v)
	r.message(m)
}
