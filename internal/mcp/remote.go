package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/quire-agent/quire/internal/permit"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/tool"
	"github.com/quire-agent/quire/internal/x/trust"
)

// The names of the general tools.
const (
	CallName = "mcp_call"
	ReadName = "mcp_read"
)

// Tools are those of the connected servers, by the servers' names and then by the
// tools', and behind them the general ones, where there is any server. From the
// first time on they stay the same: what comes later is told by [Hub.News].
func (h *Hub) Tools() []tool.Tool {
	h.giving.Do(func() {
		h.mu.Lock()
		h.fixed = true
		h.mu.Unlock()
		h.given = h.list()
	})
	return slices.Clone(h.given)
}

func (h *Hub) list() (list []tool.Tool) {
	seen := map[string]bool{CallName: true, ReadName: true}
	used := false
	for _, l := range h.servers {
		used = used || l.Skip == ""
		for _, t := range l.listed() {
			if r := newRemote(l, t); !seen[r.spec.Name] {
				seen[r.spec.Name] = true
				list = append(list, r)
			}
		}
	}
	if used {
		list = append(list, &caller{h}, &reader{h})
	}
	return list
}

func (l *link) listed() []*sdk.Tool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.tools)
}

// maxName is the longest name that all providers take.
const maxName = 64

// toolName is the name of a server's tool for the model: mcp__server__tool of letters,
// digits and _. A name that is too long ends with a sum of itself.
func toolName(server, name string) string {
	full := "mcp__" + plain(server) + "__" + plain(name)
	if len(full) > maxName {
		full = full[:maxName-9] + "_" + trust.Sum(server, name)[:8]
	}
	return full
}

func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_') {
			return r
		}
		return '_'
	}, name)
}

// schemaOf is the schema of a tool's arguments, its members by name: that of an
// object, whatever a server says.
func schemaOf(t *sdk.Tool) json.RawMessage {
	const object = `{"type":"object"}`
	text, err := json.Marshal(t.InputSchema)
	var members map[string]json.RawMessage
	if err != nil || json.Unmarshal(text, &members) != nil || members == nil {
		return json.RawMessage(object)
	}
	if _, ok := members["type"]; !ok {
		members["type"] = json.RawMessage(`"object"`)
	}
	if text, err = json.Marshal(members); err != nil {
		return json.RawMessage(object)
	}
	return text
}

// declared is what a tool says of itself.
func declared(t *sdk.Tool) string {
	return t.Name + "\x00" + t.Description + "\x00" + string(schemaOf(t))
}

// maxDescription bounds a tool's description in the list, in bytes: it is paid for on
// every call.
const maxDescription = 4000

func specOf(server string, t *sdk.Tool) quire.ToolSpec {
	text := t.Description
	if text == "" {
		text = t.Title
	}
	if len(text) > maxDescription {
		text = strings.ToValidUTF8(text[:maxDescription], "") + " …"
	}
	return quire.ToolSpec{Name: toolName(server, t.Name), Description: strings.ToValidUTF8(text, "\uFFFD"), Schema: schemaOf(t)}
}

// A remote is a tool of a server.
type remote struct {
	link  *link
	name  string
	spec  quire.ToolSpec
	reads bool
}

func newRemote(l *link, t *sdk.Tool) *remote {
	return &remote{link: l, name: t.Name, spec: specOf(l.Name, t), reads: ReadOnly(t.Name, hint(t))}
}

// hint is what a tool says of whether it only reads, nil for nothing.
func hint(t *sdk.Tool) *bool {
	if t.Annotations == nil || !t.Annotations.ReadOnlyHint && t.Annotations.DestructiveHint == nil {
		return nil
	}
	return &t.Annotations.ReadOnlyHint
}

