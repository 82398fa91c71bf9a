package retrieve

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/quire-agent/quire/internal/index"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/term"
)

// A Query is a question to the surface.
type Query struct {
	Text   string
	Reader quire.Reader    // who asks, and the address space
	Call   int             // call of the reader's session at which it is asked; 0: none
	Now    time.Time       // when it is asked; zero: age does not count
	Task   string          // the task at hand, "" for none
	Except []quire.PageRef // pages that stand in the prompt in full: nobody needs to find those
	Failed bool            // what failed or was taken back ranks like everything else
	Push   bool            // the radius of push: this session and shared scopes only
	Limit  int             // hits wanted; 0: 10
	Budget int             // tokens for the lines of all hits together; 0: 2,000

	Explain bool // hits say how their scores came about
}

const (
	defaultHits   = 10
	defaultBudget = 2_000
)

func (q *Query) limit() int {
	if q.Limit > 0 {
		return q.Limit
	}
	return defaultHits
}

func (q *Query) budget() int {
	if q.Budget > 0 {
		return q.Budget
	}
	return defaultBudget
}

// A wish is what a query's text asks for.
type wish struct {
	text   string
	terms  []index.Term
	refs   []quire.PageRef
	own    int      // how many of terms are of the text itself, see [wish.widen]
	words  int      // in the text, whatever they are
	paths  []string // in lower case
	names  []string // identifiers with parts, in lower case
	failed bool
}

// Weights of the terms of a query, by kind. A whole says more than its parts,
// which find it where it was written in another way; a single CJK character
// says little beside the pair that holds it.
func termWeight(k term.Kind) float64 {
	switch k {
	case term.Part:
		return 0.5
	case term.Single:
		return 0.15
	default:
		return 1
	}
}

// maxQueryTerms bounds the different terms of a query that are looked up. A
// longer one is a text that was pasted: its first terms stand for it.
const maxQueryTerms = 256

func parseWish(text string) wish {
	w := wish{text: text, refs: pageRefs(text), words: len(strings.Fields(text))}
	at := map[string]int{}
	alone := map[string]float64{}
	term.Scan(text, func(word []byte, kind term.Kind) {
		w.failed = w.failed || asksForFailure(string(word))
		if kind == term.Whole {
			w.compound(string(word))
		}
		i, ok := at[string(word)]
		if !ok {
			if len(w.terms) == maxQueryTerms {
				return
			}
			i = len(w.terms)
			at[string(word)] = i
			w.terms = append(w.terms, index.Term{Text: string(word)})
		}
		w.terms[i].Weight = max(w.terms[i].Weight, termWeight(kind))
		alone[string(word)]++
	})
	for i := range w.terms {
		t := &w.terms[i]
		t.Weight *= 1 + math.Log(alone[t.Text])/2
		if len(w.terms) == 1 {
			t.Weight = 1
		}
	}
	w.own = len(w.terms)
	w.widen()
	return w
}

// compound notes a path or the name of something in code.
func (w *wish) compound(word string) {
	if isPath(word) {
		w.paths = append(w.paths, word)
	} else {
		w.names = append(w.names, word)
	}
}

// definedBy is the name of the query that a source text defines, "" for none or
// where the query has more than a few words.
func (w *wish) definedBy(class quire.Class, text string) string {
	if len(w.names) == 0 || w.words > fewWords {
		return ""
	}
	for _, name := range definitions(class, text) {
		if n := slices.Index(w.names, termOf(name)); n >= 0 {
			return w.names[n]
		}
	}
	return ""
}

// termOf is the term of a whole identifier.
func termOf(name string) (out string) {
	term.Scan(name, func(word []byte, _ term.Kind) {
		if out == "" {
			out = string(word)
		}
	})
	return out
}

// isPath reports whether a compound is a path or a file's name: it has a slash,
// or a dot and a short ending of letters.
func isPath(term string) bool {
	if strings.Contains(term, "/") {
		return true
	}
	dot := strings.LastIndexByte(term, '.')
	ending := term[dot+1:]
	return dot > 0 && len(ending) <= 5 && strings.Trim(ending, "abcdefghijklmnopqrstuvwxyz") == ""
}

// pageRefs lists the page references in a text.
func pageRefs(text string) (out []quire.PageRef) {
	for word := range strings.FieldsSeq(text) {
		if r, err := quire.ParsePageRef(strings.Trim(word, "().,;:!?\"'`[]，。；：！？（）")); err == nil {
			out = append(out, r)
		}
	}
	return out
}

// asksForFailure reports whether a term says that what went wrong is wanted.
func asksForFailure(term string) bool {
	switch term {
	case "error", "errors", "fail", "fails", "failed", "failing", "failure", "failures", "panic", "crash", "crashed",
		"reverted", "revert", "abandoned", "broken", "wrong", "exception", "错误", "报错", "失败", "崩溃", "回滚", "撤销", "异常":
		return true
	}
	return false
}
