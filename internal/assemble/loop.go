package assemble

import "github.com/quire-agent/quire/internal/quire"

// endLoop ends the tool loop that is open at the end of the stream, if there is
// one and it cannot be edited in place; first is the place where it begins. Where
// thinking is not bound, a loop without thinking can.
func (d *draft) endLoop() (first int, ends bool, err error) {
	first, open, err := d.openLoop()
	if err != nil || !open {
		return 0, false, err
	}
	e := d.blocksFrom(first)
	if !d.h.Rules.Bound {
		if thinks, err := d.thinks(e); err != nil || !thinks {
			return 0, false, err
		}
	}
	d.ended = append(d.ended[:len(d.ended):len(d.ended)], e)
	return first, true, nil
}

// openLoop finds where the loop at the end begins: behind the user's last words,
// a fold, or a loop that ended before. It is open if results are its last.
func (d *draft) openLoop() (first int, open bool, err error) {
	stream := d.a.stream
	answered := false
	for i := len(stream) - 1; i >= 0; i-- {
		p := stream[i]
		if p.again {
			continue
		}
		if p.Block < 0 || d.inEnded(p.Block) {
			break
		}
		piece, err := d.piece(p.Block)
		if err != nil {
			return 0, false, err
		}
		switch {
		case piece.theUsers():
			return first, open, nil
		case piece.spoken():
		case !answered && !piece.returned():
			return 0, false, nil
		default:
			first, open, answered = i, true, true
		}
	}
	return first, open, nil
}

// blocksFrom is the range of the blocks that stand from a place on.
func (d *draft) blocksFrom(first int) ended {
	e := ended{d.a.stream[first].Block, d.a.stream[first].Block}
	for _, p := range d.a.stream[first:] {
		if p.Block >= 0 && !p.again {
			e.last = max(e.last, p.Block)
		}
	}
	return e
}

// thinks reports whether the model thought within a loop. Of what the scheduler
// took out only the blocks know.
func (d *draft) thinks(e ended) (bool, error) {
	for i := e.first; i > 0; i-- { // the thinking that the first call came with
		p, err := d.piece(i - 1)
		if err != nil || p.thinking() {
			return err == nil, err
		}
		if p.Role != quire.RoleAssistant {
			break
		}
	}
	for i := e.first; i <= e.last; i++ {
		p, err := d.piece(i)
		if err != nil || p.thinking() {
			return err == nil, err
		}
	}
	return false, nil
}

// inEnded reports whether a block was part of a loop that ended.
func (d *draft) inEnded(block int) bool {
	for i := len(d.ended) - 1; i >= 0; i-- {
		if e := d.ended[i]; e.first <= block {
			return block <= e.last
		}
	}
	return false
}
