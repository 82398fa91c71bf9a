package retrieve

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/index"
	"github.com/quire-agent/quire/internal/quire"
)

const me = quire.Principal("user:me")

func expect(t testing.TB, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A shelf is a page table, texts and an index in memory.
type shelf struct {
	rows  []quire.Row
	texts map[quire.PageRef]string
	index *index.Index
}

func newShelf() *shelf {
	m := &index.Memory{}
	return &shelf{texts: map[quire.PageRef]string{}, index: index.New(m, m)}
}

// put adds a page; edit may change its row before it is indexed.
func (s *shelf) put(t testing.TB, session, page int, text string, edit func(*quire.Row)) {
	t.Helper()
	r := quire.Row{
		Page: quire.Page{
			Number: quire.PageNumber(page), Kind: quire.PageTool, Class: quire.ClassLog, Tool: "bash", Action: quire.ActionRun,
			Body: quire.Sum(text), Bytes: len(text), Tokens: len(text)/3 + 1, Call: page,
		},
		Session: quire.SessionNumber(session), Outcome: quire.OutcomeUnknown, Owner: me, Scope: quire.ScopeSession,
	}
	if edit != nil {
		edit(&r)
	}
	d, ok := NewDocument(&r, "app", text, "")
	if !ok {
		t.Fatalf("%v is no document", r.Ref())
	}
	if err := s.index.Add(t.Context(), []index.Document{d}); err != nil {
		t.Fatal(err)
	}
	s.rows, s.texts[r.Ref()] = append(s.rows, r), text
}

func (s *shelf) Rows(_ context.Context, as quire.Reader, f quire.Filter) iter.Seq2[quire.Row, error] {
	return func(yield func(quire.Row, error) bool) {
		for _, r := range s.rows {
			if r.Session == f.Session && slices.Contains(f.Pages, r.Number) && as.Sees(&r, "app") && !yield(r, nil) {
				return
			}
		}
	}
}

func (s *shelf) Text(_ context.Context, r *quire.Row) (string, error) { return s.texts[r.Ref()], nil }

func (s *shelf) surface() *Surface {
	var all Surface
	all.Register(&Pages{Index: s.index, Table: s, Texts: s})
	return &all
}

func (s *shelf) search(t testing.TB, q Query) []Hit {
	t.Helper()
	if q.Reader.Who == "" {
		q.Reader.Who = me
	}
	hits, err := s.surface().Search(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	return hits
}

func names(hits []Hit) (out []string) {
	for _, h := range hits {
		out = append(out, h.Name)
	}
	return out
}

func TestNamedPagesComeFirst(t *testing.T) {
	s := newShelf()
	s.put(t, 1, 1, "one two three\nfour", nil)
	s.put(t, 1, 2, "the parser the parser the parser", nil)
	s.put(t, 2, 3, "other\nlines\nhere\nand more", nil)
	hits := s.search(t, Query{Text: "parser, see s2/p3#L2-L3 and p1", Reader: quire.Reader{Who: me, Session: 1}})
	expect(t, names(hits), "s2/p3", "s1/p1", "s1/p2")
	if got := fmt.Sprint(hits[0].Lines); got != "[{2 lines true} {3 here true}]" {
		t.Errorf("lines %s", got)
	}
}

func TestPathsComeFirst(t *testing.T) {
	s := newShelf()
	s.put(t, 1, 1, "discussing server.go and server.go again, and server.go once more", nil)
	s.put(t, 1, 2, "package main", func(r *quire.Row) { r.Action, r.Tool, r.Target = quire.ActionRead, "read", "/app/cmd/server.go" })
	expect(t, names(s.search(t, Query{Text: "cmd/server.go"}))[:1], "s1/p2")
	expect(t, names(s.search(t, Query{Text: "what is in Server.go?"}))[:1], "s1/p2")
}

func TestNewVersionsComeBeforeOldOnes(t *testing.T) {
	s := newShelf()
	s.put(t, 1, 1, "timeout timeout timeout of the client is three seconds", func(r *quire.Row) { r.By = 2 })
	s.put(t, 1, 2, "timeout of the client is five seconds or a little more than that", func(r *quire.Row) { r.Replace = []quire.PageNumber{1} })
	hits := s.search(t, Query{Text: "timeout"})
	expect(t, names(hits), "s1/p2", "s1/p1")
	if !strings.Contains(hits[1].Source, "superseded by p2") {
		t.Errorf("source %q", hits[1].Source)
	}
}

func TestOutcomes(t *testing.T) {
	s := newShelf()
	s.put(t, 1, 1, "retry retry with backoff in the client, first attempt", func(r *quire.Row) { r.Outcome = quire.OutcomeReverted })
	s.put(t, 1, 2, "retry with jitter in the client", nil)
	expect(t, names(s.search(t, Query{Text: "retry client"})), "s1/p2", "s1/p1")
	for _, q := range []Query{{Text: "retry client reverted"}, {Text: "retry client", Failed: true}, {Text: "retry client 失败"}} {
		if got := names(s.search(t, q)); got[0] != "s1/p1" {
			t.Errorf("%+v gives %v: what was taken back was asked for", q, got)
		}
	}
	if hits := s.search(t, Query{Text: "retry client"}); !slices.Equal(hits[1].Marks, []string{"reverted later"}) {
		t.Errorf("marks %v", hits[1].Marks)
	}
}

func TestSessionTaskAndAge(t *testing.T) {
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	s := newShelf()
	s.put(t, 1, 1, "cache layout alpha", func(r *quire.Row) { r.At = now.AddDate(0, -2, 0) })
	s.put(t, 2, 1, "cache layout beta", func(r *quire.Row) { r.At = now })
	s.put(t, 3, 1, "cache layout gamma", func(r *quire.Row) { r.At, r.Tasks = now.AddDate(0, -2, 0), []string{"caching"} })
	expect(t, names(s.search(t, Query{Text: "cache layout", Now: now})), "s2/p1", "s3/p1", "s1/p1")
	expect(t, names(s.search(t, Query{Text: "cache layout", Now: now, Task: "caching", Reader: quire.Reader{Who: me, Session: 1}})), "s3/p1", "s2/p1", "s1/p1")
	expect(t, names(s.search(t, Query{Text: "cache layout", Push: true, Reader: quire.Reader{Who: me, Session: 1}})), "s1/p1")
}

func TestOtherSessionsAreWithinThePullRadiusOnly(t *testing.T) {
	s := newShelf()
	s.put(t, 1, 1, "rounding of cents", nil)
	s.put(t, 2, 1, "rounding of taxes", nil)
	s.put(t, 3, 1, "rounding of prices", func(r *quire.Row) { r.Scope = quire.ScopeProject })
	as := quire.Reader{Who: me, Session: 1}
	if got := names(s.search(t, Query{Text: "rounding", Reader: as})); len(got) != 3 {
		t.Errorf("pull finds %v", got)
	}
	got := names(s.search(t, Query{Text: "rounding", Reader: as, Push: true}))
	slices.Sort(got)
	expect(t, got, "s1/p1", "s3/p1")
}

// A page of another owner is not found, and a name that somebody guesses opens
// nothing.
func TestForeignPagesDoNotExist(t *testing.T) {
	s := newShelf()
	s.put(t, 1, 1, "secret plan", func(r *quire.Row) { r.Owner = "user:other" })
	s.put(t, 1, 2, "my plan", nil)
	expect(t, names(s.search(t, Query{Text: "plan s1/p1"})), "s1/p2")
	expect(t, names(s.search(t, Query{Text: "plan", Reader: quire.Reader{Who: me, Space: []quire.PageRef{}}})))
}

func TestCopiesAreOneHit(t *testing.T) {
	s := newShelf()
	body := "alpha line of text\nbeta line of text\ngamma line of text"
	s.put(t, 1, 1, body, nil)
	s.put(t, 1, 2, body, nil)
	s.put(t, 1, 3, "     1\talpha line of text\n     2\tbeta line of text\n     3\tgamma line of text\n     4\tand some more", nil)
	hits := s.search(t, Query{Text: "alpha beta gamma"})
	if len(hits) != 1 || len(hits[0].Copies) != 2 {
		t.Errorf("hits %v, copies %v", names(hits), hits[0].Copies)
	}
}

func TestScoresAreExplained(t *testing.T) {
	s := newShelf()
	s.put(t, 1, 1, "panic in the scheduler", func(r *quire.Row) { r.By = 9 })
	h := s.search(t, Query{Text: "scheduler panic", Explain: true, Reader: quire.Reader{Who: me, Session: 1}})[0]
	score := 0.0
	for _, w := range h.Why {
		if w.Factor != 0 {
			score *= w.Factor
		} else {
			score += w.Adds
		}
	}
	if diff := score - h.Score; diff > 1e-6 || diff < -1e-6 || len(h.Why) < 4 {
		t.Errorf("the reasons %v make %v, the score is %v", h.Why, score, h.Score)
	}
}

func TestPagesInThePromptAreNotFound(t *testing.T) {
	s := newShelf()
	s.put(t, 1, 1, "lexer", nil)
	s.put(t, 1, 2, "lexer", func(r *quire.Row) { r.Body = quire.Hash{1} })
	expect(t, names(s.search(t, Query{Text: "lexer", Except: []quire.PageRef{{Session: 1, Page: 2}}})), "s1/p1")
}

func TestWindows(t *testing.T) {
	var b strings.Builder
	for i := range 400 {
		fmt.Fprintf(&b, "line %d of a long log\n", i+1)
		if i == 250 {
			b.WriteString("panic: index out of range in resolveHost\n")
		}
	}
	s := newShelf()
	s.put(t, 1, 1, b.String(), nil)
	h := s.search(t, Query{Text: "resolveHost panic", Budget: 200})[0]
	if h.Total != 401 || h.Shown > 200 || !slices.ContainsFunc(h.Lines, func(l Line) bool { return l.Number == 252 && l.Hit }) {
		t.Errorf("%d of %d lines, %d tokens: %v", len(h.Lines), h.Total, h.Shown, h.Lines)
	}
}

func TestLongLinesAreCutBetweenSentences(t *testing.T) {
	line := strings.Repeat("这一句和问题没有关系。", 60) + "登录接口在高峰期超时。" + strings.Repeat("后面的话也没有关系；", 60)
	s := newShelf()
	s.put(t, 1, 1, line, nil)
	got := s.search(t, Query{Text: "登录接口超时"})[0].Lines[0].Text
	if !strings.Contains(got, "。登录接口在高峰期超时。") || len(got) > maxLine+20 || !strings.HasPrefix(got, "… 这一句") {
		t.Errorf("shown %q", got)
	}
}

func TestSurfaceJoinsCarriers(t *testing.T) {
	s := newShelf()
	s.put(t, 1, 1, "deploy to staging", nil)
	all := s.surface()
	all.Register(fixed{{Carrier: "skills", Kind: HitSkill, Name: "deploy", Source: "skill deploy"}, {Carrier: "skills", Kind: HitSkill, Name: "rollback"}})
	hits, err := all.Search(context.Background(), Query{Text: "deploy", Reader: quire.Reader{Who: me}, Limit: 2})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, names(hits), "s1/p1", "deploy")
}

type fixed []Hit

func (fixed) Name() string                                   { return "skills" }
func (f fixed) Search(context.Context, Query) ([]Hit, error) { return f, nil }

// perByte counts a token for three bytes.
type perByte struct{}

func (perByte) Count(text string) int { return (len(text) + 2) / 3 }

func (s *shelf) answer(t testing.TB, q Query, quota Quota) Answer {
	t.Helper()
	if q.Reader.Who == "" {
		q.Reader.Who = me
	}
	a, err := s.surface().Answer(context.Background(), q, quota, perByte{})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

const longLines = 600

func longShelf(t testing.TB) *shelf {
	s := newShelf()
	for p := range 8 {
		var b strings.Builder
		for i := range longLines {
			fmt.Fprintf(&b, "page %d has a line %d about walruses and %x\n", p, i, i*i*7919+p)
		}
		s.put(t, 1, p+1, b.String(), nil)
	}
	return s
}

func TestAnswersKeepTheirQuota(t *testing.T) {
	s := longShelf(t)
	for _, limit := range []int{0, 200, 1000, 4000} {
		for _, text := range []string{"walruses", "p3", "p3#L100-L500", "nothing like it"} {
			a := s.answer(t, Query{Text: text, Reader: quire.Reader{Who: me, Session: 1}}, Quota{Tokens: limit, Reads: true})
			if most := max(limit, answerTokens*boolean(limit == 0)); a.Tokens > most {
				t.Errorf("%q takes %d of %d tokens", text, a.Tokens, most)
			}
			if Unframed(a.Text) != "" {
				t.Errorf("%q: the answer is not framed", text)
			}
		}
	}
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Every line of a page is reached by following the offers.
func TestOffersLeadThroughAPage(t *testing.T) {
	s := longShelf(t)
	seen, next := map[int]bool{}, "p2"
	for range 60 {
		a := s.answer(t, Query{Text: next, Reader: quire.Reader{Who: me, Session: 1}}, Quota{Reads: true})
		for _, l := range strings.Split(a.Text, "\n") {
			n := 0
			if _, err := fmt.Sscanf(l, "%d>", &n); err == nil {
				seen[n] = true
			}
		}
		_, offer, ok := strings.Cut(a.Text, "next: recall ")
		if !ok {
			break
		}
		next, _, _ = strings.Cut(offer, ")")
	}
	if len(seen) != longLines {
		t.Errorf("saw %d of %d lines; the last offer was %s", len(seen), longLines, next)
	}
}

func TestOnlyHandlesAfterThreeAnswersInARow(t *testing.T) {
	s := longShelf(t)
	q := Query{Text: "walruses"}
	if a := s.answer(t, q, Quota{InRow: 2, Reads: true}); a.Handles || !strings.Contains(a.Text, "about walruses") {
		t.Errorf("the third answer: %.300s", a.Text)
	}
	for _, quota := range []Quota{{InRow: 3, Reads: true}, {Spent: true, Reads: true}} {
		a := s.answer(t, q, quota)
		if !a.Handles || strings.Contains(a.Text, "about walruses") || !strings.Contains(a.Text, "s1/p8") {
			t.Errorf("%+v: %.300s", quota, a.Text)
		}
	}
}

// No handle and no offer goes to a reader that cannot read pages back (failures
// A37).
func TestA37NoHandleWithoutAReader(t *testing.T) {
	s := longShelf(t)
	for _, quota := range []Quota{{}, {InRow: 3}, {Spent: true}} {
		a := s.answer(t, Query{Text: "walruses"}, quota)
		if strings.Contains(a.Text, "s1/p") || strings.Contains(a.Text, "next:") {
			t.Errorf("%+v names a page: %.300s", quota, a.Text)
		}
	}
}
