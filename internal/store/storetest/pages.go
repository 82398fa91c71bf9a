package storetest

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/quire"
)

const (
	ann = quire.Principal("user:ann")
	bob = quire.Principal("user:bob")
)

// fullRow has every field set.
func fullRow() quire.Row {
	return quire.Row{
		Page: quire.Page{
			Number: 7, Kind: quire.PageTool, Class: quire.ClassTest, Tool: "shell", Action: quire.ActionRun,
			Target: "go test ./… \xff\x00 不要", Lines: quire.Range{First: 3, Last: 40},
			Body: quire.Sum("body"), Bytes: 1 << 40, Tokens: 12, Call: 3,
		},
		ID: "01J00000000000000000000000", Session: 5,
		At:   time.Date(2026, 2, 3, 4, 5, 6, 789, time.FixedZone("", 3600)),
		Args: quire.Sum("args"), Version: quire.Sum("version"), Tasks: []string{"t1", "", "\xfft"},
		LastRef: 9, Refs: 4, Heat: 1.7320508075688772,
		Pin: quire.Pin{By: "user:ann", Until: 50}, Dropped: "user:ann",
		Replace: []quire.PageNumber{1, 2, 2147483647}, By: 8,
		From:    []quire.PageRef{{Session: 2, Page: 3, Lines: quire.Range{First: 1, Last: 2}}, {Page: 4}},
		Answers: 6, Stale: []quire.Range{{First: 4, Last: 4}, {First: 10, Last: 20}},
		Outcome: quire.OutcomeReverted,
		Owner:   ann, ACL: []quire.Principal{bob, "team:core"}, Scope: quire.ScopeProject,
	}
}

func fullSession() quire.SessionRow {
	return quire.SessionRow{
		SessionInfo: quire.SessionInfo{
			ID: "abc", Agent: quire.AgentCodex, Project: "/src/ann/quire \xfe", Version: "1.2", Branch: "main", Model: "m",
			Window: 200_000, Parent: "p", Started: time.Date(2026, 2, 3, 4, 5, 6, 7, time.UTC),
		},
		Number: 5, ULID: "01J00000000000000000000001", Owner: ann, Source: "/src/ann/log.jsonl",
		Pages: 1, Calls: 2, Tokens: 3, Bytes: 4,
		Usage:   quire.Usage{Input: 1, CacheRead: 2, CacheWrite: 3, CacheWrite1h: 4, Output: 5, Reasoning: 6, Known: quire.KnownInput | quire.OutputAtStart},
		Updated: "2026-02-03T04:05:06Z",
	}
}

// row is a plain row of a session of ann's.
func row(session quire.SessionNumber, page quire.PageNumber) quire.Row {
	return quire.Row{
		Page:    quire.Page{Number: page, Kind: quire.PageUser, Class: quire.ClassProse, Body: quire.Sum(fmt.Sprint(session, page))},
		Session: session, Outcome: quire.OutcomeUnknown, Owner: ann, Scope: quire.ScopeSession,
	}
}

func asAnn() quire.Reader { return quire.Reader{Who: ann} }

// testRowFields holds that the fixtures leave no field unset, so that a field that
// is added later is tested too, and that all of them come back.
func testRowFields(t *testing.T, s Store) {
	ctx := context.Background()
	wantAllSet(t, reflect.ValueOf(fullRow()), "Row")
	wantAllSet(t, reflect.ValueOf(fullSession()), "SessionRow")
	must(t, s.PutSession(ctx, fullSession()))
	empty := quire.Row{Page: quire.Page{Number: 1}, Session: 1, Owner: ann, Tasks: []string{}}
	far := quire.Row{Page: quire.Page{Number: 2147483647}, Session: 2147483647, Owner: ann, At: time.Unix(1<<40, 1)}
	must(t, s.PutRows(ctx, []quire.Row{fullRow(), empty, far}))
	want := []quire.Row{empty, fullRow(), far}
	want[0].Tasks = nil
	for i, got := range all(t, s.Rows(ctx, asAnn(), quire.Filter{})) {
		if !got.At.Equal(want[i].At) || got.At.Location() != time.UTC {
			t.Errorf("time %v, want %v in UTC", got.At, want[i].At)
		}
		got.At = want[i].At
		if !reflect.DeepEqual(got, want[i]) {
			t.Errorf("a row comes back as\n%+v, want\n%+v", got, want[i])
		}
	}
	if got := all(t, s.Sessions(ctx, asAnn())); len(got) != 1 || !reflect.DeepEqual(got[0], fullSession()) {
		t.Errorf("the session comes back as\n%+v, want\n%+v", got, fullSession())
	}
}

