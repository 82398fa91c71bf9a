package retrieve

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/quire"
	"pgregory.net/rapid"
)

// edit makes a row one of an edit of a file.
func edit(target string, outcome quire.Outcome) func(*quire.Row) {
	return func(r *quire.Row) {
		r.Kind, r.Action, r.Tool, r.Target, r.Outcome = quire.PageWritten, quire.ActionEdit, "edit", target, outcome
	}
}

// A reverted edit never stands above what replaced it, however well its words
// fit, unless what failed is asked for.
func TestRevertedEditsStandBelowWhatReplacedThem(t *testing.T) {
	s := newShelf()
	s.put(t, 1, 1, "retry retry retry client backoff backoff client", edit("client.go", quire.OutcomeReverted))
	s.put(t, 1, 2, strings.Repeat("a long page about other things of the transport layer\n", 40)+"one client", edit("client.go", quire.OutcomeOK))
	s.put(t, 1, 3, "unrelated words about a client", nil)
	got := names(s.search(t, Query{Text: "retry client backoff"}))
	if slices.Index(got, "s1/p1") < slices.Index(got, "s1/p2") {
		t.Errorf("found %v", got)
	}
	if got := names(s.search(t, Query{Text: "retry client backoff", Failed: true})); got[0] != "s1/p1" {
		t.Errorf("with failures wanted found %v", got)
	}
}

// Whatever the pages and their outcomes: behind an edit that was taken back no
// later one of the same file that holds.
func TestNoRevertedEditAboveALaterOne(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s := newShelf()
		n := rapid.IntRange(2, 8).Draw(r, "pages")
		rows := map[string]quire.Row{}
		for i := 1; i <= n; i++ {
			text := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"retry", "client", "backoff", "socket"}), 1, 30).Draw(r, "text"), " ")
			outcome := rapid.SampledFrom([]quire.Outcome{quire.OutcomeOK, quire.OutcomeReverted, quire.OutcomeAbandoned}).Draw(r, "outcome")
			s.put(t, 1, i, fmt.Sprint(text, " ", i), edit(rapid.SampledFrom([]string{"a.go", "b.go"}).Draw(r, "path"), outcome))
			rows[s.rows[i-1].Ref().String()] = s.rows[i-1]
		}
		hits := s.search(t, Query{Text: "retry client"})
		for i := range hits {
			for j := i + 1; j < len(hits); j++ {
				a, b := rows[hits[i].Name], rows[hits[j].Name]
				if gone(a.Outcome) && !gone(b.Outcome) && a.Target == b.Target && b.Number > a.Number {
					r.Fatalf("%s, %s, stands above %s: %v", hits[i].Name, a.Outcome, hits[j].Name, names(hits))
				}
			}
		}
	})
}

// A short query that names a path or what a source defines is about it: nothing
// that only talks of it comes first. The others still follow.
func TestExactNamesComeBeforeEverythingElse(t *testing.T) {
	s := newShelf()
	source := func(target string) func(*quire.Row) {
		return func(r *quire.Row) {
			r.Action, r.Tool, r.Target, r.Class = quire.ActionRead, "read", target, quire.ClassSource
		}
	}
	s.put(t, 1, 1, strings.Repeat("parseAddress in address/parse.go fails, see address/parse.go\n", 5), nil)
	s.put(t, 1, 2, "func parseAddress(line string) Address {\n"+strings.Repeat("\treturn split(line)\n", 60)+"}", source("/app/address/parse.go"))
	s.put(t, 1, 3, "x := parseAddress(line)", source("/app/main.go"))
	for _, q := range []string{"parseAddress", "where is parseAddress defined", "address/parse.go", "what does parse.go do"} {
		hits := s.search(t, Query{Text: q, Explain: true})
		if len(hits) < 2 || hits[0].Name != "s1/p2" {
			t.Errorf("%q finds %v", q, names(hits))
			continue
		}
		if !slices.ContainsFunc(hits[0].Why, func(r Reason) bool { return strings.Contains(r.String(), "stands before what is not") && r.Adds == 0 }) {
			t.Errorf("%q is explained by %v", q, hits[0].Why)
		}
	}
}

// What the query quotes of several pages is shown of each of them.
func TestQuotedLinesAreShownOfEveryPage(t *testing.T) {
	s := newShelf()
	filler := strings.Repeat("the retry of the client and the socket of the server\n", 200)
	first, second := "increase the shared backoff limit before every third attempt", "close idle sockets once the janitor has counted them twice"
	s.put(t, 1, 1, filler+first+"\n"+filler, nil)
	s.put(t, 1, 2, strings.ReplaceAll(filler, "the", "a")+second+"\n"+filler, nil)
	hits := s.search(t, Query{Text: "retry of the client\n" + first + "\n" + second, Budget: 300})
	text := ""
	shown := 0
	for _, h := range hits {
		shown += h.Shown
		for _, l := range h.Lines {
			text += l.Text + "\n"
		}
	}
	if !strings.Contains(text, first) || !strings.Contains(text, second) || shown > 300 {
		t.Errorf("%d tokens shown:\n%s", shown, text)
	}
}

func TestQuotedPartsOfLongLinesAreShown(t *testing.T) {
	quoted := "increase the shared backoff limit before every third attempt"
	s := newShelf()
	s.put(t, 1, 1, strings.Repeat("A sentence about backoff and attempt. ", 80)+quoted+". "+strings.Repeat("Another one says nothing. ", 80), nil)
	got := s.search(t, Query{Text: "why " + quoted})[0].Lines[0].Text
	if !strings.Contains(got, quoted) || len(got) > quotedLine+maxLine {
		t.Errorf("shown %q", got)
	}
}

// A word is found under another one that means the same, behind the word itself,
// in either language; a long text is taken at its word.
func TestWordsThatMeanTheSame(t *testing.T) {
	s := newShelf()
	s.put(t, 1, 1, "the cache of the session store", nil)
	s.put(t, 1, 2, "会话的缓存没有清空", nil)
	s.put(t, 1, 3, "something else entirely", nil)
	for query, want := range map[string][]string{"cache": {"s1/p1", "s1/p2"}, "缓存": {"s1/p2", "s1/p1"}} {
		if got := names(s.search(t, Query{Text: query})); !slices.Equal(got, want) {
			t.Errorf("%q finds %v, want %v", query, got, want)
		}
	}
	if got := names(s.search(t, Query{Text: "cache " + strings.Repeat("word ", fewForeign)})); !slices.Equal(got, []string{"s1/p1"}) {
		t.Errorf("a long text finds %v", got)
	}
}
