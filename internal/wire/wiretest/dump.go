package wiretest

import (
	"fmt"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
)

// DumpCall is a call as text, one line a tool, message and block. What is zero
// is left out.
func DumpCall(c quire.Call) string {
	var d dump
	d.line(0, "call", "model", c.Model, "max", c.MaxOutput, "stream", c.Stream)
	d.line(0, "choice", "mode", c.Choice.Mode, "tool", c.Choice.Tool, "rest", fields(c.Choice.Rest))
	d.line(0, "thinking", "mode", c.Thinking.Mode, "budget", c.Thinking.Budget, "effort", c.Thinking.Effort, "rest", fields(c.Thinking.Rest))
	d.line(0, "rest", "", fields(c.Rest))
	for _, t := range c.Tools {
		d.line(0, "tool", "name", t.Name, "type", t.Type, "description", t.Description, "schema", string(t.Schema), "cache", mark(t.Cache), "rest", fields(t.Rest))
	}
	for _, b := range c.System {
		d.block(0, b)
	}
	for _, m := range c.Messages {
		d.full(0, "message", "role", roleName(m.Role), "id", m.ID, "rest", fields(m.Rest))
		for _, b := range m.Blocks {
			d.block(1, b)
		}
	}
	return d.String()
}

// DumpReply is a reply as text, in the manner of DumpCall.
func DumpReply(r quire.Reply) string {
	var d dump
	d.line(0, "reply", "id", r.ID, "model", r.Model, "stop", string(r.Stop))
	d.usage(r.Usage)
	d.line(0, "rest", "", fields(r.Rest))
	for _, b := range r.Blocks {
		d.block(0, b)
	}
	return d.String()
}

// DumpError is an error as text.
func DumpError(e *quire.CallError) string {
	var d dump
	d.full(0, "error", "kind", string(e.Kind), "status", e.Status, "code", e.Code, "message", e.Message, "after", e.After)
	return d.String()
}

type dump struct{ strings.Builder }

// line writes a line of names and values, unless all values are zero.
func (d *dump) line(depth int, head string, pairs ...any) {
	if text := values(pairs); text != "" {
		fmt.Fprintf(d, "%s%s%s\n", strings.Repeat("  ", depth), head, text)
	}
}

// full is line for one that is written in any case.
func (d *dump) full(depth int, head string, pairs ...any) {
	fmt.Fprintf(d, "%s%s%s\n", strings.Repeat("  ", depth), head, values(pairs))
}

func values(pairs []any) string {
	var b strings.Builder
	for i := 0; i+1 < len(pairs); i += 2 {
		name := pairs[i]
		switch v := pairs[i+1].(type) {
		case string:
			if v != "" && (name == "rest" || name == "" || name == "schema" || name == "opaque") {
				fmt.Fprintf(&b, " %s(%s)", name, v)
			} else if v != "" {
				fmt.Fprintf(&b, " %s=%q", name, v)
			}
		case bool:
			if v {
				fmt.Fprintf(&b, " %s", name)
			}
		default:
			if text := fmt.Sprint(v); text != "0" {
				fmt.Fprintf(&b, " %s=%s", name, text)
			}
		}
	}
	return b.String()
}

func (d *dump) usage(u quire.Usage) {
	var known []string
	for i, name := range [...]string{"input", "cache", "output", "start"} {
		if u.Known&(1<<i) != 0 {
			known = append(known, name)
		}
	}
	d.line(0, "usage", "input", u.Input, "read", u.CacheRead, "write", u.CacheWrite, "write1h", u.CacheWrite1h,
		"output", u.Output, "reasoning", u.Reasoning, "known", strings.Join(known, "+"))
}

func (d *dump) block(depth int, b quire.Block) {
	head := b.Kind.String()
	if head == "" {
		head = "block"
	}
	media := ""
	if b.Media != nil {
		media = fmt.Sprintf("%s/%d", b.Media.Type, b.Media.Bytes)
	}
	d.full(depth, head, "tool", b.Tool, "use", b.ToolUse, "error", b.IsError, "text", b.Text, "plain", b.Plain,
		"media", media, "data", b.Data, "signature", b.Signature, "cache", mark(b.Cache), "opaque", string(b.Opaque), "rest", fields(b.Rest))
	for _, c := range b.Content {
		d.block(depth+1, c)
	}
}

func mark(m quire.Mark) string {
	return [...]string{"", "short", "long"}[m]
}

func roleName(r quire.Role) string {
	if r == 0 {
		return "none"
	}
	return r.String()
}

func fields(list []quire.Field) string {
	var b strings.Builder
	for i, f := range list {
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%s:%s", f.Name, f.Value)
	}
	return b.String()
}
