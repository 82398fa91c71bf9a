package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/quire-agent/quire/internal/hook"
	"github.com/quire-agent/quire/internal/permit"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/run"
	"github.com/quire-agent/quire/internal/tool"
	"github.com/quire-agent/quire/internal/x/trust"
)

// hooksFile is the name of the files with hooks: one of the user in the home, and
// one of the project in its folder .quire.
const hooksFile = "hooks.json"

// hooks reads the hooks of the user and of the project, the user's first.
func (inv *invocation) hooks(home, dir string, trusted *trust.Store) (*hook.Hooks, error) {
	windows := inv.app.goos == "windows"
	h := &hook.Hooks{Dir: dir, Env: inv.commandEnv(), Windows: windows}
	for _, src := range hookSources(home, dir) {
		list, err := hook.Read(src, windows, trusted)
		if err != nil {
			return nil, err
		}
		h.Handlers = append(h.Handlers, list...)
	}
	return h, nil
}

func hookSources(home, dir string) []hook.Source {
	return []hook.Source{
		{Kind: hook.OfUser, Path: filepath.Join(home, hooksFile)},
		{Kind: hook.OfProject, Path: filepath.Join(dir, ".quire", hooksFile)},
	}
}

// fire runs the hooks of an event. What they did is recorded and told later, by the
// goroutine of the loop; fire may be called by several.
func (a *agent) fire(ctx context.Context, in hook.Input) hook.Outcome {
	if a.around == nil {
		return hook.Outcome{}
	}
	out := a.around.hooks.Fire(ctx, a.about(in))
	if len(out.Records) == 0 {
		return out
	}
	for i := range out.Records {
		r := &out.Records[i]
		r.Stdout, r.Stderr, r.Reason = a.inv.mask(r.Stdout), a.inv.mask(r.Stderr), a.inv.mask(r.Reason)
		if r.Status == hook.Failed && ctx.Err() == nil {
			fmt.Fprintf(a.inv.err, "quire: the %s hook “%s” failed and stops nothing: %s\n", in.Event, a.inv.mask(clip(r.Command, 80)), r.Reason)
		}
	}
	a.ward.mu.Lock()
	defer a.ward.mu.Unlock()
	a.ward.records = append(a.ward.records, hookRecord{in.Event, out})
	for _, text := range out.Context {
		a.ward.say = append(a.ward.say, fmt.Sprintf("A hook (%s) adds:\n%s", in.Event, text))
	}
	return out
}

// about fills in what is the same for all events.
func (a *agent) about(in hook.Input) hook.Input {
	in.Dir, in.Model, in.Mode, in.Turn = a.project.Dir(), a.model.id, a.mode.String(), "t"+strconv.Itoa(a.ward.turns)
	if a.live != nil {
		name := a.live.Name()
		in.Session, in.Transcript = name.ULID, &name.Path
	}
	return in
}

// ask fires hooks that can refuse, and is the refusal.
func (a *agent) ask(ctx context.Context, in hook.Input) error {
	if out := a.fire(ctx, in); out.Blocked != "" {
		a.Warnings(ctx) // records what the hooks did; nothing is called any more
		return &problem{fmt.Errorf("a %s hook blocked the run: %s", in.Event, a.inv.mask(out.Blocked)), "`quire hooks list` shows the hooks", exitDenied}
	}
	return nil
}

// mostAgain is how often hooks can make one turn go on.
const mostAgain = 3

// after is what comes after a turn: hooks, which can make it go on.
func (a *agent) after(ctx context.Context, out run.Outcome, err error) (run.Outcome, error) {
	for err == nil && out.Stop == run.StopDone && a.ward.again < mostAgain {
		active := a.ward.again > 0
		said := a.fire(ctx, hook.Input{Event: hook.Stop, LastMessage: &out.Text, StopActive: &active})
		if said.Blocked == "" {
			break
		}
		a.ward.again++
		reason := quire.Block{Part: quire.Part{Kind: quire.PartMachine, Text: "A hook (Stop) says that this is not done: " + said.Blocked}}
		out, err = a.loop.Turn(ctx, reason)
	}
	a.Warnings(ctx) // records what the hooks did; what they add is too late for this turn
	return out, err
}

