package retrieve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/quire"
)

// A seer finds by meaning what it was told, or fails.
type seer struct {
	refs []quire.PageRef
	err  error
}

func (s seer) Nearest(context.Context, string, quire.Reader, int) ([]quire.PageRef, error) {
	return s.refs, s.err
}

func nearShelf(t *testing.T, near Nearest, notice func(error)) *Pages {
	t.Helper()
	s := newShelf()
	s.put(t, 1, 1, "the parser stops at a brace", nil)
	s.put(t, 1, 2, "parser parser and nothing else that matters here", nil)
	s.put(t, 1, 3, "an automobile", nil)
	s.put(t, 1, 4, "of somebody else", func(r *quire.Row) { r.Owner = "user:bob" })
	return &Pages{Index: s.index, Table: s, Texts: s, Near: near, Notice: notice}
}

func TestMeaningIsFusedWithWords(t *testing.T) {
	at := func(pages ...quire.PageNumber) (refs []quire.PageRef) {
		for _, p := range pages {
			refs = append(refs, quire.PageRef{Session: 1, Page: p})
		}
		return refs
	}
	for _, c := range []struct {
		name   string
		near   []quire.PageRef
		except []quire.PageRef
		query  string
		want   []string
	}{
		{"near in both", at(2), nil, "parser brace", []string{"s1/p2", "s1/p1"}},
		{"by meaning alone", at(1, 3), nil, "parser brace", []string{"s1/p1", "s1/p3", "s1/p2"}},
		{"nothing by words", at(3), nil, "vehicle", []string{"s1/p3"}},
		{"what is named is first", at(3), nil, "s1/p2", []string{"s1/p2", "s1/p3"}},
		{"stands in the prompt", at(3), at(3), "parser brace", []string{"s1/p1", "s1/p2"}},
		{"of somebody else", at(4), nil, "vehicle", nil},
	} {
		p := nearShelf(t, seer{refs: c.near}, nil)
		hits := found(t, p, Query{Text: c.query, Reader: quire.Reader{Who: me}, Except: c.except})
		expect(t, names(hits), c.want...)
	}
}

// Where the endpoint fails, words alone find, and somebody is told.
func TestWordsAreLeftWhereMeaningFails(t *testing.T) {
	var told error
	p := nearShelf(t, seer{err: errors.New("down")}, func(err error) { told = err })
	hits := found(t, p, Query{Text: "parser brace", Reader: quire.Reader{Who: me}})
	if expect(t, names(hits), "s1/p1", "s1/p2"); told == nil {
		t.Error("nobody was told")
	}
}

// A kind has no more of an answer than its quota (design, section 8).
func TestKindsKeepTheirQuota(t *testing.T) {
	var skills, knowledge []Entry
	for i := range 30 {
		skills = append(skills, Entry{Kind: HitSkill, Name: fmt.Sprint("skill", i), Text: fmt.Sprint("deploy the build, way ", i)})
		knowledge = append(knowledge, Entry{Kind: HitKnowledge, Name: fmt.Sprint("known", i), Text: fmt.Sprint("deploy the build, fact ", i, strings.Repeat(" and more of it", 20))})
	}
	var s Surface
	for _, entries := range [][]Entry{skills, knowledge} {
		s.Register(collect(t, entries...))
	}
	hits := found(t, &s, Query{Text: "deploy the build", Reader: quire.Reader{Who: me}, Limit: 60, Budget: 1_000_000})
	tokens, count := map[HitKind]int{}, map[HitKind]int{}
	for i := range hits {
		tokens[hits[i].Kind] += hits[i].Shown
		count[hits[i].Kind]++
	}
	if count[HitSkill] != 3 || count[HitKnowledge] == 0 || count[HitKnowledge] > 20 || tokens[HitKnowledge] > 1500 {
		t.Errorf("%v hits with %v tokens", count, tokens)
	}
}

// What an entry's access says holds: owners, projects, scopes of an address space.
func TestEntriesHaveTheirReach(t *testing.T) {
	const bob = quire.Principal("user:bob")
	entry := func(name string, owner quire.Principal, scope quire.Scope, project string) Entry {
		e := Entry{Kind: HitKnowledge, Name: name, Text: "deploy the build"}
		e.Access.Owner, e.Access.Scope, e.Access.Project = owner, scope, project
		return e
	}
	c := collect(t, entry("mine", me, quire.ScopeUser, ""), entry("here", me, quire.ScopeProject, "app"), entry("there", me, quire.ScopeProject, "lib"),
		entry("bobs", bob, quire.ScopeUser, ""), Entry{Kind: HitKnowledge, Name: "given", Text: "deploy the build"})
	space := []quire.PageRef{{Session: 0, Page: 1}, {Session: 0, Page: 2}, {Session: 0, Page: 3}, {Session: 0, Page: 4}, {Session: 0, Page: 5}}
	for _, q := range []struct {
		as   quire.Reader
		want []string
	}{
		{quire.Reader{Who: me, Project: "app"}, []string{"given", "here", "mine"}},
		{quire.Reader{Who: me, Project: "lib"}, []string{"given", "mine", "there"}},
		{quire.Reader{Who: bob, Project: "app"}, []string{"bobs", "given"}},
		{quire.Reader{Who: me, Project: "app", Space: space}, nil},
		{quire.Reader{Who: me, Project: "app", Space: space, Scopes: []quire.Scope{quire.ScopeProject}}, []string{"here"}},
	} {
		got := names(found(t, c, Query{Text: "deploy the build", Reader: q.as}))
		slices.Sort(got)
		expect(t, got, q.want...)
	}
}

// Knowledge is pushed by a match, and by none that says little of what was asked.
func TestKnowledgeIsPushedByMatch(t *testing.T) {
	c := collect(t, Entry{Kind: HitKnowledge, Name: "known", Text: "The race job needs cgo."})
	for query, want := range map[string]int{"why does the race job fail": 1, "the colour of this button is not what the customer of last week had wanted it to be": 0} {
		if hits := found(t, c, Query{Text: query, Push: true, Reader: quire.Reader{Who: me}}); len(hits) != want {
			t.Errorf("%q pushes %v", query, names(hits))
		}
	}
}
