package trace

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/quire-agent/quire/internal/quire"
)

// opencodeImporter reads what "opencode export" writes: one JSON object with the
// session in "info" and in "messages" each message with its parts. Stamp.Line is
// the ordinal of the message.
//
// A message of the model is a call; one that holds several finished steps, as
// early versions wrote them, is a call for each. Messages that the agent wrote in
// the model's name (a command that the user ran) are noted as synthetic and make
// no call. Tokens that are all zero were not reported, and count as unknown. Not
// read, because no model sees them: snapshots, patches, and files whose text the
// agent put in beside them. Of a compaction the summary is read, but not which of
// the latest messages were kept beside it: they do not come again.
func opencodeImporter() importer {
	return importer{agent: quire.AgentOpenCode, match: matchOpenCode, read: readOpenCode}
}

func matchOpenCode(head []byte) bool {
	v := headOf(head)
	item := headItem(headField(v, "messages"))
	if headField(item, "info") != nil && (headField(item, "parts") != nil || headField(v, "info").isObject()) {
		return true
	}
	info := headField(v, "info")
	return headField(info, "projectID") != nil || headField(info, "directory") != nil ||
		strings.HasPrefix(headField(info, "id").text(), "ses_")
}

func readOpenCode(src io.Reader, yield func(quire.Event) bool) error {
	r, d := newOpenCodeReader(newSink(yield)), newDocument(src)
	err := d.object(func(key string) error {
		switch key {
		case "messages":
			return d.records(r.sink, r.exported)
		case "info":
			v, err := d.take()
			if err == nil {
				r.describe(v)
			}
			return err
		}
		return d.skip()
	})
	r.finish()
	return r.ended(err)
}

// An openCodeReader reads one session, wherever its messages come from.
type openCodeReader struct {
	*sink
	opener   opener
	system   string      // instructions that came with a message
	trigger  string      // of the compaction that was asked for last
	pruned   []time.Time // when results read so far left the context, as far as not yet reported
	revert   string      // id of the message that the user went back to, at the end
	reverted int         // the first node of that message, counted from 1; 0 while it was not read
}

func newOpenCodeReader(s *sink) *openCodeReader {
	r := &openCodeReader{sink: s}
	r.opener.info.Agent = quire.AgentOpenCode
	return r
}

// describe takes up what the session's own record says.
func (r *openCodeReader) describe(v value) {
	info := &r.opener.info
	fill(&info.ID, v.get("id"))
	fill(&info.Project, v.get("directory"))
	fill(&info.Version, v.get("version"))
	fill(&info.Parent, v.get("parentID"))
	if info.Started.IsZero() {
		info.Started = moment(v.get("time", "created"))
	}
	r.revert = v.get("revert", "messageID").text()
	r.opener.open(r.sink)
}

// errNoInfo is how a message is reported that says neither whose it is nor when
// it was made.
var errNoInfo = errors.New("a message without a description")

func (r *openCodeReader) exported(n int, v value) {
	var parts []value
	info := v.get("info")
	r.opener.open(r.sink)
	r.items(v.get("parts"), func(p value) { parts = append(parts, p) })
	if !info.isObject() {
		r.record(n, time.Time{}, "")
		r.skip(errNoInfo)
		return
	}
	r.message(n, info.get("id").text(), info, parts)
}

// message sends a message with its parts.
func (r *openCodeReader) message(n int, id string, info value, parts []value) {
	at := moment(info.get("time", "created"))
	r.opener.open(r.sink)
	r.record(n, at, "")
	r.encoded(info)
	r.encoded(parts...)
	r.prune(at)
	if id != "" && id == r.revert {
		r.reverted = r.nodes[""] + 1
	}
	switch {
	case info.get("role").is("user"):
		r.user(info, parts)
	case info.get("role").is("assistant"):
		r.assistant(id, info, parts)
	default:
		r.skip(fmt.Errorf("a message of the unknown role %q", info.get("role").text()))
	}
}

// finish ends the session: what the user went back over is out of the context.
func (r *openCodeReader) finish() {
	r.opener.open(r.sink)
	if r.reverted > 0 {
		r.send(quire.Rewound{Stamp: r.Stamp, Keep: r.reverted - 2})
	}
}