// left fires the hooks of the end of a session. It is over: nothing is recorded.
func (a *agent) left(reason string) {
	if a.around != nil && a.live != nil && a.ward.begun {
		a.around.hooks.Fire(context.Background(), a.about(hook.Input{Event: hook.SessionEnd, Reason: reason}))
	}
}

// A hookedTool is a tool with hooks around it.
type hookedTool struct {
	tool.Tool
	agent *agent
}

var (
	_ tool.Tool   = (*hookedTool)(nil)
	_ tool.Wanter = (*hookedTool)(nil)
)

// hooked puts the hooks around tools, where there are any for tools.
func (a *agent) hooked(list []tool.Tool) []tool.Tool {
	if !a.hasHooks(hook.PreToolUse, hook.PostToolUse) {
		return list
	}
	out := make([]tool.Tool, len(list))
	for i, t := range list {
		out[i] = &hookedTool{t, a}
	}
	return out
}

func (a *agent) hasHooks(events ...hook.Event) bool {
	if a.around == nil {
		return false
	}
	for _, h := range a.around.hooks.Handlers {
		for _, e := range events {
			if h.Event == e {
				return true
			}
		}
	}
	return false
}

// Want is that of the tool.
func (h *hookedTool) Want(in tool.Input) tool.Want { return tool.WantOf(h.Tool, in) }

// Run asks the hooks, does the call and shows them what came of it. What a hook
// says after a call is part of its result.
func (h *hookedTool) Run(ctx context.Context, in tool.Input) (tool.Result, error) {
	about := hook.Input{Event: hook.PreToolUse, Tool: h.Spec().Name, ToolInput: object(in.Args), ToolUse: in.ID}
	if out := h.agent.fire(ctx, about); out.Blocked != "" {
		return tool.Failed("Not permitted: a hook blocked the call: %s", out.Blocked), nil
	}
	res, err := h.Tool.Run(ctx, in)
	if err != nil {
		return res, err
	}
	about.Event, about.ToolResult, about.ToolFailed = hook.PostToolUse, tool.Bound(res.Text, maxHookText), &res.Error
	if out := h.agent.fire(ctx, about); out.Blocked != "" {
		res.Text += "\n[a hook says of this result: " + out.Blocked + "]"
	}
	return res, nil
}

// maxHookText bounds what a hook is shown of a result, in bytes.
const maxHookText = 64 << 10

// object is arguments as a hook reads them: what is no JSON is an empty object.
func object(args json.RawMessage) json.RawMessage {
	if !json.Valid(args) {
		return json.RawMessage("{}")
	}
	return args
}

// A hookAsker lets hooks answer before the user is asked, and tells them that
// somebody waits.
type hookAsker struct {
	agent *agent
	next  permit.Asker // nil: there is nobody to ask
}

// asking is who is asked for leave.
func (a *agent) asking() permit.Asker {
	if !a.hasHooks(hook.PermissionRequest, hook.Notification) {
		return a.asker
	}
	return &hookAsker{a, a.asker}
}

// Ask puts a question to the hooks and then to the user.
func (h *hookAsker) Ask(ctx context.Context, q permit.Question) (permit.Answer, error) {
	var about []string
	for _, s := range q.About {
		about = append(about, s.String())
	}
	input, err := json.Marshal(map[string][]string{"about": about})
	if err != nil {
		return permit.Refuse, err
	}
	out := h.agent.fire(ctx, hook.Input{Event: hook.PermissionRequest, Tool: q.Tool, ToolInput: input})
	switch {
	case out.Blocked != "":
		h.agent.tell("A hook refused the call of %s: %s", q.Tool, out.Blocked)
		return permit.Refuse, nil
	case out.Allowed:
		return permit.Once, nil
	}
	h.agent.fire(ctx, hook.Input{Event: hook.Notification, Message: "leave is asked for: " + q.Tool + ": " + strings.Join(about, "; ")})
	if h.next == nil {
		return permit.Refuse, nil
	}
	return h.next.Ask(ctx, q)
}
