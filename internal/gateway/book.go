package gateway

import (
	"context"
	"fmt"

	"github.com/quire-agent/quire/internal/curation"
	"github.com/quire-agent/quire/internal/ingest"
	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/quire"
)

// A book is what is known of the parts of a session: which pages each of them is, by
// the numbers that the pool gives them. It is kept for sessions that are curated,
// and made again from the journal when it is not in mind.
type book struct {
	cut   ingest.Cutter
	calls int
	parts map[partKey]curation.Known
}

// A partKey is a part by its place in the journal.
type partKey struct {
	chain string
	node  int
}

// span is a run of parts.
type span struct {
	Chain string `json:"chain,omitempty"`
	From  int    `json:"from"`
	N     int    `json:"n"`
}

// readBook makes the book of a journal, of which all that was added is written.
func readBook(ctx context.Context, bodies quire.Bodies, path string) (*book, error) {
	b := &book{parts: map[partKey]curation.Known{}}
	for r, err := range journal.Read(path) {
		if err == nil {
			err = b.record(ctx, bodies, r)
		}
		if err != nil {
			return nil, fmt.Errorf("read the pages of a session: %w", err)
		}
	}
	return b, nil
}

func (b *book) record(ctx context.Context, bodies quire.Bodies, r quire.Record) error {
	switch r.Type {
	case quire.RecordCall:
		c, err := journal.Decode[quire.CallRecord](r)
		b.called(c.Chain)
		return err
	case quire.RecordPart:
		p, err := journal.Decode[quire.PartRecord](r)
		if err != nil {
			return err
		}
		if p.Body != (quire.Hash{}) {
			text, err := bodies.Body(ctx, p.Body)
			if err != nil {
				return err
			}
			p.Part.Text = string(text)
		}
		b.add(p.Chain, p.Node, p.Part)
	}
	return nil
}

func (b *book) called(chain string) {
	if b != nil && chain == "" {
		b.calls++
	}
}

// add takes the next part of the journal.
func (b *book) add(chain string, node int, p quire.Part) {
	if b == nil {
		return
	}
	b.parts[partKey{chain, node}] = curation.Known{Kind: p.Kind, Pages: b.cut.Cut(p, b.calls)}
}

// known is what is known of a run of parts.
func (b *book) known(s span) []curation.Known {
	out := make([]curation.Known, s.N)
	for i := range out {
		out[i] = b.parts[partKey{s.Chain, s.From + i}]
	}
	return out
}
