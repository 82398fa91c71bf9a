package run

import (
	"context"
	"encoding/json"
	"fmt"

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

// act runs the calls of an answer in their order and enters their results. Each
// call gets exactly one result, also when it was denied, is unknown, or the
// context ended before it. What the model wants is durable before anything is
// done, and what was changed before anything else is.
func (l *Loop) act(ctx context.Context, r quire.Reply) error {
	calls := toolCalls(r)
	if err := l.sync(); err != nil {
		return err
	}
	for i, c := range calls {
		err := ctx.Err()
		var res tool.Result
		if err == nil {
			res, err = l.one(ctx, c)
		}
		if err != nil {
			return firstOf(l.refuse(calls[i:], interrupted), err)
		}
		if err := l.result(c, res); err != nil {
			return err
		}
	}
	return firstOf(l.sync(), ctx.Err())
}

// one runs a call.
func (l *Loop) one(ctx context.Context, c quire.Block) (tool.Result, error) {
	t := l.tool(c.Tool)
	if t == nil {
		return tool.Failed("There is no tool %q. The tools are those of the list.", c.Tool), nil
	}
	if n := l.again.seen(c); n >= mostRepeats {
		return tool.Failed("This call was made %d times in a row with the same arguments and result. Do something else, or say what is missing.", n), nil
	}
	in := tool.Input{ID: c.ToolUse, Args: json.RawMessage(c.Text)}
	want := tool.WantOf(t, in)
	d, err := l.Gate.Check(ctx, want.Request, want.Notice)
	if err != nil {
		return tool.Result{}, fmt.Errorf("ask for leave: %w", err)
	}
	if d.Verdict != permit.Allow {
		l.emit(Acting{Call: c, Denied: d.Reason})
		return tool.Failed("Not permitted: %s", d.Reason), nil
	}
	l.emit(Acting{Call: c})
	in.Network = d.Network
	res, err := t.Run(ctx, in)
	if err != nil {
		return res, fmt.Errorf("tool %s: %w", c.Tool, err)
	}
	l.again.ended(c, res)
	return res, l.effect(c, want, res)
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
	if res.Media != nil {
		blocks = append(blocks, quire.Block{Part: quire.Part{Kind: quire.PartImage, Tool: c.Tool, ToolUse: c.ToolUse, Media: res.Media, Data: res.Data}})
	}
	if c.Tool == RecallName && !res.Error {
		if err := l.recalled(c, res); err != nil {
			return err
		}
	}
	return l.enter(quire.RoleTool, blocks...)
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
