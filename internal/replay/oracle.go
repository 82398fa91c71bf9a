package replay

import (
	"sort"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/recording"
)

// oracle knows every later need. It drops a tool call or its result when
// carrying it to its next need costs more than fetching it then. With hot false it may do so only at
// cold calls; otherwise at any call at which the saving pays for writing the
// tail again, choosing the best place to cut (greedy: it does not look at what
// later cuts could have done).
type oracle struct {
	*stream
	set   Setting
	hot   bool
	needs [][]int32 // by page: the calls that need it, rising
	carry []float64 // carry[k]: price of carrying one token through calls 0..k-1
	frees []int32   // by item: tokens that dropping it frees
}

func startOracle(hot bool) func(*recording.Session, Setting) Player {
	return func(s *recording.Session, set Setting) Player {
		p := &oracle{stream: newStream(s), set: set, hot: hot, needs: needCalls(s), carry: carryCosts(s, set)}
		for i := range s.Items {
			p.frees = append(p.frees, s.Items[i].Tokens-p.lower(int32(i)).Tokens)
		}
		return p
	}
}

// needCalls lists, by page number, the calls that need the page.
func needCalls(s *recording.Session) [][]int32 {
	out := make([][]int32, len(s.Pages)+1)
	for i := range s.Needs {
		n := &s.Needs[i]
		out[n.Page] = append(out[n.Page], n.Call)
	}
	return out
}

func carryCosts(s *recording.Session, set Setting) []float64 {
	out := make([]float64, len(s.Calls)+1)
	for k := range s.Calls {
		price := set.Rates.Read
		if set.Cold[k] {
			price = set.Write()
		}
		out[k+1] = out[k] + price
	}
	return out
}

func (p *oracle) Step(k int) Prompt {
	p.advance(k)
	if p.set.Cold[k] || p.hot {
		p.drop(k)
	}
	return p.prompt()
}

// drop rewrites the stream at the cut that saves most, if one saves anything.
func (p *oracle) drop(k int) {
	for _, b := range p.best(k) {
		p.replace(b, p.lower(p.blocks[b].Item), "oracle")
	}
}

// best walks from the tail to the head. A cut at block j costs writing what
// stays behind it instead of reading it, and saves what the droppable blocks
// behind it would cost until they are needed. At a cold call the tail is
// written anyway.
func (p *oracle) best(k int) (goes []int32) {
	penalty := p.set.Write() - p.set.Rates.Read
	if p.set.Cold[k] {
		penalty = 0
	}
	var gain, top, stays float64
	var taken []int32
	for j := p.dirty - 1; j >= 0; j-- { // blocks that were never sent stay this once
		save := p.saving(k, int32(j))
		if save <= 0 {
			stays += float64(p.blocks[j].Tokens)
			continue
		}
		gain += save
		taken = append(taken, int32(j))
		if net := gain - penalty*stays; net > top {
			top, goes = net, taken
		}
	}
	return goes
}

// saving is what dropping block j at call k saves, at most zero where it may
// not go.
func (p *oracle) saving(k int, j int32) float64 {
	b := p.blocks[j]
	if !b.Whole || p.frees[b.Item] == 0 {
		return 0
	}
	next, needed := p.next(k, b.Item)
	save := float64(p.frees[b.Item]) * (p.carry[next] - p.carry[k])
	if needed {
		save -= p.fault(b.Tokens)
	}
	return save
}

// next is the first call from k on that needs the page of an item; without one
// it is the end of the session.
func (p *oracle) next(k int, item int32) (call int, needed bool) {
	n := p.needs[p.stream.s.Items[item].Page]
	i := sort.Search(len(n), func(i int) bool { return n[i] >= int32(k) })
	if i == len(n) {
		return len(p.stream.s.Calls), false
	}
	return int(n[i]), true
}

// fault is the price of fetching part of a page of some tokens again: a round
// trip over the prompt as it is, 100 output tokens, and the lines.
func (p *oracle) fault(tokens int32) float64 {
	r := p.set.Rates
	c := float64(p.net + p.stream.s.Overhead)
	return r.Read*c + faultOutput*r.Output + p.set.Write()*min(float64(tokens), 300)
}

// lower is what remains of an item when it goes: a handle of a tool result, the
// call's name and target of a tool call. Everything else stays: the evaluation
// document's oracles speak of whole pages of tools.
func (p *oracle) lower(i int32) Block {
	s := p.stream.s
	it := &s.Items[i]
	switch {
	case isResult(s, i):
		return orWhole(s, i, handleOf(s, i))
	case it.Kind == quire.PartToolCall:
		pg := &s.Pages[it.Page-1]
		return orWhole(s, i, textBlock(s, i, pg.Tool+" "+recording.Shorten(pg.Target, 60)))
	default:
		return whole(s, i)
	}
}

// orWhole is the block b, or the item as it is where that is not longer.
func orWhole(s *recording.Session, i int32, b Block) Block {
	if b.Tokens >= s.Items[i].Tokens {
		return whole(s, i)
	}
	return b
}
