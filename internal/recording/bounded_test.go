package recording

import (
	"testing"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/recording/recordingtest"
	"github.com/quire-agent/quire/internal/shingle"
)

// A session with more needed shingles than may be held has no needs, and says so.
func TestNeedsOfAHugeSessionAreBounded(t *testing.T) {
	s := recordingtest.NewScript("huge", recordingtest.Morning())
	for i := range 4 {
		s.User("look").Call()
		s.Result(s.Use("Read", recordingtest.Reading{Path: "/src/a.txt"}), "the quick brown foxes jumped over seventeen lazy dogs")
		s.Call().Text("the quick brown foxes jumped over seventeen lazy dogs " + quire.PageNumber(i).String())
	}
	b := newBuilder(recordingtest.NewCounter(t))
	for i, e := range s.Events {
		if i == len(s.Events)/2 {
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
	if !b.s.TooLong || b.s.Needs != nil || b.s.Rereads != nil || b.s.index != nil || b.s.Notes[quire.NoteTooLong] != 1 {
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
		ref, err := s.Bodies.Put(text)
		if err != nil {
			t.Fatal(err)
		}
		s.Items = append(s.Items, Item{Kind: quire.PartText, Body: ref})
	}
	need := Need{Page: 1}
	shingle.Scan(text, func(g shingle.Shingle) bool { need.Shingles = append(need.Shingles, g.Hash); return true })
	s.Needs = []Need{need}
	if err := s.Index(); err != nil {
		t.Fatal(err)
	}
	items := s.Holders(s.NeedKeys(0, true)[0])
	if len(items) != 250 || items[0] != 0 || items[1] != 4 || items[249] != 996 {
		t.Errorf("%d items, from %v", len(items), items[:3])
	}
}

// Of a long re-read every n-th line stands for all.
func TestLongRereadsAreBounded(t *testing.T) {
	s := recordingtest.NewScript("long", recordingtest.Morning())
	var text string
	for i := range 1000 {
		text += "line " + quire.PageNumber(i).String() + " of a long file\n"
	}
	for range 2 {
		s.User("read it").Call()
		s.Result(s.Use("Read", recordingtest.Reading{Path: "/src/long.txt"}), text)
	}
	got := build(t, recordingtest.NewCounter(t), s.User("done").Call().Text("ok"))
	if len(got.Rereads) != 1 || len(got.Rereads[0].Keys) != 125 {
		t.Errorf("%d re-reads, of the first %d lines are kept", len(got.Rereads), len(got.Rereads[0].Keys))
	}
}
