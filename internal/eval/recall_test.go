package eval

import (
	"slices"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/retrieve"
)

// The targets of the retrieval surface on the written questions: what is asked
// for is among the first five, its text is shown, and Chinese is found as well
// as English.
func TestWrittenQuestionsAreAnswered(t *testing.T) {
	found, err := RecallWritten(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	scores := found.Shares()[wayQuire]
	for _, name := range []string{"english", "chinese", "mixed"} {
		s := scores[name]
		if s.Asked < 200 || s.At5 < 0.95 || s.Text == nil || *s.Text < 0.93 {
			t.Errorf("%s: %+v", name, s)
		}
	}
	for _, name := range []string{"chinese, other words", "mixed, other words"} {
		if ours, plain := scores[name], found.Shares()[wayPlain][name]; ours.Asked < 200 || ours.At5 <= plain.At5 {
			t.Errorf("%s: %+v, plain BM25 %+v", name, ours, plain)
		}
	}
	if scores["chinese"].At5 < scores["english"].At5-0.03 {
		t.Errorf("Chinese %v, English %v", scores["chinese"].At5, scores["english"].At5)
	}
}

func TestWrittenPages(t *testing.T) {
	g, err := writtenGrammar()
	if err != nil {
		t.Fatal(err)
	}
	for _, set := range writtenSets() {
		pages := set.pages(g)
		if len(pages) < 300 {
			t.Errorf("%s has %d pages", set.name, len(pages))
		}
		texts, questions := map[string]bool{}, map[string]bool{}
		for _, w := range pages {
			if texts[w.text] || w.question != "" && questions[w.question] {
				t.Errorf("%s: two pages or questions are equal: %s %s", set.name, w.text, w.question)
			}
			texts[w.text], questions[w.question] = true, true
		}
	}
}

func TestGrammarErrorsNameTheLine(t *testing.T) {
	if _, err := parseGrammar("# comment\n\npart | a"); err == nil || !strings.Contains(err.Error(), "line 3") {
		t.Errorf("error %v", err)
	}
	if err := (grammar{}).withParaphrases("part | a | b\n\npart | c"); err == nil || !strings.Contains(err.Error(), "line 3") {
		t.Errorf("error %v", err)
	}
	if err := (grammar{}).withParaphrases("part | a | b"); err == nil || !strings.Contains(err.Error(), "1 paraphrases of 0") {
		t.Errorf("error %v", err)
	}
}

func TestRecallScoresAddUp(t *testing.T) {
	sum := Recall{}
	sum.add("way", "kind", recallScore(1).shows(true))
	sum.add("way", "kind", recallScore(4).shows(false))
	sum.add("way", "kind", recallScore(0).shows(false))
	sum.add("way", "other", recallScore(7))
	twice := Recall{}
	twice.Add(sum)
	twice.Add(sum)
	for name, r := range map[string]Recall{"once": sum, "twice": twice} {
		s := r.Shares()["way"]["kind"]
		if s.Asked%3 != 0 || s.At1 != 1.0/3 || s.At5 != 2.0/3 || s.At10 != 2.0/3 || *s.Text != 1.0/3 || s.Rank != (1+0.25)/3 {
			t.Errorf("%s: %+v", name, s)
		}
		if o := r.Shares()["way"]["other"]; o.At5 != 0 || o.At10 != 1 || o.Text != nil {
			t.Errorf("%s: %+v", name, o)
		}
	}
}

func TestWithoutQuotes(t *testing.T) {
	quoted := "alpha beta gamma delta epsilon zeta eta"
	keys := keysOf(quoted)
	slices.Sort(keys)
	if got := withoutQuotes("first line\n"+quoted+"\nlast line", keys); got != "first line\nlast line" {
		t.Errorf("left %q", got)
	}
}

// A need is asked for when its page was quoted long ago and is not among the
// newest results; the question is what was said before.
func TestQuestions(t *testing.T) {
	const text = "retry the upload with exponential backoff after three seconds"
	w := newScript("long", morning()).user("look at upload.go")
	w.round("Read", reading{"upload.go"}, text+"\nand nothing else here")
	for range 45 {
		w.round("Bash", running{"go test"}, "all of the tests have passed again today")
	}
	w.round("Read", reading{"retry.go"}, "empty")
	w.user("now document the backoff")
	w.round("Write", writing{"notes.md", text}, "written")
	s := build(t, newCounter(t), w)
	defer s.Close()
	asked, err := s.questions()
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]string{}
	for _, q := range asked {
		if n := s.Needs[q.needs[0]]; n.Page == 0 {
			t.Fatalf("%+v is about no page", q)
		}
		kinds[q.kind] = q.text
	}
	if !strings.Contains(kinds["user"], "document the backoff") || !strings.Contains(kinds["before"], "retry.go") || !strings.Contains(kinds["full"], "exponential") {
		t.Errorf("asked %q", kinds)
	}
	found, err := RecallSession(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if got := found.Shares()[wayQuire]["full"]; got.Asked == 0 || got.At5 != 1 {
		t.Errorf("found %+v", got)
	}
}

func TestNothingIsAskedSoon(t *testing.T) {
	const text = "retry the upload with exponential backoff after three seconds"
	w := newScript("short", morning()).user("look")
	w.round("Read", reading{"upload.go"}, text)
	w.round("Write", writing{"notes.md", text}, "written")
	s := build(t, newCounter(t), w)
	defer s.Close()
	if asked, err := s.questions(); err != nil || len(asked) != 0 {
		t.Errorf("asked %v, %v", asked, err)
	}
}

func TestIsFile(t *testing.T) {
	for _, c := range []struct {
		term, target string
		want         bool
	}{
		{"root.go", "/app/cmd/root.go", true}, {"cmd/root.go", "/app/cmd/root.go", true}, {"app/cmd/root.go", "root.go", true},
		{"oot.go", "/app/cmd/root.go", false}, {"cmd", "/app/cmd", false}, {"root.go", "", false},
	} {
		if got := isFile(c.term, c.target); got != c.want {
			t.Errorf("isFile(%q, %q) = %v", c.term, c.target, got)
		}
	}
}

func TestRankIn(t *testing.T) {
	hits := []retrieve.Hit{{Ref: quire.PageRef{Page: 1}}, {Ref: quire.PageRef{Page: 2}, Copied: []quire.PageRef{{Page: 5}}}}
	for page, want := range map[quire.PageNumber]int{1: 1, 2: 2, 5: 2, 9: 0} {
		if got := rankIn(hits, map[quire.PageNumber]bool{page: true}); got != want {
			t.Errorf("page %v has rank %d, want %d", page, got, want)
		}
	}
}

// A long question is cut to its head and what stands around the need; a short
// one stays as it is.
func TestLongQuestionsAreCutAroundTheNeed(t *testing.T) {
	need := "alpha beta gamma delta epsilon zeta eta theta"
	keys := keysOf(need)
	slices.Sort(keys)
	filler := strings.Repeat("nothing of this matters at all\n", 200)
	got := nearQuotes("Write\nnotes.md\n"+filler+need+"\n"+filler, keys)
	if !strings.HasPrefix(got, "Write\nnotes.md\n") || !strings.Contains(got, need) || len(got) > questionBytes {
		t.Errorf("%d bytes: %q", len(got), got)
	}
	if short := "Write\n" + need; nearQuotes(short, keys) != short {
		t.Errorf("cut %q", short)
	}
	if got := nearQuotes(strings.Repeat("x", 2*questionBytes), keys); len(got) < questionBytes {
		t.Errorf("one long line gives %d bytes", len(got))
	}
}

// Any page that holds the needed text answers, the one it was taken from always.
func TestPagesThatHoldTheTextAnswer(t *testing.T) {
	text := "retry the upload with exponential backoff after three seconds of waiting for it"
	keys := keysOf(text)
	slices.Sort(keys)
	h := &holders{map[uint64][]quire.PageNumber{}}
	for _, k := range keys {
		h.wanted[k] = nil
	}
	h.add(3, "before\n"+text+"\nafter\n"+text)
	h.add(5, "retry the upload with exponential backoff, but nothing else")
	got := h.answers(&Need{Page: 9, Shingles: keys})
	if len(got) != 2 || !got[9] || !got[3] {
		t.Errorf("answers %v", got)
	}
}

func TestBetter(t *testing.T) {
	for _, c := range [][3]int{{0, 0, 0}, {0, 3, 3}, {3, 0, 3}, {2, 3, 2}, {3, 2, 2}} {
		if got := better(c[0], c[1]); got != c[2] {
			t.Errorf("better(%d, %d) = %d", c[0], c[1], got)
		}
	}
}
