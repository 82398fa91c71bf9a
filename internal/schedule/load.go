package schedule

import (
	"fmt"

	"github.com/quire-agent/quire/internal/quire"
)

// A Load is what a block takes besides its tokens. Providers hold requests to
// bounds of these too.
type Load struct {
	Bytes  int // of a request's body, media as they are written there
	Images int
	Side   int // pixels of the longer side of the widest
}

// A Cap is the most that a request may take of them. A zero is no bound.
type Cap struct {
	Bytes  int // of the blocks of the stream; what else a body holds is taken off
	Images int
	Many   int // more images than these may be
	Side   int // no wider than so many pixels
}

// Hold sets what the next plans are held to.
func (s *Scheduler) Hold(c Cap) { s.cap = c }

// What a block in a lower form, or a card, takes of a body for each of its tokens,
// and around them.
const (
	tokenBytes  = 6
	aroundBytes = 200
)

// load is that of the stream.
func (s *Scheduler) load() (l Load) {
	for i := range s.stream {
		l.add(s.loadOf(i))
	}
	return l
}

func (l *Load) add(o Load) {
	l.Bytes, l.Images, l.Side = l.Bytes+o.Bytes, l.Images+o.Images, max(l.Side, o.Side)
}

func (s *Scheduler) loadOf(i int) Load {
	p := &s.stream[i]
	if p.Block >= 0 && p.Form == quire.RenditionFull {
		return s.blocks[p.Block].Load
	}
	return Load{Bytes: tokenBytes*p.Tokens + aroundBytes}
}

// Bytes is about how many bytes the stream takes in a body.
func (s *Scheduler) Bytes() int { return s.load().Bytes }

// breaks says which bound a load breaks, "" for none.
func (c *Cap) breaks(l Load) string {
	switch {
	case c.Bytes > 0 && l.Bytes > c.Bytes:
		return fmt.Sprintf("the request has %d bytes, at most %d", l.Bytes, c.Bytes)
	case c.Images > 0 && l.Images > c.Images:
		return fmt.Sprintf("the request has %d images, at most %d", l.Images, c.Images)
	case c.Many > 0 && c.Side > 0 && l.Images > c.Many && l.Side > c.Side:
		return fmt.Sprintf("the request has %d images, and of more than %d none may be wider than %d pixels", l.Images, c.Many, c.Side)
	}
	return ""
}

// half is what a stream is left with that broke a bound, so that it does not break
// it again at once.
func (c *Cap) half() Cap {
	return Cap{Bytes: (c.Bytes + 1) / 2, Images: (c.Images + 1) / 2, Many: (c.Many + 1) / 2, Side: c.Side}
}

// unload makes a stream fit its bounds before a provider refuses it: of what calls
// have shown the images go first, those that entered first before the others, then
// all else by its size; of what is new, images that are too many even so stand as
// handles from the beginning (design, I7 and section 6.9).
func (s *Scheduler) unload(now Moment) {
	why := s.cap.breaks(s.load())
	if why == "" {
		return
	}
	s.shed(now, why)
	was, net := s.plan, s.net
	if l := s.load(); s.cap.Bytes > 0 && l.Bytes > s.cap.Bytes {
		s.press(now, quire.EpochForced, why, s.net*s.cap.Bytes/2/l.Bytes)
	}
	if s.net == net { // nothing but what is new could go
		s.plan = was
	}
	s.admit()
}

// shed begins a forced epoch that lowers images which were shown.
func (s *Scheduler) shed(now Moment, why string) {
	c, l := s.cap.half(), s.load()
	guard, first := s.guard(now), len(s.stream)
	for i := range guard.from {
		v := s.media(i, now)
		if v.to == "" || guard.has(i) {
			continue
		}
		if c.breaks(l) == "" {
			break
		}
		if first == len(s.stream) {
			s.begin(quire.EpochForced, why)
			s.calm()
		}
		first = min(first, i)
		l = s.lowered(i, v, l)
	}
	s.forgetThinking(first)
	s.sweep(first)
}

// media is the verdict on an image that has to go, none for what is no image or
// stays whatever happens.
func (s *Scheduler) media(i int, now Moment) verdict {
	p := s.stream[i]
	if p.Block < 0 || !p.Form.Resident() || s.blocks[p.Block].Images == 0 || s.blocks[p.Block].Fixed || s.pinned(s.blocks[p.Block].Page.Number, now.Call) {
		return verdict{}
	}
	to := s.lowestAt(i)
	return verdict{to: to, tokens: min(s.size(p.Block, to), p.Tokens), reason: "images are the first to go from a full request"}
}

// lowered lowers the image at a place and returns the load without it.
func (s *Scheduler) lowered(i int, v verdict, l Load) Load {
	was := s.loadOf(i)
	s.lower(i, v)
	l.Bytes, l.Images = l.Bytes+s.loadOf(i).Bytes-was.Bytes, l.Images-was.Images
	return l
}

// admit has images stand as handles that no call has shown yet, those that entered
// first before the others, until the request is within its bounds. The prompt
// before it stays.
func (s *Scheduler) admit() {
	l := s.load()
	for i := s.dirty; i < len(s.stream) && s.cap.breaks(l) != ""; i++ {
		p := s.stream[i]
		if p.Block < 0 || p.Again || !p.Form.Resident() || s.blocks[p.Block].Images == 0 || s.blocks[p.Block].Fixed {
			continue
		}
		tokens := min(s.size(p.Block, quire.RenditionHandle), p.Tokens)
		l = s.lowered(i, verdict{to: quire.RenditionHandle, tokens: tokens, reason: "more images than a request may hold"}, l)
	}
}
