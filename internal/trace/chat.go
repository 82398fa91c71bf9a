package trace

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/quire-agent/quire/internal/quire"
)

// A message is a message in the shape of the OpenAI or the Anthropic interface,
// with what the agents that store such messages add to them. Its fields are not
// decoded and alias the buffer that it was read from.
type message struct {
	whole value

	role, kind, content, model, id, name value
	toolCalls, functionCall, toolCall    value // calls of an answer; the call that a result answers
	reasoning, thinking, refusal         value // thinking as text; thinking as blocks
	output                               value // the items of an answer of the Responses interface
	usage, at, extra                     value
	demo, action, callIDs                value // SWE-agent
}

func parseMessage(v value) (message, error) {
	m := message{whole: v}
	if !v.isObject() {
		return m, errSyntax
	}
	w := v.members()
	for w.next() {
		if field := m.field(string(w.key)); field != nil && len(*field) == 0 {
			*field = w.val
		}
	}
	return m, w.err
}

func (m *message) field(key string) *value {
	switch key {
	case "role":
		return &m.role
	case "type":
		return &m.kind
	case "content":
		return &m.content
	case "model":
		return &m.model
	case "id":
		return &m.id
	case "name":
		return &m.name
	case "tool_calls":
		return &m.toolCalls
	case "function_call":
		return &m.functionCall
	case "tool_call_id", "call_id":
		return &m.toolCall
	case "reasoning_content", "reasoning":
		return &m.reasoning
	case "thinking_blocks":
		return &m.thinking
	case "refusal":
		return &m.refusal
	case "output":
		return &m.output
	case "usage":
		return &m.usage
	case "timestamp", "created_at":
		return &m.at
	case "extra":
		return &m.extra
	case "is_demo":
		return &m.demo
	case "action":
		return &m.action
	case "tool_call_ids":
		return &m.callIDs
	}
	return nil
}

// answer reports whether the message is one of the model.
func (m *message) answer() bool {
	return m.role.is("assistant") || m.role.is("model") || m.role == nil && m.output.isArray()
}

// A chat turns the messages of one log, in their order, into events.
//
// A call is named by a hash over all messages up to its own where the log does
// not name it: the same call gets the same name in every copy of a log, and no
// two calls of a log share one.
type chat struct {
	*sink
	model    string            // of calls that do not name theirs
	nameless bool              // there were calls before the model was known
	sum      hash.Hash         // of all messages so far
	tools    map[string]string // the tool of each call that has no result yet
	waiting  []string          // those calls, in their order

	// Where agents write their actions into the text: the tool of an action.
	actions func(action string) (tool string)
}

func newChat(s *sink) *chat {
	return &chat{sink: s, sum: sha256.New(), tools: make(map[string]string)}
}

// read counts a message into the names of the calls to come.
func (c *chat) read(v value) {
	c.encoded(v)
	_, _ = c.sum.Write(v) // a hash takes everything
}

// callID names the call that the message read last answers.
func (c *chat) callID() string { return hex.EncodeToString(c.sum.Sum(nil)[:12]) }

// message sends a message whatever its role.
func (c *chat) message(m message) {
	switch {
	case m.role.is("tool"), m.role.is("function"), m.kind.is("function_call_output"):
		c.result(m, false)
	case m.answer():
		c.reply(m, c.callID())
	case m.role.is("system"), m.role.is("developer"):
		c.prompt(m.content, quire.PartSystem)
	case m.role.is("user"), m.role.is("human"):
		c.prompt(m.content, quire.PartUser)
	default:
		c.enter(quire.Part{Kind: quire.PartMachine, Text: compact(m.whole)})
	}
}

// prompt sends content that is not of the model.
func (c *chat) prompt(content value, kind quire.PartKind) {
	switch {
	case content.isNull():
	case content.isArray():
		c.items(content, func(b value) { c.block(b, kind) })
	case content.isObject():
		c.block(content, kind)
	default:
		c.enter(quire.Part{Kind: kind, Text: plain(content)})
	}
}

// block sends one content block that is not of the model.
func (c *chat) block(b value, kind quire.PartKind) {
	if b.get("type").is("tool_result") {
		texts, media := gather(b.get("content"))
		c.results(b.get("tool_use_id").text(), texts, b.get("is_error").truth(), media)
		return
	}
	if text, ok := blockText(b); ok {
		c.enter(quire.Part{Kind: kind, Text: text})
		return
	}
	if p, ok := blockMedia(b); ok {
		c.enter(p)
		return
	}
	c.enter(quire.Part{Kind: kind, Text: compact(b)})
}

// result sends a message that is the result of a tool call.
func (c *chat) result(m message, failed bool) {
	id, content := m.toolCall, m.content
	if content.isNull() {
		content = m.output
	}
	if id.isNull() {
		id = firstItem(m.callIDs)
	}
	texts, media := gather(content)
	c.results(id.text(), texts, failed, media)
}

