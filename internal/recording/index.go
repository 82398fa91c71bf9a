package recording

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/shingle"
)

// keyIndex answers, for the shingles and lines that some call needs and for no
// others, which items hold them. It is built once a session and then read only.
type keyIndex struct {
	ids    map[uint64]int32 // shingle or salted line hash → key
	hashes []uint64         // key → hash
	start  []int32          // key → first of its items in posts; one longer than hashes
	posts  []int32          // items, rising for each key
	needs  [2][][]int32     // wide, strict: need → keys
}

// lineSalt keeps hashes of lines apart from those of shingles.
const lineSalt = 0x9e3779b97f4a7c15

// newKeyIndex collects the keys of all needs, edits and re-reads of a session
// and finds them in its bodies.
func newKeyIndex(s *Session) (*keyIndex, error) {
	x := &keyIndex{ids: map[uint64]int32{}}
	for i := range s.Needs {
		n := &s.Needs[i]
		x.needs[0] = append(x.needs[0], x.intern(n.Shingles))
		x.needs[1] = append(x.needs[1], x.intern(n.StrictShingles))
	}
	for _, list := range [][]LineNeed{s.Edits, s.Rereads} {
		for i := range list {
			list[i].Keys = x.intern(list[i].lines)
			list[i].lines = nil
		}
	}
	return x, x.fill(s)
}

func (x *keyIndex) intern(hashes []uint64) []int32 {
	out := make([]int32, len(hashes))
	for i, h := range hashes {
		id, ok := x.ids[h]
		if !ok {
			id = int32(len(x.hashes))
			x.ids[h] = id
			x.hashes = append(x.hashes, h)
		}
		out[i] = id
	}
	return out
}

// mostItems is how many items are listed for a key. Of a key in more of them
// every n-th is: such a text is everywhere, and one of them is in any prompt
// that holds some of them.
const mostItems = 256

// fill lists the items that hold each key.
func (x *keyIndex) fill(s *Session) error {
	seen := make([]int32, len(x.hashes))
	if err := x.each(s, func(id, _ int32) { seen[id]++ }); err != nil {
		return err
	}
	x.start = make([]int32, len(x.hashes)+1)
	step := make([]int32, len(x.hashes))
	for id, n := range seen {
		step[id] = 1 + (n-1)/mostItems
		x.start[id+1] = x.start[id] + (n+step[id]-1)/step[id]
		seen[id] = 0
	}
	x.posts = make([]int32, x.start[len(x.hashes)])
	return x.each(s, func(id, item int32) {
		if n := seen[id]; n%step[id] == 0 {
			x.posts[x.start[id]+n/step[id]] = item
		}
		seen[id]++
	})
}

// each yields the keys of each item, each once, in the order of the items.
func (x *keyIndex) each(s *Session, yield func(id, item int32)) error {
	last := make([]int32, len(x.hashes)) // item+1 that held the key last
	for i := range s.Items {
		text, err := s.Bodies.Get(s.Items[i].Body)
		if err != nil {
			return fmt.Errorf("index item %d: %w", i, err)
		}
		for id := range x.keys(text) {
			if last[id] != int32(i)+1 {
				last[id] = int32(i) + 1
				yield(id, int32(i))
			}
		}
	}
	return nil
}

// keys yields the keys that a text holds, some perhaps more than once.
func (x *keyIndex) keys(text string) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		if len(x.ids) == 0 || text == "" {
			return
		}
		stop := false
		emit := func(h uint64) bool {
			if id, ok := x.ids[h]; ok && !yield(id) {
				stop = true
			}
			return !stop
		}
		shingle.Scan(text, func(g shingle.Shingle) bool { return emit(g.Hash) })
		if stop {
			return
		}
		for _, h := range shingle.LineHashes(text) {
			if !emit(h ^ lineSalt) {
				return
			}
		}
	}
}

// Keys yields the keys that a text holds, some perhaps more than once. A key is a
// shingle or a line that some call needs.
func (s *Session) Keys(text string) iter.Seq[int32] { return s.index.keys(text) }

// Holders lists the items that hold a key, rising.
func (s *Session) Holders(key int32) []int32 {
	x := s.index
	return x.posts[x.start[key]:x.start[key+1]]
}

// NeedKeys lists the keys of need i under one definition.
func (s *Session) NeedKeys(i int, wide bool) []int32 {
	if wide {
		return s.index.needs[0][i]
	}
	return s.index.needs[1][i]
}

// Index finds the keys of all needs, edits and re-reads in the bodies. [Loader] has
// done it; whoever changes needs or items does it anew.
func (s *Session) Index() (err error) {
	s.index, err = newKeyIndex(s)
	return err
}

// LineNeed is a call that needed lines: the old lines of an edit, or the lines
// of a read whose text had been in the session before.
type LineNeed struct {
	Call  int32
	lines []uint64 // salted; nil once they are keys
	Keys  []int32
	Hash  quire.Hash // of a re-read: the body it returned
}

// around is how many lines a fault brings before and behind those it is about.
const around = 5

// Fetch is the text that a fault of need i brings: the lines of its page that
// hold keys not yet shown, with those around them.
func (s *Session) Fetch(i int, wide bool, has func(int32) bool) (string, error) {
	var missing []uint64
	for _, id := range s.NeedKeys(i, wide) {
		if !has(id) {
			missing = append(missing, s.index.hashes[id])
		}
	}
	slices.Sort(missing)
	text, err := s.PageText(s.Needs[i].Page)
	if err != nil {
		return "", fmt.Errorf("fetch %v: %w", s.Needs[i].Page, err)
	}
	return LinesOf(text, Locate(text, missing)), nil
}

// LinesOf cuts ranges of lines, widened by around, out of a text.
func LinesOf(text string, ranges []quire.Range) string {
	lines := strings.SplitAfter(text, "\n")
	var out strings.Builder
	next := 0
	for _, r := range ranges {
		first := max(r.First-1-around, next)
		last := min(r.Last+around, len(lines))
		for ; first < last; first++ {
			out.WriteString(lines[first])
			next = first + 1
		}
	}
	return out.String()
}

// PageText is the body of a page.
func (s *Session) PageText(n quire.PageNumber) (string, error) {
	i := s.PageItem[n-1]
	if i < 0 {
		return "", nil
	}
	return s.Bodies.Get(s.Items[i].Body)
}

// TokensOfPage is the size of n bytes of a page, by its own tokens per byte.
func (s *Session) TokensOfPage(p quire.PageNumber, n int) int32 {
	if i := s.PageItem[p-1]; i >= 0 && s.Items[i].Bytes > 0 {
		return int32(int64(n)*int64(s.Items[i].Tokens)/int64(s.Items[i].Bytes)) + 1
	}
	return s.TokensOf(n)
}
