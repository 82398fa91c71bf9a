package trace

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/quire-agent/quire/internal/quire"
)

// codexImporter reads the rollouts of Codex: lines of {timestamp, type,
// payload}, of which the response items are what went to the model and came
// from it. Rollouts from before this envelope, whose lines are the bare items,
// are read too.
//
// Calls have no ids there. A call is the run of items of the model between two
// inputs, or up to the usage report that ends it, and is named <session>#<n>
// with n from 1. A usage report that no run stands before (a request whose
// answer was not kept, such as that for a summary) is a call without an answer.
// A report with the totals of the one before it is a repetition.
//
// A rollout that was forked from another holds a copy of its calls under its
// own session id; they count in both.
func codexImporter() importer {
	return importer{agent: quire.AgentCodex, match: matchCodex, read: readCodex}
}

func matchCodex(head []byte) bool {
	for line := range headLines(head) {
		kind := headField(line, "type")
		switch {
		case headField(line, "payload") != nil && codexEnvelope(kind),
			headField(line, "record_type").is("state"),
			kind == nil && headField(line, "id") != nil && headField(line, "timestamp") != nil && headField(line, "instructions") != nil:
			return true
		}
	}
	return false
}

func codexEnvelope(kind value) bool {
	switch kind.text() {
	case "session_meta", "turn_context", "response_item", "event_msg", "compacted":
		return true
	}
	return false
}

func readCodex(src io.Reader, yield func(quire.Event) bool) error {
	c := &codex{
		sink:   newSink(yield),
		opener: opener{info: quire.SessionInfo{Agent: quire.AgentCodex}},
		tools:  make(toolNames),
	}
	lines := newLineReader(src)
	for !c.done && lines.next() {
		c.line(lines)
	}
	c.opening()
	if lines.err != nil {
		return fmt.Errorf("reading line %d: %w", lines.number, lines.err)
	}
	return nil
}

// A codex is the state of reading one rollout.
type codex struct {
	*sink
	opener
	tools  toolNames
	model  string
	prefix string // of the ids of calls: the session id, or a hash where there is none
	call   string // the latest, "" before the first
	number int    // of the latest call
	open   bool   // more items of the model belong to it
	unpaid bool   // its usage has not come yet
	totals string // of the last usage report, as it stands there
	turns  []int  // first nodes of the user's messages in the context
}

func (c *codex) opening() { c.opener.open(c.sink) }

// A codexLine is one line of a rollout.
type codexLine struct{ kind, time, payload, record value }

func parseCodex(line []byte) (codexLine, error) {
	var r codexLine
	m := value(line).members()
	for m.next() {
		switch string(m.key) {
		case "type":
			r.kind = m.val
		case "timestamp":
			r.time = m.val
		case "payload":
			r.payload = m.val
		case "record_type":
			r.record = m.val
		}
	}
	if m.err != nil {
		return codexLine{}, errSyntax
	}
	if !value(line).isObject() {
		return codexLine{}, errNotRecord
	}
	return r, nil
}

func (c *codex) line(l *lineReader) {
	if l.long {
		c.lost(l.number, errLongLine)
		return
	}
	r, err := parseCodex(l.line)
	if err != nil {
		c.lost(l.number, err)
		return
	}
	c.learn(r, l.line)
	c.Stamp = quire.Stamp{Line: l.number, At: r.time.time()}
	c.opening()
	c.sink.record(l.number, c.At, "")
	if !utf8.Valid(l.line) {
		c.note(quire.NoteNotUTF8)
	}
	c.record(r, l.line)
}

func (c *codex) lost(line int, err error) {
	c.Stamp = quire.Stamp{Line: line}
	c.opening()
	c.skip(err)
}

func (c *codex) record(r codexLine, line value) {
	switch {
	case r.kind.is("response_item"):
		c.item(r.payload)
	case r.kind.is("session_meta"):
		c.system(r.payload)
	case r.kind.is("event_msg"):
		c.event(r.payload)
	case r.kind.is("compacted"):
		c.compacted(r.payload)
	case r.kind.is("turn_context"):
		c.model = r.payload.get("model").text()
	case r.payload != nil || r.record != nil:
		// Other records of the envelope are the harness's own.
	case r.kind == nil:
		c.system(line)
	default:
		c.item(line)
	}
}

// learn takes up what a line says about the session. In the older form the
// session is described by the first line, without an envelope.
func (c *codex) learn(r codexLine, line value) {
	if c.info.Started.IsZero() {
		c.info.Started = r.time.time()
	}
	if c.prefix == "" {
		c.prefix = quire.Sum(string(line)).String()[:16]
	}
	switch {
	case r.kind == nil && r.record == nil:
		c.meta(line)
	case r.kind.is("session_meta"):
		c.meta(r.payload)
	case r.kind.is("turn_context"):
		fill(&c.info.Project, r.payload.get("cwd"))
	case r.kind.is("event_msg"):
		c.window(r.payload)
	}
}

