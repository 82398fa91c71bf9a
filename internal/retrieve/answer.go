package retrieve

import (
	"context"
	"fmt"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
)

// The quotas of an answer to a model (design, section 6.8).
const (
	answerTokens = 4_000
	answersInRow = 3
	answerHits   = 6
	handleTokens = 40
)

// A Counter counts the tokens of a text.
type Counter interface {
	Count(text string) int
}

// A Quota says what an answer may hold.
type Quota struct {
	Tokens int  // at most so many; 0: 4,000
	InRow  int  // answers in a row before this one; from the third on there are only handles
	Spent  bool // the page-ins of this epoch have used up their share: only handles
	Reads  bool // the reader has the tool that reads pages back
}

// An Answer is what a model gets for a query.
type Answer struct {
	Text    string `json:"text"` // framed, see Frame
	Tokens  int    `json:"tokens"`
	Hits    []Hit  `json:"hits"`
	Handles bool   `json:"handles"` // only handles, because the quota was used up
}

// Answer searches and writes down what was found within a quota. It offers the
// next lines of a page by the name by which they are read.
//
// Only a reader that has the tool to read pages back gets names of pages, be it
// as handles or as offers: a name that nobody can read is noise (failures A37).
// Where handles are all that a quota leaves and the reader cannot use them, the
// answer says so and holds none.
func (s *Surface) Answer(ctx context.Context, q Query, quota Quota, count Counter) (Answer, error) {
	limit := quota.Tokens
	if limit <= 0 {
		limit = answerTokens
	}
	q.Budget = min(q.budgetFor(limit), limit)
	if q.Limit == 0 {
		q.Limit = answerHits
	}
	hits, err := s.Search(ctx, q)
	if err != nil {
		return Answer{}, err
	}
	a := Answer{Hits: hits, Handles: quota.Spent || quota.InRow >= answersInRow}
	w := answerWriter{count: count, left: limit - frameTokens, reads: quota.Reads}
	a.Text = Frame(ToolName, w.write(hits, a.Handles))
	a.Tokens = count.Count(a.Text)
	return a, nil
}

// frameTokens is what the frame of an answer takes at most.
const frameTokens = 60

// budgetFor leaves room for what stands between the lines.
func (q *Query) budgetFor(limit int) int {
	if q.Budget > 0 {
		return q.Budget
	}
	return limit * 3 / 4
}

// An answerWriter writes hits as long as there is room.
type answerWriter struct {
	out   strings.Builder
	count Counter
	left  int
	reads bool
}

func (w *answerWriter) write(hits []Hit, handles bool) string {
	switch {
	case len(hits) == 0:
		w.put("Nothing found. Other words, a path, a symbol or an error code may find it.")
	case handles && !w.reads:
		w.put("The quota for reading back is used up.")
	case handles:
		w.put("The quota for reading back is used up; these pages match, and the best of them can be read later by name:")
		for i := range hits {
			w.put(w.handle(&hits[i]))
		}
	default:
		for i := range hits {
			w.hit(&hits[i])
		}
	}
	return strings.TrimSuffix(w.out.String(), "\n")
}

// put writes a line if there is room for it.
func (w *answerWriter) put(line string) bool {
	n := w.count.Count(line) + 1
	if n > w.left {
		return false
	}
	w.left -= n
	w.out.WriteString(line + "\n")
	return true
}

// handle is a hit in one line of at most 40 tokens.
func (w *answerWriter) handle(h *Hit) string {
	line := h.Name + " · " + h.Source
	for len(line) > len(h.Name) && w.count.Count(line) > handleTokens {
		cut := []rune(line)
		line = string(cut[:len(cut)*4/5]) + "…"
	}
	return line
}

func (w *answerWriter) hit(h *Hit) {
	if !w.put(w.head(h)) {
		return
	}
	last, next := 0, 0
	for _, l := range h.Lines {
		if last > 0 && l.Number > last+1 && !w.put("   …") {
			break
		}
		mark := " "
		if l.Hit {
			mark = ">"
		}
		if !w.put(fmt.Sprintf("%5d%s %s", l.Number, mark, l.Text)) {
			next = l.Number
			break
		}
		last = l.Number
	}
	if next == 0 && last < h.Total {
		next = last + 1
	}
	w.offer(h, next)
}

// head says what a hit is and what is to be known of it.
func (w *answerWriter) head(h *Hit) string {
	var parts []string
	if w.reads {
		parts = append(parts, h.Name)
	}
	parts = append(parts, "from "+h.Source)
	parts = append(parts, h.Marks...)
	if len(h.Copies) > 0 && w.reads {
		parts = append(parts, "the same in "+strings.Join(h.Copies[:min(len(h.Copies), 3)], ", "))
	}
	return strings.Join(parts, " · ")
}

// offer says how the rest of a page is read.
func (w *answerWriter) offer(h *Hit, next int) {
	if next == 0 || !w.reads || h.Kind != HitPage {
		return
	}
	r := h.Ref
	r.Lines = quire.Range{First: next, Last: min(next+offeredLines-1, h.Total)}
	w.put(fmt.Sprintf("   (%d lines in all; next: %s %v)", h.Total, ToolName, r))
}

// offeredLines is how many lines an offer names.
const offeredLines = 200
