package replay

import (
	"slices"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/recording"
)

// reasonRewind is the reason of a prompt that follows a rewind of the user's.
const reasonRewind = "rewind"

// soon is within how many calls a need makes a demotion a mis-schedule, and a
// second demotion of the same page thrash.
const soon = 10

// figures counts what a replay shows, beside its costs.
type figures struct {
	s        *recording.Session
	lastNeed []int32 // by page number: last call that needs it, -1 for none
	expire   [][]int32
	whole    []uint16
	now      int
	live     int64 // tokens of whole items that some later call needs
	dead     int64 // of the others

	liveCalls, deadCalls int64
	left                 []int32 // scratch: whole items that left the prompt in this step
	demoted              []int32 // by item: call+1 of its last demotion
	handles              map[quire.Hash]int

	epochs           int
	reasons          map[string]int
	misses           int
	thrash           int
	wanted, covered  [2]int64 // wide, strict
	edits, editsOK   int
	rereads          int
	servedText       int
	served           int
	editAt, rereadAt int
	demotions        int
}

func newFigures(s *recording.Session) figures {
	f := figures{
		s: s, lastNeed: make([]int32, len(s.Pages)+1), whole: make([]uint16, len(s.Items)),
		demoted: make([]int32, len(s.Items)), handles: map[quire.Hash]int{}, reasons: map[string]int{},
		expire: make([][]int32, len(s.Calls)+1),
	}
	for i := range f.lastNeed {
		f.lastNeed[i] = -1
	}
	for i := range s.Needs {
		n := &s.Needs[i]
		f.lastNeed[n.Page] = max(f.lastNeed[n.Page], n.Call)
	}
	for i := range s.Items {
		if l := f.lastNeed[s.Items[i].Page]; l >= 0 {
			f.expire[l+1] = append(f.expire[l+1], int32(i))
		}
	}
	return f
}

// isDead reports whether no call from now on needs item i.
func (f *figures) isDead(i int32) bool {
	p := f.s.Items[i].Page
	return p == 0 || f.lastNeed[p] < int32(f.now)
}

// tick moves on to call k: items whose last need was the call before it die.
func (f *figures) tick(k int) {
	f.now = k
	for _, i := range f.expire[k] {
		t := int64(f.whole[i]) * int64(f.s.Items[i].Tokens)
		f.live -= t
		f.dead += t
	}
}

func (f *figures) count(i int32, by int64) {
	t := by * int64(f.s.Items[i].Tokens)
	if f.isDead(i) {
		f.dead += t
	} else {
		f.live += t
	}
}

func (f *figures) added(b Block) {
	if b.Whole {
		f.whole[b.Item]++
		f.count(b.Item, 1)
	} else if b.Handle {
		f.handles[f.bodyOf(b.Item)]++
	}
}

func (f *figures) dropped(b Block) {
	if b.Whole {
		f.whole[b.Item]--
		f.count(b.Item, -1)
		f.left = append(f.left, b.Item)
	} else if b.Handle {
		f.handles[f.bodyOf(b.Item)]--
	}
}

// bodyOf is the hash of the page that an item shows.
func (f *figures) bodyOf(i int32) quire.Hash {
	if p := f.s.Items[i].Page; p > 0 {
		return f.s.Pages[p-1].Body
	}
	return quire.Hash{}
}

// settle books as demoted what was whole at the last call and is not now.
func (f *figures) settle(k int, reason string) {
	for _, i := range f.left {
		if f.whole[i] > 0 || reason == reasonRewind {
			continue
		}
		f.demotions++
		if at := f.demoted[i]; at > 0 && k-int(at-1) <= soon {
			f.thrash++
		}
		f.demoted[i] = int32(k) + 1
	}
	f.left = f.left[:0]
	f.liveCalls += f.live
	f.deadCalls += f.dead
}

// sent notes how the prompt of a call relates to the one before.
func (f *figures) sent(p Prompt, before int) {
	if p.Keep < before {
		f.epochs++
		f.reasons[p.Reason]++
	}
}

// need counts the shown keys of need i; shows says whether a key is shown.
func (f *figures) need(i int, shows func(int32) bool) {
	for d := range f.wanted {
		for _, id := range f.s.NeedKeys(i, d == 0) {
			f.wanted[d]++
			if shows(id) {
				f.covered[d]++
			}
		}
	}
}

// faulted books a strict fault as a mis-schedule if its page went recently.
func (f *figures) faulted(k int, n *recording.Need) {
	for _, i := range itemsOf(f.s, n.Page) {
		if at := f.demoted[i]; at > 0 && k-int(at-1) <= soon {
			f.misses++
			return
		}
	}
}

// lines checks the edits and re-reads that call k makes, and returns how many
// re-reads only a handle served.
func (f *figures) lines(k int, shows func(int32) bool) (byHandle int) {
	for ; f.editAt < len(f.s.Edits) && f.s.Edits[f.editAt].Call <= int32(k); f.editAt++ {
		f.edits++
		if share(f.s.Edits[f.editAt].Keys, shows) == 1 {
			f.editsOK++
		}
	}
	for ; f.rereadAt < len(f.s.Rereads) && f.s.Rereads[f.rereadAt].Call <= int32(k); f.rereadAt++ {
		r := &f.s.Rereads[f.rereadAt]
		f.rereads++
		if share(r.Keys, shows) >= 0.9 {
			f.servedText++
			f.served++
		} else if f.handles[r.Hash] > 0 {
			f.served++
			byHandle++
		}
	}
	return byHandle
}

func share(keys []int32, shows func(int32) bool) float64 {
	if len(keys) == 0 {
		return 1
	}
	n := 0
	for _, id := range keys {
		if shows(id) {
			n++
		}
	}
	return float64(n) / float64(len(keys))
}

// itemsOf lists the items that show a page.
func itemsOf(s *recording.Session, p quire.PageNumber) []int32 {
	if i := s.PageItem[p-1]; i >= 0 {
		return []int32{i}
	}
	return nil
}

// Percentile is the smallest value that a share of q of the values does not
// exceed; 0 without values.
func Percentile(values []int, q float64) int {
	if len(values) == 0 {
		return 0
	}
	v := slices.Clone(values)
	slices.Sort(v)
	i := int(q*float64(len(v))+0.999999) - 1
	return v[min(max(i, 0), len(v)-1)]
}

// slope is the least-squares growth of the values per call after call 20.
func slope(values []int) float64 {
	if len(values) <= 22 {
		return 0
	}
	v := values[20:]
	n := float64(len(v))
	var sx, sy, sxx, sxy float64
	for i, y := range v {
		x := float64(i)
		sx += x
		sy += float64(y)
		sxx += x * x
		sxy += x * float64(y)
	}
	return (n*sxy - sx*sy) / (n*sxx - sx*sx)
}
