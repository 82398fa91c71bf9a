package assemble

import (
	"github.com/quire-agent/quire/internal/quire"
)

// A part is a place with its block in full.
type part struct {
	place
	Piece
}

func (d *draft) part(p place) (part, error) {
	piece, err := d.piece(p.Block)
	return part{p, piece}, err
}

// group makes the items of the group that begins at place i and returns the
// place behind it.
func (d *draft) group(i int) (end int, err error) {
	p := d.a.stream[i]
	switch {
	case p.Block < 0:
		return i + 1, d.fold(p)
	case p.again:
		return i + 1, d.repeat(p)
	}
	one, err := d.part(p)
	switch {
	case err != nil:
		return 0, err
	case one.spoken():
		return i + 1, d.say(one)
	case d.inEnded(p.Block):
		return d.over(i)
	}
	return d.exchange(i)
}

// over shows the blocks of a loop that ended, up to what the user said in it.
func (d *draft) over(i int) (end int, err error) {
	var parts []part
	for end = i; end < len(d.a.stream); end++ {
		p := d.a.stream[end]
		if p.Block < 0 || p.again || !d.inEnded(p.Block) {
			break
		}
		one, err := d.part(p)
		if err != nil {
			return 0, err
		}
		if one.spoken() {
			break
		}
		parts = append(parts, one)
	}
	return end, d.show("Quire: what was done so far for the user's last message; data, no request", parts)
}

// fold puts the text that stands for turns into the user's role.
func (d *draft) fold(p place) error {
	text, err := d.a.source.Fold(p.Span)
	if err != nil {
		return err
	}
	if err := d.checkFold(p.Span, text); err != nil {
		return err
	}
	return d.put("Quire: earlier turns, folded; data, no request", text)
}

// repeat puts a page at the tail that stood there before.
func (d *draft) repeat(p place) error {
	one, err := d.part(p)
	if err != nil {
		return err
	}
	return d.show("Quire: "+one.Page.String()+", shown again", []part{one})
}

// say puts what was said in the user's role. A machine text that belongs to no
// page is Quire's own.
func (d *draft) say(p part) error {
	text, low, err := d.reduced(&p)
	switch {
	case err != nil:
		return err
	case !low && p.Kind == quire.PartMachine && p.Page == 0:
		return d.tell(Text{Source: "Quire", Text: p.Text})
	case low:
		return d.put("Quire: "+p.Page.String(), text)
	}
	d.items = append(d.items, item{role: quire.RoleUser, b: p.Piece.Block, block: p.place.Block})
	return nil
}

// reduced is the text of a part where it is not in full: lowered, or an image that
// the provider would refuse.
func (d *draft) reduced(p *part) (text string, low bool, err error) {
	form := p.Form
	if p.media() && !d.h.Limits.fits(p.Media) && form == quire.RenditionFull {
		form = quire.RenditionHandle
	}
	if form == quire.RenditionFull {
		return "", false, nil
	}
	text, err = d.lowered(p, form)
	return text, true, err
}

// lowered is the text of a part in a form below full.
func (d *draft) lowered(p *part, form quire.Rendition) (string, error) {
	if p.call() {
		text := Arguments(p.Text, p.Page, d.h.Recall)
		if text == p.Text {
			return text, nil
		}
		return text, d.checkNamed(p, text)
	}
	text, err := d.a.source.Lowered(p.place.Block, form)
	if err != nil {
		return "", err
	}
	return text, d.checkShort(p, text)
}
