package run

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/quire-agent/quire/internal/permit"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/tool"
)

// What the model is told of a call that was not run.
const (
	interrupted = "The user interrupted; the call was not run."
	limited     = "The limit of this turn was reached; the call was not run."
	cut         = "Your answer was cut off; the call was not run."
)

// act runs the calls of an answer and enters their results in the order of the
// calls. Calls in a row that change nothing run beside each other; one that does
// runs alone, after all before it. Each
// call gets exactly one result, also when it was denied, is unknown, or the
// context ended before it. What the model wants is durable before anything is
// done, and what was changed before anything else is. What was only looked at is
// durable with the next call.
func (l *Loop) act(ctx context.Context, r quire.Reply) error {
	calls := toolCalls(r)
	if err := l.sync(); err != nil {
		return err
	}
	for len(calls) > 0 {
		n, err := l.some(ctx, calls)
		if err != nil {
			return firstOf(l.refuse(calls[n:], interrupted), err)
		}
		calls = calls[n:]
	}
	return ctx.Err()
}

// A job is a tool call on its way to its result.
type job struct {
	call quire.Block
	tool tool.Tool // nil: it is not run, and the result says why
	in   tool.Input
	want tool.Want
	res  tool.Result
	err  error
}

// mostAtOnce bounds how many calls run beside each other.
const mostAtOnce = 8

// some does the first calls, as many as may run together, and returns how many of
// them have a result.
func (l *Loop) some(ctx context.Context, calls []quire.Block) (done int, err error) {
	var batch []*job
	for _, c := range calls[:min(len(calls), mostAtOnce)] {
		j := l.job(c)
		if j.alone() && len(batch) > 0 {
			break
		}
		if err := firstOf(ctx.Err(), l.leave(ctx, j)); err != nil {
			return 0, err
		}
		if batch = append(batch, j); j.alone() {
			break
		}
	}
	var running sync.WaitGroup
	for _, j := range batch {
		running.Go(func() { j.run(ctx) })
	}
	running.Wait()
	done, err = l.results(batch)
	if batch[0].want.Serial {
		err = firstOf(err, l.sync())
	}
	return done, err
}

// job looks at a call: its tool, and what it would do.
func (l *Loop) job(c quire.Block) *job {
	j := &job{call: c, tool: l.tool(c.Tool), in: tool.Input{ID: c.ToolUse, Args: json.RawMessage(c.Text)}}
	if j.tool == nil {
		j.res = tool.Failed("There is no tool %q. The tools are those of the list.", c.Tool)
		return j
	}
	j.want = tool.WantOf(j.tool, j.in)
	if n := l.again.seen(c); n >= mostRepeats {
		j.tool = nil
		j.res = tool.Failed("This call was made %d times in a row with the same arguments and result. Do something else, or say what is missing.", n)
	}
	return j
}

// alone reports whether no other call may run beside it. What reads the session
// back looks at what the others' results are entered into.
func (j *job) alone() bool {
	return j.tool != nil && (j.want.Serial || j.call.Tool == RecallName)
}

// leave asks whether a call may be made, and tells that it begins, or why it does
// not.
func (l *Loop) leave(ctx context.Context, j *job) error {
	if j.tool == nil {
		return nil
	}
	d, err := l.Gate.Check(ctx, j.want.Request, j.want.Notice)
	if err != nil {
		return fmt.Errorf("ask for leave: %w", err)
	}
	j.in.Network = d.Network
	if d.Verdict != permit.Allow {
		j.tool, j.res = nil, tool.Failed("Not permitted: %s", d.Reason)
		l.emit(Acting{Call: j.call, Denied: d.Reason})
		return nil
	}
	l.emit(Acting{Call: j.call})
	return nil
}

func (j *job) run(ctx context.Context) {
	if j.tool != nil {
		j.res, j.err = j.tool.Run(ctx, j.in)
	}
}

// results enters the results of jobs that have ended, up to the first that makes
// going on senseless.
func (l *Loop) results(batch []*job) (done int, err error) {
	for i, j := range batch {
		if j.err != nil {
			return i, fmt.Errorf("tool %s: %w", j.call.Tool, j.err)
		}
		if j.tool != nil {
			l.again.ended(j.call, j.res)
			if err := l.effect(j.call, j.want, j.res); err != nil {
				return i, err
			}
		}
		if err := l.result(j.call, j.res); err != nil {
			return i + 1, err
		}
	}
	return len(batch), nil
}

func (l *Loop) tool(name string) tool.Tool {
	for _, t := range l.Tools {
		if t.Spec().Name == name {
			return t
		}
	}
	return nil
}

// refuse answers calls that are not run.
func (l *Loop) refuse(calls []quire.Block, why string) error {
	for _, c := range calls {
		if err := l.result(c, tool.Result{Text: why, Error: true}); err != nil {
			return err
		}
	}
	return nil
}

// result enters the result of a call.
func (l *Loop) result(c quire.Block, res tool.Result) error {
	l.emit(Acted{Call: c, Result: res})
	b := quire.Block{Part: quire.Part{Kind: quire.PartToolResult, Tool: c.Tool, ToolUse: c.ToolUse, Text: res.Text, IsError: res.Error}}
	if b.Text == "" {
		b.Text = "(no output)"
	}
	blocks := []quire.Block{b}
	for _, i := range images(&res) {
		blocks = append(blocks, quire.Block{Part: quire.Part{Kind: quire.PartImage, Tool: c.Tool, ToolUse: c.ToolUse, Media: &i.Media, Data: i.Data}})
	}
	if c.Tool == RecallName && !res.Error {
		if err := l.recalled(c, res); err != nil {
			return err
		}
	}
	return l.enter(quire.RoleTool, blocks...)
}

// images are all of a result, in their order.
func images(r *tool.Result) []tool.Image {
	if r.Media == nil {
		return r.Images
	}
	return append([]tool.Image{{Media: *r.Media, Data: r.Data}}, r.Images...)
}

// mostRepeats is how often the same call may be made in a row.
const mostRepeats = 4

// repeats counts how often the last call was made in a row, with the same result.
type repeats struct {
	call, text string
	n          int
}

func key(c quire.Block) string { return c.Tool + "\x00" + c.Text }

func (r *repeats) seen(c quire.Block) int {
	if key(c) != r.call {
		return 0
	}
	return r.n
}

func (r *repeats) ended(c quire.Block, res tool.Result) {
	if key(c) == r.call && res.Text == r.text {
		r.n++
		return
	}
	r.call, r.text, r.n = key(c), res.Text, 1
}
