package rendition

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/quire-agent/quire/internal/quire"
)

// seeds are texts that break makers that are not careful.
func seeds(f *testing.F) {
	for _, text := range []string{
		"", "\n", "\r\n", "a", "\xff\xfe", "a\xffb\n\xff\n",
		strings.Repeat("line\n", 40) + "--- FAIL: TestA (0.00s)\n    a_test.go:1: no\n" + strings.Repeat("line\r\n", 40),
		"\x1b[31mred\x1b[0m\rover\rlast\n" + strings.Repeat("same\n", 30),
		`{"a":[` + strings.Repeat(`{"id":1,"name":"a \"b\" c"},`, 60) + `{}]}`,
		strings.Repeat("这是一句很长的话，没有空格。", 80) + "\n" + strings.Repeat("x", 3000),
		"diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n a\n-b\n+c\n" + strings.Repeat(" ctx\n", 90),
		"    1→package a\n    2→\n    3→func f() {\n    4→\tg()\n    5→}\n" + strings.Repeat("    6→// x\n", 50),
		strings.Repeat("…[1 byte of L1]…\n… L1-L2\n", 20),
		strings.Repeat("\x1b]0;title", 40), strings.Repeat(" 12% [==>  ]\n", 30) + "100% [====]\n",
	} {
		for class := range 12 {
			f.Add(text, "failing Open 一句", byte(class), uint16(300), uint8(3), uint8(9))
		}
	}
}

func FuzzExcerpt(f *testing.F) {
	seeds(f)
	m := maker()
	f.Fuzz(func(t *testing.T, text, query string, class byte, budget uint16, first, length uint8) {
		s := page(quire.Class(class%12), text)
		s.Page.Action = []quire.Action{quire.ActionNone, quire.ActionRun, quire.ActionRead}[class%3]
		s.Page.Target = []string{"", "a.go", "a.py"}[class%3]
		w := Want{Query: query, Lines: []quire.Range{{First: int(first), Last: int(first) + int(length)}}, Around: int(class % 5)}
		c, ok := m.Excerpt(s, w, int(budget))
		check(t, s, c, ok, int(budget))
		c, ok = m.HeadTail(s, int(budget))
		check(t, s, c, ok, int(budget))
		c, ok = m.Ranges(s, w.Lines)
		check(t, s, c, ok, len(text))
		c, ok = m.Normalise(s)
		check(t, s, c, ok, len(text))
	})
}

func check(t *testing.T, s Source, c Cut, ok bool, limit int) {
	t.Helper()
	if !ok {
		return
	}
	checkCut(t, s, c, limit)
	if !marked(s.Text) {
		checkLines(t, s, c)
	}
}

func FuzzSpans(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text, _ string, class byte, _ uint16, _, _ uint8) {
		s := page(quire.Class(class%12), text)
		next := 1
		for _, r := range Spans(s) {
			if r.First != next || r.Last < r.First || r.Last-r.First >= spanMax {
				t.Fatalf("span %v where line %d is next", r, next)
			}
			next = r.Last + 1
		}
		if lines := lineCount(text); next != lines+1 {
			t.Fatalf("spans end at line %d of %d", next-1, lines)
		}
	})
}

func FuzzCards(f *testing.F) {
	seeds(f)
	m := maker()
	f.Fuzz(func(t *testing.T, text, target string, class byte, _ uint16, kind, action uint8) {
		actions := []quire.Action{"", quire.ActionRead, quire.ActionWrite, quire.ActionEdit, quire.ActionRun, quire.ActionSearch, quire.ActionList, quire.ActionFetch, quire.ActionTask, quire.ActionPlan}
		s := page(quire.Class(class%12), text)
		s.Page.Kind, s.Page.Action, s.Page.Target = quire.PageKind(kind%9), actions[int(action)%len(actions)], target
		s.Seen = text
		card, handle := m.Card(s), m.Handle(s)
		if !utf8.ValidString(card) || !utf8.ValidString(handle) {
			t.Fatalf("not UTF-8: %q, %q", card, handle)
		}
		if len(card) > 3000 || strings.ContainsAny(card, "\x1b\x00") {
			t.Fatalf("card of %d bytes: %q", len(card), card)
		}
		if len(handle) > 6*MaxHandle || strings.Contains(handle, "\n") {
			t.Fatalf("handle of %d bytes: %q", len(handle), handle)
		}
	})
}
