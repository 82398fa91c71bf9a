package rendition

import (
	"fmt"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/quire"
)

func benchLog(lines int) string {
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "2026-03-04 10:%02d:%02d INFO request %d of user %d was served in %d ms\n", i/60%60, i%60, i, i%97, i*7%50)
	}
	return b.String()
}

func benchCode(functions int) string {
	var b strings.Builder
	b.WriteString("package a\n\n")
	for i := range functions {
		fmt.Fprintf(&b, "// Open%d opens.\nfunc Open%d(name string) error {\n\tif name == \"\" {\n\t\treturn errEmpty\n\t}\n\treturn nil\n}\n\n", i, i)
	}
	return b.String()
}

// BenchmarkExcerpt makes excerpts of 5,000 lines, and of 100,000, at 2,000 tokens.
func BenchmarkExcerpt(b *testing.B) {
	m := maker()
	for _, c := range []struct {
		name string
		s    Source
	}{{"log", page(quire.ClassLog, benchLog(5000))}, {"log100k", page(quire.ClassLog, benchLog(100_000))}, {"source", page(quire.ClassSource, benchCode(625))}, {"json", page(quire.ClassJSON, "["+strings.Repeat(`{"id":1,"name":"user"},`, 15_000)+"{}]")}} {
		if c.name == "source" {
			c.s.Page.Target = "a.go"
		}
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.s.Text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, ok := m.Excerpt(c.s, Want{Query: "user 42 served Open17 name"}, 8000); !ok {
					b.Fatal("no excerpt")
				}
			}
		})
	}
}

// BenchmarkFold makes cards of 5,000 pages of the sizes that sessions have: the
// design wants at most 50 ms.
func BenchmarkFold(b *testing.B) {
	m := maker()
	pages := foldPages(5000)
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for i := range pages {
			n += len(m.Card(pages[i]))
		}
		if n == 0 {
			b.Fatal("no cards")
		}
	}
}

// BenchmarkHandles makes handles of 5,000 pages.
func BenchmarkHandles(b *testing.B) {
	m := maker()
	pages := foldPages(5000)
	for b.Loop() {
		for i := range pages {
			if m.Handle(pages[i]) == "" {
				b.Fatal("no handle")
			}
		}
	}
}

// foldPages are user messages, answers, reads, commands, test runs and searches of
// about 3 KB in the mean.
func foldPages(n int) []Source {
	log, code := benchLog(60), benchCode(40)
	tests := strings.Repeat("--- PASS: TestFine (0.00s)\n", 60) + "--- FAIL: TestOpen (0.00s)\n    a_test.go:3: no\nFAIL\n"
	make := func(i int) Source {
		switch i % 6 {
		case 0:
			return Source{Text: fmt.Sprintf("Please look at number %d.\nIt is slow.", i), Page: quire.Page{Kind: quire.PageUser}}
		case 1:
			return Source{Text: "I looked at it.\n\n" + strings.Repeat("It is done. ", 20), Page: quire.Page{Kind: quire.PageAssistant}}
		case 2:
			return classed(quire.ClassSource, tool(quire.ActionRead, fmt.Sprintf("internal/part%d/open.go", i), code))
		case 3:
			return classed(quire.ClassLog, tool(quire.ActionRun, "make all", log))
		case 4:
			return classed(quire.ClassTest, tool(quire.ActionRun, "go test ./...", tests))
		}
		return classed(quire.ClassSearch, tool(quire.ActionSearch, "name in src", strings.Repeat("src/a.go:12:\tname := 1\n", 40)))
	}
	out := []Source{}
	for i := range n {
		s := make(i)
		s.Page.Number, s.Page.Bytes, s.Page.Tokens = quire.PageNumber(i+1), len(s.Text), len(s.Text)/4
		out = append(out, s)
	}
	return out
}

func BenchmarkSpans(b *testing.B) {
	s := page(quire.ClassSource, benchCode(625))
	s.Page.Target = "a.go"
	for b.Loop() {
		Spans(s)
	}
}
