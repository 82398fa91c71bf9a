package vector

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/quire-agent/quire/internal/index"
	"github.com/quire-agent/quire/internal/quire"
)

// Sets keeps the vectors of sessions in a store: what several endpoints and models
// made of them, each by itself.
type Sets struct{ part *index.Part }

// NewSets are the vectors that a store keeps.
func NewSets(store index.Segments, heads quire.Heads) *Sets {
	return &Sets{index.NewPart("vectors", store, heads)}
}

// Remove deletes all vectors of a session.
func (s *Sets) Remove(ctx context.Context, n quire.SessionNumber) error {
	names, err := s.part.SegmentNames(ctx)
	if err != nil {
		return fmt.Errorf("remove the vectors of %v: %w", n, err)
	}
	for _, name := range names {
		by, rest, _ := strings.Cut(name, "-")
		if of, _, _ := strings.Cut(rest, "-"); of == n.String() {
			if err := s.part.Discard(ctx, by+"-"+of); err != nil {
				return fmt.Errorf("remove the vectors of %v: %w", n, err)
			}
		}
	}
	return nil
}

// A Table says which pages there are and who may see them.
type Table interface {
	Rows(ctx context.Context, as quire.Reader, f quire.Filter) iter.Seq2[quire.Row, error]
	Sessions(ctx context.Context, as quire.Reader) iter.Seq2[quire.SessionRow, error]
}

// Texts gives the text of a page as it may be shown: masked.
type Texts interface {
	Text(ctx context.Context, r *quire.Row) (string, error)
}

// An Embedder turns texts into vectors of one length.
type Embedder interface {
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// An Index finds pages by the vectors that one embedder made. Searches may run
// concurrently with everything.
type Index struct {
	Name  string // of endpoint and model: vectors of others are not compared with
	By    Embedder
	Sets  *Sets
	Table Table
	Texts Texts
}

// key is where the vectors of a session are kept.
func (x *Index) key(n quire.SessionNumber) string {
	return fmt.Sprintf("%.16s-%v", quire.Sum(x.Name), n)
}

func (x *Index) set(ctx context.Context, n quire.SessionNumber) (set, error) {
	data, err := x.Sets.part.Kept(ctx, x.key(n))
	if err != nil {
		return nil, err
	}
	return readSet(data)
}

// A found is a page with how near it is.
type found struct {
	ref  quire.PageRef
	near float64
}

// Nearest lists the pages nearest to a text, at most limit of them, of those that
// the reader may see; of equals the newer one. Pages without vectors take no part.
func (x *Index) Nearest(ctx context.Context, text string, as quire.Reader, limit int) ([]quire.PageRef, error) {
	vectors, err := x.By.Embed(ctx, []string{head(text)})
	if err != nil {
		return nil, err
	}
	want := unit(vectors[0])
	var all []found
	for s, err := range x.Table.Sessions(ctx, quire.Reader{Who: as.Who}) {
		if err != nil {
			return nil, err
		}
		if all, err = x.compare(ctx, s.Number, want, all); err != nil {
			return nil, fmt.Errorf("compare with the vectors of %v: %w", s.Number, err)
		}
	}
	slices.SortFunc(all, func(a, b found) int {
		return cmp.Or(cmp.Compare(b.near, a.near), cmp.Compare(b.ref.Session, a.ref.Session), cmp.Compare(b.ref.Page, a.ref.Page))
	})
	return x.seen(ctx, all, as, limit)
}

func unit(v []float32) []float32 {
	n := float32(norm(v))
	out := make([]float32, len(v))
	for i := range v {
		out[i] = v[i] / n
	}
	return out
}

// compare appends the pages of a session, each with its nearest piece.
func (x *Index) compare(ctx context.Context, n quire.SessionNumber, want []float32, all []found) ([]found, error) {
	s, err := x.set(ctx, n)
	if err != nil {
		return all, err
	}
	for i := range s {
		if len(s[i].bytes) != len(want) {
			return all, nil // of a model of another size under the same name
		}
		near := s[i].near(want)
		if k := len(all) - 1; i > 0 && s[i].page == s[i-1].page {
			all[k].near = max(all[k].near, near)
			continue
		}
		all = append(all, found{quire.PageRef{Session: n, Page: s[i].page}, near})
	}
	return all, nil
}

// seen lists the first pages that the reader may see. They are asked for in waves,
// so that what may not be seen takes no place.
func (x *Index) seen(ctx context.Context, all []found, as quire.Reader, limit int) (out []quire.PageRef, err error) {
	for len(all) > 0 && len(out) < limit {
		n := min(len(all), 2*limit)
		visible, err := x.visible(ctx, all[:n], as)
		if err != nil {
			return nil, err
		}
		for _, f := range all[:n] {
			if visible[f.ref] && len(out) < limit {
				out = append(out, f.ref)
			}
		}
		all = all[n:]
	}
	return out, nil
}

func (x *Index) visible(ctx context.Context, wave []found, as quire.Reader) (map[quire.PageRef]bool, error) {
	pages := map[quire.SessionNumber][]quire.PageNumber{}
	var sessions []quire.SessionNumber
	for _, f := range wave {
		if len(pages[f.ref.Session]) == 0 {
			sessions = append(sessions, f.ref.Session)
		}
		pages[f.ref.Session] = append(pages[f.ref.Session], f.ref.Page)
	}
	out := map[quire.PageRef]bool{}
	for _, n := range sessions {
		for r, err := range x.Table.Rows(ctx, as, quire.Filter{Session: n, Pages: pages[n]}) {
			if err != nil {
				return nil, err
			}
			out[r.Ref()] = true
		}
	}
	return out, nil
}
