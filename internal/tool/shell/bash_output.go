package shell

import (
	"context"
	_ "embed"
	"fmt"
	"time"

	"github.com/quire-agent/quire/internal/tool"
)

//go:embed bash_output.md
var outputPrompt string

type outputArgs struct {
	ID   string `json:"id" jsonschema:"of the command in the background"`
	Wait int    `json:"wait,omitempty" jsonschema:"seconds to wait for its end"`
}

// mostWait bounds waiting, in seconds.
const mostWait = 120

func (s *Shell) output() tool.Tool {
	return tool.New("bash_output", outputPrompt, func(outputArgs) tool.Want { return tool.Want{} }, s.runOutput)
}

func (s *Shell) runOutput(ctx context.Context, a outputArgs) (tool.Result, error) {
	j, failed := s.job(a.ID)
	if failed != nil {
		return *failed, nil
	}
	if a.Wait > 0 {
		timer := time.NewTimer(time.Duration(min(a.Wait, mostWait)) * time.Second)
		defer timer.Stop()
		select {
		case <-j.done:
		case <-ctx.Done():
		case <-timer.C:
		}
	}
	return j.report(), nil
}

// report is the result about a job: its new output and its state.
func (j *Job) report() tool.Result {
	running := j.running() // before its output, so that none of an ended one is missed
	text := j.unread()
	if text == "" {
		text = "(nothing new)"
	}
	if running {
		return tool.Result{Text: fmt.Sprintf("%s\n[%s is running]", text, j.ID)}
	}
	r := tool.Result{Text: fmt.Sprintf("%s\n[%s %s]", text, j.ID, j.state())}
	if code, ok := j.exit(); ok {
		r.Exit, r.Error = &code, code != 0
	}
	return r
}
