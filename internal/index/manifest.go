package index

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/quire-agent/quire/internal/quire"
)

// A manifest lists the segments that make the index, oldest first.
type manifest struct {
	V        int     `json:"v"`
	Next     int     `json:"next"` // number of the next segment
	Segments []entry `json:"segments"`
}

// names reports whether a segment is in the index.
func (m *manifest) names(segment string) bool {
	return slices.ContainsFunc(m.Segments, func(e entry) bool { return e.Name == segment })
}

// manifestVersion grows when segments are made in another way. An index of
// another version counts as empty: it is derived and is built again.
const manifestVersion = 1

func parseManifest(head string) (manifest, error) {
	m := manifest{V: manifestVersion}
	if head == "" {
		return m, nil
	}
	if err := json.Unmarshal([]byte(head), &m); err != nil {
		return manifest{}, fmt.Errorf("manifest of the index: %w: %v", quire.ErrDamaged, err)
	}
	if m.V != manifestVersion {
		return manifest{V: manifestVersion, Next: m.Next}, nil
	}
	return m, nil
}

// A snapshot is the index as one manifest has it. It is not changed.
type snapshot struct {
	head     string
	manifest manifest
	segments []*segment
	docs     int // gone ones included, as df counts them
	norms    [fieldCount][256]float32
}

// current is the newest snapshot.
func (x *Index) current(ctx context.Context) (now *snapshot, err error) {
	err = x.settled(ctx, func(s *snapshot) error { now = s; return nil })
	return now, err
}

// settled does something with the newest snapshot. A merge may drop a segment
// while it is read, but only after it has changed the manifest: then it is tried
// again. Where the manifest has not changed, the segment is missing, which is
// quire.ErrDamaged.
func (x *Index) settled(ctx context.Context, do func(*snapshot) error) error {
	var last string
	for try := range attempts {
		head, err := x.heads.Head(ctx, ManifestHead)
		if err != nil {
			return fmt.Errorf("read the manifest of the index: %w", err)
		}
		if try > 0 && head == last {
			return fmt.Errorf("a segment is missing that the index names: %w", quire.ErrDamaged)
		}
		now, err := x.snapshot(ctx, head)
		if err == nil {
			err = do(now)
		}
		if !errors.Is(err, quire.ErrNotFound) {
			return err
		}
		last = head
	}
	return fmt.Errorf("the index was merged %d times while it was read: %w", attempts, quire.ErrConflict)
}

// snapshot is the one of a head. Segments that stay are not opened again.
func (x *Index) snapshot(ctx context.Context, head string) (*snapshot, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.now != nil && x.now.head == head {
		return x.now, nil
	}
	m, err := parseManifest(head)
	if err != nil {
		return nil, err
	}
	next := &snapshot{head: head, manifest: m}
	for _, e := range m.Segments {
		s, err := x.opened(ctx, e)
		if err != nil {
			return nil, err
		}
		next.segments = append(next.segments, s)
	}
	next.normalise()
	x.now = next
	return next, nil
}

// opened is the segment of an entry, made from the open one where there is one.
func (x *Index) opened(ctx context.Context, e entry) (*segment, error) {
	if x.now != nil {
		for _, s := range x.now.segments {
			if s.Name == e.Name {
				return s.without(e)
			}
		}
	}
	return openSegment(ctx, x.store, x.cache, e)
}

// attempts bounds how often a change is tried against others that change the
// index at the same time, and a look against merges that drop what it reads.
const attempts = 20

// change swaps the manifest for what edit makes of it, again when another process
// was faster. Edit gets a copy. The changes of one Index wait for each other.
func (x *Index) change(ctx context.Context, edit func(*snapshot, *manifest) error) error {
	if err := x.changing.take(ctx); err != nil {
		return err
	}
	defer x.changing.give()
	for try := range attempts {
		err := x.settled(ctx, func(now *snapshot) error { return x.advance(ctx, now, edit) })
		if !errors.Is(err, quire.ErrConflict) {
			return err
		}
		if err := pause(ctx, try); err != nil {
			return err
		}
	}
	return fmt.Errorf("others changed the index %d times while it was to be changed: %w", attempts, quire.ErrConflict)
}

func (x *Index) advance(ctx context.Context, now *snapshot, edit func(*snapshot, *manifest) error) error {
	next := manifest{V: manifestVersion, Next: now.manifest.Next, Segments: slices.Clone(now.manifest.Segments)}
	if err := edit(now, &next); err != nil {
		return err
	}
	text, err := json.Marshal(next)
	if err != nil {
		return fmt.Errorf("write the manifest of the index: %w", err)
	}
	return x.heads.Advance(ctx, ManifestHead, now.head, string(text))
}

// pause waits before another attempt: the more there were, the longer, up to
// about 64 ms, and by chance, so that two processes do not meet each time.
func pause(ctx context.Context, attempt int) error {
	t := time.NewTimer(rand.N(time.Millisecond << min(attempt, 6)))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// A turn is held by one at a time.
type turn chan struct{}

// take waits for the turn; without an error it is given back with give.
func (t turn) take(ctx context.Context) error {
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (t turn) give() { <-t }
