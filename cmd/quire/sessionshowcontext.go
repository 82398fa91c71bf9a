package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/quire-agent/quire/internal/config"
	"github.com/quire-agent/quire/internal/ingest"
	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/permit"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/run"
)

// A shownContext is what the model saw with the last call of a session.
type shownContext struct {
	Session string       `json:"session"`
	Model   string       `json:"model"`
	Calls   int          `json:"calls"`
	Epochs  int          `json:"epochs"`
	Tokens  int          `json:"tokens"` // of the stream, as counted here
	Head    int          `json:"head"`   // of tools and system, which stand before it
	Blocks  []shownBlock `json:"blocks"`
}

// A shownBlock is a block of it. Its text is masked.
type shownBlock struct {
	Page      string          `json:"page,omitempty"`
	Role      string          `json:"role,omitempty"`
	Part      string          `json:"part"` // turns: it stands for turns
	Tool      string          `json:"tool,omitempty"`
	Rendition quire.Rendition `json:"rendition"`
	Tokens    int             `json:"tokens"`
	Text      string          `json:"text,omitempty"`
}

// context plays a session of our own up to its last call: no model is asked, and
// nothing is written.
func (inv *invocation) context(ctx context.Context, s *config.Settings, h *home, name journal.Name) (shownContext, error) {
	var out shownContext
	head, err := journal.Head(name.Path)
	if err != nil {
		return out, explain(err)
	}
	if head.Info.Agent != quire.AgentQuire {
		return out, unusable(errors.New("another agent made the prompts of this session"), "`quire why --session "+name.Number.String()+"` says what Quire would have done")
	}
	if err := h.counting(); err != nil {
		return out, err
	}
	model := head.Info.Model
	terms, priced, err := inv.facts(s, model, time.Now())
	if err != nil {
		return out, err
	}
	a, err := newAgent(agentParts{inv: inv, home: h, dir: head.Info.Project, model: withFacts(nil, model, &terms, priced), terms: terms, mode: permit.ReadOnly, now: time.Now})
	if err != nil {
		return out, err
	}
	defer a.close() // nothing was begun
	if err := h.pool.Replay(ctx, name, ingest.Resumer{Event: a.event, Record: a.record}); err != nil {
		return out, explain(err)
	}
	stream := a.loop.Step.Context().Scheduler()
	out = shownContext{Session: name.Number.String(), Model: model, Calls: a.loop.Bill().Calls, Epochs: stream.Epochs(), Head: a.loop.Head.Constant, Blocks: []shownBlock{}}
	return out, out.fill(a.loop.Step, h.secrets.Mask)
}

func (c *shownContext) fill(s *run.Step, mask func(string) string) error {
	shown, err := s.Shown()
	if err != nil {
		return err
	}
	for _, b := range shown {
		one := shownBlock{Part: "turns", Tool: b.Tool, Rendition: b.Form, Tokens: b.Tokens, Text: mask(b.Text)}
		if b.Page > 0 {
			one.Page = b.Page.String()
		}
		if b.Part > 0 {
			one.Part, one.Role = b.Part.String(), b.Role.String()
		}
		c.Tokens += b.Tokens
		c.Blocks = append(c.Blocks, one)
	}
	return nil
}

// write shows it for a person: each block with its form, then its text.
func (c *shownContext) write(w io.Writer) {
	fmt.Fprintf(w, "What %s saw with call %d of %s: %d tokens of tools and system, then %d of the stream, after %d %s.\n",
		c.Model, c.Calls, c.Session, c.Head, c.Tokens, c.Epochs, plural(c.Epochs, "epoch", "epochs"))
	for i := range c.Blocks {
		b := &c.Blocks[i]
		head := strings.Join(strings.Fields(b.Page+" "+b.Part+" "+b.Tool), " ")
		fmt.Fprintf(w, "\n-- %s, %s, %d tokens\n", head, b.Rendition, b.Tokens)
		if text := strings.TrimRight(harmless(b.Text), "\n"); text != "" {
			fmt.Fprintln(w, text)
		}
	}
}
