// Package recent provides a map that forgets: its memory is bounded, whatever is
// put into it.
package recent

// A Map remembers a value for each of the keys that were put last: at least
// Limit of them and at most twice as many. The zero Map with a Limit is ready.
// It must not be used concurrently.
type Map[V any] struct {
	Limit      int
	young, old map[string]V
}

// Get returns the value of a key, if it is remembered.
func (m *Map[V]) Get(key string) (V, bool) {
	if v, ok := m.young[key]; ok {
		return v, true
	}
	v, ok := m.old[key]
	return v, ok
}

// Put remembers a value.
func (m *Map[V]) Put(key string, v V) {
	if m.young == nil || len(m.young) >= m.Limit {
		m.old, m.young = m.young, make(map[string]V)
	}
	m.young[key] = v
}

// Clear forgets everything.
func (m *Map[V]) Clear() { m.young, m.old = nil, nil }
