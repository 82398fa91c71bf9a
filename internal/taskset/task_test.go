package taskset

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func all(t *testing.T) []*Task {
	t.Helper()
	list, err := All()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestSet holds what the set is to have: languages, distances, words.
func TestSet(t *testing.T) {
	list := all(t)
	if len(list) != 30 {
		t.Errorf("there are %d tasks", len(list))
	}
	langs, near, ten, hundred, away, chinese := map[string]int{}, 0, 0, 0, 0, 0
	for _, x := range list {
		langs[x.Lang]++
		switch {
		case x.Far <= 2:
			near++
		case x.Far < 100:
			ten++
		default:
			hundred++
		}
		if x.Away {
			away++
		}
		if x.Words == "zh" {
			chinese++
		}
	}
	for _, l := range []string{"Go", "Python", "JavaScript", "shell", "docs"} {
		if langs[l] < 5 {
			t.Errorf("%d tasks are in %s", langs[l], l)
		}
	}
	if near > 6 || near < 3 || ten < 10 || hundred < 6 || away < 5 || chinese < 4 {
		t.Errorf("near %d, tens %d, a hundred and more %d, behind another task %d, Chinese %d", near, ten, hundred, away, chinese)
	}
}

// TestFactsAreMade holds that other seeds make other facts, and that a fact is
// neither in the script nor in the last question.
func TestFactsAreMade(t *testing.T) {
	for _, x := range all(t) {
		for _, f := range x.facts {
			one, two := f.value(x.Name, 1), f.value(x.Name, 2)
			if one == two || one != f.value(x.Name, 1) {
				t.Errorf("%s: the fact %s is %s, then %s", x.Name, f.name, one, two)
			}
		}
		var last string
		for _, l := range x.With(1).Talk() {
			if l.Say != "" {
				last = l.Say
			}
		}
		for _, f := range x.facts {
			if strings.Contains(last, f.value(x.Name, 1)) {
				t.Errorf("%s: the last question says %s", x.Name, f.name)
			}
		}
	}
}

// TestLaysOut holds that equal seeds lay out the same bytes, and others do not.
func TestLaysOut(t *testing.T) {
	list := all(t)
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SampledFrom(slices.DeleteFunc(slices.Clone(list), func(x *Task) bool { return x.Far >= 40 })).Draw(t, "task")
		a, b := rapid.Uint64().Draw(t, "seed"), rapid.Uint64().Draw(t, "other")
		prints := map[[32]byte]int{}
		for _, seed := range []uint64{a, a, b} {
			n++
			in := x.With(seed)
			at := fmt.Sprintf("%s/%d", dir, n)
			if err := in.LayOut(at); err != nil {
				t.Fatal(err)
			}
			print, err := in.Fingerprint(at)
			if err != nil {
				t.Fatal(err)
			}
			prints[print]++
		}
		if want := map[bool]int{true: 1, false: 2}[a == b]; len(prints) != want {
			t.Errorf("%s: seeds %d, %d and %d lay out %d projects", x.Name, a, a, b, len(prints))
		}
	})
}

const least = `title Look it up
lang shell
far 1
check sh check.sh
fact WORD word
fill notes/%d.md 2 3

-- talk --
say The word is {{WORD}}.\nMind it.
pause 5m
remove notes/1.md
say Write it down.

-- script --
turn always
 say yes

-- project/a/b.txt --
{{filler 2}}
-- check/check.sh --
grep -q {{WORD}} word.txt
`

func TestParse(t *testing.T) {
	x, err := Parse("least", least)
	if err != nil {
		t.Fatal(err)
	}
	talk := x.With(3).Talk()
	word := x.facts[0].value("least", 3)
	if len(talk) != 4 || talk[0].Say != "The word is "+word+".\nMind it." || talk[1].Pause.Minutes() != 5 || talk[2].Remove != "notes/1.md" {
		t.Errorf("the talk is %+v", talk)
	}
	for change, want := range map[string]string{
		"title Look it up>":                     "title, lang and check",
		"far 1>far 0":                           "line 3: \"0\" is no number",
		"lang shell>tongue shell":               "line 2: \"tongue\"",
		"WORD word>WORD name":                   "line 5: a fact has a name",
		"fill notes/%d.md>fill notes/a.md":      "line 6: fill wants",
		"fill notes/%d.md>fill ../%d.md":        "line 6: fill wants",
		"notes/%d.md 2 3>notes/%d.md 2 x":       "no number",
		"far 1>words fr":                        "en or zh",
		"say Write it down.>say Write {{WORD}}": "the last question holds a fact",
		"pause 5m>pause -5m":                    "line 10: \"-5m\" is no time",
		"pause 5m>wait 5m":                      "neither say nor pause",
		"pause 5m>pause":                        "nothing behind it",
		"remove notes/1.md>remove /etc/hosts":   "neither say nor pause",
		" say yes> shout yes":                   "line 16: \"shout\"",
		" say yes> say {{WORD}}":                "the script names a fact",
		"-- talk -->-- words --":                "neither talk nor script",
		"-- project/a/b.txt -->-- project/ --":  "no path of a file",
		"grep -q {{WORD}}>grep -q word":         "not both told and checked",
		"{{filler 2}}>{{filler x}}":             "names no fact",
		"{{filler 2}}>{{OTHER}}":                "names no fact",
		"fact WORD word>":                       "a fact are needed",
	} {
		from, to, _ := strings.Cut(change, ">")
		if !strings.Contains(least, from) {
			t.Fatalf("%q is not there", from)
		}
		_, err := Parse("least", strings.Replace(least, from, to, 1))
		if e, ok := errors.AsType[*Error](err); !ok || !strings.Contains(err.Error(), want) || e.Task != "least" {
			t.Errorf("with %q: %v, want %q", change, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(least)
	f.Add("title a\nlang b\ncheck c\n-- talk --\nsay {{X}}\n-- script --\nturn\n say x\n")
	f.Add("-- project/x --\n-- -- --\n--  --\n")
	f.Fuzz(func(t *testing.T, text string) {
		x, err := Parse("fuzz", text)
		if err != nil {
			if _, ok := errors.AsType[*Error](err); !ok {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		for _, l := range x.With(1).Talk() {
			if l.Say == "" && l.Pause <= 0 && l.Remove == "" {
				t.Fatalf("an empty line of the talk in %q", text)
			}
		}
		for _, p := range append(slices.Clone(x.project), x.checks...) {
			if !local(p.name) {
				t.Fatalf("%q leaves its folder", p.name)
			}
		}
	})
}
