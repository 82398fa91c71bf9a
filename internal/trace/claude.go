package trace

import (
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/quire-agent/quire/internal/quire"
)

// claudeImporter reads the transcripts of Claude Code: one JSON object a line,
// of which one message is spread over several (a line for each content block).
//
// The order of the events is that of the file. The parent links of the lines
// are followed for one thing only, to see where the user went back: a typed
// prompt whose parent lies before a later call or prompt leaves everything from
// there on behind. Elsewhere the links fork for reasons that are no rewind
// (tools that ran in parallel, repeated requests), and after a compaction they
// lead nowhere.
//
// Lines of subagents are events of a side chain. Copies of their messages that
// the parent keeps as progress reports are not read: the subagent's own
// transcript has them in full. Anything else that was not sent to the model
// (snapshots, titles, durations) is no event.
func claudeImporter() importer {
	return importer{agent: quire.AgentClaudeCode, match: matchClaude, read: readClaude}
}

func matchClaude(head []byte) bool {
	for line := range headLines(head) {
		switch {
		case headField(line, "sessionId") != nil && (headField(line, "isSidechain") != nil || claudeFrame(line)),
			headField(line, "type").is("summary") && headField(line, "leafUuid") != nil,
			headField(line, "type").is("file-history-snapshot") && headField(line, "messageId") != nil,
			headField(line, "type").is("queue-operation") && headField(line, "sessionId") != nil:
			return true
		}
	}
	return false
}

// claudeFrame reports whether the beginning of a line is that of a message in
// Claude Code's frame, whichever of its fields a copy has left out.
func claudeFrame(line []byte) bool {
	kind := headField(line, "type")
	return (kind.is("user") || kind.is("assistant")) && headField(line, "message") != nil && headField(line, "uuid") != nil
}

