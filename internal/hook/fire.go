package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	procs "github.com/quire-agent/quire/internal/x/group"
	"github.com/quire-agent/quire/internal/x/loose"
)

// An Input is what a hook reads: one line of JSON. Session, Dir, Model, Turn and
// Mode are of every event, the rest of some.
type Input struct {
	Session    string  `json:"session_id"`
	Transcript *string `json:"transcript_path"` // the journal; null where there is none
	Dir        string  `json:"cwd"`
	Event      Event   `json:"hook_event_name"`
	Model      string  `json:"model"`
	Turn       string  `json:"turn_id"`
	Mode       string  `json:"permission_mode"`

	Source      string          `json:"source,omitempty"`        // SessionStart: startup or resume
	Prompt      string          `json:"prompt,omitempty"`        // UserPromptSubmit
	Tool        string          `json:"tool_name,omitempty"`     // around tools, PermissionRequest
	ToolInput   json.RawMessage `json:"tool_input,omitempty"`    // the same
	ToolUse     string          `json:"tool_use_id,omitempty"`   // the same
	ToolResult  string          `json:"tool_response,omitempty"` // PostToolUse
	ToolFailed  *bool           `json:"tool_failed,omitempty"`   // PostToolUse
	Agent       string          `json:"agent_id,omitempty"`      // around workers: the id of the task
	AgentType   string          `json:"agent_type,omitempty"`    // the role
	Trigger     string          `json:"trigger,omitempty"`       // around epochs: free, forced or paid
	LastMessage *string         `json:"last_assistant_message,omitempty"`
	StopActive  *bool           `json:"stop_hook_active,omitempty"` // Stop: a hook has made this turn go on already
	Message     string          `json:"message,omitempty"`          // Notification
	Reason      string          `json:"reason,omitempty"`           // SessionEnd, PreCompact
}

// value is what matchers are compared with.
func (in *Input) value() string {
	switch in.Event {
	case SessionStart:
		return in.Source
	case PreToolUse, PostToolUse, PermissionRequest:
		return in.Tool
	case PreCompact, PostCompact:
		return in.Trigger
	case SubagentStart, SubagentStop:
		return in.AgentType
	case SessionEnd:
		return in.Reason
	}
	return ""
}

// A Status says what became of a hook.
type Status string

// The states.
const (
	Completed Status = "completed"
	Skipped   Status = "skipped"
	Failed    Status = "failed"
	Blocked   Status = "blocked"
)

// A Record is what became of one hook.
type Record struct {
	Event   Event  `json:"eventName"`
	Source  Source `json:"source"`
	Matcher string `json:"matcher,omitempty"`
	Command string `json:"command"`
	Status  Status `json:"status"`
	Reason  string `json:"reason,omitempty"`
	Stdout  string `json:"stdout,omitempty"` // bounded
	Stderr  string `json:"stderr,omitempty"`
	Exit    *int   `json:"exitCode,omitempty"`
}

// An Outcome is what all hooks of one moment say together. Blocked is the first
// reason, in the order of the hooks; Context holds what all of them add.
type Outcome struct {
	Blocked string   `json:"blockedReason,omitempty"`
	Allowed bool     `json:"allowed,omitempty"` // PermissionRequest: a hook gives leave, and none blocks
	Context []string `json:"additionalContext,omitempty"`
	Records []Record `json:"records,omitempty"`
}

// Hooks are those of a session. Fire may be called concurrently.
type Hooks struct {
	Handlers []Handler // in their order: the user's first
	Dir      string    // the project
	Env      []string
	Windows  bool
}

// maxOutput bounds what is read of each stream of a hook, maxContext what it can
// add to a prompt, in bytes.
const (
	maxOutput  = 16 << 10
	maxContext = 8 << 10
)

// Fire runs the hooks that match, all at once, and waits for them. What fails does
// not stop anything. When the context ends the hooks are ended.
func (h *Hooks) Fire(ctx context.Context, in Input) Outcome {
	var matched []Handler
	for _, one := range h.Handlers {
		if one.accepts(in.Event, in.value()) {
			matched = append(matched, one)
		}
	}
	answers := make([]answer, len(matched))
	var all sync.WaitGroup
	for i, one := range matched {
		all.Go(func() { answers[i] = h.run(ctx, one, in) })
	}
	all.Wait()
	return joined(answers, in.Event)
}

// An answer is what one hook says.
type answer struct {
	record  Record
	blocked string
	allowed bool
	context string
}

func joined(answers []answer, e Event) (out Outcome) {
	for _, a := range answers {
		out.Records = append(out.Records, a.record)
		if out.Blocked == "" {
			out.Blocked = a.blocked
		}
		out.Allowed = out.Allowed || a.allowed
		if a.context != "" {
			out.Context = append(out.Context, a.context)
		}
	}
	out.Allowed = out.Allowed && out.Blocked == "" && e == PermissionRequest
	return out
}

