package replay

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/script"
)

// A Model gives recorded answers. It is safe for concurrent use: the order in
// which answers begin to be read decides which call gets which.
type Model struct {
	mu      sync.Mutex
	replies []quire.Reply
	next    int
}

// Read takes the answers of the main chain out of a session's events. A call that
// was not answered has none, and is left out.
func Read(events iter.Seq2[quire.Event, error]) (*Model, error) {
	m, at := &Model{}, map[string]int{} // place of a call's answer
	for e, err := range events {
		if err != nil {
			return nil, fmt.Errorf("read the answers of a session: %w", err)
		}
		switch e := e.(type) {
		case quire.Answered:
			if e.Chain == "" && e.Part.Kind != quire.PartThinking {
				r := m.reply(at, e.Call)
				r.Blocks = append(r.Blocks, quire.Block{Part: e.Part})
			}
		case quire.Metered:
			if i, ok := at[e.Call]; ok && e.Chain == "" {
				m.replies[i].Usage = e.Usage
			}
		}
	}
	for i := range m.replies {
		m.replies[i].Stop = stop(&m.replies[i])
	}
	return m, nil
}

func (m *Model) reply(at map[string]int, call string) *quire.Reply {
	i, ok := at[call]
	if !ok {
		i = len(m.replies)
		at[call] = i
		m.replies = append(m.replies, quire.Reply{ID: call})
	}
	return &m.replies[i]
}

// stop is why an answer ended, as far as its content tells.
func stop(r *quire.Reply) quire.Stop {
	for i := range r.Blocks {
		if r.Blocks[i].Kind == quire.PartToolCall {
			return quire.StopTool
		}
	}
	return quire.StopEnd
}

// Answers is how many answers there are.
func (m *Model) Answers() int { return len(m.replies) }

// piece is in how many runes texts come.
const piece = 200

// Call answers a call, as package model promises. Where the record has no answer
// any more the request is an invalid one.
func (m *Model) Call(ctx context.Context, c quire.Call) iter.Seq2[quire.Delta, error] {
	return func(yield func(quire.Delta, error) bool) {
		r, err := m.take()
		if err != nil {
			yield(nil, err)
			return
		}
		r.Model = c.Model
		for _, d := range script.Deltas(r, piece) {
			if ctx.Err() != nil {
				yield(nil, fmt.Errorf("call the model: %w", ctx.Err()))
				return
			}
			if !yield(d, nil) {
				return
			}
		}
	}
}

func (m *Model) take() (quire.Reply, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.next == len(m.replies) {
		return quire.Reply{}, &quire.CallError{Kind: quire.CallInvalid, Message: fmt.Sprintf("the record has %d answers, and all were given", len(m.replies))}
	}
	m.next++
	return m.replies[m.next-1], nil
}
