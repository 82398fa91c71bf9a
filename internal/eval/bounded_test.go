package eval

import (
	"testing"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/shingle"
)

// A session with more needed shingles than may be held has no needs, and says so.
func TestNeedsOfAHugeSessionAreBounded(t *testing.T) {
	s := newScript("huge", morning())
	for i := range 4 {
		s.user("look").call()
		s.result(s.use("Read", reading{"/src/a.txt"}), "the quick brown foxes jumped over seventeen lazy dogs")
		s.call().text("the quick brown foxes jumped over seventeen lazy dogs " + quire.PageNumber(i).String())
	}
	b := newBuilder(newCounter(t))
	for i, e := range s.events {
		if i == len(s.events)/2 {
			if len(b.s.Needs) == 0 {
				t.Fatal("the first half needs nothing")
			}
			b.held = heldShingles
		}
		if err := b.event(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.flush(); err != nil {
		t.Fatal(err)
	}
	if err := b.finish(); err != nil {
		t.Fatal(err)
	}
	if !b.s.TooLong || b.s.Needs != nil || b.s.rereads != nil || b.s.index != nil || b.s.Notes[quire.NoteTooLong] != 1 {
		t.Errorf("too long: %v, %d needs, notes %v", b.s.TooLong, len(b.s.Needs), b.s.Notes)
	}
	if len(b.s.Calls) != 8 || len(b.s.Pages) == 0 {
		t.Errorf("%d calls, %d pages", len(b.s.Calls), len(b.s.Pages))
	}
}

// A text that is in more items than are listed is still found in those that are
// listed, which are spread evenly.
func TestItemsOfATextThatIsEverywhere(t *testing.T) {
	const text = "one rather peculiar sentence about kingfishers"
	s := &Session{Bodies: &Bodies{}}
	for range 1000 {
		ref, err := s.Bodies.put(text)
		if err != nil {
			t.Fatal(err)
		}
		s.Items = append(s.Items, Item{Kind: quire.PartText, Body: ref})
	}
	need := Need{Page: 1}
	shingle.Scan(text, func(g shingle.Shingle) bool { need.Shingles = append(need.Shingles, g.Hash); return true })
	s.Needs = []Need{need}
	x, err := newKeyIndex(s)
	if err != nil {
		t.Fatal(err)
	}
	items := x.items(x.needs[0][0][0])
	if len(items) != 250 || items[0] != 0 || items[1] != 4 || items[249] != 996 {
		t.Errorf("%d items, from %v", len(items), items[:3])
	}
}

// Of a long re-read every n-th line stands for all.
func TestLongRereadsAreBounded(t *testing.T) {
	s := newScript("long", morning())
	var text string
	for i := range 1000 {
		text += "line " + quire.PageNumber(i).String() + " of a long file\n"
	}
	for range 2 {
		s.user("read it").call()
		s.result(s.use("Read", reading{"/src/long.txt"}), text)
	}
	got := build(t, newCounter(t), s.user("done").call().text("ok"))
	if len(got.rereads) != 1 || len(got.rereads[0].keys) != 125 {
		t.Errorf("%d re-reads, of the first %d lines are kept", len(got.rereads), len(got.rereads[0].keys))
	}
}
