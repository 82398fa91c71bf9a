package storetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/quire-agent/quire/internal/quire"
)

// testVisibility: a page is seen by its owner, and by whom its ACL names where its
// scope reaches them.
func testVisibility(t *testing.T, s Store) {
	ctx := context.Background()
	must(t, s.PutSession(ctx, quire.SessionRow{Number: 1, Owner: ann, SessionInfo: quire.SessionInfo{Project: "quire"}}))
	shared := func(page quire.PageNumber, scope quire.Scope, acl ...quire.Principal) quire.Row {
		r := row(1, page)
		r.Scope, r.ACL = scope, acl
		return r
	}
	orphan := shared(1, quire.ScopeProject, bob)
	orphan.Session = 9 // of no session that is known, hence of no project
	must(t, s.PutRows(ctx, []quire.Row{
		shared(1, quire.ScopeSession), shared(2, quire.ScopeSession, bob), shared(3, quire.ScopeProject, bob),
		shared(4, quire.ScopeTeam, bob), shared(5, quire.ScopeTeam, "team:core"), shared(6, quire.ScopeUser, bob),
		shared(7, quire.ScopeTeam), orphan,
	}))
	own := []string{"s1/p1", "s1/p2", "s1/p3", "s1/p4", "s1/p5", "s1/p6", "s1/p7", "s9/p1"}
	for _, c := range []struct {
		name string
		as   quire.Reader
		want []string
	}{
		{"the owner", quire.Reader{Who: ann}, own},
		{"elsewhere", quire.Reader{Who: bob}, []string{"s1/p4"}},
		{"in the project", quire.Reader{Who: bob, Project: "quire"}, []string{"s1/p3", "s1/p4"}},
		{"in another project", quire.Reader{Who: bob, Project: "other"}, []string{"s1/p4"}},
		{"in the session", quire.Reader{Who: bob, Session: 1}, []string{"s1/p4"}},
		{"of the team", quire.Reader{Who: "user:eve", Teams: []quire.Principal{"team:x", "team:core"}, Project: "quire"}, []string{"s1/p5"}},
		{"a part of a name", quire.Reader{Who: "user:an", Teams: []quire.Principal{"team:cor"}}, nil},
		{"nobody", quire.Reader{}, nil},
	} {
		wantRefs(t, c.name, all(t, s.Rows(ctx, c.as, quire.Filter{})), c.want...)
	}
	if got := all(t, s.Sessions(ctx, quire.Reader{Who: bob, Project: "quire"})); len(got) != 0 {
		t.Errorf("another's session is listed: %+v", got)
	}
	wantRefs(t, "a limit counts what is seen", all(t, s.Rows(ctx, quire.Reader{Who: bob}, quire.Filter{Limit: 1})), "s1/p4")
}

func testAddressSpace(t *testing.T, s Store) {
	ctx := context.Background()
	foreign := row(1, 3)
	foreign.Owner = bob
	must(t, s.PutRows(ctx, []quire.Row{row(1, 1), row(1, 2), foreign, row(2, 1)}))
	shared := row(2, 2)
	shared.Scope = quire.ScopeProject
	must(t, s.PutRows(ctx, []quire.Row{shared}))
	as := quire.Reader{Who: ann, Space: []quire.PageRef{{Session: 1, Page: 2}}, Scopes: []quire.Scope{quire.ScopeProject}}
	wantRefs(t, "a scope", all(t, s.Rows(ctx, as, quire.Filter{})), "s1/p2", "s2/p2")
	for _, c := range []struct {
		name   string
		space  []quire.PageRef
		filter quire.Filter
		want   []string
	}{
		{"none", []quire.PageRef{}, quire.Filter{}, nil},
		{"some", []quire.PageRef{{Session: 2, Page: 1}, {Session: 1, Page: 2}, {Session: 1, Page: 2}, {Session: 7, Page: 7}}, quire.Filter{}, []string{"s1/p2", "s2/p1"}},
		{"of another owner", []quire.PageRef{{Session: 1, Page: 3}}, quire.Filter{}, nil},
		{"with a filter", []quire.PageRef{{Session: 2, Page: 1}, {Session: 1, Page: 2}}, quire.Filter{Session: 2}, []string{"s2/p1"}},
		{"filter outside it", []quire.PageRef{{Session: 2, Page: 1}}, quire.Filter{Session: 1, Pages: []quire.PageNumber{1}}, nil},
		{"without a session", []quire.PageRef{{Page: 1}}, quire.Filter{}, nil},
	} {
		as := quire.Reader{Who: ann, Space: c.space}
		wantRefs(t, c.name, all(t, s.Rows(ctx, as, c.filter)), c.want...)
	}
}