func wantAllSet(t *testing.T, v reflect.Value, name string) {
	t.Helper()
	if v.IsZero() {
		t.Errorf("the fixture leaves %s unset", name)
	}
	if v.Kind() != reflect.Struct || v.Type() == reflect.TypeFor[time.Time]() {
		return
	}
	for i := range v.NumField() {
		wantAllSet(t, v.Field(i), name+"."+v.Type().Field(i).Name)
	}
}

func testRowsAreCopies(t *testing.T, s Store) {
	ctx := context.Background()
	mine := []quire.Row{fullRow()}
	must(t, s.PutRows(ctx, mine))
	mine[0].ACL[0], mine[0].Tasks[0], mine[0].Target = "user:eve", "changed", "changed"
	got := all(t, s.Rows(ctx, asAnn(), quire.Filter{}))
	if !slices.Equal(got[0].ACL, fullRow().ACL) || got[0].Tasks[0] != "t1" || got[0].Target != fullRow().Target {
		t.Errorf("what was put has changed with the caller's: %+v", got[0])
	}
	got[0].ACL[0], got[0].Stale[0].First = "user:eve", 99
	if again := all(t, s.Rows(ctx, asAnn(), quire.Filter{})); again[0].ACL[0] != bob || again[0].Stale[0].First != 4 {
		t.Errorf("what is stored has changed with the reader's: %+v", again[0])
	}
}

func testRowOrder(t *testing.T, s Store) {
	ctx := context.Background()
	must(t, s.PutRows(ctx, []quire.Row{row(2, 10), row(10, 1), row(2, 9)}))
	must(t, s.PutRows(ctx, []quire.Row{row(1, 3), row(2, 2)}))
	wantRefs(t, "all rows", all(t, s.Rows(ctx, asAnn(), quire.Filter{})), "s1/p3", "s2/p2", "s2/p9", "s2/p10", "s10/p1")
	for range s.Rows(ctx, asAnn(), quire.Filter{}) {
		break
	}
}

func testRowsReplaced(t *testing.T, s Store) {
	ctx := context.Background()
	must(t, s.PutRows(ctx, []quire.Row{fullRow()}))
	newer, newest := fullRow(), row(5, 7)
	newer.Refs, newest.Target = 99, "other"
	must(t, s.PutRows(ctx, []quire.Row{newer, newest}))
	got := all(t, s.Rows(ctx, asAnn(), quire.Filter{}))
	if len(got) != 1 || !reflect.DeepEqual(got[0], newest) {
		t.Errorf("rows %+v, want only the last put", got)
	}
	if old := all(t, s.Rows(ctx, asAnn(), quire.Filter{Target: fullRow().Target})); len(old) != 0 {
		t.Errorf("the row that was replaced is found by its target: %v", refs(old))
	}
}

func testRowWithoutName(t *testing.T, s Store) {
	ctx := context.Background()
	for _, bad := range []quire.Row{row(0, 1), row(1, 0), row(-1, 1), row(1, -1)} {
		if err := s.PutRows(ctx, []quire.Row{row(1, 1), bad}); err == nil {
			t.Errorf("row %s was taken", bad.Ref())
		}
	}
	if got := all(t, s.Rows(ctx, asAnn(), quire.Filter{})); len(got) != 0 {
		t.Errorf("a part of what was refused is there: %v", refs(got))
	}
	if err := s.PutSession(ctx, quire.SessionRow{Owner: ann}); err == nil {
		t.Error("a session without a number was taken")
	}
}

func testFilters(t *testing.T, s Store) {
	ctx := context.Background()
	file := func(session quire.SessionNumber, page quire.PageNumber, target string) quire.Row {
		r := row(session, page)
		r.Kind, r.Class, r.Target = quire.PageTool, quire.ClassSource, target
		return r
	}
	must(t, s.PutRows(ctx, []quire.Row{row(1, 1), file(1, 2, "a.go"), file(1, 3, "b.go"), row(2, 1), file(2, 2, "a.go"), file(3, 2, "A.go")}))
	for _, c := range []struct {
		name   string
		filter quire.Filter
		want   []string
	}{
		{"session", quire.Filter{Session: 2}, []string{"s2/p1", "s2/p2"}},
		{"no such session", quire.Filter{Session: 9}, nil},
		{"pages", quire.Filter{Session: 1, Pages: []quire.PageNumber{3, 1, 3, 77}}, []string{"s1/p1", "s1/p3"}},
		{"no pages", quire.Filter{Session: 1, Pages: []quire.PageNumber{}}, nil},
		{"kind", quire.Filter{Kind: quire.PageUser}, []string{"s1/p1", "s2/p1"}},
		{"class", quire.Filter{Class: quire.ClassSource, Session: 1}, []string{"s1/p2", "s1/p3"}},
		{"target", quire.Filter{Target: "a.go"}, []string{"s1/p2", "s2/p2"}},
		{"all of them", quire.Filter{Session: 1, Pages: []quire.PageNumber{1, 2}, Kind: quire.PageTool, Class: quire.ClassSource, Target: "a.go", Limit: 5}, []string{"s1/p2"}},
		{"limit", quire.Filter{Limit: 3}, []string{"s1/p1", "s1/p2", "s1/p3"}},
		{"limit of matches", quire.Filter{Kind: quire.PageUser, Limit: 2}, []string{"s1/p1", "s2/p1"}},
	} {
		wantRefs(t, c.name, all(t, s.Rows(ctx, asAnn(), c.filter)), c.want...)
	}
	if _, err := collect(s.Rows(ctx, asAnn(), quire.Filter{Pages: []quire.PageNumber{1}})); err == nil {
		t.Error("pages without their session were looked for")
	}
}

