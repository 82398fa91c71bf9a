package trace

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
)

// copilotImporter reads the event logs of Copilot CLI (events.jsonl). Each
// assistant.message is a call; of its usage only the output is recorded. What a
// user typed is told apart from what the agent put around it wherever it stands
// there as lines of its own. A system prompt is sent again only when it has
// changed; a changed one comes as a further part, since nothing takes out the one
// before it. Events of subagents are side chains. Not read, because no model sees
// them: hooks, permissions, the starts of turns and tools, and what a turn or a
// session adds up to.
func copilotImporter() importer {
	return importer{agent: quire.AgentCopilot, match: matchCopilot, read: readCopilot}
}

// matchCopilot recognises the envelope: a type in two words with a dot, and data.
func matchCopilot(head []byte) bool {
	v := headOf(head)
	group, _, dotted := strings.Cut(headField(v, "type").text(), ".")
	switch group {
	case "session", "user", "assistant", "system", "tool", "hook", "permission", "subagent", "skill":
		return dotted && headField(v, "data").isObject()
	}
	return false
}

func readCopilot(src io.Reader, yield func(quire.Event) bool) error {
	r := copilotReader{
		sink:   newSink(yield),
		seen:   newRecent[bool](recentLimit),
		starts: newRecent[int](recentLimit / 4),
		system: make(map[string]systemPrompt),
		tools:  make(toolNames),
	}
	r.opener.info.Agent = quire.AgentCopilot
	l := newLineReader(src)
	for !r.done && l.next() {
		r.line(l)
	}
	r.opener.open(r.sink)
	if l.err != nil {
		return fmt.Errorf("read log: %w", l.err)
	}
	return nil
}

// A copilotReader reads the log of one session.
type copilotReader struct {
	*sink
	opener opener
	model  string        // of the session, for calls that do not name theirs
	seen   *recent[bool] // ids of the lines read
	starts *recent[int]  // by the id of a line of the user: the node of its first part
	system map[string]systemPrompt
	tools  toolNames
}

// A systemPrompt is the system prompt that a chain had last.
type systemPrompt struct {
	hash quire.Hash
	gone bool // a compaction took it out of the context
}

// A copilotLine is one line without its envelope.
type copilotLine struct {
	kind, id, agent, at value
	data                value
}

func parseCopilot(v value) (copilotLine, error) {
	var l copilotLine
	w := v.members()
	for w.next() {
		switch string(w.key) {
		case "type":
			l.kind = w.val
		case "id":
			l.id = w.val
		case "agentId":
			l.agent = w.val
		case "timestamp":
			l.at = w.val
		case "data":
			l.data = w.val
		}
	}
	if w.err == nil && !v.isObject() {
		w.err = errSyntax
	}
	return l, w.err
}

// wanted reports whether the line is of a kind that is read. Most of a log is not.
func (c *copilotLine) wanted() bool {
	switch c.kind.text() {
	case "session.start", "session.resume", "session.context_changed", "session.model_change",
		"session.compaction_complete", "session.snapshot_rewind", "system.message", "system.notification",
		"user.message", "assistant.message", "tool.user_requested", "tool.execution_complete":
		return true
	}
	return false
}

func (r *copilotReader) line(l *lineReader) {
	r.Stamp = quire.Stamp{Line: l.number}
	c, err := parseCopilot(l.line)
	if l.long {
		err = errOversized
	}
	switch {
	case err != nil:
		r.opener.open(r.sink)
		r.skip(err)
	case c.wanted():
		r.event(l.number, c)
	}
}

func (r *copilotReader) event(line int, c copilotLine) {
	chain := first(c.agent, c.data.get("parentToolCallId")).text()
	r.Stamp = quire.Stamp{Line: line, At: c.at.time(), Chain: chain}
	r.describe(c)
	r.opener.open(r.sink)
	r.record(line, r.At, chain)
	if _, again := r.seen.get(c.id); again {
		r.note(quire.NoteDuplicateLine)
		return
	}
	if !c.id.isNull() {
		r.seen.put(c.id, true)
	}
	r.encoded(c.data)
	r.content(c)
}

// describe takes up what a line says of the session.
func (r *copilotReader) describe(c copilotLine) {
	switch d, info := c.data, &r.opener.info; c.kind.text() {
	case "session.start", "session.resume":
		replace(&info.ID, d.get("sessionId"))
		replace(&info.Version, d.get("copilotVersion"))
		replace(&info.Project, d.get("context", "cwd"))
		replace(&info.Branch, d.get("context", "branch"))
		replace(&r.model, d.get("selectedModel"))
		if t := d.get("startTime").time(); !t.IsZero() {
			info.Started = t
		}
	case "session.context_changed":
		replace(&info.Project, d.get("cwd"))
		replace(&info.Branch, d.get("branch"))
	case "session.model_change":
		replace(&r.model, d.get("newModel"))
	}
}

// replace sets a field where the value is a string that is not empty.
func replace(field *string, v value) {
	if t := v.text(); t != "" {
		*field = t
	}
}

// content sends what a line brings into the context.
func (r *copilotReader) content(c copilotLine) {
	switch d := c.data; c.kind.text() {
	case "system.message":
		r.prompt(d)
	case "user.message":
		r.starts.put(c.id, r.nodes[r.Chain])
		r.user(d)
	case "assistant.message":
		r.reply(c)
	case "tool.user_requested":
		r.enter(r.use(d, d.get("toolName")))
	case "tool.execution_complete":
		r.result(d)
	case "system.notification":
		r.enter(quire.Part{Kind: quire.PartMachine, Text: plain(d.get("content"))})
	case "session.compaction_complete":
		r.compacted(d)
	case "session.snapshot_rewind":
		r.rewound(d)
	}
}

