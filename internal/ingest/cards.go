package ingest

import (
	"context"
	"fmt"
	"slices"

	"github.com/quire-agent/quire/internal/carrier"
	"github.com/quire-agent/quire/internal/index"
	"github.com/quire-agent/quire/internal/page"
	"github.com/quire-agent/quire/internal/quire"
)

// The budgets of the cards that are kept, in tokens (design, section 8: turn card,
// task card and ledger card have 6,000 together).
const (
	turnCard   = 500
	taskCard   = 1_000
	ledgerCard = 3_000
)

// tell lets the ledger know of a part of the main chain, under the task that the
// user is at, and of what it made of earlier pages.
func (d *deriver) tell(rec *quire.PartRecord, pages []quire.Page, fates []page.Fate) {
	if rec.Chain == "" {
		d.ledger.Begin(d.task)
		d.ledger.Add(&rec.Part, pages)
	}
	d.ledger.Judge(fates)
}

// cards keeps the cards of the session: of each turn, of each task that has a
// name, and of the ledger.
func (d *deriver) cards(ctx context.Context) error {
	if d.pool.Cards == nil {
		return nil
	}
	head := &d.outline.head
	access := index.Access{Owner: head.Owner, Scope: quire.ScopeSession, Project: d.project}
	return d.pool.Cards.Put(ctx, head.Number, access, append(d.turnCards(), d.taskCards()...))
}

func (d *deriver) turnCards() (out []carrier.Card) {
	for i, t := range d.ledger.Turns() {
		text := d.ledger.TurnCard(i, turnCard, d.pool.Counter.Count)
		if text != "" && t.First > 0 {
			out = append(out, carrier.Card{Title: fmt.Sprintf("turn %d", t.Number), First: t.First, Last: t.Last, Text: text})
		}
	}
	return out
}

// taskCards are those of the tasks in the order in which they began, and that of
// the ledger, which stands for the whole session.
func (d *deriver) taskCards() (out []carrier.Card) {
	at := map[string]int{}
	all := carrier.Card{Title: "ledger", Text: d.ledger.Card(ledgerCard, d.pool.Counter.Count)}
	for _, t := range d.ledger.Turns() {
		i, known := at[t.Task]
		if !known {
			i, at[t.Task] = len(out), len(out)
			text := d.ledger.TaskCard(t.Task, 0, taskCard, d.pool.Counter.Count)
			out = append(out, carrier.Card{Title: "task " + d.pool.Mask(t.Task), First: t.First, Text: text})
		}
		out[i].Last = t.Last
		if all.First == 0 {
			all.First = t.First
		}
		all.Last = t.Last
	}
	return slices.DeleteFunc(append(out, all), func(c carrier.Card) bool { return c.Text == "" || c.First == 0 || c.Title == "task " })
}
