package ledger

import (
	"bufio"
	"os"
	"strings"
	"testing"
)

// labelled are the sentences of testdata/constraints.txt.
func labelled(t testing.TB) (texts []string, rules []bool) {
	t.Helper()
	f, err := os.Open("testdata/constraints.txt")
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
// written.
func TestConstraintsRecall(t *testing.T) {
	texts, rules := labelled(t)
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
	if len(texts) != 300 || recall < .95 || precision < .9 {
		t.Errorf("%d sentences: recall %.3f, precision %.3f", len(texts), recall, precision)
	}
}

// What is looked for first, because it is cheap, loses nothing.
func TestStemsCoverAllRules(t *testing.T) {
	texts, _ := labelled(t)
	for _, text := range texts {
		for _, r := range rules() {
			if r.holds(text) && !mayState(text) {
				t.Errorf("%q is passed over, but has %v", text, r.word)
			}
		}
	}
}
