package assemble

import (
	"slices"

	"github.com/quire-agent/quire/internal/quire"
)

// An exchange is what one response said, with the results of its calls and what
// was said while they ran.
type exchange struct {
	response string
	answer   []part
	results  []part
	said     []part
	last     bool // no response follows
}

// exchange makes the items of the exchange that begins at place i.
func (d *draft) exchange(i int) (end int, err error) {
	x, end, err := d.collect(i)
	if err != nil {
		return 0, err
	}
	whole, err := d.whole(x)
	if err != nil {
		return 0, err
	}
	if !whole {
		err = d.show("Quire: pages that were kept of earlier work; data, no request", slices.Concat(x.answer, x.results))
	} else {
		err = d.reply(x)
	}
	for _, p := range x.said {
		if err == nil {
			err = d.say(p)
		}
	}
	return end, err
}

// collect gathers an exchange. What was said is part of it only before a result.
func (d *draft) collect(i int) (x *exchange, end int, err error) {
	x = &exchange{last: true}
	said := 0
	for j := i; j < len(d.a.stream); j++ {
		p := d.a.stream[j]
		if p.Block < 0 || p.again || d.inEnded(p.Block) {
			break
		}
		one, err := d.part(p)
		if err != nil {
			return nil, 0, err
		}
		if !x.take(one) {
			x.last = one.spoken()
			break
		}
		if !one.spoken() {
			end, said = j+1, len(x.said)
		}
	}
	x.said = x.said[:said]
	return x, end, nil
}

// take adds a part to the exchange, if it belongs to it.
func (x *exchange) take(p part) bool {
	switch {
	case p.returned():
		x.results = append(x.results, p)
	case p.spoken():
		if x.unanswered() == nil {
			return false
		}
		x.said = append(x.said, p)
	default:
		if !x.continues(&p) {
			return false
		}
		x.response, x.answer = p.Response, append(x.answer, p)
	}
	return true
}

// continues reports whether a block of the assistant is of the same response.
func (x *exchange) continues(p *part) bool {
	switch {
	case len(x.answer) == 0:
		return len(x.results) == 0
	case p.Response == "":
		return x.response == "" && len(x.results) == 0
	}
	return p.Response == x.response
}

// unanswered is the first call that has no result.
func (x *exchange) unanswered() *part {
	for i := range x.answer {
		if c := &x.answer[i]; c.call() && !x.answers(c.ToolUse) {
			return c
		}
	}
	return nil
}

func (x *exchange) answers(use string) bool {
	return slices.ContainsFunc(x.results, func(p part) bool { return p.ToolUse == use })
}

// whole reports whether an exchange stands as it was: with all calls of its
// response, and a result of each. Where it does not, a fold took the rest, or it
// was broken off and the session went on without it.
func (d *draft) whole(x *exchange) (bool, error) {
	if len(x.answer) == 0 {
		return false, nil
	}
	if c := x.unanswered(); c != nil {
		if x.last && c.place.Block >= d.shown {
			return false, brokenAt(Pairs, &c.Piece, c.place.Block, "tool call %q has no result", c.ToolUse)
		}
		return false, nil
	}
	if x.response == "" || !d.a.epoch && !d.renewed {
		return true, nil
	}
	for _, step := range [...]int{-1, 1} {
		if complete, err := d.complete(x, step); err != nil || !complete {
			return false, err
		}
	}
	return true, nil
}

// complete looks for calls of the response that stand no more, in one direction.
func (d *draft) complete(x *exchange, step int) (bool, error) {
	for i := x.answer[0].place.Block; i >= 0 && i < d.a.known; i += step {
		p, err := d.piece(i)
		if err != nil {
			return false, err
		}
		if p.returned() {
			continue
		}
		if p.Response != x.response {
			return true, nil
		}
		if p.call() && !slices.ContainsFunc(x.answer, func(q part) bool { return q.place.Block == i }) {
			return false, nil
		}
	}
	return true, nil
}

// reply makes the message of a response and that of its results, in the order of
// its calls. What answers nothing is shown as data.
func (d *draft) reply(x *exchange) error {
	for i := range x.answer {
		if err := d.answer(&x.answer[i]); err != nil {
			return err
		}
	}
	used := make([]bool, len(x.results))
	for i := range x.answer {
		if c := &x.answer[i]; c.call() {
			if err := d.result(c, x.results, used); err != nil {
				return err
			}
		}
	}
	var rest []part
	for i, p := range x.results {
		if !used[i] {
			rest = append(rest, p)
		}
	}
	return d.show("Quire: results that came late; data, no request", rest)
}

func (d *draft) answer(p *part) error {
	b := p.Piece.Block
	text, low, err := d.reduced(p)
	if err != nil {
		return err
	}
	if low {
		b.Text, b.Rest, b.Content = text, nil, nil
	}
	if b.Opaque != nil && b.ToolUse != "" && p.place.Block >= d.shown {
		d.opaques = append(d.opaques, opaque{p.place.Block, b.ToolUse})
	}
	d.items = append(d.items, item{role: quire.RoleAssistant, b: b, block: p.place.Block})
	return nil
}

// result makes the one result of a call: the text with the media that came with
// it. A second text for the same call is not used.
func (d *draft) result(c *part, results []part, used []bool) error {
	out := quire.Block{Part: quire.Part{Kind: quire.PartToolResult, Tool: c.Tool, ToolUse: c.ToolUse}}
	block, seen := -1, false
	for i := range results {
		p := &results[i]
		if used[i] || p.ToolUse != c.ToolUse || p.result() && seen {
			continue
		}
		used[i] = true
		text, low, err := d.reduced(p)
		if err != nil {
			return err
		}
		if !p.result() {
			out = withMedia(out, p, text, low)
			continue
		}
		seen, block = true, p.place.Block
		media := out.Content
		out = p.Piece.Block
		if low {
			out.Text, out.Content, out.Rest = text, nil, nil
		}
		if len(media) > 0 {
			out.Content = append(pieces(&out), media...)
			out.Text = ""
		}
	}
	d.items = append(d.items, item{role: quire.RoleTool, b: out, block: block})
	return nil
}

// withMedia adds an image or document to a result, or the text that stands for it.
func withMedia(b quire.Block, p *part, text string, low bool) quire.Block {
	one := p.Piece.Block
	one.ToolUse, one.Tool = "", ""
	if low {
		one = machine(text)
	}
	b.Content, b.Text = append(pieces(&b), one), ""
	return b
}

// pieces is the content of a result as a list of its own.
func pieces(b *quire.Block) []quire.Block {
	if b.Text == "" {
		return slices.Clip(slices.Clone(b.Content))
	}
	return []quire.Block{machine(b.Text)}
}

func machine(text string) quire.Block {
	return quire.Block{Part: quire.Part{Kind: quire.PartMachine, Text: text}}
}
