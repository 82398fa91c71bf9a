package retrieve

import (
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/quire"
)

func collect(t *testing.T, entries ...Entry) *Collection {
	t.Helper()
	c, err := NewCollection(t.Context(), "documents", entries)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func found(t *testing.T, c Carrier, q Query) []Hit {
	t.Helper()
	hits, err := c.Search(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return hits
}

func TestCollectionFindsEntriesAndTheirLines(t *testing.T) {
	c := collect(t,
		Entry{Kind: HitDocument, Name: "docs/a.md#Setup", Path: "docs/a.md", Title: "Guide › Setup", Text: "# Setup\nInstall the compiler.\n", First: 10},
		Entry{Kind: HitDocument, Name: "docs/b.md", Path: "docs/b.md", Text: "Setup is described elsewhere, setup setup setup.\n"},
	)
	hits := found(t, c, Query{Text: "install the compiler", Explain: true})
	if len(hits) != 1 || hits[0].Name != "docs/a.md#Setup" || hits[0].Lines[1].Number != 11 || !hits[0].Lines[1].Hit || len(hits[0].Why) < 2 {
		t.Errorf("found %+v", hits)
	}
	if hits := found(t, c, Query{Text: "docs/b.md"}); len(hits) == 0 || hits[0].Name != "docs/b.md" || !hits[0].exact {
		t.Errorf("found %+v", hits)
	}
}

// Notes and sections of documents enter no prompt unasked unless they are named.
func TestOnlyExactEntriesArePushed(t *testing.T) {
	c := collect(t,
		Entry{Kind: HitNote, Name: "notes/release.md", Path: "notes/release.md", Title: "Release checklist", Text: "Tag, sign, announce."},
	)
	for query, want := range map[string]int{"sign and announce": 0, "the release checklist, please": 1, "release.md": 1} {
		if hits := found(t, c, Query{Text: query, Push: true}); len(hits) != want {
			t.Errorf("%q pushes %v", query, names(hits))
		}
	}
}

// Nothing outside an address space is found, and what no page is is in none.
func TestCollectionsAreInNoAddressSpace(t *testing.T) {
	c := collect(t, Entry{Kind: HitNote, Name: "n", Text: "alpha beta"})
	if hits := found(t, c, Query{Text: "alpha beta", Reader: quire.Reader{Space: []quire.PageRef{}}}); len(hits) != 0 {
		t.Errorf("found %v", names(hits))
	}
}

func TestSkillsAreOneLine(t *testing.T) {
	c := collect(t, Entry{Kind: HitSkill, Name: "deploy", Title: "deploy", Text: "Bring a build to staging\nand wait"})
	hits := found(t, c, Query{Text: "staging build"})
	if len(hits) != 1 || len(hits[0].Lines) != 1 || hits[0].Kind != HitSkill {
		t.Errorf("found %+v", hits)
	}
}

// Hits of several carriers keep each its order, the one that says more of the
// query comes first, what is named exactly before all, and all lines fit.
func TestCarriersAreJoinedByWhatTheySay(t *testing.T) {
	s := newShelf()
	s.put(t, 1, 1, "the signature of a release is wrong", nil)
	s.put(t, 1, 2, strings.Repeat("release notes\n", 300), nil)
	all := s.surface()
	all.Register(collect(t,
		Entry{Kind: HitDocument, Name: "docs/release.md#Signing", Path: "docs/release.md", Title: "Signing", Text: strings.Repeat("The signature of a release is made by the janitor.\n", 30)},
		Entry{Kind: HitDocument, Name: "docs/other.md", Path: "docs/other.md", Text: "a release"},
	))
	for query, want := range map[string]string{"signature janitor release": "docs/release.md#Signing", "signature release wrong": "s1/p1", "s1/p2": "s1/p2"} {
		hits, err := all.Search(t.Context(), Query{Text: query, Reader: quire.Reader{Who: me}, Budget: 120})
		if err != nil || len(hits) == 0 || hits[0].Name != want {
			t.Errorf("%q finds %v, %v", query, names(hits), err)
		}
		sum := 0
		for _, h := range hits {
			sum += h.Shown
		}
		if sum > 120 {
			t.Errorf("%q shows %d tokens", query, sum)
		}
	}
}
