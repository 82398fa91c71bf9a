package shell

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"time"

	"github.com/quire-agent/quire/internal/permit"
	"github.com/quire-agent/quire/internal/tool"
	"github.com/quire-agent/quire/internal/undo"
)

//go:embed bash.md
var bashPrompt string

type bashArgs struct {
	Command    string `json:"command" jsonschema:"the command"`
	Timeout    int    `json:"timeout,omitempty" jsonschema:"seconds, 120 without it"`
	Background bool   `json:"background,omitempty" jsonschema:"start it and return at once"`
	Dir        string `json:"dir,omitempty" jsonschema:"the folder to start in"`
}

// The bounds of a command that is waited for, in seconds.
const (
	usualTime = 120
	mostTime  = 600
)

func (s *Shell) bash() tool.Tool {
	return tool.NewAware("bash", bashPrompt, s.wantBash, s.runBash)
}

func (s *Shell) wantBash(a bashArgs) tool.Want {
	w := tool.Want{Request: permit.Request{Command: a.Command, Dir: a.Dir}}
	if !permit.Looks(a.Command) {
		w.Serial, w.Notice = true, undo.Notice
	}
	return w
}

func (s *Shell) runBash(ctx context.Context, in tool.Input, a bashArgs) (tool.Result, error) {
	dir, failed := s.ready(a)
	if failed != nil {
		return *failed, nil
	}
	if a.Background {
		return s.background(ctx, in, a, dir)
	}
	var watch *undo.Watch
	if s.Tree != nil && !permit.Looks(a.Command) {
		w, err := s.Tree.Watch(ctx)
		if err != nil {
			return tool.Result{}, err
		}
		watch = w
	}
	seconds := a.Timeout
	if seconds <= 0 {
		seconds = usualTime
	}
	limited, cancel := context.WithTimeout(ctx, time.Duration(min(seconds, mostTime))*time.Second)
	defer cancel()
	j, err := s.start(limited, a.Command, dir, in.Network)
	if err != nil {
		return tool.Failed("%v.", err), nil
	}
	<-j.done
	return s.finished(ctx, limited, j, watch, in.Network)
}

// ready looks at what a command needs before it can start.
func (s *Shell) ready(a bashArgs) (dir string, failed *tool.Result) {
	fail := func(format string, args ...any) (string, *tool.Result) {
		r := tool.Failed(format, args...)
		return "", &r
	}
	if s.Shell == "" {
		return fail("There is no bash on this machine, so no command can be run.")
	}
	if a.Dir == "" {
		return ".", nil
	}
	dir, err := s.Project.Resolve(a.Dir)
	if err != nil {
		return fail("%v.", err)
	}
	if info, err := s.Project.Root().Stat(dir); err != nil || !info.IsDir() {
		return fail("%s is not a folder of the project.", a.Dir)
	}
	return dir, nil
}

// finished makes the result of a command that has ended. What it changed is
// looked at also when the call was interrupted.
func (s *Shell) finished(ctx, limited context.Context, j *Job, watch *undo.Watch, network bool) (tool.Result, error) {
	r := tool.Result{Text: j.unread()}
	code, exited := j.exit()
	switch {
	case ctx.Err() != nil:
		r.Error = true
		r.Text += "\n[interrupted: the command was ended]"
	case errors.Is(limited.Err(), context.DeadlineExceeded):
		r.Error = true
		r.Text += "\n[the time was up: the command was ended. Give a longer timeout, or start it in the background.]"
	case !exited:
		r.Error = true
		r.Text += "\n[the command was ended by a signal]"
	default:
		r.Exit = &code
		r.Error = code != 0
		r.Text = s.ending(r.Text, code, network)
	}
	if watch == nil {
		return r, nil
	}
	changes, gaps, err := watch.Changes(context.WithoutCancel(ctx))
	if err != nil {
		return tool.Result{}, err
	}
	r.Effects, r.Gaps = changes, gaps
	return r, nil
}

// ending adds the exit code where it says something, and what may be behind it.
func (s *Shell) ending(text string, code int, network bool) string {
	switch {
	case code == 0 && text == "":
		return "(no output)"
	case code == 0:
		return text
	}
	text += fmt.Sprintf("\n[exit code %d]", code)
	if s.Sandbox != nil {
		text += "\n[it ran in a sandbox: it could write only to the project and to temporary folders"
		if !network {
			text += ", and had no network"
		}
		text += "]"
	}
	return text
}

// background starts a command that goes on after the call, and after the turn.
func (s *Shell) background(ctx context.Context, in tool.Input, a bashArgs, dir string) (tool.Result, error) {
	j, err := s.start(context.WithoutCancel(ctx), a.Command, dir, in.Network)
	if err != nil {
		return tool.Failed("%v.", err), nil
	}
	if err := s.admit(j); err != nil {
		j.stop()
		<-j.done
		return tool.Failed("%v (%d commands): end one with kill_bash first.", err, maxRunning), nil
	}
	return tool.Result{Text: fmt.Sprintf("Started %s in the background. Read its output with bash_output. Undo does not cover what it changes.", j.ID)}, nil
}