func (c *codex) meta(v value) {
	fill(&c.info.ID, v.get("id"))
	fill(&c.info.Project, v.get("cwd"))
	fill(&c.info.Version, v.get("cli_version"))
	fill(&c.info.Branch, v.get("git", "branch"))
	fill(&c.info.Parent, v.get("source", "subagent", "thread_spawn", "parent_thread_id"))
	if c.info.ID != "" {
		c.prefix = c.info.ID
	}
}

func (c *codex) window(v value) {
	if c.info.Window != 0 {
		return
	}
	size := v.get("model_context_window")
	if size == nil {
		size = v.get("info", "model_context_window")
	}
	c.info.Window = int(max(size.integer(), 0))
}

// system enters the instructions that a session's description holds. A copied
// description further down (of the session this one was forked from) repeats
// them.
func (c *codex) system(v value) {
	if c.call != "" || c.nodes[""] > 0 {
		c.note(quire.NoteFork)
		return
	}
	text := v.get("base_instructions", "text").text()
	if text == "" {
		text = v.get("instructions").text()
	}
	if text != "" {
		c.enter(quire.Part{Kind: quire.PartSystem, Text: text})
	}
}

// answering opens a call if the latest one is finished.
func (c *codex) answering() string {
	if !c.open {
		c.newCall()
		c.open = true
	}
	return c.call
}

func (c *codex) newCall() {
	c.number++
	c.call = c.prefix + "#" + strconv.Itoa(c.number)
	c.unpaid = true
	c.send(quire.Called{Stamp: c.Stamp, Call: c.call, Model: c.model})
}

// item reads a response item: a piece of a prompt or of an answer. Input ends
// the call before it.
func (c *codex) item(v value) {
	for i, p := range c.parts(v) {
		if p.Kind.Answer() {
			c.answer(c.answering(), p)
			continue
		}
		c.open = false
		if i == 0 {
			c.turn(v)
		}
		c.enter(p)
	}
}

// turn notes that a message of the user begins with the next part.
func (c *codex) turn(v value) {
	if codexTyped(v) {
		c.turns = append(c.turns, c.nodes[""])
	}
}

// event reads what the harness told its screen. All but the usage and the
// rollbacks repeats response items.
func (c *codex) event(v value) {
	switch kind := v.get("type"); {
	case kind.is("token_count"):
		c.usage(v.get("info"))
	case kind.is("thread_rolled_back"):
		c.rollback(int(v.get("num_turns").integer()))
	}
}

// usage reads a usage report. Its totals run over the whole session, so two
// reports with the same totals are one.
func (c *codex) usage(info value) {
	totals := info.get("total_token_usage")
	if !totals.isObject() {
		return
	}
	if string(totals) == c.totals {
		c.note(quire.NoteDuplicateUsage)
		return
	}
	c.totals = totals.raw()
	if !c.unpaid {
		c.newCall()
	}
	c.meter(c.call, codexUsage(info.get("last_token_usage")))
	c.open, c.unpaid = false, false
}

// codexUsage reads the usage of one call. The provider counts the cached tokens
// in the input too.
func codexUsage(v value) quire.Usage {
	var u quire.Usage
	for m := v.members(); m.next(); {
		n := m.val.integer()
		switch string(m.key) {
		case "input_tokens":
			u.Input, u.Known = n, u.Known|quire.KnownInput
		case "cached_input_tokens":
			u.CacheRead, u.Known = n, u.Known|quire.KnownCache
		case "cache_write_input_tokens":
			u.CacheWrite = n
		case "output_tokens":
			u.Output, u.Known = n, u.Known|quire.KnownOutput
		case "reasoning_output_tokens":
			u.Reasoning = n
		}
	}
	if u.Plausible() {
		u.Input = max(u.Input-u.CacheRead-u.CacheWrite, 0)
	}
	return u
}

// rollback takes the last turns of the user out of the context.
func (c *codex) rollback(turns int) {
	if turns <= 0 || len(c.turns) == 0 {
		return
	}
	first := max(len(c.turns)-turns, 0)
	keep := c.turns[first] - 1
	c.turns, c.open = c.turns[:first], false
	c.send(quire.Rewound{Stamp: c.Stamp, Keep: keep})
}

// compacted reads a compaction: what the context consists of from here on. Older
// rollouts hold the summary alone.
func (c *codex) compacted(v value) {
	c.send(quire.Compacted{Stamp: c.Stamp})
	c.open, c.turns = false, nil
	summary := v.get("message").text()
	history := v.get("replacement_history")
	if !history.isArray() && summary != "" {
		c.enter(quire.Part{Kind: quire.PartMachine, Origin: quire.OriginSummary, Text: summary})
	}
	for m := history.items(); m.next(); {
		c.putBack(m.val, summary)
	}
}

// putBack enters an item of the context that a compaction left. The summary is
// an item of its own kind, or a message that holds its text.
func (c *codex) putBack(v value, summary string) {
	for i, p := range c.parts(v) {
		if i == 0 {
			c.turn(v)
		}
		switch {
		case p.Origin == quire.OriginSummary:
		case summary != "" && strings.HasSuffix(p.Text, summary):
			p.Kind, p.Origin = quire.PartMachine, quire.OriginSummary
		default:
			p.Origin = quire.OriginReinjected
		}
		c.enter(p)
	}
}
