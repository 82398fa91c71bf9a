package shingle

import (
	"math/bits"

	"github.com/quire-agent/quire/internal/quire"
)

// MaxPages is the number of pages at which an [Entry] stops counting.
const MaxPages = 7

// maxPage is the highest page number that fits a slot.
const maxPage = 1<<25 - 1

// An Entry is what an [Index] knows of a hash: its youngest occurrence, and on
// how many pages it occurred.
type Entry struct {
	Page  quire.PageNumber
	Kind  quire.PageKind // of the text that was added, which need not be that of its page
	Pages int            // distinct pages, MaxPages for that many and more
}

// An Index remembers hashes of shingles or lines. Its size is bounded: when it
// is full it forgets every second hash, for good, by a rule that depends on the
// hash alone (of n halvings those hashes stay that have n trailing zero bits).
// A reader who must tell "did not occur" from "forgotten" asks [Index.Keeps].
//
// An entry takes 12 bytes in a table of open addressing that is at most four
// fifths full; 4 million entries take 61 MB. The table is 64 segments that grow
// one by one, so that no growth holds two whole tables.
// An Index is not safe for concurrent use.
type Index struct {
	segments [1 << segmentBits]segment
	limit    int
	size     int
	halved   int
}

const segmentBits = 6

// NewIndex returns an index that holds fewer than limit hashes. No memory is
// taken before the first is added.
func NewIndex(limit int) *Index { return &Index{limit: limit} }

// Len is the number of hashes it holds.
func (x *Index) Len() int { return x.size }

// Sampled is how many times it was full: it keeps one hash in 2^Sampled.
func (x *Index) Sampled() int { return x.halved }

// Keeps reports whether hash is one of those it remembers if it is told.
func (x *Index) Keeps(hash uint64) bool { return bits.TrailingZeros64(hash) >= x.halved }

// Add records an occurrence that is younger than all those before it, in text
// of a kind on a page. A page is counted once as long as its occurrences are
// added without those of another page in between. Page numbers above 2^25−1 are
// kept as 2^25−1.
func (x *Index) Add(hash uint64, page quire.PageNumber, kind quire.PageKind) {
	if !x.Keeps(hash) {
		return
	}
	if x.segments[hash>>(64-segmentBits)].add(hash, page, kind) {
		x.size++
	}
	for x.size >= x.limit && x.halved < 64 {
		x.halve()
	}
}

// Find returns what is known of hash.
func (x *Index) Find(hash uint64) (Entry, bool) {
	s := &x.segments[hash>>(64-segmentBits)]
	if s.used == 0 {
		return Entry{}, false
	}
	e := &s.slots[s.find(hash)]
	return e.entry(), !e.free()
}

func (x *Index) halve() {
	x.halved++
	x.size = 0
	var scratch []slot
	for i := range x.segments {
		scratch = x.segments[i].keep(x.Keeps, scratch[:0])
		x.size += x.segments[i].used
	}
}

// A slot is an entry in 12 bytes: the hash in two halves, because a
// slot with a 64-bit word is padded to 16, and what is known of it: 25 bits of
// page number, 4 of kind, 3 of the number of pages, which is 0 in a free slot
// only.
type slot struct {
	high, low uint32
	known     uint32
}

func (s *slot) free() bool { return s.known == 0 }

func (s *slot) hash() uint64 { return uint64(s.high)<<32 | uint64(s.low) }

// set makes an occurrence the youngest.
func (s *slot) set(hash uint64, page quire.PageNumber, kind quire.PageKind) {
	number := uint32(min(page, maxPage))
	pages := s.known & MaxPages
	if s.free() || s.known>>7 != number {
		pages = min(pages+1, MaxPages)
	}
	*s = slot{uint32(hash >> 32), uint32(hash), number<<7 | uint32(kind&15)<<3 | pages}
}

func (s *slot) entry() Entry {
	return Entry{
		Page:  quire.PageNumber(s.known >> 7),
		Kind:  quire.PageKind(s.known >> 3 & 15),
		Pages: int(s.known & MaxPages),
	}
}

// A segment holds the hashes with one value of their highest bits.
type segment struct {
	slots []slot
	used  int
}

// find returns the slot of hash, or the free slot where it belongs. There must
// be a free one. The place of a hash is its share of the number range, so that
// any number of slots will do and the lowest bits, which are equal in a sampled
// index, have no part in it.
func (s *segment) find(hash uint64) int {
	place, _ := bits.Mul64(hash<<segmentBits, uint64(len(s.slots)))
	i := int(place)
	for !s.slots[i].free() && s.slots[i].hash() != hash {
		if i++; i == len(s.slots) {
			i = 0
		}
	}
	return i
}

// add reports whether the hash is new.
func (s *segment) add(hash uint64, page quire.PageNumber, kind quire.PageKind) bool {
	if s.used*5 >= len(s.slots)*4 {
		s.grow()
	}
	e := &s.slots[s.find(hash)]
	fresh := e.free()
	if fresh {
		s.used++
	}
	e.set(hash, page, kind)
	return fresh
}

// grow makes room: twice the slots while the segment is small, a quarter more
// when it is large.
func (s *segment) grow() {
	old, n := s.slots, len(s.slots)
	switch {
	case n == 0:
		n = 8
	case n < 1<<15:
		n *= 2
	default:
		n += n / 4
	}
	s.slots = make([]slot, n)
	s.fill(old)
}

func (s *segment) fill(taken []slot) {
	for _, e := range taken {
		if !e.free() {
			s.slots[s.find(e.hash())] = e
		}
	}
}

// keep drops the hashes that are not to be kept. It moves the others through
// scratch, which it returns for the next segment.
func (s *segment) keep(keeps func(uint64) bool, scratch []slot) []slot {
	for _, e := range s.slots {
		if !e.free() && keeps(e.hash()) {
			scratch = append(scratch, e)
		}
	}
	clear(s.slots)
	s.used = len(scratch)
	s.fill(scratch)
	return scratch
}