func readClaude(src io.Reader, yield func(quire.Event) bool) error {
	c := newClaude(newSink(yield))
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

// A claude is the state of reading one transcript.
type claude struct {
	*sink
	opener
	lines  *recent[claudeNode]  // by uuid
	calls  *recent[quire.Usage] // by message id: the usage sent last
	chains map[string]*claudeChain
	names  []string // of the chains, in the order in which they appeared
	tools  toolNames
}

// A claudeNode is the place of a line: the part that was the newest of its
// chain when the line had been read.
type claudeNode struct {
	chain int32 // index into names
	node  int32
}

func newClaude(s *sink) *claude {
	return &claude{
		sink:   s,
		opener: opener{info: quire.SessionInfo{Agent: quire.AgentClaudeCode}},
		lines:  newRecent[claudeNode](recentLimit),
		calls:  newRecent[quire.Usage](recentLimit / 4),
		chains: make(map[string]*claudeChain),
		tools:  make(toolNames),
	}
}

func (c *claude) line(l *lineReader) {
	if l.long {
		c.lost(l.number, errLongLine)
		return
	}
	r, err := parseClaude(l.line)
	if err != nil {
		c.lost(l.number, err)
		return
	}
	c.learn(&r)
	c.record(l, &r)
}

// lost reports a line that could not be read.
func (c *claude) lost(line int, err error) {
	c.Stamp = quire.Stamp{Line: line}
	c.opening()
	c.skip(err)
}

func (c *claude) opening() { c.opener.open(c.sink) }

// learn takes up what a line says about the session.
func (c *claude) learn(r *claudeLine) {
	if c.info.ID == "" && r.side && r.agent != nil {
		// A transcript that begins in a subagent is that of the subagent.
		c.info.ID, c.info.Parent = r.agent.text(), r.session.text()
	}
	fill(&c.info.ID, r.session)
	fill(&c.info.Project, r.cwd)
	fill(&c.info.Branch, r.branch)
	fill(&c.info.Version, r.version)
	if c.info.Started.IsZero() {
		c.info.Started = r.time.time()
	}
}

// record reads one line that is whole.
func (c *claude) record(l *lineReader, r *claudeLine) {
	if !r.conversation() {
		c.remember(r, c.chain(r))
		return
	}
	chain := c.chain(r)
	c.Stamp = quire.Stamp{Line: l.number, At: r.time.time(), Chain: chain.name}
	c.opening()
	if _, seen := c.lines.get(r.uuid); seen && !r.uuid.isNull() {
		c.note(quire.NoteDuplicateLine)
		return
	}
	c.sink.record(l.number, c.At, chain.name)
	if !utf8.Valid(l.line) {
		c.note(quire.NoteNotUTF8)
	}
	c.content(r, chain)
	c.remember(r, chain)
}

func (c *claude) content(r *claudeLine, chain *claudeChain) {
	switch {
	case r.kind.is("system"):
		c.system(r, chain)
	case r.kind.is("attachment"):
		c.attachment(r, chain)
	case r.role().is("assistant"):
		c.assistant(r, chain)
	default:
		c.user(r, chain)
	}
}

// remember keeps the place of a line, for lines that name it as their parent.
func (c *claude) remember(r *claudeLine, chain *claudeChain) {
	if !r.uuid.isNull() {
		c.lines.put(r.uuid, claudeNode{chain: chain.index, node: int32(c.nodes[chain.name] - 1)})
	}
}

// chain is the chain that a line belongs to. Older transcripts do not name side
// chains; there it is that of the parent, and a line without one begins its own.
func (c *claude) chain(r *claudeLine) *claudeChain {
	switch parent, known := c.lines.get(r.parent); {
	case !r.side:
		return c.named("")
	case r.agent != nil:
		return c.named(r.agent.text())
	case known && c.names[parent.chain] != "":
		return c.named(c.names[parent.chain])
	case !r.parent.isNull() && len(c.names) > 1:
		return c.named(c.names[len(c.names)-1])
	}
	return c.named(r.uuid.text())
}

func (c *claude) named(name string) *claudeChain {
	if chain := c.chains[name]; chain != nil {
		return chain
	}
	if len(c.names) == 0 && name != "" {
		c.named("")
	}
	chain := &claudeChain{name: name, index: int32(len(c.names))}
	c.chains[name], c.names = chain, append(c.names, name)
	return chain
}

// assistant reads one content block of an answer, or several.
func (c *claude) assistant(r *claudeLine, chain *claudeChain) {
	m := parseClaudeMessage(r.message)
	if m.model.is("<synthetic>") || r.apiError {
		c.note(quire.NoteSynthetic)
		return
	}
	id := m.id
	if id.isNull() {
		id = r.uuid
	}
	last, seen := c.calls.get(id)
	if !seen {
		c.fork(r, chain)
		chain.begin(c.nodes[chain.name])
		c.send(quire.Called{Stamp: c.Stamp, Call: id.text(), Model: m.model.text()})
	}
	chain.settled = true
	call := id.text()
	for block := range blocks(m.content) {
		c.answerBlock(call, block)
	}
	usage := claudeUsage(m.usage)
	c.usage(call, last, usage)
	c.calls.put(id, usage.or(last))
}

// usage sends the usage of a call unless it was sent before.
func (c *claude) usage(call string, last quire.Usage, now reported) {
	if now.Known == 0 {
		return
	}
	if last.Known != 0 {
		c.note(quire.NoteDuplicateUsage)
	}
	if now.Usage != last {
		c.meter(call, now.Usage)
	}
}

// fork notes an answer to an earlier state of the conversation than the newest.
func (c *claude) fork(r *claudeLine, chain *claudeChain) {
	parent, known := c.lines.get(r.parent)
	if known && parent.chain == chain.index && chain.next(int(parent.node)) >= 0 {
		c.note(quire.NoteFork)
	}
}

// user reads what was put into the user's role: prompts, results, and what the
// harness adds.
func (c *claude) user(r *claudeLine, chain *claudeChain) {
	switch {
	case r.summary:
		c.summary(r, chain)
	case r.transcriptOnly:
		return
	}
	var parts []quire.Part
	for block := range blocks(r.message.get("content")) {
		parts = append(parts, c.userParts(r, chain, block)...)
	}
	if prompt(parts) && !r.meta && !r.side {
		c.rewind(r, chain)
		chain.begin(c.nodes[chain.name])
	}
	c.enterAll(parts)
}

func (c *claude) enterAll(parts []quire.Part) {
	for _, p := range parts {
		c.enter(p)
	}
}

// prompt reports whether parts begin a turn of the user: words or an image of
// their own, or a command.
func prompt(parts []quire.Part) bool {
	for _, p := range parts {
		switch p.Kind {
		case quire.PartUser:
			return true
		case quire.PartImage, quire.PartDocument:
			if p.ToolUse == "" {
				return true
			}
		case quire.PartMachine:
			if claudeCommand(p.Text) {
				return true
			}
		}
	}
	return false
}

// rewind looks where the user continues from.
func (c *claude) rewind(r *claudeLine, chain *claudeChain) {
	keep := -1
	if r.parent.isNull() {
		if chain.compacted || len(chain.starts) == 0 {
			return
		}
	} else {
		parent, known := c.lines.get(r.parent)
		if !known || parent.chain != chain.index {
			return
		}
		start := chain.next(int(parent.node))
		if start < 0 {
			return
		}
		keep = start - 1
	}
	chain.cut(keep)
	c.send(quire.Rewound{Stamp: c.Stamp, Keep: keep})
}

// summary is the message that opens a new context. Transcripts that do not
// record the compaction itself have nothing but this.
func (c *claude) summary(r *claudeLine, chain *claudeChain) {
	if !chain.bare {
		c.compact(chain, quire.Compacted{})
	}
	chain.bare = false
	chain.summarised(r.time.time())
}

func (c *claude) compact(chain *claudeChain, e quire.Compacted) {
	e.Stamp = c.Stamp
	c.send(e)
	chain.compact()
}

func (c *claude) system(r *claudeLine, chain *claudeChain) {
	switch {
	case r.subtype.is("compact_boundary"):
		c.compact(chain, quire.Compacted{
			Trigger:   r.compact.get("trigger").text(),
			PreTokens: int(r.compact.get("preTokens").integer()),
		})
	case r.subtype.is("microcompact_boundary"):
		c.send(quire.Compacted{Stamp: c.Stamp, Trigger: "micro", PreTokens: int(r.micro.get("preTokens").integer())})
	case r.subtype.is("local_command"):
		c.enterAll(c.machine(chain, r.content.text()))
	}
}

// machine is the part for text that the harness made, if there is any.
func (c *claude) machine(chain *claudeChain, text string) []quire.Part {
	if text == "" {
		return nil
	}
	return []quire.Part{{Kind: quire.PartMachine, Origin: chain.origin(c.At), Text: text}}
}

var errNotRecord = errors.New("not a record of a session")