// prune reports that old results were taken out of the context before at.
func (r *openCodeReader) prune(at time.Time) {
	left := r.pruned[:0]
	for _, t := range r.pruned {
		if t.After(at) {
			left = append(left, t)
		}
	}
	if len(left) < len(r.pruned) {
		r.send(quire.Compacted{Stamp: r.Stamp, Trigger: "micro"})
	}
	r.pruned = left
}

func (r *openCodeReader) user(info value, parts []value) {
	if s := info.get("system").text(); s != "" && s != r.system {
		r.system = s
		r.enter(quire.Part{Kind: quire.PartSystem, Text: s})
	}
	for _, p := range parts {
		r.userPart(p)
	}
}

func (r *openCodeReader) userPart(p value) {
	switch kind := p.get("type").text(); kind {
	case "text":
		r.typed(p)
	case "file":
		r.file(p)
	case "compaction":
		r.trigger = "manual"
		if p.get("auto").truth() {
			r.trigger = "auto"
		}
	case "subtask":
		r.enter(quire.Part{Kind: quire.PartMachine, Text: p.get("prompt").text()})
	case "agent", "snapshot", "patch", "retry", "step-start", "step-finish":
	default:
		r.enter(quire.Part{Kind: quire.PartMachine, Text: compact(p)})
	}
}

// typed sends text of a user's message, unless it is only shown.
func (r *openCodeReader) typed(p value) {
	part := quire.Part{Kind: quire.PartUser, Text: p.get("text").text()}
	if p.get("synthetic").truth() {
		part.Kind = quire.PartMachine
	}
	if !p.get("ignored").truth() && part.Text != "" {
		r.enter(part)
	}
}

// file sends an attachment. Of text files and folders the agent put the text in
// beside them.
func (r *openCodeReader) file(p value) {
	mime := p.get("mime").text()
	if mime != "text/plain" && mime != "application/x-directory" {
		r.enter(linkedPart(mime, p.get("url")))
	}
}

func (r *openCodeReader) assistant(id string, info value, parts []value) {
	if id == "" {
		id = fmt.Sprintf("%s#%d", r.opener.info.ID, r.Line)
	}
	started, finished := steps(parts)
	usage := openCodeUsage(info.get("tokens"))
	s := openCodeStep{openCodeReader: r, model: info.get("modelID").text(), id: id, several: finished > 1}
	s.synthetic = started+finished == 0 && info.get("tokens").isObject() && usage.Known == 0
	switch {
	case s.synthetic:
		r.note(quire.NoteSynthetic)
	case !s.begin():
		return
	}
	for _, p := range parts {
		s.part(p)
	}
	if !s.finished {
		if s.several {
			usage = quire.Usage{} // it adds up, or repeats, what the steps say
		}
		s.end(usage)
	}
	if info.get("summary").truth() && info.get("error").isNull() {
		r.compacted(usage, parts)
	}
}

// steps counts the beginnings and the ends of steps.
func steps(parts []value) (started, finished int) {
	for _, p := range parts {
		switch t := p.get("type"); {
		case t.is("step-start"):
			started++
		case t.is("step-finish"):
			finished++
		}
	}
	return started, finished
}

// compacted sends a compaction: the answer that was sent before it is the
// summary.
func (r *openCodeReader) compacted(usage quire.Usage, parts []value) {
	var texts []string
	for _, p := range parts {
		if p.get("type").is("text") {
			texts = append(texts, p.get("text").text())
		}
	}
	r.send(quire.Compacted{Stamp: r.Stamp, Trigger: r.trigger, PreTokens: int(usage.Prompt())})
	r.trigger, r.pruned, r.system = "", nil, ""
	r.enter(quire.Part{Kind: quire.PartMachine, Origin: quire.OriginSummary, Text: strings.Join(texts, "\n")})
}

// openCodeUsage reads the tokens of a message or a step. Reasoning is counted
// beside the output. All zero means that the provider reported nothing.
func openCodeUsage(v value) quire.Usage {
	u := quire.Usage{
		Input:      v.get("input").integer(),
		CacheRead:  v.get("cache", "read").integer(),
		CacheWrite: v.get("cache", "write").integer(),
		Reasoning:  v.get("reasoning").integer(),
	}
	u.Output = v.get("output").integer() + u.Reasoning
	if u.Prompt()+u.Output > 0 {
		u.Known = quire.KnownInput | quire.KnownCache | quire.KnownOutput
	}
	return u
}

