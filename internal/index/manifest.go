package index

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

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
}

// current is the newest snapshot. Segments that stay are not opened again.
func (x *Index) current(ctx context.Context) (*snapshot, error) {
	head, err := x.heads.Head(ctx, ManifestHead)
	if err != nil {
		return nil, fmt.Errorf("read the manifest of the index: %w", err)
	}
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

// change swaps the manifest for what edit makes of it, again when somebody else
// was faster. Edit gets a copy.
func (x *Index) change(ctx context.Context, edit func(*snapshot, *manifest) error) error {
	for range attempts {
		now, err := x.current(ctx)
		if err != nil {
			if errors.Is(err, quire.ErrNotFound) {
				continue // dropped by a merge that swapped the manifest meanwhile
			}
			return err
		}
		next := manifest{V: manifestVersion, Next: now.manifest.Next, Segments: append([]entry(nil), now.manifest.Segments...)}
		if err := edit(now, &next); err != nil {
			return err
		}
		text, err := json.Marshal(next)
		if err != nil {
			return fmt.Errorf("write the manifest of the index: %w", err)
		}
		err = x.heads.Advance(ctx, ManifestHead, now.head, string(text))
		if !errors.Is(err, quire.ErrConflict) {
			return err
		}
	}
	return fmt.Errorf("change the index: %w", quire.ErrConflict)
}
