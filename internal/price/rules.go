package price

import "time"

// Rules are the prefix rules of a provider's prompt cache for one model. Every
// provider in the table matches an exact prefix of the rendered prompt, counts
// a lifetime from the start of the request that wrote or last read an entry,
// and forgets nothing sooner; what it may keep longer is not counted on.
type Rules struct {
	Name          string
	Match         Match
	Minimum       int           // tokens; a shorter prefix is silently not cached
	Step          int           // tokens; an automatic match is rounded down to a multiple of it. 0 or 1: to the token
	Breakpoints   int           // markers a request may carry
	LookBack      int           // how many blocks before a marker an earlier entry is still found; 0: all of them
	Implicit      bool          // the provider itself sets a marker at the end of each prompt
	Answers       bool          // an automatic cache also holds the answer, as the model produced it
	TTL           time.Duration // of an entry of [Short] lifetime
	LongTTL       time.Duration // of an entry of [Long] lifetime; 0: not offered, and [Long] means [Short]
	ChargesWrites bool          // written tokens have a price of their own
	Guaranteed    bool          // the lifetime is promised; otherwise it is best effort
	Margin        time.Duration // add to a lifetime before concluding that an entry is gone
	Note          string        // what of this is assumed
}

// Match says which prefixes a cache can serve.
type Match uint8

// The ways of matching.
const (
	AtBreakpoints Match = iota // an entry ends exactly at a marker of the request that wrote it
	Automatic                  // any prefix that was sent before, rounded down to a step
)

// Lifetime says how long the entry of a marker shall live.
type Lifetime uint8

// The lifetimes. A block without a marker is Unmarked.
const (
	Unmarked Lifetime = iota
	Short             // the provider's default: 5 or 30 minutes
	Long              // the longer one that some providers offer: 1 hour, 12 hours
)

// Life is the duration of a lifetime under these rules.
func (r Rules) Life(l Lifetime) time.Duration {
	if l == Long && r.LongTTL > 0 {
		return r.LongTTL
	}
	return r.TTL
}

// Cold reports whether every entry of that lifetime is certainly gone after so
// much time since the start of the last request that touched it.
func (r Rules) Cold(idle time.Duration, l Lifetime) bool { return idle > r.Life(l)+r.Margin }

// spacing is how many blocks apart planned markers stand: less than any
// provider's look-back, with room for the blocks of one parallel tool round.
const spacing = 15

// Place plans the markers of a request of n blocks: the number of blocks that
// precede each marker, rising, at most r.Breakpoints of them. There is one at
// the end, one at the end of the constant prefix, and from the end backwards
// one every 15 blocks. Where the entry that ends after written blocks would be
// beyond the look-back of all of these, a marker stands exactly there, so that
// it is always found. Written is 0 when nothing was written before.
func (r Rules) Place(constant, written, n int) []int {
	if n == 0 || r.Breakpoints == 0 {
		return nil
	}
	free := r.Breakpoints - 1
	var head []int
	if constant > 0 && constant < n && free > 0 {
		head = append(head, constant)
		free--
	}
	low := max(constant, written)
	if r.LookBack > 0 && written > constant && n-written > r.LookBack && free > 0 {
		head = append(head, written)
		free--
	}
	tail := make([]int, 0, free+1)
	for p := n - spacing; p > low && free > 0; p -= spacing {
		tail = append(tail, p)
		free--
	}
	for i := len(tail) - 1; i >= 0; i-- {
		head = append(head, tail[i])
	}
	return append(head, n)
}
