package retrieve

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/quire-agent/quire/internal/index"
	"github.com/quire-agent/quire/internal/quire"
)

// The factors of the rules. They were fitted by `quire eval recall`.
const (
	aboutPath    = 2    // the page is about a path that a long query names
	superseded   = 0.6  // another page took its place
	failed       = 0.7  // an attempt that failed
	takenBack    = 0.4  // an attempt that was reverted or abandoned
	sameSession  = 1.15 // the session at hand
	sameProject  = 1.1  // another session of the project at hand
	sameTask     = 1.2  // the task at hand
	freshness    = 0.2  // what a page of this moment gets on top
	freshCalls   = 100  // calls after which half of that is left
	freshDays    = 7    // the same for other sessions, in days
	constantText = 0.8  // text that a machine put into the user's role
	claimed      = 0.6  // what the model said: a claim stands behind its sources
	receipt      = 0.7  // what a tool says after it wrote or noted a plan: the text is a page of its own
	nearFloor    = 0.4  // words of the query scattered over the page
	nearShare    = 0.6  // what is added where all stand together
)

// order scores what was found by the rules and puts the best first; of equals
// the newer one.
func order(q *Query, w *wish, found []index.Candidate, rows map[quire.PageRef]*ranked) []*ranked {
	list := make([]*ranked, 0, len(rows))
	seen := map[quire.PageRef]bool{}
	for _, c := range found {
		r := rows[c.Ref]
		if r == nil {
			continue
		}
		r.base, r.holds, r.defines = c.Score, c.Holds, c.Defines
		r.judge(q, w)
		if r.row.Session != q.Reader.Session && c.Project != "" && c.Project == q.Reader.Project {
			r.rule("this project", sameProject)
		}
		seen[c.Ref] = true
		list = append(list, r)
	}
	for ref, r := range rows {
		if !seen[ref] && r.score > 0 {
			list = append(list, r)
		}
	}
	slices.SortFunc(list, compare)
	return list
}

// compare puts what is named before everything else, then the higher score.
func compare(a, b *ranked) int {
	return cmp.Or(exactly(a, b), cmp.Compare(b.score, a.score), cmp.Compare(b.row.Session, a.row.Session), cmp.Compare(b.row.Number, a.row.Number))
}

// exactly puts pages that the query is about by an exact name before others,
// whatever those score.
func exactly(a, b *ranked) int {
	if a.exact == b.exact {
		return 0
	}
	if a.exact {
		return -1
	}
	return 1
}

// judge applies the rules to the score of the index.
func (r *ranked) judge(q *Query, w *wish) {
	if r.score < byName {
		r.score = r.base
	}
	r.named(w)
	rule := r.rule
	if r.row.By > 0 {
		rule("superseded by "+r.row.By.String(), superseded)
	}
	if !q.Failed && !w.failed {
		rule("outcome "+string(r.row.Outcome), outcomeFactor(r.row.Outcome))
	}
	switch {
	case r.row.Kind == quire.PageMachine:
		rule("machine-made text", constantText)
	case r.row.Kind == quire.PageAssistant:
		rule("said by the model", claimed)
	case r.row.Kind == quire.PageTool:
		rule("answer to a "+string(r.row.Action), answered(r.row.Action))
	}
	if r.row.Session == q.Reader.Session {
		rule("this session", sameSession)
	}
	if q.Task != "" && slices.Contains(r.row.Tasks, q.Task) {
		rule("this task", sameTask)
	}
	rule("age", r.fresh(q))
}

// named favours a page about a path that the query names: before all others in
// a query of few words, which asks for it, and by a factor in a longer one,
// which mentions it.
func (r *ranked) named(w *wish) {
	about := slices.IndexFunc(w.paths, func(p string) bool { return samePath(p, r.row.Target) })
	switch {
	case about < 0:
	case w.words <= fewWords:
		r.first("is about " + w.paths[about])
	default:
		r.rule("is about "+w.paths[about], aboutPath)
	}
}

// fewWords is how many words a query has at most that is about what it names.
const fewWords = 16

// first puts the page before all that are not named exactly.
func (r *ranked) first(why string) {
	r.exact = true
	r.why = append(r.why, Reason{What: why + ", so it stands before what is not"})
}

// rule multiplies the score.
func (r *ranked) rule(what string, factor float64) {
	if factor != 1 {
		r.score *= factor
		r.why = append(r.why, Reason{What: what, Factor: factor})
	}
}

// answered says what the answer to a call is worth as a source.
func answered(a quire.Action) float64 {
	switch a {
	case quire.ActionWrite, quire.ActionEdit, quire.ActionPlan:
		return receipt
	default:
		return 1
	}
}

func outcomeFactor(o quire.Outcome) float64 {
	switch o {
	case quire.OutcomeError:
		return failed
	case quire.OutcomeReverted, quire.OutcomeAbandoned:
		return takenBack
	default:
		return 1
	}
}

// fresh favours what is new, by calls in this session and by days elsewhere.
func (r *ranked) fresh(q *Query) float64 {
	if r.row.Session == q.Reader.Session && q.Call > 0 {
		return 1 + freshness*math.Exp2(-float64(max(q.Call-r.row.Call, 0))/freshCalls)
	}
	if q.Now.IsZero() || r.row.At.IsZero() {
		return 1
	}
	days := max(q.Now.Sub(r.row.At), 0).Hours() / 24
	return 1 + freshness*math.Exp2(-days/freshDays)
}

// samePath reports whether two paths are the same as far as the shorter one
// goes, by whole elements and without regard to case.
func samePath(a, b string) bool {
	b = strings.TrimPrefix(strings.ToLower(b), "./")
	a, b = strings.Trim(a, "/"), strings.Trim(b, "/")
	if len(a) > len(b) {
		a, b = b, a
	}
	return a != "" && (a == b || strings.HasSuffix(b, "/"+a))
}

// newestFirst moves a page directly behind the one that took its place, where
// it stands before it and was not named. An attempt that was taken back stands
// behind every later page about the same thing that was not: one of those is
// what replaced it. Where what failed is asked for, that does not hold.
func newestFirst(list []shown, failed bool) []shown {
	at := make(map[quire.PageRef]int, len(list))
	for i, r := range list {
		at[r.row.Ref()] = i
	}
	behind := map[int][]int{}
	moved := make([]bool, len(list))
	for i, r := range list {
		if r.score >= byName {
			continue
		}
		j, ok := at[quire.PageRef{Session: r.row.Session, Page: r.row.By}]
		if !ok || r.row.By == 0 {
			j = -1
		}
		if !failed {
			j = max(j, replacedIn(list, i))
		}
		if j > i {
			behind[j] = append(behind[j], i)
			moved[i] = true
		}
	}
	out := make([]shown, 0, len(list))
	var place func(i int)
	place = func(i int) {
		out = append(out, list[i])
		for _, k := range behind[i] {
			place(k)
		}
	}
	for i := range list {
		if !moved[i] {
			place(i)
		}
	}
	return out
}

// replacedIn is the place of the last page that may have replaced an attempt
// that was taken back, -1 for none.
func replacedIn(list []shown, i int) int {
	old := &list[i].row
	if !gone(old.Outcome) || old.Target == "" {
		return -1
	}
	for j := len(list) - 1; j > i; j-- {
		r := &list[j].row
		if r.Session == old.Session && r.Number > old.Number && r.Target == old.Target && !gone(r.Outcome) {
			return j
		}
	}
	return -1
}

// gone reports whether an outcome says that what was done does not hold.
func gone(o quire.Outcome) bool {
	return o == quire.OutcomeReverted || o == quire.OutcomeAbandoned
}