// An openCodeStep sends the parts of a message of the model, step by step.
type openCodeStep struct {
	*openCodeReader
	id, model string
	several   bool // the message holds several finished steps
	synthetic bool // the agent wrote it: there is no call

	count    int
	call     string
	finished bool         // the step that was read last has ended
	results  []quire.Part // of the tools of this step, with their images
}

// begin opens the call of the next step. It returns false where the call was
// opened before.
func (s *openCodeStep) begin() bool {
	s.count++
	if s.call = s.id; s.count > 1 {
		s.call = fmt.Sprintf("%s#%d", s.id, s.count)
	}
	s.finished = false
	return s.sink.call(s.call, s.model)
}

func (s *openCodeStep) part(p value) {
	switch kind := p.get("type").text(); kind {
	case "text":
		s.say(quire.PartText, p.get("text").text())
	case "reasoning":
		s.say(quire.PartThinking, p.get("text").text())
	case "tool":
		s.tool(p)
	case "step-start":
		if s.finished {
			s.begin()
		}
	case "step-finish":
		if s.several {
			s.end(openCodeUsage(p.get("tokens")))
		}
	case "snapshot", "patch", "retry", "compaction", "agent", "subtask":
	default:
		s.say(quire.PartText, compact(p))
	}
}

// end ends a step: its usage, then the results of its tools, which are in the
// prompt of the next call.
func (s *openCodeStep) end(u quire.Usage) {
	if !s.synthetic {
		s.meter(s.call, u)
	}
	for _, p := range s.results {
		s.enter(p)
	}
	s.results, s.finished = nil, true
}

func (s *openCodeStep) say(kind quire.PartKind, text string) {
	switch {
	case text == "":
	case s.synthetic:
		s.enter(quire.Part{Kind: quire.PartMachine, Text: text})
	default:
		s.answer(s.call, quire.Part{Kind: kind, Text: text})
	}
}

// tool sends a tool call and keeps its result, which stand in one part.
func (s *openCodeStep) tool(p value) {
	state, use := parseToolState(p.get("state")), p.get("callID").text()
	call := quire.Part{Kind: quire.PartToolCall, Tool: p.get("tool").text(), ToolUse: use, Text: state.arguments()}
	if s.synthetic {
		s.enter(call)
	} else {
		s.answer(s.call, call)
	}
	text, failed := state.result()
	s.results = append(s.results, quire.Part{Kind: quire.PartToolResult, Text: text, Tool: call.Tool, ToolUse: use, IsError: failed})
	s.items(state.attachments, func(a value) {
		file := linkedPart(a.get("mime").text(), a.get("url"))
		file.ToolUse = use
		s.results = append(s.results, file)
	})
	if t := moment(state.time.get("compacted")); !t.IsZero() {
		s.pruned = append(s.pruned, t)
	}
}

// A toolState is the state of a tool call.
type toolState struct {
	status, input, raw, output, failure, metadata, attachments, time value
}

func parseToolState(v value) toolState {
	var s toolState
	for w := v.members(); w.next(); {
		switch string(w.key) {
		case "status":
			s.status = w.val
		case "input":
			s.input = w.val
		case "raw":
			s.raw = w.val
		case "output":
			s.output = w.val
		case "error":
			s.failure = w.val
		case "metadata":
			s.metadata = w.val
		case "attachments":
			s.attachments = w.val
		case "time":
			s.time = w.val
		}
	}
	return s
}

// arguments are the arguments of the call, or as much of their JSON as had come
// when the call ended.
func (s *toolState) arguments() string {
	whole := arguments(s.input)
	if raw := s.raw.text(); raw != "" && (whole == "" || whole == "{}") {
		return raw
	}
	return whole
}

// result is what the model saw of the result. A tool that never ended has an
// empty result that counts as failed.
func (s *toolState) result() (text string, failed bool) {
	switch {
	case s.status.is("completed"):
		return plain(s.output), false
	case s.status.is("error"):
		return plain(first(s.metadata.get("output"), s.failure)), true
	}
	return "", true
}
