package mem

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"sync"

	"github.com/quire-agent/quire/internal/quire"
)

var (
	_ quire.Bodies    = (*Store)(nil)
	_ quire.PageTable = (*Store)(nil)
	_ quire.Heads     = (*Store)(nil)
)

var errOffset = errors.New("no such part")

// A Store is a pool in memory. Its methods may be called concurrently.
type Store struct {
	mu       sync.RWMutex // held while a method looks at what follows, never while it yields
	bodies   map[quire.Hash][]byte
	sessions map[quire.SessionNumber]quire.SessionRow
	pages    map[quire.SessionNumber]map[quire.PageNumber]*quire.Row // rows are replaced, never changed
	heads    map[string]string
	segments map[string][]byte
}

// New makes an empty store.
func New() *Store {
	return &Store{
		bodies:   map[quire.Hash][]byte{},
		sessions: map[quire.SessionNumber]quire.SessionRow{},
		pages:    map[quire.SessionNumber]map[quire.PageNumber]*quire.Row{},
		heads:    map[string]string{},
		segments: map[string][]byte{},
	}
}

// Close does nothing.
func (s *Store) Close() error { return nil }

// PutBodies keeps copies of bodies; see [quire.Bodies].
func (s *Store) PutBodies(ctx context.Context, bodies [][]byte) ([]quire.Hash, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("storing %d bodies: %w", len(bodies), err)
	}
	hs := make([]quire.Hash, len(bodies))
	for i, b := range bodies {
		hs[i] = sha256.Sum256(b)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, h := range hs {
		if _, ok := s.bodies[h]; !ok {
			s.bodies[h] = bytes.Clone(bodies[i])
		}
	}
	return hs, nil
}

// Body copies a body; see [quire.Bodies]. Its hash is not checked again: nobody
// else can reach these bytes.
func (s *Store) Body(ctx context.Context, h quire.Hash) ([]byte, error) {
	s.mu.RLock()
	body, ok := s.bodies[h]
	s.mu.RUnlock()
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("body %s: %w", h, ctx.Err())
	case !ok:
		return nil, fmt.Errorf("body %s: %w", h, quire.ErrNotFound)
	}
	return append([]byte{}, body...), nil
}

// HasBodies looks for bodies; see [quire.Bodies].
func (s *Store) HasBodies(ctx context.Context, hs []quire.Hash) ([]bool, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("looking for %d bodies: %w", len(hs), err)
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	there := make([]bool, len(hs))
	for i, h := range hs {
		_, there[i] = s.bodies[h]
	}
	return there, nil
}

// EachBody lists the bodies; see [quire.Bodies].
func (s *Store) EachBody(ctx context.Context) iter.Seq2[quire.BodyInfo, error] {
	return func(yield func(quire.BodyInfo, error) bool) {
		for _, info := range s.bodyInfos() {
			if err := ctx.Err(); err != nil {
				yield(quire.BodyInfo{}, fmt.Errorf("listing the bodies: %w", err))
				return
			}
			if !yield(info, nil) {
				return
			}
		}
	}
}

func (s *Store) bodyInfos() []quire.BodyInfo {
	s.mu.RLock()
	defer s.mu.RUnlock()
	list := make([]quire.BodyInfo, 0, len(s.bodies))
	for h, b := range s.bodies {
		list = append(list, quire.BodyInfo{Hash: h, Bytes: len(b), Stored: len(b)})
	}
	slices.SortFunc(list, func(a, b quire.BodyInfo) int { return bytes.Compare(a.Hash[:], b.Hash[:]) })
	return list
}

// DropBodies deletes bodies; see [quire.Bodies].
func (s *Store) DropBodies(ctx context.Context, hs []quire.Hash) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("dropping %d bodies: %w", len(hs), err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range hs {
		delete(s.bodies, h)
	}
	return nil
}

// Head reads a head; see [quire.Heads].
func (s *Store) Head(ctx context.Context, name string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", fmt.Errorf("reading head %q: %w", name, err)
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.heads[name], nil
}

// Advance sets a head; see [quire.Heads]. A head that was never set and one that
// is "" are the same.
func (s *Store) Advance(ctx context.Context, name, from, next string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("advancing head %q: %w", name, ctx.Err())
	case s.heads[name] != from:
		return fmt.Errorf("advancing head %q: %w", name, quire.ErrConflict)
	}
	s.heads[name] = next
	return nil
}

// PutSegment stores what it reads until io.EOF under a name, in the place of what
// was there. After an error nothing has changed.
func (s *Store) PutSegment(ctx context.Context, name string, from io.Reader) error {
	data, err := io.ReadAll(from)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("storing segment %q: %w", name, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.segments[name] = data
	return nil
}

// ReadSegment reads n bytes from an offset: fewer only at the end of the segment,
// quire.ErrNotFound where there is none of that name. The result is the
// caller's.
func (s *Store) ReadSegment(ctx context.Context, name string, off int64, n int) ([]byte, error) {
	s.mu.RLock()
	data, ok := s.segments[name]
	s.mu.RUnlock()
	err := ctx.Err()
	switch {
	case err != nil:
	case off < 0 || n < 0:
		err = errOffset
	case !ok:
		err = quire.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("reading segment %q at %d: %w", name, off, err)
	}
	data = data[min(off, int64(len(data))):]
	return append([]byte{}, data[:min(n, len(data))]...), nil
}

// SegmentNames lists all names, sorted.
func (s *Store) SegmentNames(ctx context.Context) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("listing segments: %w", err)
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Sorted(maps.Keys(s.segments)), nil
}

// DropSegments deletes segments. Names that are not there are passed over.
func (s *Store) DropSegments(ctx context.Context, names []string) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("dropping %d segments: %w", len(names), err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range names {
		delete(s.segments, name)
	}
	return nil
}