// results sends the one result of a tool call with its images. An empty id is
// that of the oldest call without a result.
func (c *chat) results(id string, texts []string, failed bool, media []quire.Part) {
	if id == "" && len(c.waiting) > 0 {
		id = c.waiting[0]
	}
	text, cuts := quire.Joined(texts)
	c.enter(quire.Part{Kind: quire.PartToolResult, Text: text, Cuts: cuts, Tool: c.tools[id], ToolUse: id, IsError: failed})
	for _, p := range media {
		p.ToolUse = id
		c.enter(p)
	}
	delete(c.tools, id)
	c.waiting = slices.DeleteFunc(c.waiting, func(w string) bool { return w == id })
}

// reply sends a message of the model: the call and its answer, without usage.
// It returns false where the call was sent before.
func (c *chat) reply(m message, id string) bool {
	model := m.model.text()
	if model == "" {
		model = c.model
	}
	c.nameless = c.nameless || model == ""
	if !c.call(id, model) {
		return false
	}
	// Results come before the next call or not at all.
	clear(c.tools)
	c.waiting = c.waiting[:0]
	a := answer{chat: c, call: id}
	a.thinking(m)
	if c.actions != nil && firstItem(m.toolCalls) == nil && firstItem(m.output) == nil {
		a.action(m)
	} else {
		a.content(m.content)
	}
	a.text(m.refusal)
	a.items(m.output, a.block)
	a.items(m.toolCalls, a.toolCall)
	if m.functionCall.isObject() {
		a.use("", m.functionCall.get("name").text(), arguments(m.functionCall.get("arguments")))
	}
	return true
}

// acted sends content as the result of the action of the answer before it. It
// returns false where there was none.
func (c *chat) acted(m message, failed bool) bool {
	if c.actions == nil || len(c.waiting) == 0 {
		return false
	}
	c.result(m, failed)
	return true
}

// An answer sends the parts of one answer.
type answer struct {
	*chat
	call string
	uses int
}

// thinking sends the thinking that stands beside the content. Where it stands
// there twice, as blocks and as text, the blocks are what was sent.
func (a *answer) thinking(m message) {
	if firstItem(m.thinking) != nil {
		a.items(m.thinking, a.block)
		return
	}
	if t := m.reasoning.text(); t != "" {
		a.answer(a.call, quire.Part{Kind: quire.PartThinking, Text: t})
	}
}

func (a *answer) content(content value) {
	if !content.isArray() {
		a.text(content)
		return
	}
	a.items(content, a.block)
}

func (a *answer) text(v value) { a.say(plain(v)) }

// action sends text with the action in it: the one that the log names, or else
// the last fenced block. Text in front of it and behind it, fences included,
// stays text.
func (a *answer) action(m message) {
	text, _ := flatten(m.content)
	from, to := actionAt(text, strings.TrimSpace(m.action.text()))
	a.say(text[:from])
	if from < to {
		a.use("", a.actions(text[from:to]), text[from:to])
	}
	a.say(text[to:])
}

// actionAt is where in text the action stands; an empty place at the end where
// there is none.
func actionAt(text, action string) (from, to int) {
	if at := strings.LastIndex(text, action); action != "" && at >= 0 {
		return at, at + len(action)
	}
	const fence = "```"
	end := strings.LastIndex(text, "\n"+fence)
	if end < 0 {
		return len(text), len(text)
	}
	open := strings.LastIndex(text[:end], fence)
	if open < 0 {
		return len(text), len(text)
	}
	from = open + strings.IndexByte(text[open:], '\n') + 1
	return min(from, end), end
}

func (a *answer) say(text string) {
	if text != "" {
		a.answer(a.call, quire.Part{Kind: quire.PartText, Text: text})
	}
}

// block sends one content block of the model, or one item of the Responses
// interface.
func (a *answer) block(b value) {
	kind := b.get("type").text()
	switch kind {
	case "thinking", "redacted_thinking":
		a.answer(a.call, quire.Part{Kind: quire.PartThinking, Text: b.get("thinking").text()})
	case "reasoning":
		text, _ := flatten(b.get("summary"))
		a.answer(a.call, quire.Part{Kind: quire.PartThinking, Text: text})
	case "tool_use", "server_tool_use", "mcp_tool_use":
		a.use(b.get("id").text(), b.get("name").text(), arguments(b.get("input")))
	case "function_call":
		a.use(b.get("call_id").text(), b.get("name").text(), arguments(b.get("arguments")))
	case "message":
		a.content(b.get("content"))
	default:
		a.other(b, kind)
	}
}

// other sends text, the results of tools that the provider ran itself, and
// whatever else an answer may hold.
func (a *answer) other(b value, kind string) {
	if id := b.get("tool_use_id").text(); id != "" && strings.HasSuffix(kind, "_result") {
		a.results(id, []string{compact(b.get("content"))}, false, nil)
		return
	}
	text, ok := blockText(b)
	if !ok {
		text = compact(b)
	}
	a.answer(a.call, quire.Part{Kind: quire.PartText, Text: text})
}