func (r *copilotReader) prompt(d value) {
	text := plain(d.get("content"))
	last, sum := r.system[r.Chain], quire.Sum(text)
	part := quire.Part{Kind: quire.PartSystem, Text: text}
	switch {
	case last.hash != sum:
	case last.gone:
		part.Origin = quire.OriginReinjected
	default:
		return
	}
	r.system[r.Chain] = systemPrompt{hash: sum}
	r.enter(part)
}

// user sends a message of the user. One with a source other than the user was
// put in by the agent, for a skill for instance.
func (r *copilotReader) user(d value) {
	typed, sent := plain(d.get("content")), plain(d.get("transformedContent"))
	source := d.get("source").text()
	at := wholeLines(sent, typed)
	switch {
	case source != "" && source != "user":
		if sent == "" {
			sent = typed
		}
		r.say(quire.PartMachine, sent)
	case at >= 0:
		r.say(quire.PartMachine, sent[:at])
		r.say(quire.PartUser, typed)
		r.say(quire.PartMachine, sent[at+len(typed):])
	case sent != "":
		r.say(quire.PartUser, sent)
	default:
		r.say(quire.PartUser, typed)
	}
	r.items(d.get("attachments"), func(a value) { r.attachment(a, sent == "") })
}

// wholeLines is the first place where typed stands in sent as lines of its own,
// or -1.
func wholeLines(sent, typed string) int {
	if typed == "" {
		return -1
	}
	for from := 0; ; {
		at := strings.Index(sent[from:], typed)
		if at < 0 {
			return -1
		}
		at += from
		end := at + len(typed)
		if (at == 0 || sent[at-1] == '\n') && (end == len(sent) || sent[end] == '\n') {
			return at
		}
		from = at + 1
	}
}

// attachment sends what was attached. The text that is sent tells of all of them
// but images; where it is not recorded the record of them stands for it.
func (r *copilotReader) attachment(a value, untold bool) {
	if a.get("data").isString() {
		r.enter(mediaPart(a.get("mimeType").text(), a.get("data")))
		return
	}
	if untold {
		r.say(quire.PartMachine, compact(a))
	}
}

func (r *copilotReader) say(kind quire.PartKind, text string) {
	if text != "" {
		r.enter(quire.Part{Kind: kind, Text: text})
	}
}

// reply sends a call and its answer.
func (r *copilotReader) reply(c copilotLine) {
	d := c.data
	call := first(d.get("messageId"), c.id).text()
	if call == "" {
		call = fmt.Sprintf("%s#%d", r.opener.info.ID, r.Line)
	}
	model := d.get("model").text()
	if model == "" {
		model = r.model
	}
	if !r.call(call, model) {
		return
	}
	thought := d.get("reasoningText")
	if thought.isString() || d.get("reasoningOpaque").isString() || d.get("encryptedContent").isString() {
		r.answer(call, quire.Part{Kind: quire.PartThinking, Text: thought.text()})
	}
	if t := plain(d.get("content")); t != "" {
		r.answer(call, quire.Part{Kind: quire.PartText, Text: t})
	}
	r.items(d.get("toolRequests"), func(v value) { r.answer(call, r.use(v, v.get("name"))) })
	if out := d.get("outputTokens"); !out.isNull() {
		r.meter(call, quire.Usage{Output: out.integer(), Known: quire.KnownOutput})
	}
}

func (r *copilotReader) use(v, tool value) quire.Part {
	id, name := v.get("toolCallId").text(), tool.text()
	r.tools.put(id, name)
	return quire.Part{Kind: quire.PartToolCall, Text: arguments(v.get("arguments")), Tool: name, ToolUse: id}
}

// result sends what the model sees of a tool's result. The result for display
// (detailedContent, and the texts of contents) repeats it.
func (r *copilotReader) result(d value) {
	id, ok := d.get("toolCallId").text(), d.get("success").truth()
	text := d.get("result", "content")
	if !ok {
		text = first(d.get("error", "message"), d.get("error"), text)
	}
	r.enter(quire.Part{Kind: quire.PartToolResult, Text: plain(text), Tool: r.tools.take(id), ToolUse: id, IsError: !ok})
	r.items(d.get("result", "contents"), func(v value) {
		if data := v.get("data"); data.isString() {
			p := mediaPart(v.get("mimeType").text(), data)
			p.ToolUse = id
			r.enter(p)
		}
	})
}

// compacted sends a compaction that succeeded, with its summary.
func (r *copilotReader) compacted(d value) {
	if !d.get("success").truth() {
		return
	}
	r.send(quire.Compacted{
		Stamp:     r.Stamp,
		Trigger:   d.get("trigger").text(),
		PreTokens: int(d.get("preCompactionTokens").integer()),
	})
	r.system[r.Chain] = systemPrompt{hash: r.system[r.Chain].hash, gone: true}
	if text := plain(d.get("summaryContent")); text != "" {
		r.enter(quire.Part{Kind: quire.PartMachine, Origin: quire.OriginSummary, Text: text})
	}
}

// errRewind is how a rewind is reported whose goal is not known.
var errRewind = errors.New("a rewind to a message that is not in the file")

// rewound sends a rewind. The message that it names is gone too.
func (r *copilotReader) rewound(d value) {
	node, ok := r.starts.get(d.get("upToEventId"))
	if !ok {
		r.skip(errRewind)
		return
	}
	r.send(quire.Rewound{Stamp: r.Stamp, Keep: node - 1})
}