// testRowsWithinRows: a sequence being read holds up nothing, and does not see
// what is put meanwhile.
func testRowsWithinRows(t *testing.T, s Store) {
	ctx := context.Background()
	must(t, s.PutRows(ctx, []quire.Row{row(1, 1), row(1, 2)}))
	seen := 0
	for outer, err := range s.Rows(ctx, asAnn(), quire.Filter{}) {
		must(t, err)
		seen++
		must(t, s.PutRows(ctx, []quire.Row{row(1, outer.Number+10)}))
		if inner := all(t, s.Rows(ctx, asAnn(), quire.Filter{})); len(inner) != 2+seen {
			t.Errorf("%d rows within, want %d", len(inner), 2+seen)
		}
	}
	if seen != 2 {
		t.Errorf("%d rows, want the two of the beginning", seen)
	}
}

func testManyRows(t *testing.T, s Store) {
	if testing.Short() {
		t.Skip("100,000 rows")
	}
	ctx := context.Background()
	const n = 100_000
	rows := make([]quire.Row, n)
	for i := range rows {
		rows[i] = row(quire.SessionNumber(1+i/1000), quire.PageNumber(1+i%1000))
		rows[i].Target = fmt.Sprint("file", i/10, ".go")
	}
	must(t, s.PutRows(ctx, rows))
	count := 0
	for r, err := range s.Rows(ctx, asAnn(), quire.Filter{}) {
		must(t, err)
		if r.Ref() != rows[count].Ref() {
			t.Fatalf("row %d is %s", count, r.Ref())
		}
		count++
	}
	if count != n {
		t.Errorf("%d rows, want %d", count, n)
	}
	wantRefs(t, "by target", all(t, s.Rows(ctx, asAnn(), quire.Filter{Target: "file5000.go", Limit: 2})), "s51/p1", "s51/p2")
	everything := quire.Reader{Who: ann, Space: make([]quire.PageRef, n)}
	for i := range rows {
		everything.Space[i] = rows[i].Ref()
	}
	if got := all(t, s.Rows(ctx, everything, quire.Filter{})); len(got) != n {
		t.Errorf("%d rows in an address space of all, want %d", len(got), n)
	}
}

func testSessions(t *testing.T, s Store) {
	ctx := context.Background()
	for _, n := range []quire.SessionNumber{10, 2, 3} {
		must(t, s.PutSession(ctx, quire.SessionRow{Number: n, Owner: ann}))
	}
	must(t, s.PutSession(ctx, quire.SessionRow{Number: 4, Owner: bob}))
	must(t, s.PutSession(ctx, quire.SessionRow{Number: 3, Owner: ann, Pages: 7}))
	got := all(t, s.Sessions(ctx, asAnn()))
	want := []quire.SessionRow{{Number: 2, Owner: ann}, {Number: 3, Owner: ann, Pages: 7}, {Number: 10, Owner: ann}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("sessions %+v, want %+v", got, want)
	}
	for range s.Sessions(ctx, asAnn()) {
		break
	}
}

func testDropSession(t *testing.T, s Store) {
	ctx := context.Background()
	for n := range quire.SessionNumber(3) {
		must(t, s.PutSession(ctx, quire.SessionRow{Number: n + 1, Owner: ann}))
		must(t, s.PutRows(ctx, []quire.Row{row(n+1, 1), row(n+1, 2147483647)}))
	}
	must(t, s.DropSession(ctx, 2))
	must(t, s.DropSession(ctx, 99))
	wantRefs(t, "rows", all(t, s.Rows(ctx, asAnn(), quire.Filter{})), "s1/p1", "s1/p2147483647", "s3/p1", "s3/p2147483647")
	if got := all(t, s.Sessions(ctx, asAnn())); len(got) != 2 {
		t.Errorf("sessions %+v, want two", got)
	}
}
