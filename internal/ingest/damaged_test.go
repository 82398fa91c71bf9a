package ingest

import (
	"context"
	"fmt"
	"iter"
	"testing"

	"github.com/quire-agent/quire/internal/quire"
)

// A brokenTable has rows that cannot be read.
type brokenTable struct{ quire.PageTable }

func (brokenTable) Rows(context.Context, quire.Reader, quire.Filter) iter.Seq2[quire.Row, error] {
	return func(yield func(quire.Row, error) bool) { yield(quire.Row{}, fmt.Errorf("row 1: %w", quire.ErrDamaged)) }
}

func (brokenTable) Sessions(context.Context, quire.Reader) iter.Seq2[quire.SessionRow, error] {
	return func(yield func(quire.SessionRow, error) bool) {
		yield(quire.SessionRow{}, fmt.Errorf("row 2: %w", quire.ErrDamaged))
	}
}

// A table that cannot be read is a fault of it, and keeps nothing else from being
// checked.
func TestCheckOfADamagedTable(t *testing.T) {
	p := newPool(t)
	derived(t, p, imported(t, p, work().write(t)))
	p.Table = brokenTable{p.Table}
	h, err := p.Check(t.Context())
	if err != nil || len(h.Faults) != 2 || h.Faults[0].Page != "s1" || h.Faults[1].What != FaultRow || h.Journals != 1 || h.Bodies == 0 {
		t.Errorf("%+v, %v", h, err)
	}
}
