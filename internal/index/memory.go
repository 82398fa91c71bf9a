package index

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"

	"github.com/quire-agent/quire/internal/quire"
)

// Memory keeps segments and heads in memory. The zero Memory is empty and ready.
type Memory struct {
	mu       sync.Mutex
	segments map[string][]byte
	heads    map[string]string
}

var (
	_ Segments    = (*Memory)(nil)
	_ quire.Heads = (*Memory)(nil)
)

// PutSegment is that of [Segments].
func (m *Memory) PutSegment(_ context.Context, name string, from io.Reader) error {
	data, err := io.ReadAll(from)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.segments == nil {
		m.segments = map[string][]byte{}
	}
	m.segments[name] = data
	return nil
}

// ReadSegment is that of [Segments].
func (m *Memory) ReadSegment(_ context.Context, name string, off int64, n int) ([]byte, error) {
	m.mu.Lock()
	data, ok := m.segments[name]
	m.mu.Unlock()
	if !ok {
		return nil, fmt.Errorf("segment %s: %w", name, quire.ErrNotFound)
	}
	if off >= int64(len(data)) {
		return nil, nil
	}
	return slices.Clone(data[off:min(off+int64(n), int64(len(data)))]), nil
}

// SegmentNames is that of [Segments].
func (m *Memory) SegmentNames(context.Context) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.segments)), nil
}

// DropSegments is that of [Segments].
func (m *Memory) DropSegments(_ context.Context, names []string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, name := range names {
		delete(m.segments, name)
	}
	return nil
}

// Head is that of [quire.Heads].
func (m *Memory) Head(_ context.Context, name string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.heads[name], nil
}

// Advance is that of [quire.Heads].
func (m *Memory) Advance(_ context.Context, name, from, next string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.heads[name] != from {
		return fmt.Errorf("head %s: %w", name, quire.ErrConflict)
	}
	if m.heads == nil {
		m.heads = map[string]string{}
	}
	m.heads[name] = next
	return nil
}
