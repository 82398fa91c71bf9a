package ingest

import (
	"context"
	"testing"

	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/retrieve"
)

// has reports whether the index finds a word in the text of some page of the
// owner's.
func has(t *testing.T, p *Pool, word string) []quire.PageNumber {
	t.Helper()
	var surface retrieve.Surface
	surface.Register(&retrieve.Pages{Index: p.Index, Table: p.Table, Texts: ownTexts{p}})
	hits, err := surface.Search(t.Context(), retrieve.Query{Text: word, Reader: p.as(), Limit: 20})
	if err != nil {
		t.Fatal(err)
	}
	var pages []quire.PageNumber
	for i := range hits {
		ref, err := quire.ParsePageRef(hits[i].Name)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, ref.Page)
	}
	return pages
}

// failures.md A46: what an agent has the program print, by whatever tool, is no
// page and is not found again; what else a command printed is.
func TestOurOutputIsNoPage(t *testing.T) {
	const recalled = "s1/p2  session 1, call 1, Read /p/cart.go\n       3  func Total(items []Item) (sum int) {\n"
	const shown = "     4\t\tfor _, it := range items { sum += it.Price }\n"
	framed := retrieve.Frame("recall", "the zebra crossing")
	for name, c := range map[string]struct {
		command, result string
		pages           int    // that are added
		lost, found     string // words
	}{
		"recall":           {"quire recall total zanzibar", recalled + "zanzibar\n", 0, "zanzibar", ""},
		"show, cut":        {"cd /p && ./bin/quire show p2 --lines 3-9 | head -3", shown + "zanzibar\n", 0, "zanzibar", ""},
		"with others":      {"quire recall total; go test ./...", recalled + "ok walrus 0.1s\n", 1, "", "walrus"},
		"a shown page":     {"quire show p2; cat other.txt", shown + "narwhal\n", 1, "", "narwhal"},
		"in a frame":       {"wrapper x", "before walrus\n" + framed + "\nafter", 1, "zebra", "walrus"},
		"named only":       {"grep -rn quire .", "quire.go:1: narwhal\n", 1, "", "narwhal"},
		"another's recall": {"other recall x", "narwhal\n", 1, "", "narwhal"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPool(t)
			log := work()
			log.call("t9", "Bash", map[string]string{"command": c.command})
			log.result("t9", c.result)
			got := imported(t, p, log.write(t))
			before := len(derived(t, p, got))
			if before != 6+c.pages {
				t.Fatalf("%d pages, want %d", before, 6+c.pages)
			}
			if pages := has(t, p, "Total items sum"); len(pages) == 0 || pages[0] != 2 || pages[len(pages)-1] > 6 {
				t.Errorf("the page itself is found as %v", pages)
			}
			if c.lost != "" {
				if pages := has(t, p, c.lost); len(pages) > 0 {
					t.Errorf("%s is found in %v", c.lost, pages)
				}
			}
			if c.found != "" {
				if pages := has(t, p, c.found); len(pages) != 1 || pages[0] != 7 {
					t.Errorf("%s is found in %v", c.found, pages)
				}
			}
			wantDerived(t, p, 1)
		})
	}
}

// A journal in which our output was made a page, by a program that did not know
// it, keeps its pages; they are not found.
func TestTheJournalSaysWhatIsAPage(t *testing.T) {
	p := newPool(t)
	w, session, err := journal.Create(p.Home, quire.SessionRecord{Owner: p.Owner}, p.Now)
	if err != nil {
		t.Fatal(err)
	}
	for node, part := range []quire.Part{
		{Kind: quire.PartToolCall, Tool: "Bash", ToolUse: "t1", Text: `{"command":"quire recall x"}`},
		{Kind: quire.PartToolResult, ToolUse: "t1", Text: "zanzibar"},
	} {
		put, err := p.Bodies.PutBodies(t.Context(), [][]byte{[]byte(part.Text)})
		if err != nil {
			t.Fatal(err)
		}
		part.Text = ""
		if _, err := w.Append(quire.RecordPart, quire.PartRecord{Node: node, Part: part, Body: put[0], Pages: []quire.PageNumber{1}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Derive(t.Context(), w.Path()); err != nil {
		t.Fatal(err)
	}
	if got := rows(t, p, session.Number); len(got) != 1 || got[0].Bytes != len("zanzibar") {
		t.Errorf("rows %+v", got)
	}
	if h, err := p.Check(t.Context()); err != nil || len(h.Faults) > 0 {
		t.Errorf("%+v, %v", h.Faults, err)
	}
	if pages := has(t, p, "zanzibar"); len(pages) > 0 {
		t.Errorf("it is found in %v", pages)
	}
}

// An ownTexts gives the texts of pages.
type ownTexts struct{ *Pool }

// Text is that of [retrieve.Texts].
func (t ownTexts) Text(ctx context.Context, r *quire.Row) (string, error) {
	body, err := t.Bodies.Body(ctx, r.Body)
	return string(body), err
}
