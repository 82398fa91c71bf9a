package assemble

import "github.com/quire-agent/quire/internal/quire"

// attach adds the notices to the last result of the items at hand, where the
// rules want them there and it is the last of the prompt. It returns their tokens.
func (d *draft) attach(end int) (tokens int, err error) {
	n := len(d.items)
	if len(d.h.Notices) == 0 || end < len(d.a.stream) || d.h.Rules.Tail > TailJoined || n == 0 || d.items[n-1].role != quire.RoleTool {
		return 0, nil
	}
	b := &d.items[n-1].b
	for _, t := range d.h.Notices {
		framed, err := d.framed(t.Source, t.Text)
		if err != nil {
			return 0, err
		}
		if d.h.Rules.Tail == TailJoined && len(b.Content) == 0 {
			b.Text = joined(b.Text, framed)
		} else {
			b.Content, b.Text = append(pieces(b), machine(framed)), ""
		}
		tokens += t.Tokens
	}
	d.noticed = true
	return tokens, nil
}

func joined(text, more string) string {
	if text == "" {
		return more
	}
	return text + "\n\n" + more
}

// notice appends the notices behind everything, unless a result took them.
func (d *draft) notice() error {
	if len(d.h.Notices) == 0 || d.noticed {
		return nil
	}
	tokens := 0
	for _, t := range d.h.Notices {
		if err := d.tell(t); err != nil {
			return err
		}
		tokens += t.Tokens
	}
	d.close(d.begun(), tokens)
	return nil
}

// tell puts a notice behind what is there.
func (d *draft) tell(t Text) error {
	if err := d.put(t.Source, t.Text); err != nil {
		return err
	}
	if d.h.Rules.Tail == TailSystem {
		d.items[len(d.items)-1].role = quire.RoleSystem
	}
	return nil
}

// framed is a text in its frame.
func (d *draft) framed(source, text string) (string, error) {
	framed := d.a.frame(source, text)
	if framed == text || len(framed) < len(source)+len(text) {
		return "", broken(Framed, "the text from %q has no frame", source)
	}
	return framed, nil
}
