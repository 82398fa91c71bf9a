package arch

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A pattern is text that no tracked file may hold, unless it continues a word: a
// form begins with a literal, which is found fast, and the byte before it decides.
type pattern struct {
	what string
	form *regexp.Regexp
}

func patterns(what string, forms ...string) []pattern {
	var list []pattern
	for _, form := range forms {
		list = append(list, pattern{what, regexp.MustCompile(form)})
	}
	return list
}

// find gives the places of the pattern in a text, in bytes.
func (p pattern) find(text string) [][]int {
	return slices.DeleteFunc(p.form.FindAllStringIndex(text, -1), func(at []int) bool {
		return at[0] > 0 && continues(text[at[0]-1])
	})
}

func continues(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || strings.IndexByte("_.~-", b) >= 0
}

// checkSecrets looks for what has the form of a key or token, in fixtures above
// all: recorded sessions are where they slip in.
func checkSecrets(t *tree) []finding {
	return t.search(func(string) bool { return true }, patterns("looks like a secret: a fixture is written by hand, with made-up text",
		`sk-(ant-|proj-)?[A-Za-z0-9_-]{20,}`,
		`AKIA[0-9A-Z]{16}\b`,
		`AIza[0-9A-Za-z_-]{35}`,
		`gh[pousr]_[A-Za-z0-9]{36}`,
		`github_pat_[A-Za-z0-9_]{40,}`,
		`xox[abprs]-[A-Za-z0-9-]{10,}`,
		`-----BEGIN [A-Z ]*PRIVATE KEY-----`,
		`[Bb]earer [A-Za-z0-9._~+/-]{24,}`,
		`eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}`,
	))
}

// checkPlaces looks for folders of a certain machine and for hosts of package
// registries: the repository is the same wherever it stands. Fixtures and tests
// may use made-up home folders.
func checkPlaces(t *tree) []finding {
	const machine = "a folder of one machine"
	found := t.search(func(string) bool { return true }, append(
		patterns(machine, `/[w]ork/`, `/[t]mp/`, `/[r]oot/`, `/[v]ar/folders/`),
		patterns("a host of a package registry; name the package, not where it comes from",
			`proxy\.golang\.org`, `sum\.golang\.org`, `registry\.npmjs\.org`, `pypi\.org`, `deb\.debian\.org`, `goproxy\.(io|cn)`)...))
	return append(found, t.search(notFixture, patterns(machine, `/home/[A-Za-z]`, `/Users/[A-Za-z]`))...)
}

func notFixture(name string) bool {
	return !strings.HasSuffix(name, "_test.go") && !strings.Contains("/"+name, "/testdata/") && !strings.HasPrefix(name, "examples/")
}

// search looks through the text files that are wanted. A line is reported once.
func (t *tree) search(wanted func(string) bool, forbidden []pattern) []finding {
	var found []finding
	for _, f := range t.files {
		if !wanted(f.path) || path.Base(f.path) == "go.sum" || !utf8.ValidString(f.text) {
			continue
		}
		reported := map[int]bool{}
		for _, p := range forbidden {
			for _, at := range p.find(f.text) {
				line := 1 + strings.Count(f.text[:at[0]], "\n")
				if !reported[line] {
					reported[line] = true
					found = append(found, finding{f.path + ":" + strconv.Itoa(line), p.what + ": " + f.text[at[0]:at[1]]})
				}
			}
		}
	}
	return found
}
