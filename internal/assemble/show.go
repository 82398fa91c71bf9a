package assemble

import (
	"fmt"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
)

// A display writes parts as data: what was called and returned, as texts in
// frames, with the media between them.
type display struct {
	d      *draft
	source string
	text   strings.Builder
}

// show shows parts as data in the user's role. Thinking is left out, and what only
// the provider understands stands as it is.
func (d *draft) show(source string, parts []part) error {
	w := display{d: d, source: source}
	for i := range parts {
		if err := w.part(&parts[i]); err != nil {
			return err
		}
	}
	return w.flush()
}

func (w *display) part(p *part) error {
	switch {
	case p.thinking():
		return nil
	case p.Opaque != nil:
		if err := w.flush(); err != nil {
			return err
		}
		return w.d.answer(p)
	}
	text, low, err := w.d.reduced(p)
	switch {
	case err != nil:
		return err
	case low && !p.call():
		w.line(p, "", text)
		return nil
	case p.media():
		return w.media(p.Piece.Block)
	case low:
		w.line(p, "called "+p.Tool+" with", text)
		return nil
	}
	return w.full(p)
}

func (w *display) full(p *part) error {
	switch {
	case p.call():
		w.line(p, "called "+p.Tool+" with", p.Text)
	case p.result():
		what := strings.TrimSpace("result of " + p.Tool)
		if p.IsError {
			what += ", an error"
		}
		w.line(p, what, p.Text)
		return w.content(p.Content)
	default:
		w.line(p, "", p.Text)
	}
	return nil
}

// content shows the pieces of a result.
func (w *display) content(list []quire.Block) error {
	for _, b := range list {
		if b.Kind != quire.PartImage && b.Kind != quire.PartDocument {
			w.text.WriteString(b.Text + "\n")
			continue
		}
		if err := w.media(b); err != nil {
			return err
		}
	}
	return nil
}

func (w *display) media(b quire.Block) error {
	if err := w.flush(); err != nil {
		return err
	}
	b.Tool, b.ToolUse = "", ""
	w.d.items = append(w.d.items, item{role: quire.RoleUser, b: b, block: -1})
	return nil
}

// line writes what a part is and its text. A text that names its page already has
// no head.
func (w *display) line(p *part, what, text string) {
	if what != "" {
		fmt.Fprintf(&w.text, "%s %s:\n", p.Page, what)
	}
	w.text.WriteString(strings.TrimSuffix(text, "\n") + "\n")
}

func (w *display) flush() error {
	if w.text.Len() == 0 {
		return nil
	}
	text := w.text.String()
	w.text.Reset()
	return w.d.put(w.source, strings.TrimSuffix(text, "\n"))
}