func (h *Hooks) run(ctx context.Context, one Handler, in Input) answer {
	a := answer{record: Record{Event: one.Event, Source: one.Source, Matcher: one.Matcher, Command: one.Command, Status: Skipped, Reason: one.Skip}}
	if one.Skip != "" {
		return a
	}
	a.record.Status = Failed
	line, err := json.Marshal(in)
	if err != nil {
		a.record.Reason = err.Error()
		return a
	}
	limited, cancel := context.WithTimeout(ctx, one.Time)
	defer cancel()
	out, fault := &procs.Tail{Limit: maxOutput}, &procs.Tail{Limit: maxOutput}
	cmd := h.command(limited, one)
	cmd.Stdin = bytes.NewReader(append(line, '\n'))
	cmd.Stdout, cmd.Stderr = out, fault
	end, err := procs.Run(cmd)
	a.record.Stdout, _ = out.Text()
	a.record.Stderr, _ = fault.Text()
	switch {
	case ctx.Err() != nil:
		a.record.Reason = "it was interrupted"
	case errors.Is(limited.Err(), context.DeadlineExceeded):
		a.record.Reason = fmt.Sprintf("it was ended after %s", one.Time.Round(time.Millisecond))
	case err != nil:
		a.record.Reason = err.Error()
	default:
		a.record.Exit = &end.Exit
		a.judge(in.Event, end)
	}
	return a
}

func (h *Hooks) command(ctx context.Context, one Handler) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "sh", "-c", one.Command)
	if h.Windows {
		cmd = exec.CommandContext(ctx, "cmd", "/c", one.Command)
	}
	cmd.Dir = h.Dir
	cmd.Env = append(slices.Clone(h.Env), "QUIRE_HOOK_SOURCE="+one.Source.Path)
	return cmd
}

// blockExit is the exit code by which a hook blocks.
const blockExit = 2

// judge reads how a hook ended and what it said.
func (a *answer) judge(e Event, end procs.Ending) {
	stdout := strings.TrimSpace(a.record.Stdout)
	switch {
	case end.Exit == blockExit:
		a.block(e, firstText(a.record.Stderr, stdout, "a hook blocked it"))
	case end.Exit != 0:
		a.record.Reason = fmt.Sprintf("it ended with exit code %d", end.Exit)
		if end.Signal != "" {
			a.record.Reason = "it was ended by a signal: " + end.Signal
		}
	default:
		a.record.Status = Completed
		a.said(e, stdout)
	}
}

// block blocks an event, where that makes sense.
func (a *answer) block(e Event, reason string) {
	a.record.Reason = reason
	if !e.blocks() {
		a.record.Status = Completed
		return
	}
	a.record.Status, a.blocked = Blocked, reason
}

func firstText(list ...string) string {
	for _, t := range list {
		if t = strings.TrimSpace(t); t != "" {
			return bounded(t)
		}
	}
	return ""
}

// output is the form of what a hook writes; members of another type are not there.
type output struct {
	Decision   loose.Text `json:"decision"`
	Reason     loose.Text `json:"reason"`
	Continue   *bool      `json:"continue"`
	StopReason loose.Text `json:"stopReason"`
	Specific   struct {
		Event      loose.Text `json:"hookEventName"`
		Context    loose.Text `json:"additionalContext"`
		Permission loose.Text `json:"permissionDecision"`
		Because    loose.Text `json:"permissionDecisionReason"`
	} `json:"hookSpecificOutput"`
}

func (a *answer) said(e Event, stdout string) {
	var out output
	if !strings.HasPrefix(stdout, "{") || json.Unmarshal([]byte(stdout), &out) != nil {
		if e.speaks() {
			a.context = bounded(stdout)
		}
		return
	}
	if Event(out.Specific.Event) == e {
		a.context = bounded(string(out.Specific.Context))
		a.allowed = out.Specific.Permission == "allow"
	}
	switch {
	case out.Decision == "block":
		a.block(e, firstText(string(out.Reason), "a hook blocked it"))
	case out.Continue != nil && !*out.Continue:
		a.block(e, firstText(string(out.StopReason), "a hook ended it"))
	case Event(out.Specific.Event) == e && out.Specific.Permission == "deny":
		a.block(e, firstText(string(out.Specific.Because), "a hook refused it"))
	}
}

// bounded is the beginning of a text, with how much is missing.
func bounded(text string) string {
	if len(text) <= maxContext {
		return text
	}
	return fmt.Sprintf("[the first %d of %d bytes]\n%s", maxContext, len(text), strings.ToValidUTF8(text[:maxContext], ""))
}
