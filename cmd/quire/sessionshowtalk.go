package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/quire-agent/quire/internal/ingest"
	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/quire"
)

// A toldPart is a part of a session's conversation. Texts are masked.
type toldPart struct {
	Who   string    `json:"who"`            // user, model, tool call, tool result, machine, thinking, image, document, system, tools
	Page  string    `json:"page,omitempty"` // of the session
	Chain string    `json:"chain,omitempty"`
	Call  string    `json:"call,omitempty"` // that answered with it
	At    time.Time `json:"at,omitzero"`
	Tool  string    `json:"tool,omitempty"`
	Error bool      `json:"error,omitempty"`
	Text  string    `json:"text,omitempty"` // of words whole, of others their beginning
	Lines int       `json:"lines,omitempty"`
}

// talk reads what was said and done in a session.
func (h *home) talk(ctx context.Context, name journal.Name) (told []toldPart, err error) {
	var cut ingest.Cutter
	calls := 0
	part := func(s quire.Stamp, call string, p quire.Part) {
		one := toldPart{Who: speaker(&p), Chain: s.Chain, Call: call, At: s.At, Tool: p.Tool, Error: p.IsError, Lines: countLines(p.Text)}
		for _, page := range cut.Cut(p, calls) {
			one.Page = page.Number.String()
		}
		one.Text = h.secrets.Mask(p.Text)
		if p.Kind != quire.PartUser && p.Kind != quire.PartText {
			one.Text = clip(strings.TrimSpace(one.Text), partShown)
		}
		told = append(told, one)
	}
	err = h.pool.Replay(ctx, name, ingest.Resumer{
		Event: func(e quire.Event) error {
			switch e := e.(type) {
			case quire.Called:
				calls++
			case quire.Entered:
				part(e.Stamp, "", e.Part)
			case quire.Answered:
				part(e.Stamp, e.Call, e.Part)
			}
			return nil
		},
		Record: func(quire.Record) error { return nil },
	})
	return told, err
}

// partShown is how many characters are shown of what nobody said.
const partShown = 400

func speaker(p *quire.Part) string {
	if p.Kind == quire.PartText {
		return "model"
	}
	return p.Kind.String()
}

// writeTalk writes a conversation for a person: words whole, all else in a line.
func writeTalk(w io.Writer, told []toldPart, z *time.Location) {
	for i := range told {
		t := &told[i]
		head := strings.TrimSpace(t.Page + " " + t.Chain)
		switch t.Who {
		case "user":
			fmt.Fprintf(w, "\n%s\n", strings.TrimSpace(fmt.Sprintf("%s user, %s", head, began(t.At, z))))
			writeWords(w, "> ", t.Text)
		case "model":
			fmt.Fprintf(w, "\n%s\n", strings.TrimSpace(head+" model"))
			writeWords(w, "", t.Text)
		default:
			fmt.Fprintf(w, "  %s\n", t.line(head))
		}
	}
}

func writeWords(w io.Writer, mark, text string) {
	for line := range strings.Lines(harmless(strings.TrimSpace(text))) {
		fmt.Fprintln(w, mark+strings.TrimRight(line, "\n"))
	}
}

// line is what was not said, in a line.
func (t *toldPart) line(head string) string {
	text := clip(firstLine(harmless(t.Text)), lineShown)
	what := t.Who
	switch {
	case t.Who == quire.PartToolCall.String():
		what = "calls"
	case t.Error:
		what = "failed"
	case t.Who == quire.PartToolResult.String():
		what = "returned"
	}
	line := strings.Join(strings.Fields(head+" "+what+" "+t.Tool), " ")
	if t.Lines > 1 {
		line += fmt.Sprintf(" (%d lines)", t.Lines)
	}
	if text != "" {
		line += ": " + text
	}
	return line
}

// lineShown is how many characters of a text stand in its line.
const lineShown = 140