// toolCall sends one of the tool calls of the OpenAI interface.
func (a *answer) toolCall(v value) {
	of, input := v.get("function"), "arguments"
	if of.isNull() {
		of, input = v.get("custom"), "input"
	}
	a.use(v.get("id").text(), of.get("name").text(), arguments(of.get(input)))
}

// use sends a tool call. One without an id gets one.
func (a *answer) use(id, tool, input string) {
	a.uses++
	if id == "" {
		id = fmt.Sprintf("%s.%d", a.call, a.uses)
	}
	a.tools[id] = tool
	a.waiting = append(a.waiting, id)
	a.answer(a.call, quire.Part{Kind: quire.PartToolCall, Text: input, Tool: tool, ToolUse: id})
}

// arguments are the arguments of a tool call: JSON in a string, or JSON.
func arguments(v value) string {
	if v.isString() {
		return v.text()
	}
	return compact(v)
}

// plain is the text of a string, or the JSON of anything else but null.
func plain(v value) string {
	if v.isString() {
		return v.text()
	}
	if v.isNull() {
		return ""
	}
	return compact(v)
}

// flatten joins the texts of content with newlines and sets images and
// documents aside.
func flatten(content value) (text string, media []quire.Part) {
	texts, media := gather(content)
	text, _ = quire.Joined(texts)
	return text, media
}

// gather gives the texts of content, and images and documents aside. What it
// does not know, and content that is damaged, it keeps as it is written.
func gather(content value) (texts []string, media []quire.Part) {
	if !content.isArray() {
		return []string{plain(content)}, nil
	}
	w := content.items()
	for w.next() {
		if t, ok := blockText(w.val); ok {
			texts = append(texts, t)
		} else if p, ok := blockMedia(w.val); ok {
			p.After = len(texts)
			media = append(media, p)
		} else {
			texts = append(texts, plain(w.val))
		}
	}
	if w.err != nil {
		return []string{content.raw()}, nil
	}
	return texts, media
}

// blockText is the text of a block that is nothing but text.
func blockText(b value) (string, bool) {
	if !b.isObject() {
		return "", false
	}
	switch b.get("type").text() {
	case "text", "input_text", "output_text", "summary_text", "reasoning_text", "":
		t := b.get("text")
		return t.text(), t.isString()
	case "refusal":
		return b.get("refusal").text(), true
	}
	return "", false
}

// blockMedia is the image or document of a block that is one.
func blockMedia(b value) (quire.Part, bool) {
	switch b.get("type").text() {
	case "image_url", "input_image":
		address := b.get("image_url")
		if address.isObject() {
			address = address.get("url")
		}
		return linkedPart("image/*", address), true
	case "image":
		return sourcePart("image/*", b.get("source")), true
	case "document":
		return sourcePart("application/pdf", b.get("source")), true
	case "file":
		return linkedPart("application/pdf", b.get("file", "file_data")), true
	case "input_file":
		return linkedPart("application/pdf", b.get("file_data")), true
	case "input_audio":
		return mediaPart("audio/"+b.get("input_audio", "format").text(), b.get("input_audio", "data")), true
	}
	return quire.Part{}, false
}

// sourcePart is the image or document of a source of the Anthropic interface.
func sourcePart(mime string, source value) quire.Part {
	if t := source.get("media_type").text(); t != "" {
		mime = t
	}
	switch source.get("type").text() {
	case "base64":
		return mediaPart(mime, source.get("data"))
	case "url":
		return linkedPart(mime, source.get("url"))
	}
	text, _ := flatten(source.get("content"))
	if text == "" {
		text = source.get("data").text()
	}
	return quire.Part{Kind: mediaKind(mime), Text: text, Media: &quire.Media{Type: mime, Bytes: len(text)}}
}

func firstItem(v value) value {
	w := v.items()
	if !w.next() {
		return nil
	}
	return w.val
}

// compact is the JSON of v without white space between its tokens: what agents
// send, even those that indent their logs.
func compact(v value) string {
	var b strings.Builder
	b.Grow(len(v))
	for i := 0; i < len(v); {
		end := i + 1
		if v[i] == '"' {
			if end = stringEnd(v, i); end < 0 {
				end = len(v)
			}
		}
		if next := space(v, i); next > i {
			i = next
			continue
		}
		b.Write(v[i:end])
		i = end
	}
	return b.String()
}

// moment is a time written in RFC 3339, or as seconds or milliseconds since
// 1970, to the microsecond. The two are told apart by their size: as
// milliseconds, 1e11 is in 1973.
func moment(v value) time.Time {
	if t := v.time(); !t.IsZero() {
		return t
	}
	n := v.number()
	if math.Abs(n) < 1e11 {
		n *= 1e3
	}
	if n == 0 || !(math.Abs(n) <= 1e15) { // NaN too
		return time.Time{}
	}
	return time.UnixMicro(int64(math.Round(n * 1e3))).UTC()
}
