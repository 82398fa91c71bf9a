package schedule

import (
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/quire"
)

// loaded is a stream with n images, each with the call that answered it, and the
// moment behind the last. The words of each turn have 100 bytes.
func loaded(n, bytes, side int) (*Scheduler, Moment) {
	forms := &short{}
	forms.s = New(Settings{Care: 1, Table: flat(1, 1)}, forms)
	s := forms.s
	for i := range n {
		page := quire.PageNumber(2*i + 1)
		s.Enter(Block{Page: quire.Page{Number: page, Kind: quire.PageUser}, Part: quire.PartUser, Tokens: 20, Call: i, By: -1, Turn: i, Load: Load{Bytes: 100}})
		s.Enter(Block{Page: quire.Page{Number: page + 1, Kind: quire.PageImage}, Part: quire.PartImage, Tokens: 90, Call: i, By: -1, Turn: i, Load: Load{bytes, 1, side}})
	}
	return s, Moment{Call: n - 1, Turn: n - 1, Prefix: 20_000, Prices: claude(), Write: 1.25}
}

// shown are the pages of the images that stand.
func shown(s *Scheduler) (list []quire.PageNumber) {
	for _, p := range s.stream {
		if p.Block >= 0 && p.Form == quire.RenditionFull && s.blocks[p.Block].Part == quire.PartImage {
			list = append(list, s.blocks[p.Block].Page.Number)
		}
	}
	return list
}

// A full request is brought down to half of the bound that it breaks, the oldest
// images first, and only then; what is new stays as long as it fits by itself.
func TestUnload(t *testing.T) {
	for name, c := range map[string]struct {
		images, bytes, side int
		cap                 Cap
		kind, why           string
		left                int // images that stand
	}{
		"no bound":                 {9, 1_000, 10, Cap{}, "", "", 9},
		"as many as may be":        {9, 1_000, 10, Cap{Images: 9}, "", "", 9},
		"one too many":             {9, 1_000, 10, Cap{Images: 8}, quire.EpochForced, "9 images, at most 8", 4},
		"an odd bound":             {9, 1_000, 10, Cap{Images: 7}, quire.EpochForced, "9 images, at most 7", 4},
		"as large as may be":       {9, 1_000, 10, Cap{Bytes: 9_900}, "", "", 9},
		"a byte too large":         {9, 1_000, 10, Cap{Bytes: 9_899}, quire.EpochForced, "9900 bytes, at most 9899", 2},
		"wide, and few":            {9, 1_000, 11, Cap{Many: 9, Side: 10}, "", "", 9},
		"many, and small":          {9, 1_000, 10, Cap{Many: 8, Side: 10}, "", "", 9},
		"wide, and too many":       {9, 1_000, 11, Cap{Many: 8, Side: 10}, quire.EpochForced, "9 images, and of more than 8 none may be wider than 10 pixels", 4},
		"a width without a number": {9, 1_000, 11, Cap{Side: 10}, "", "", 9},
		"a number without a width": {9, 1_000, 11, Cap{Many: 8}, "", "", 9},
	} {
		s, now := loaded(c.images, c.bytes, c.side)
		s.Hold(c.cap)
		s.dirty, s.calls = len(s.stream)-2, now.Call
		p := s.Plan(now)
		if p.Kind != c.kind || c.why == "" && p.Reason != "" || !strings.Contains(p.Reason, c.why) || len(shown(s)) != c.left {
			t.Errorf("%s: %q, %q, %d images stand", name, p.Kind, p.Reason, len(shown(s)))
		}
		if list := shown(s); list[len(list)-1] != quire.PageNumber(2*c.images) {
			t.Errorf("%s: the newest image went: %v", name, list)
		}
		if why := s.cap.breaks(s.load()); why != "" {
			t.Errorf("%s: afterwards %s", name, why)
		}
	}
}

// Images that are too many at once stand as handles from the beginning, the newest
// ones in full, and what was sent before them stays: no epoch begins.
func TestTooManyImagesAtOnce(t *testing.T) {
	for _, call := range []int{0, 3} {
		s, now := loaded(9, 1_000, 10)
		for i := range s.blocks {
			s.blocks[i].Call = call
		}
		s.Hold(Cap{Images: 5})
		now.Call, s.calls = call, call
		p := s.Plan(now)
		if p.Kind != "" || len(p.Decisions) != 4 || len(shown(s)) != 5 || shown(s)[0] != 10 {
			t.Errorf("call %d: %q, %d decisions, %v stand", call, p.Kind, len(p.Decisions), shown(s))
		}
		if d := p.Decisions[0]; d.To != quire.RenditionHandle || d.Tokens != 10 || d.Was != 90 || d.Reason != "more images than a request may hold" {
			t.Errorf("%+v", d)
		}
	}
}

// What keeps its form does so here too: pinned pages, and what the provider binds.
func TestUnloadLeavesWhatIsPinned(t *testing.T) {
	s, now := loaded(9, 1_000, 10)
	s.Hold(Cap{Images: 4})
	s.Pin(2, 0)
	s.blocks[3].Fixed = true
	s.dirty, s.calls = len(s.stream)-2, now.Call
	s.Plan(now)
	if got := shown(s); len(got) != 3 || got[0] != 2 || got[1] != 4 || got[2] != 18 {
		t.Errorf("%v stand", got)
	}
}

// A body that is too large for its texts is pressed as a full window is; where
// nothing can go that is no epoch.
func TestABodyOfTextIsPressed(t *testing.T) {
	s, now := loaded(0, 0, 0)
	for i := range 12 {
		p := quire.Page{Number: quire.PageNumber(i + 1), Kind: quire.PageTool, Action: quire.ActionRun}
		s.Enter(Block{Page: p, Part: quire.PartToolCall, Tokens: 10, Call: i + 1, By: i, Turn: i, Load: Load{Bytes: 40}})
		s.Enter(Block{Page: p, Part: quire.PartToolResult, Tokens: 1_000, Call: i + 1, By: -1, Turn: i, Load: Load{Bytes: 4_000}})
	}
	now.Call, now.Turn = 13, 12
	s.Hold(Cap{Bytes: 30_000})
	s.dirty, s.calls = len(s.stream)-2, now.Call
	if p := s.Plan(now); p.Kind != quire.EpochForced || s.Bytes() > 30_000 || p.After >= p.Before {
		t.Errorf("%+v, %d bytes", p, s.Bytes())
	}
	s.Hold(Cap{Bytes: 10})
	now.Call++
	s.fresh = true
	for i := range s.blocks {
		s.blocks[i].Fixed = true
	}
	if p := s.Plan(now); p.Kind != "" {
		t.Errorf("an epoch that changes nothing began: %+v", p)
	}
}

// The load of a place is that of its block in full, or follows from its tokens.
func TestLoad(t *testing.T) {
	s, _ := loaded(2, 1_000, 7)
	if got, want := s.load(), (Load{2_200, 2, 7}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	s.stream[1].Form, s.stream[1].Tokens = quire.RenditionHandle, 10
	if got, want := s.load(), (Load{1_200 + 260, 1, 7}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	s.stream[3] = Placed{Block: -1, Tokens: 30, Form: quire.RenditionCard}
	if got, want := s.load(), (Load{200 + 260 + 380, 0, 0}); got != want || s.Bytes() != want.Bytes {
		t.Errorf("%+v, want %+v", got, want)
	}
}
