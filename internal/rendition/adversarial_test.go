package rendition

import (
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	pages "github.com/quire-agent/quire/internal/page"
	"github.com/quire-agent/quire/internal/quire"
)

var update = flag.Bool("update", false, "rewrite what the cases of testdata want")

// TestAdversarial makes the excerpt of each case in testdata/excerpt. A case has
// these files:
//
//	page    one setting a line: class, kind, action, target, query, budget in
//	        bytes, lines like 3-9 that were referred to, crlf
//	        "classified" says that package page must find the class
//	text    the body. "@repeat N line" stands for N lines in which {n} is the
//	        number; ␛ is the escape character, ␍ a carriage return, ␤ a line end,
//	        ␀ the byte 0, and a line that ends in \ goes on in the next without
//	        a line end.
//	shows   lines that the excerpt must have, in their order
//	hides   texts that it must not have
//	want    all of it, where that is short
//
// failures.md A38: every failing line is shown, wherever it stands in its output.
// failures.md A39: the first line says that text is missing.
// failures.md A48: cuts are between characters.
func TestAdversarial(t *testing.T) {
	files, err := filepath.Glob("testdata/excerpt/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { runCase(t, file) })
	}
}

func runCase(t *testing.T, file string) {
	a, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s, w, budget := settings(t, section(a, "page"))
	text := expand(section(a, "text"))
	if strings.Contains(section(a, "page"), "crlf") {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	s.Text, s.Page.Bytes = text, len(text)
	if got := pages.Classify(s.Page.Action, s.Page.Target, text); strings.Contains(section(a, "page"), "\nclassified\n") && got != s.Page.Class {
		t.Errorf("the class is %v", got)
	}
	c, ok := maker().Excerpt(s, w, budget)
	if !ok {
		t.Fatal("no excerpt")
	}
	checkCut(t, s, c, budget)
	if !strings.Contains(text, "…") {
		checkLines(t, s, c)
	}
	checkShown(t, a, c.Text)
	if strings.Contains(string(txtar.Format(a)), "\n-- want --\n") {
		compare(t, file, a, c.Text)
	}
}

func checkShown(t *testing.T, a *txtar.Archive, got string) {
	t.Helper()
	rest := got
	for line := range strings.Lines(section(a, "shows")) {
		line = strings.TrimSuffix(line, "\n")
		at := strings.Index(rest, line)
		if at < 0 {
			t.Errorf("does not show %q in its place; got:\n%s", line, got)
			return
		}
		rest = rest[at+len(line):]
	}
	for text := range strings.Lines(section(a, "hides")) {
		if strings.Contains(got, strings.TrimSuffix(text, "\n")) {
			t.Errorf("shows %q; got:\n%s", text, got)
		}
	}
}

func compare(t *testing.T, file string, a *txtar.Archive, got string) {
	t.Helper()
	got = strings.ReplaceAll(got, "\r", "␍")
	if !strings.HasSuffix(got, "\n") {
		got += "\n"
	}
	if got == section(a, "want") {
		return
	}
	if !*update {
		t.Errorf("got:\n%s", got)
		return
	}
	for i := range a.Files {
		if a.Files[i].Name == "want" {
			a.Files[i].Data = []byte(got)
		}
	}
	if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
		t.Fatal(err)
	}
}

func section(a *txtar.Archive, name string) string {
	for _, f := range a.Files {
		if f.Name == name {
			return strings.ReplaceAll(string(f.Data), "\r\n", "\n")
		}
	}
	return ""
}

func settings(t *testing.T, text string) (s Source, w Want, budget int) {
	t.Helper()
	s.Page = quire.Page{Number: 412, Kind: quire.PageTool}
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch key {
		case "class":
			if err := s.Page.Class.UnmarshalText([]byte(value)); err != nil {
				t.Fatal(err)
			}
		case "kind":
			if err := s.Page.Kind.UnmarshalText([]byte(value)); err != nil {
				t.Fatal(err)
			}
		case "action":
			s.Page.Action = quire.Action(value)
		case "target":
			s.Page.Target = value
		case "query":
			w.Query = value
		case "budget":
			budget = atoi(value)
		case "lines":
			first, last, _ := strings.Cut(value, "-")
			w.Lines = append(w.Lines, quire.Range{First: atoi(first), Last: atoi(last)})
		case "around":
			w.Around = atoi(value)
		case "crlf", "classified":
		default:
			t.Fatalf("unknown setting %q", key)
		}
	}
	return s, w, budget
}

func expand(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(line, "@repeat ")
		if !ok {
			b.WriteString(strings.TrimSuffix(line, "\\\n"))
			continue
		}
		n, pattern, _ := strings.Cut(rest, " ")
		pattern = strings.TrimSuffix(pattern, "\\\n")
		for i := range atoi(n) {
			b.WriteString(strings.ReplaceAll(pattern, "{n}", strconv.Itoa(i+1)))
		}
	}
	return strings.NewReplacer("␛", "\x1b", "␍", "\r", "␤", "\n", "␀", "\x00").Replace(b.String())
}