// Words in the names of tools that say what they do.
var (
	readWords  = []string{"get", "list", "read", "search", "find", "query", "fetch", "show", "describe", "lookup", "view", "count", "status", "inspect", "check", "docs", "resolve", "browse", "snapshot", "screenshot"}
	writeWords = []string{"set", "write", "create", "update", "delete", "remove", "add", "edit", "insert", "put", "post", "send", "patch", "move", "rename", "run", "exec", "execute", "click", "type", "fill", "press", "navigate", "upload", "deploy", "publish", "merge", "push", "commit", "drop", "apply", "install", "start", "stop", "restart", "kill", "close", "open", "save", "submit", "approve", "assign", "archive", "reset", "clear", "import", "invoke", "call", "trigger", "evaluate", "drag", "select"}
)

// ReadOnly reports whether a tool can be taken to change nothing: its name has no
// word of changing, and it says so itself or its name has a word of reading. What
// a server says of itself is not believed against the name.
func ReadOnly(name string, says *bool) bool {
	words := strings.FieldsFunc(snake(name), func(r rune) bool { return !unicode.IsLetter(r) })
	has := func(list []string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(list, w) })
	}
	if has(writeWords) || says != nil && !*says {
		return false
	}
	return says != nil || has(readWords)
}

// snake parts the words of a name in camel case.
func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		if i > 0 && unicode.IsUpper(r) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// Spec declares the tool.
func (r *remote) Spec() quire.ToolSpec { return r.spec }

// Want says what a call would do.
func (r *remote) Want(tool.Input) tool.Want { return want(r.reads) }

func want(reads bool) tool.Want {
	if reads {
		return tool.Want{}
	}
	return tool.Want{Request: permit.Request{Foreign: true}, Notice: "what a server does cannot be undone", Serial: true}
}

// Run does a call.
func (r *remote) Run(ctx context.Context, in tool.Input) (tool.Result, error) {
	return r.link.call(ctx, r.name, in.Args)
}

// patience is how long a call of the server may take.
func (l *link) patience() time.Duration { return cmp.Or(l.Timeout, usualCall) }

// call calls a tool of a server. What goes wrong is a result that says so.
func (l *link) call(ctx context.Context, name string, args json.RawMessage) (tool.Result, error) {
	session, err := l.live(ctx)
	if err != nil {
		return tool.Failed("The server %s cannot be reached: %v.", l.Name, err), nil
	}
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	limited, cancel := context.WithTimeout(ctx, l.patience())
	defer cancel()
	got, err := session.CallTool(limited, &sdk.CallToolParams{Name: name, Arguments: args})
	switch {
	case ctx.Err() != nil:
		return tool.Failed("The call was interrupted."), nil
	case errors.Is(limited.Err(), context.DeadlineExceeded):
		return tool.Failed("The server %s did not answer in %s.", l.Name, l.patience()), nil
	case err != nil:
		return tool.Failed("The server %s: %v.", l.Name, l.told(err, ctx)), nil
	}
	return result(got), nil
}

// A caller is the general tool that calls any tool of any server, also one that
// came after the list was made.
type caller struct{ hub *Hub }

type callArgs struct {
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
}

// Spec declares the tool.
func (c *caller) Spec() quire.ToolSpec {
	return quire.ToolSpec{
		Name: CallName, Description: "Calls a tool of a connected server that is not in this list because it came later: a message names it and its arguments.",
		Schema: json.RawMessage(`{"type":"object","properties":{"tool":{"type":"string","description":"its name, mcp__server__tool"},"arguments":{"type":"object","description":"its arguments"}},"required":["tool"],"additionalProperties":false}`),
	}
}

// Want says what a call would do.
func (c *caller) Want(in tool.Input) tool.Want {
	_, t, _ := c.find(in)
	return want(t != nil && ReadOnly(t.Name, hint(t)))
}

