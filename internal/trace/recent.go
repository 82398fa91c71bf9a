package trace

import "hash/maphash"

// A recent remembers a value for each of the keys it saw last, at least limit
// of them and at most twice as many, in bounded memory: it keeps hashes, not
// keys. A log with more records between a key and its repetition than that
// reads as if the key were new.
type recent[V any] struct {
	seed       maphash.Seed
	limit      int
	young, old map[uint64]V
}

// recentLimit is far more records than lie between one and its repetition in any
// log that was seen, in a few MB.
const recentLimit = 1 << 16

func newRecent[V any](limit int) *recent[V] {
	return &recent[V]{seed: maphash.MakeSeed(), limit: limit, young: make(map[uint64]V), old: make(map[uint64]V)}
}

func (r *recent[V]) get(key []byte) (V, bool) {
	h := maphash.Bytes(r.seed, key)
	if v, ok := r.young[h]; ok {
		return v, true
	}
	v, ok := r.old[h]
	return v, ok
}

func (r *recent[V]) put(key []byte, v V) {
	if len(r.young) >= r.limit {
		clear(r.old)
		r.young, r.old = r.old, r.young
	}
	r.young[maphash.Bytes(r.seed, key)] = v
}