// testNothingForeign compares what is returned with what [quire.Reader.Sees] says
// of each row, for rows, readers and filters drawn at random.
func testNothingForeign(t *testing.T, s Store) {
	ctx := context.Background()
	draw := rand.New(rand.NewPCG(3, 4))
	projects := map[quire.SessionNumber]string{1: "a", 2: "b", 3: ""}
	for n, p := range projects {
		must(t, s.PutSession(ctx, quire.SessionRow{Number: n, Owner: ann, SessionInfo: quire.SessionInfo{Project: p}}))
	}
	rows := drawRows(draw)
	must(t, s.PutRows(ctx, rows))
	for range 300 {
		as, f := drawReader(draw), drawFilter(draw)
		var want []string
		for _, r := range rows {
			if as.Sees(&r, projects[r.Session]) && matches(&f, &r) && (f.Limit == 0 || len(want) < f.Limit) {
				want = append(want, r.Ref().String())
			}
		}
		wantRefs(t, fmt.Sprintf("%+v %+v", as, f), all(t, s.Rows(ctx, as, f)), want...)
	}
}

func oneOf[T any](draw *rand.Rand, list ...T) T { return list[draw.IntN(len(list))] }

func drawRows(draw *rand.Rand) []quire.Row {
	var rows []quire.Row
	for i := range 120 {
		r := row(quire.SessionNumber(1+i/40), quire.PageNumber(1+i%40))
		r.Owner = oneOf(draw, ann, bob)
		r.Scope = oneOf(draw, quire.ScopeSession, quire.ScopeProject, quire.ScopeUser, quire.ScopeTeam)
		r.ACL = oneOf(draw, nil, []quire.Principal{ann}, []quire.Principal{bob, "team:core"}, []quire.Principal{"team:core"})
		r.Kind = oneOf(draw, quire.PageUser, quire.PageTool)
		r.Target = oneOf(draw, "", "a.go", "b.go")
		rows = append(rows, r)
	}
	return rows
}

func drawReader(draw *rand.Rand) quire.Reader {
	as := quire.Reader{
		Who:     oneOf(draw, ann, bob, "user:eve"),
		Teams:   oneOf(draw, nil, []quire.Principal{"team:core"}),
		Project: oneOf(draw, "", "a", "b"),
	}
	if draw.IntN(2) == 0 {
		as.Scopes = oneOf(draw, nil, nil, []quire.Scope{quire.ScopeProject}, []quire.Scope{quire.ScopeUser, quire.ScopeTeam})
		as.Space = []quire.PageRef{}
		for range draw.IntN(20) {
			as.Space = append(as.Space, quire.PageRef{Session: quire.SessionNumber(draw.IntN(4)), Page: quire.PageNumber(draw.IntN(42))})
		}
	}
	return as
}

func drawFilter(draw *rand.Rand) quire.Filter {
	f := quire.Filter{
		Session: oneOf[quire.SessionNumber](draw, 0, 0, 1, 3),
		Kind:    oneOf(draw, 0, 0, quire.PageTool),
		Target:  oneOf(draw, "", "", "a.go"),
		Limit:   oneOf(draw, 0, 0, 1, 5),
	}
	if f.Session != 0 && draw.IntN(2) == 0 {
		f.Pages = []quire.PageNumber{3, 1, 2, 30, 31, 32, 33}
	}
	return f
}

func matches(f *quire.Filter, r *quire.Row) bool {
	return (f.Session == 0 || f.Session == r.Session) && (f.Pages == nil || slices.Contains(f.Pages, r.Number)) &&
		(f.Kind == 0 || f.Kind == r.Kind) && (f.Target == "" || f.Target == r.Target)
}
