package index

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
)

// A Part is a piece of a store with names of its own: another index, or what
// belongs to one, beside the index of the store itself.
type Part struct {
	prefix   string
	segments Segments
	heads    quire.Heads
}

var (
	_ Segments    = (*Part)(nil)
	_ quire.Heads = (*Part)(nil)
)

// partMark stands behind the name of a part. No segment of an index has it in its
// own name.
const partMark = "/"

// NewPart is the part of a store with that name, which holds no slash.
func NewPart(name string, segments Segments, heads quire.Heads) *Part {
	return &Part{name + partMark, segments, heads}
}

// inPart reports whether a segment belongs to a part of the store.
func inPart(segment string) bool { return strings.Contains(segment, partMark) }

// PutSegment is that of [Segments].
func (p *Part) PutSegment(ctx context.Context, name string, from io.Reader) error {
	return p.segments.PutSegment(ctx, p.prefix+name, from)
}

// ReadSegment is that of [Segments].
func (p *Part) ReadSegment(ctx context.Context, name string, off int64, n int) ([]byte, error) {
	return p.segments.ReadSegment(ctx, p.prefix+name, off, n)
}

// SegmentNames is that of [Segments].
func (p *Part) SegmentNames(ctx context.Context) (names []string, err error) {
	all, err := p.segments.SegmentNames(ctx)
	for _, name := range all {
		if rest, ok := strings.CutPrefix(name, p.prefix); ok {
			names = append(names, rest)
		}
	}
	return names, err
}

// DropSegments is that of [Segments].
func (p *Part) DropSegments(ctx context.Context, names []string) error {
	whole := make([]string, len(names))
	for i, name := range names {
		whole[i] = p.prefix + name
	}
	return p.segments.DropSegments(ctx, whole)
}

// Head is that of [quire.Heads].
func (p *Part) Head(ctx context.Context, name string) (string, error) {
	return p.heads.Head(ctx, p.prefix+name)
}

// Advance is that of [quire.Heads].
func (p *Part) Advance(ctx context.Context, name, from, next string) error {
	return p.heads.Advance(ctx, p.prefix+name, from, next)
}

// Keep stores data under a key, in the place of what was kept there. It is durable
// when Keep returns. Two that keep something under one key at the same time may get
// quire.ErrConflict.
func (p *Part) Keep(ctx context.Context, key string, data []byte) error {
	name := fmt.Sprintf("%s-%.16s", key, quire.Sum(string(data)))
	before, err := p.Head(ctx, key)
	if err != nil || before == name {
		return err
	}
	if err := p.PutSegment(ctx, name, bytes.NewReader(data)); err != nil {
		return err
	}
	return p.point(ctx, key, before, name)
}

// Kept is what is kept under a key, nil where there is nothing, or where it is
// replaced at this moment.
func (p *Part) Kept(ctx context.Context, key string) (data []byte, err error) {
	name, err := p.Head(ctx, key)
	for err == nil && name != "" {
		var part []byte
		part, err = p.ReadSegment(ctx, name, int64(len(data)), keptBytes)
		if data = append(data, part...); len(part) < keptBytes {
			break
		}
	}
	if errors.Is(err, quire.ErrNotFound) {
		return nil, nil
	}
	return data, err
}

// keptBytes is read at a time of what is kept.
const keptBytes = 4 << 20

// Discard deletes what is kept under a key.
func (p *Part) Discard(ctx context.Context, key string) error {
	before, err := p.Head(ctx, key)
	if err != nil || before == "" {
		return err
	}
	return p.point(ctx, key, before, "")
}

// point lets a key name something else and deletes what it named before.
func (p *Part) point(ctx context.Context, key, from, to string) error {
	err := p.Advance(ctx, key, from, to)
	if err == nil && from != "" {
		err = p.DropSegments(ctx, []string{from})
	}
	return err
}
