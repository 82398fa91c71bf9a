package probe

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/recording"
	"github.com/quire-agent/quire/internal/shingle"
)

// The rules by which a need becomes a probe.
const (
	longAgo     = 10 // calls, at least, since its page entered or was quoted last
	leastAnswer = 16 // bytes of the line
	mostAnswer  = 200
	leastWords  = 3  // of the line: one with fewer says nothing that could be asked for
	beside      = 2  // needed lines on either side whose words are asked with
	mostWords   = 6  // of a question of some words of the needed lines
	mostAround  = 12 // of one of what stands around them
	leastWord   = 3  // runes of a word of a question; two where they are Chinese
)

// A Probe is a line that a call needed.
type Probe struct {
	Call   int32
	Page   quire.PageNumber
	Answer string
	Words  string // some words of the needed lines
	Around string // words of the rest of the answer, "" where there are none
}

// A chooser makes probes of one session.
type chooser struct {
	s     *recording.Session
	seed  uint64
	items map[quire.PageNumber]int // page → the item that shows its body
	said  map[int32][]int          // call → the items of its answer
}

func newChooser(s *recording.Session, seed uint64) *chooser {
	c := &chooser{s, seed, map[quire.PageNumber]int{}, map[int32][]int{}}
	for i := range s.Items {
		it := &s.Items[i]
		if it.By >= 0 && (it.Kind == quire.PartText || it.Kind == quire.PartToolCall) {
			c.said[it.By] = append(c.said[it.By], i)
		}
		if it.Page > 0 && (it.Kind != quire.PartToolCall || s.Pages[it.Page-1].Kind == quire.PageWritten) {
			c.items[it.Page] = i
		}
	}
	return c
}

// Choose makes up to n probes of a session, rising by call.
func Choose(s *recording.Session, n int, seed uint64) ([]Probe, error) {
	c := newChooser(s, seed)
	var list []Probe
	for _, i := range c.candidates() {
		if len(list) == n {
			break
		}
		p, ok, err := c.probe(&s.Needs[i])
		if err != nil {
			return nil, fmt.Errorf("choose probes of %s: %w", s.Info.ID, err)
		}
		if ok {
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(a, b Probe) int {
		return cmp.Or(cmp.Compare(a.Call, b.Call), cmp.Compare(a.Page, b.Page))
	})
	return list, nil
}

// candidates are the strict needs of pages that were long out of use, in the order
// in which the seed deals them.
func (c *chooser) candidates() (list []int) {
	used := map[quire.PageNumber]int32{}
	for i := range c.s.Needs {
		n := &c.s.Needs[i]
		last, seen := used[n.Page]
		if !seen {
			last = int32(c.s.Pages[n.Page-1].Call)
		}
		if n.Strict && n.Call-last >= longAgo {
			list = append(list, i)
		}
		used[n.Page] = n.Call
	}
	slices.SortFunc(list, func(a, b int) int {
		return cmp.Or(cmp.Compare(c.deal(a), c.deal(b)), cmp.Compare(a, b))
	})
	return list
}

// deal is a number that seed, session and need make.
func (c *chooser) deal(need int) uint64 {
	n := &c.s.Needs[need]
	return c.number(n.Call, n.Page)
}

func (c *chooser) number(call int32, page quire.PageNumber) uint64 {
	h := fnv.New64a()
	h.Write([]byte(c.s.Info.ID))
	h.Write(binary.LittleEndian.AppendUint64(nil, c.seed))
	h.Write(binary.LittleEndian.AppendUint64(nil, uint64(call)))
	h.Write(binary.LittleEndian.AppendUint64(nil, uint64(page)))
	return rand.New(rand.NewPCG(h.Sum64(), 1)).Uint64()
}

// probe makes a probe of a need; ok is false where no line of its page stands as it
// is in the answer.
func (c *chooser) probe(n *recording.Need) (p Probe, ok bool, err error) {
	page, err := c.body(n.Page)
	if err != nil {
		return p, false, err
	}
	said, err := c.answer(n.Call)
	if err != nil {
		return p, false, err
	}
	needed, rest := apart(said, n.StrictShingles)
	var lines []int
	for i, l := range needed {
		if answers(l) && strings.Contains(page, l) {
			lines = append(lines, i)
		}
	}
	if len(lines) == 0 {
		return p, false, nil
	}
	r := rand.New(rand.NewPCG(c.number(n.Call, n.Page), 2))
	at := lines[r.IntN(len(lines))]
	p = Probe{Call: n.Call, Page: n.Page, Answer: needed[at]}
	p.Words = question(r, needed[max(0, at-beside):min(at+beside+1, len(needed))], mostWords)
	p.Around = question(r, rest, mostAround)
	return p, true, nil
}

// answers reports whether a line is one to be asked for.
func answers(line string) bool {
	return len(line) >= leastAnswer && len(line) <= mostAnswer && len(words([]string{line})) >= leastWords
}

// body is the text of a page, "" where none is recorded.
func (c *chooser) body(n quire.PageNumber) (string, error) {
	i, ok := c.items[n]
	if !ok {
		return "", nil
	}
	return c.s.Bodies.Get(c.s.Items[i].Body)
}

// answer is what a call wrote, tool arguments unescaped.
func (c *chooser) answer(call int32) (string, error) {
	var texts []string
	for _, i := range c.said[call] {
		text, err := c.s.Bodies.Get(c.s.Items[i].Body)
		if err != nil {
			return "", err
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "\n"), nil
}

// apart separates the lines of a text that hold one of the shingles from the
// others, all of them trimmed.
func apart(text string, shingles []uint64) (needed, rest []string) {
	lines := strings.Split(text, "\n")
	holds := make([]bool, len(lines))
	shingle.Scan(text, func(g shingle.Shingle) bool {
		if _, ok := slices.BinarySearch(shingles, g.Hash); ok {
			for i := g.First; i <= g.Last; i++ {
				holds[i-1] = true
			}
		}
		return true
	})
	for i, l := range lines {
		if l = strings.TrimSpace(l); l == "" {
			continue
		}
		if holds[i] {
			needed = append(needed, l)
		} else {
			rest = append(rest, l)
		}
	}
	return needed, rest
}

// question is up to n different words of lines, picked by chance and then in their
// order.
func question(r *rand.Rand, lines []string, n int) string {
	list := words(lines)
	for len(list) > n {
		i := r.IntN(len(list))
		list = slices.Delete(list, i, i+1)
	}
	return strings.Join(list, " ")
}

// words are the different words of lines that can be asked for, in their order.
func words(lines []string) (list []string) {
	for _, l := range lines {
		for _, w := range strings.FieldsFunc(l, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) && c != '_' }) {
			if telling(w) && !slices.Contains(list, w) {
				list = append(list, w)
			}
		}
	}
	return list
}

// telling leaves out what is too short to be asked for.
func telling(word string) bool {
	n := utf8.RuneCountInString(word)
	first, _ := utf8.DecodeRuneInString(word)
	return n > leastWord || n >= 2 && unicode.Is(unicode.Han, first)
}
