package ledger

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// labelled are the sentences of a file in testdata.
func labelled(t testing.TB, file string) (texts []string, rules []bool) {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		mark, text, ok := strings.Cut(s.Text(), " ")
		if ok && (mark == "+" || mark == "-") {
			texts = append(texts, strings.ReplaceAll(text, `\n`, "\n"))
			rules = append(rules, mark == "+")
		}
	}
	return texts, rules
}

// The labels are what a person would say, and were set before the rules were
// written; how well the rules did on sentences that they were not written on stands
// in the second file.
func TestConstraintsRecall(t *testing.T) {
	for file, sentences := range map[string]int{"constraints.txt": 300, "constraints-unseen.txt": 320} {
		t.Run(file, func(t *testing.T) { checkRecall(t, file, sentences) })
	}
}

func checkRecall(t *testing.T, file string, sentences int) {
	texts, rules := labelled(t, file)
	var hit, missed, wrong int
	for i, text := range texts {
		switch found := len(Constraints(text)) > 0; {
		case found && rules[i]:
			hit++
		case rules[i]:
			missed++
			t.Logf("missed: %q", text)
		case found:
			wrong++
			t.Logf("taken for a rule: %q", text)
		}
	}
	recall, precision := float64(hit)/float64(hit+missed), float64(hit)/float64(hit+wrong)
	t.Logf("%d sentences: recall %.3f, precision %.3f", len(texts), recall, precision)
	if len(texts) != sentences || recall < .95 || precision < .9 {
		t.Errorf("%d sentences: recall %.3f, precision %.3f", len(texts), recall, precision)
	}
}

// What is looked for first, because it is cheap, loses nothing: every text that an
// expression matches has one of its needles, and every expression has some.
func TestNeedlesLoseNothing(t *testing.T) {
	for _, r := range rules() {
		if shortest(r.needles) == 0 {
			t.Fatalf("%v has no needles", r.word)
		}
		matched := rapid.StringMatching(r.word.String())
		rapid.Check(t, func(t *rapid.T) {
			text := matched.Draw(t, "text")
			if found := strings.ToLower(r.word.FindString(text)); found != "" && !holdsAny(found, r.needles) && !strings.ContainsAny(found, "ſ\u212a") {
				t.Fatalf("%q has none of %q", found, r.needles)
			}
		})
	}
}
