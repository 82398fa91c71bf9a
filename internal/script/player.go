package script

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/quire-agent/quire/internal/quire"
)

// ErrNoTurn is the error for a call that no turn answers.
var ErrNoTurn = errors.New("no turn of the script is left that fits")

// A Player plays a script once: it knows which turns are used up. It is safe for
// concurrent use; the order of calls decides which turn answers which.
type Player struct {
	mu     sync.Mutex
	calls  int
	groups []played
}

// A played is a group with what was used of it.
type played struct {
	group
	round int   // from 1
	uses  []int // of each turn in this round
}

// Play begins a script.
func (s *Script) Play() *Player {
	p := &Player{}
	for _, g := range s.groups {
		p.groups = append(p.groups, played{g, 1, make([]int, len(g.turns))})
	}
	return p
}

// Next answers a call. The ids of tool calls that the script does not name are
// made of the numbers of the call and of the block. It fails with [ErrNoTurn], or
// where values made arguments that are not JSON; a turn is used up all the same.
func (p *Player) Next(c quire.Call) (Answer, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls++
	v := newView(&c, p.calls)
	for i := range p.groups {
		if t, values, ok := p.groups[i].take(v); ok {
			return t.answer(values)
		}
	}
	return Answer{}, fmt.Errorf("call %d: %w", p.calls, ErrNoTurn)
}

// take finds the turn that answers and uses it up.
func (g *played) take(v *view) (*turn, values, bool) {
	g.renew()
	for i := range g.turns {
		t := &g.turns[i]
		if t.times != forever && g.uses[i] >= t.times {
			continue
		}
		if groups, ok := t.fits(v); ok {
			g.uses[i]++
			return t, values{v, g.round, groups}, true
		}
	}
	return nil, values{}, false
}

// renew begins the next round when this one is used up.
func (g *played) renew() {
	if g.times != forever && g.round >= g.times {
		return
	}
	for i, t := range g.turns {
		if g.uses[i] < t.times {
			return
		}
	}
	g.round++
	clear(g.uses)
}

func (t *turn) fits(v *view) (groups []string, ok bool) {
	for _, c := range t.when {
		found, ok := c.holds(v)
		if !ok {
			return nil, false
		}
		if groups == nil {
			groups = found
		}
	}
	return groups, true
}

// values are what placeholders stand for.
type values struct {
	view   *view
	round  int
	groups []string
}

func (v values) of(name string) (string, bool) {
	switch name {
	case "call":
		return strconv.Itoa(v.view.number), true
	case "loop":
		return strconv.Itoa(v.round), true
	case "user":
		return v.view.text(aboutUser), true
	case "result":
		return v.view.text(aboutResult), true
	}
	if n, err := strconv.Atoi(name); err == nil && n < len(v.groups) {
		return v.groups[n], true
	}
	return "", placeholder(name)
}

func (t *turn) answer(v values) (Answer, error) {
	a := Answer{Line: t.line, Stop: quire.StopEnd, Fault: t.fault}
	for i, s := range t.steps {
		b, err := s.block(v, i)
		if err != nil {
			return Answer{}, fmt.Errorf("turn of line %d: %w", t.line, err)
		}
		if b.Kind == quire.PartToolCall {
			a.Stop = quire.StopTool
		}
		a.Blocks = append(a.Blocks, b)
	}
	if t.reason != "" {
		a.Stop = t.reason
	}
	return a, nil
}

func (s step) block(v values, index int) (quire.Block, error) {
	b := quire.Block{Part: quire.Part{Kind: s.kind, Tool: s.tool}}
	value := v.of
	if s.kind == quire.PartToolCall {
		b.ToolUse = s.id
		if s.id == "" {
			b.ToolUse = fmt.Sprintf("call_%d_%d", v.view.number, index+1)
		}
		if !s.free {
			value = func(name string) (string, bool) { text, ok := v.of(name); return quoted(text), ok }
		}
	}
	text, err := expand(s.text, value)
	if err == nil && s.kind == quire.PartToolCall && !s.free && !json.Valid([]byte(text)) {
		err = fmt.Errorf("the arguments of %s are not JSON any more", s.tool)
	}
	b.Text = text
	return b, err
}