func (c *caller) find(in tool.Input) (*link, *sdk.Tool, callArgs) {
	var args callArgs
	if json.Unmarshal(in.Args, &args) != nil {
		return nil, nil, args
	}
	for _, l := range c.hub.servers {
		for _, t := range l.listed() {
			if toolName(l.Name, t.Name) == args.Tool {
				return l, t, args
			}
		}
	}
	return nil, nil, args
}

// Run does a call.
func (c *caller) Run(ctx context.Context, in tool.Input) (tool.Result, error) {
	l, t, args := c.find(in)
	if t == nil {
		return tool.Failed("No connected server has the tool %q. There are: %s.", args.Tool, strings.Join(c.hub.names(), ", ")), nil
	}
	return l.call(ctx, t.Name, args.Arguments)
}

// names are those of all tools, bounded.
func (h *Hub) names() (list []string) {
	const most = 50
	for _, l := range h.servers {
		for _, t := range l.listed() {
			list = append(list, toolName(l.Name, t.Name))
		}
	}
	if n := len(list) - most; n > 0 {
		list = append(list[:most], fmt.Sprintf("and %d more", n))
	}
	return list
}

// A reader is the general tool that lists and reads resources.
type reader struct{ hub *Hub }

type readArgs struct {
	Server string `json:"server"`
	URI    string `json:"uri"`
}

// Spec declares the tool.
func (r *reader) Spec() quire.ToolSpec {
	return quire.ToolSpec{
		Name: ReadName, Description: "Lists the resources of a connected server, or reads one.",
		Schema: json.RawMessage(`{"type":"object","properties":{"server":{"type":"string","description":"its name"},"uri":{"type":"string","description":"of the resource; without it all are listed"}},"required":["server"],"additionalProperties":false}`),
	}
}

// Want says that nothing is changed.
func (r *reader) Want(tool.Input) tool.Want { return tool.Want{} }

// Run does a call.
func (r *reader) Run(ctx context.Context, in tool.Input) (tool.Result, error) {
	var args readArgs
	if err := json.Unmarshal(in.Args, &args); err != nil {
		return tool.Failed("%s wants a server, and a uri to read.", ReadName), nil
	}
	var names []string
	for _, l := range r.hub.servers {
		if l.Skip == "" && l.Name == args.Server {
			return l.read(ctx, args.URI)
		}
		if l.Skip == "" {
			names = append(names, l.Name)
		}
	}
	return tool.Failed("There is no server %q. There are: %s.", args.Server, strings.Join(names, ", ")), nil
}

func (l *link) read(ctx context.Context, uri string) (tool.Result, error) {
	session, err := l.live(ctx)
	if err != nil {
		return tool.Failed("The server %s cannot be reached: %v.", l.Name, err), nil
	}
	limited, cancel := context.WithTimeout(ctx, l.patience())
	defer cancel()
	if c := session.InitializeResult().Capabilities; c == nil || c.Resources == nil {
		return tool.Failed("The server %s has no resources.", l.Name), nil
	}
	if uri == "" {
		return resources(limited, session)
	}
	got, err := session.ReadResource(limited, &sdk.ReadResourceParams{URI: uri})
	if err != nil {
		return tool.Failed("The server %s: %v.", l.Name, err), nil
	}
	var c content
	for _, part := range got.Contents {
		c.resource(part)
	}
	return c.result(), nil
}

// resources lists those of a server, all pages of the list.
func resources(ctx context.Context, session *sdk.ClientSession) (tool.Result, error) {
	var b strings.Builder
	for r, err := range session.Resources(ctx, nil) {
		if err != nil {
			return tool.Failed("List the resources: %v.", err), nil
		}
		fmt.Fprintf(&b, "%s  %s %s %s\n", r.URI, r.Name, r.MIMEType, strings.Join(strings.Fields(r.Description), " "))
	}
	if b.Len() == 0 {
		return tool.Result{Text: "There are no resources."}, nil
	}
	return tool.Result{Text: tool.Bound(tool.Valid(b.String()), tool.MaxText)}, nil
}
