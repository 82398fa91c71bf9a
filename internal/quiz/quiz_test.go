package quiz

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/recording"
	"github.com/quire-agent/quire/internal/retrieve"
)

// The targets of the retrieval surface on the written questions: what is asked
// for is among the first five, its text is shown, and Chinese is found as well
// as English.
func TestWrittenQuestionsAreAnswered(t *testing.T) {
	of := 1
	if testing.Short() {
		of = 3
	}
	found, err := askWritten(t.Context(), of)
	if err != nil {
		t.Fatal(err)
	}
	scores := found.Shares()[wayQuire]
	for _, name := range []string{"english", "chinese", "mixed"} {
		s := scores[name]
		if s.Asked < 200/of || s.At5 < 0.95 || s.Text == nil || *s.Text < 0.93 {
			t.Errorf("%s: %+v", name, s)
		}
	}
	for _, name := range []string{"chinese, other words", "mixed, other words"} {
		if ours, plain := scores[name], found.Shares()[wayPlain][name]; ours.Asked < 200/of || ours.At5 < plain.At5 || of == 1 && ours.At5 == plain.At5 {
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
	sum := Scores{}
	sum.add("way", "kind", scoreOf(1).shows(true))
	sum.add("way", "kind", scoreOf(4).shows(false))
	sum.add("way", "kind", scoreOf(0).shows(false))
	sum.add("way", "other", scoreOf(7))
	twice := Scores{}
	twice.Add(sum)
	twice.Add(sum)
	for name, r := range map[string]Scores{"once": sum, "twice": twice} {
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
	keys := keysIn(quoted)
	slices.Sort(keys)
	if got := withoutQuotes("first line\n"+quoted+"\nlast line", keys); got != "first line\nlast line" {
		t.Errorf("left %q", got)
	}
}

// A need is asked for when its page was quoted long ago and is not among the
// newest results; the question is what was said before.
func TestQuestions(t *testing.T) {
	const text = "retry the upload with exponential backoff after three seconds"
	log := &script{}
	log.user("look at upload.go").round("Read", map[string]string{"file_path": "upload.go"}, text+"\nand nothing else here")
	for range 45 {
		log.round("Bash", map[string]string{"command": "go test"}, "all of the tests have passed again today")
	}
	log.round("Read", map[string]string{"file_path": "retry.go"}, "empty")
	log.user("now document the backoff").round("Write", map[string]string{"file_path": "notes.md", "content": text}, "written")
	s := log.load(t)
	asked, err := recorded{s}.questions()
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
	found, err := Ask(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if got := found.Shares()[wayQuire]["full"]; got.Asked == 0 || got.At5 != 1 {
		t.Errorf("found %+v", got)
	}
}

func TestNothingIsAskedSoon(t *testing.T) {
	const text = "retry the upload with exponential backoff after three seconds"
	log := &script{}
	log.user("look").round("Read", map[string]string{"file_path": "upload.go"}, text).round("Write", map[string]string{"file_path": "notes.md", "content": text}, "written")
	if asked, err := (recorded{log.load(t)}).questions(); err != nil || len(asked) != 0 {
		t.Errorf("asked %v, %v", asked, err)
	}
}

// What stands among the newest results, or came after the oldest of them, is in the
// prompt and is not asked for: neither those results nor what was written between.
func TestThePromptIsNotAskedFor(t *testing.T) {
	log := &script{}
	log.user("go on")
	for i := range 30 {
		log.round("Write", map[string]string{"file_path": fmt.Sprint("f", i), "content": fmt.Sprint("some text of file number ", i)}, "written")
	}
	s := recorded{log.load(t)}
	call := int32(len(s.Calls) - 1)
	in := s.inPrompt(call)
	results := 0
	for _, ref := range in {
		if !s.newest(ref.Page, call) {
			t.Errorf("%v is in the prompt and not among the newest", ref)
		}
		if s.Pages[ref.Page-1].Kind == quire.PageTool {
			results++
		}
	}
	if results != newestResults || len(in) <= newestResults || s.newest(1, call) {
		t.Errorf("%d results of %d pages in the prompt", results, len(in))
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
	keys := keysIn(need)
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
	keys := keysIn(text)
	slices.Sort(keys)
	h := &holders{map[uint64][]quire.PageNumber{}}
	for _, k := range keys {
		h.wanted[k] = nil
	}
	h.add(3, "before\n"+text+"\nafter\n"+text)
	h.add(5, "retry the upload with exponential backoff, but nothing else")
	got := h.answers(&recording.Need{Page: 9, Shingles: keys})
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
