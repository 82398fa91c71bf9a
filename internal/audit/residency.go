package audit

import (
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/recording"
)

// trigger of a compaction that clears old tool results only.
const triggerMicro = "micro"

// lifetimes returns, for each item, the first call whose prompt no longer holds
// it in the context that the agent really had. System prompts and tool schemas
// outlive compactions: the agents send them anew with every context. Which
// results a clearing of old tool results took is not recorded; it is taken to
// be all of them.
func lifetimes(s *recording.Session) []int32 {
	ends := make([]int32, len(s.Items))
	for i := range ends {
		ends[i] = int32(len(s.Calls))
	}
	var live []int32
	next := int32(0)
	for _, c := range s.Cuts {
		for ; next < c.Item; next++ {
			live = append(live, next)
		}
		live = cut(s.Items, live, c, ends)
	}
	return ends
}

// cut ends the items that c takes out of live and returns the others. live
// rises and is reused.
func cut(items []recording.Item, live []int32, c recording.Cut, ends []int32) []int32 {
	kept := live[:0]
	for _, i := range live {
		if leaves(items[i], i, c) {
			ends[i] = c.Call
		} else {
			kept = append(kept, i)
		}
	}
	return kept
}

func leaves(it recording.Item, i int32, c recording.Cut) bool {
	switch {
	case c.Rewind:
		return i >= c.Keep
	case it.Kind == quire.PartSystem || it.Kind == quire.PartTools:
		return false
	case c.Trigger == triggerMicro:
		return it.Kind == quire.PartToolResult
	default:
		return i >= c.Keep
	}
}

// fill is what the prompt of one call holds by kind, in counted tokens: all of
// it, and the part that no earlier call had sent.
type fill struct {
	all, fresh [promptKinds]int32
}

func (f fill) sizes() (all, fresh int64) {
	for k := range f.all {
		all += int64(f.all[k])
		fresh += int64(f.fresh[k])
	}
	return all, fresh
}

// fills returns the prompts of all calls of the main chain. The constant prefix
// is the system's.
func fills(s *recording.Session, kinds []Kind, ends []int32) []fill {
	f := make([]fill, len(s.Calls)+1)
	leave := make([][promptKinds]int32, len(s.Calls)+1)
	for i, it := range s.Items {
		if it.Call < ends[i] && !constant(it) {
			f[it.Call].fresh[kinds[i]] += it.Tokens
			leave[ends[i]][kinds[i]] += it.Tokens
		}
	}
	f[0].fresh[KindSystem] += int32(s.Overhead)
	for k := range s.Calls {
		for j := range promptKinds {
			f[k].all[j] = f[max(k-1, 0)].all[j] + f[k].fresh[j] - leave[k][j]
		}
	}
	return f[:len(s.Calls)]
}

// kindsOf returns the kind of each item.
func kindsOf(s *recording.Session) []Kind {
	kinds := make([]Kind, len(s.Items))
	for i, it := range s.Items {
		kinds[i] = kindOf(it.Kind, it.Origin, pageOf(s, it).Action)
	}
	return kinds
}

// pageOf is the page of an item, the zero page if it belongs to none.
func pageOf(s *recording.Session, it recording.Item) quire.Page {
	if it.Page < 1 || int(it.Page) > len(s.Pages) {
		return quire.Page{}
	}
	return s.Pages[it.Page-1]
}

// lastNeeds returns by page, from 0, the last call that needed it: strictly,
// and in either way. -1: none.
func lastNeeds(s *recording.Session) (strict, wide []int32) {
	strict, wide = make([]int32, len(s.Pages)), make([]int32, len(s.Pages))
	for p := range s.Pages {
		strict[p], wide[p] = -1, -1
	}
	for _, n := range s.Needs {
		if n.Page < 1 || int(n.Page) > len(s.Pages) {
			continue
		}
		wide[n.Page-1] = max(wide[n.Page-1], n.Call)
		if n.Strict {
			strict[n.Page-1] = max(strict[n.Page-1], n.Call)
		}
	}
	return strict, wide
}

// residency adds up what pages took: token-calls in counted tokens.
type residency struct {
	paged      int64 // token-calls of all pages
	dead       int64 // of paged, after the last need
	deadStrict int64 // of paged, after the last strict need
	unused     int64 // token-calls of tool pages after the last need and the first sending
	unusedCost float64
}

func (r *residency) add(o residency) {
	r.paged += o.paged
	r.dead += o.dead
	r.deadStrict += o.deadStrict
	r.unused += o.unused
	r.unusedCost += o.unusedCost
}

// observable reports whether the replay would see a need of the page: text that
// a model quotes when it uses it.
func observable(p quire.Page) bool {
	return p.Kind == quire.PageTool || p.Kind == quire.PageWritten
}
