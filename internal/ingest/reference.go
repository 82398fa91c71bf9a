package ingest

import (
	"math"

	"github.com/quire-agent/quire/internal/page"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/shingle"
)

// The bounds and numbers of references.
const (
	newest       = 2000      // pages in which quotations are found
	shingleLimit = 1_000_000 // shingles that are remembered: 16 MB
	quoted       = 3         // different shingles of a page that make a quotation, as in evaluation
	halfLife     = 12        // calls in which heat halves
)

// references finds out which pages the model refers to: it quotes them, or names
// the target of their call again. It is fed in the order of the record.
type references struct {
	index   *shingle.Index
	last    quire.PageNumber
	targets map[string]quire.PageNumber // target → the youngest page about it
	recent  []string                    // target of each of the newest pages, "" for none
}

func newReferences() *references {
	return &references{index: shingle.NewIndex(shingleLimit), targets: map[string]quire.PageNumber{}, recent: make([]string, newest)}
}

// add makes a text findable as that of a page.
func (r *references) add(n quire.PageNumber, kind quire.PageKind, text string) {
	shingle.Scan(text, func(s shingle.Shingle) bool {
		r.index.Add(s.Hash, n, kind)
		return true
	})
}

// about notes what the call of a page is about. What is too old is forgotten.
func (r *references) about(n quire.PageNumber, target string) {
	for r.last < n {
		r.last++
		slot := &r.recent[int(r.last)%newest]
		if r.targets[*slot] <= r.last-newest {
			delete(r.targets, *slot)
		}
		*slot = ""
	}
	if target != "" && n > r.last-newest {
		r.recent[int(n)%newest] = target
		r.targets[target] = n
	}
}

// of lists the pages that a part of an answer refers to, in no order, perhaps
// with repetitions. target is that of the call that it makes, "" for none.
func (r *references) of(p *quire.Part, target string) []quire.PageNumber {
	var out []quire.PageNumber
	if n := r.targets[target]; n > 0 && target != "" {
		out = append(out, n)
	}
	texts := []string{p.Text}
	if p.Kind == quire.PartToolCall {
		texts = page.Texts(p.Text)
	}
	found := quotations{}
	for _, text := range texts {
		shingle.Scan(text, func(s shingle.Shingle) bool {
			if e, ok := r.index.Find(s.Hash); ok && e.Kind != quire.PageAssistant && e.Page > r.last-newest {
				found.add(e.Page, s.Hash)
			}
			return true
		})
	}
	return found.pages(out)
}

// quotations are the different shingles found of each page, up to as many as
// make a quotation.
type quotations map[quire.PageNumber][]uint64

func (q quotations) add(n quire.PageNumber, hash uint64) {
	have := q[n]
	if len(have) == quoted {
		return
	}
	for _, h := range have {
		if h == hash {
			return
		}
	}
	q[n] = append(have, hash)
}

func (q quotations) pages(out []quire.PageNumber) []quire.PageNumber {
	for n, have := range q {
		if len(have) == quoted {
			out = append(out, n)
		}
	}
	return out
}

// refer books a reference of a call, at most one for each call.
func refer(r *quire.Row, call int) {
	if r.Refs > 0 && r.LastRef == call {
		return
	}
	r.Heat = 1 + r.Heat*math.Exp2(-float64(max(call-r.LastRef, 0))/halfLife)
	r.LastRef = max(call, r.LastRef)
	r.Refs++
}
