package vector

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/retrieve"
)

// A page is embedded in pieces of at most pieceBytes, of which the first maxPieces
// stand for it.
const (
	pieceBytes = 1_500
	maxPieces  = 6
	batch      = 64 // texts a request
)

// head is the beginning of a text that is one piece.
func head(text string) string {
	if p := pieces(text); len(p) > 0 {
		return p[0]
	}
	return "-" // endpoints refuse empty texts
}

// pieces cuts a text behind lines, and a line that is too long between characters.
func pieces(text string) (out []string) {
	for len(out) < maxPieces {
		if text = strings.TrimSpace(text); text == "" {
			break
		}
		n := len(text)
		if n > pieceBytes {
			n = pieceBytes
			for n > 0 && !utf8.RuneStart(text[n]) {
				n--
			}
			if at := strings.LastIndexByte(text[:n], '\n'); at > 0 {
				n = at
			}
		}
		out = append(out, strings.ToValidUTF8(text[:n], "\ufffd"))
		text = text[n:]
	}
	return out
}

// Made counts what was made of a session.
type Made struct {
	Pages  int // that got vectors
	Pieces int
}

// Make makes the vectors that a session lacks, and drops those of pages that are
// gone or hold something else. What an error leaves undone is done by the next one;
// what was made before it is kept.
func (x *Index) Make(ctx context.Context, n quire.SessionNumber, as quire.Reader) (made Made, err error) {
	before, err := x.set(ctx, n)
	if errors.Is(err, quire.ErrDamaged) {
		before, err = nil, nil // all of it is made again
	}
	if err != nil {
		return Made{}, fmt.Errorf("make the vectors of %v: %w", n, err)
	}
	m := maker{index: x, has: map[quire.PageNumber]set{}}
	for _, p := range before {
		m.has[p.page] = append(m.has[p.page], p)
	}
	for r, err := range x.Table.Rows(ctx, as, quire.Filter{Session: n}) {
		if err == nil {
			err = m.page(ctx, &r)
		}
		if err != nil {
			return m.made, errors.Join(fmt.Errorf("make the vectors of %v: %w", n, err), m.keep(ctx, n, before))
		}
	}
	if err := m.flush(ctx); err != nil {
		return m.made, errors.Join(fmt.Errorf("make the vectors of %v: %w", n, err), m.keep(ctx, n, before))
	}
	return m.made, m.keep(ctx, n, nil)
}

// keep stores what there is, and of the pages that were not come to what was there
// before.
func (m *maker) keep(ctx context.Context, n quire.SessionNumber, before set) error {
	done := map[quire.PageNumber]bool{}
	for i := range m.out {
		done[m.out[i].page] = true
	}
	for _, p := range before {
		if !done[p.page] {
			m.out = append(m.out, p)
		}
	}
	slices.SortStableFunc(m.out, func(a, b piece) int { return cmp.Compare(a.page, b.page) })
	if err := m.index.Sets.part.Keep(context.WithoutCancel(ctx), m.index.key(n), m.out.write()); err != nil {
		return fmt.Errorf("keep the vectors of %v: %w", n, err)
	}
	return nil
}

// A maker makes the set of a session.
type maker struct {
	index *Index
	has   map[quire.PageNumber]set // as they were before
	out   set
	texts []string
	wait  []quire.Row // of each text
	made  Made
}

// page takes over what is there of a page, or lets its pieces wait.
func (m *maker) page(ctx context.Context, r *quire.Row) error {
	if old := m.has[r.Number]; len(old) > 0 && old[0].body == bodyKey(r.Body) {
		m.out = append(m.out, old...)
		return nil
	}
	if r.Kind == quire.PageSystem || retrieve.OwnTool(r.Tool) {
		return nil
	}
	text, err := m.index.Texts.Text(ctx, r)
	if err != nil {
		return err
	}
	cut := pieces(retrieve.Unframed(text))
	for _, p := range cut {
		m.texts, m.wait = append(m.texts, p), append(m.wait, *r)
	}
	if len(cut) > 0 {
		m.made.Pages++
	}
	if len(m.texts) >= batch {
		return m.flush(ctx)
	}
	return nil
}

// flush embeds what waits. Of a page all pieces wait together.
func (m *maker) flush(ctx context.Context) error {
	if len(m.texts) == 0 {
		return nil
	}
	vectors, err := m.index.By.Embed(ctx, m.texts)
	if err != nil {
		return err
	}
	for i, v := range vectors {
		if len(m.out) > 0 && len(v) != len(m.out[0].bytes) {
			return fmt.Errorf("%w: vectors of %d and of %d numbers", ErrAnswer, len(m.out[0].bytes), len(v))
		}
		m.out = append(m.out, newPiece(m.wait[i].Number, m.wait[i].Body, v))
	}
	m.made.Pieces += len(vectors)
	m.texts, m.wait = m.texts[:0], m.wait[:0]
	return nil
}
