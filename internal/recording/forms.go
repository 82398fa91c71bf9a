package recording

import (
	"github.com/quire-agent/quire/internal/assemble"
	"github.com/quire-agent/quire/internal/ledger"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/rendition"
	"github.com/quire-agent/quire/internal/run"
	"github.com/quire-agent/quire/internal/schedule"
	"github.com/quire-agent/quire/internal/secret"
)

// forms are the texts in which a live session would show the items of a session
// when they are lowered, and what it would fold turns to.
type forms struct {
	low    []string // by item: its one form below full; "" where it has none
	ledger *ledger.Ledger
}

// Form is the text in which a live session would show item i when it is lowered, ""
// where there is none.
func (s *Session) Form(i int32) string {
	if int(i) < len(s.forms.low) {
		return s.forms.low[i]
	}
	return ""
}

// keepForms notes what the forms are made of when a part is placed: arguments lose
// their JSON in the body of an item.
func (b *builder) keepForms(p *quire.Part, pages []quire.Page) {
	if b.s.TooLong {
		return
	}
	low := ""
	if len(pages) > 0 {
		b.s.forms.ledger.Add(p, pages)
		b.turn = int32(b.s.forms.ledger.Last())
		if p.Kind == quire.PartToolCall {
			low = assemble.Arguments(p.Text, pages[len(pages)-1].Number, run.RecallName)
		}
		if low == p.Text {
			low = ""
		}
	}
	b.s.forms.low = append(b.s.forms.low, low)
}

// lower makes the forms of everything else, when pages have their sizes.
func (b *builder) lower() error {
	maker := rendition.NewMaker(secret.NewFinder(), b.count, rendition.Recall)
	for i := range b.s.Items {
		it := &b.s.Items[i]
		if it.Page == 0 || it.Kind == quire.PartToolCall || it.Kind == quire.PartUser || it.Origin != quire.OriginFirst {
			continue
		}
		text, err := b.s.Bodies.Get(it.Body)
		if err != nil {
			return err
		}
		src := rendition.Source{Page: b.s.Pages[it.Page-1], Text: text}
		src.Page.Tokens = int(it.Tokens)
		if it.Kind == quire.PartText {
			b.s.forms.low[i] = maker.Card(src)
		} else {
			b.s.forms.low[i] = maker.Handle(src)
		}
	}
	return nil
}

// Fold is what stands for a span before a turn ended: the turn at hand would tell
// of calls that are still to come, and is left to the line that names its pages.
func (s *Session) Fold(sp schedule.Span, turn int) string {
	count := func(text string) int { return int(s.TokensOf(len(text))) }
	if sp.Last >= turn {
		return run.FoldText(&ledger.Ledger{}, sp, count)
	}
	return run.FoldText(s.forms.ledger, sp, count)
}
