package schedule

import (
	"fmt"
	"slices"

	"github.com/quire-agent/quire/internal/quire"
)

// undoable is how many epochs back can be undone. Undoing is for what was just
// seen to be wrong, and each stream that is kept takes room.
const undoable = 16

// A past is the stream as it stood before an epoch.
type past struct {
	stream []Placed // nil: it is not kept
	blocks int      // that had entered
}

// remember keeps the stream as it is before an epoch changes it.
func (s *Scheduler) remember() {
	if s.plan.past.stream == nil {
		s.plan.past = past{slices.Clone(s.stream), len(s.blocks)}
	}
}

// began enters an epoch with what was before it.
func (s *Scheduler) began(call int) {
	s.epochs = append(s.epochs, call)
	s.pasts = append(s.pasts, s.plan.past)
	if n := len(s.pasts) - undoable; n > 0 {
		s.pasts[n-1].stream = nil
	}
}

// Undo has the next plan restore the stream that stood before an epoch, counted
// from 1, with what entered since behind it. Thinking behind the first change is
// not restored (I3). It reports false, and does nothing, where that stream is not
// kept: there was no such epoch, it is too long ago, or it was a rewind.
func (s *Scheduler) Undo(epoch int) bool {
	_, ok := s.before(epoch)
	if ok {
		s.undo = epoch
	}
	return ok
}

// Restored is how many tokens the stream would have if an epoch were undone now,
// and how many of them, from its beginning, stand there already; ok is that of
// Undo.
func (s *Scheduler) Restored(epoch int) (tokens, kept int, ok bool) {
	p, ok := s.before(epoch)
	if !ok {
		return 0, 0, false
	}
	out := s.restored(p)
	return sizeOf(out), sizeOf(out[:s.common(out)]), true
}

// common is how many places from the beginning another stream shares.
func (s *Scheduler) common(out []Placed) (n int) {
	for n < min(len(out), len(s.stream)) && out[n] == s.stream[n] {
		n++
	}
	return n
}

func (s *Scheduler) before(epoch int) (past, bool) {
	if epoch < 1 || epoch > len(s.pasts) || s.pasts[epoch-1].stream == nil {
		return past{}, false
	}
	return s.pasts[epoch-1], true
}

func sizeOf(stream []Placed) (tokens int) {
	for _, p := range stream {
		tokens += p.Tokens
	}
	return tokens
}

// restored is an earlier stream with what came since.
func (s *Scheduler) restored(p past) []Placed {
	out := slices.Clone(p.stream)
	for _, pl := range s.stream {
		if s.since(pl, p.blocks) {
			out = append(out, pl)
		}
	}
	return out
}

// since reports whether a place shows what entered after a number of blocks. The
// lines that told of epochs do not: they would tell what is so no longer.
func (s *Scheduler) since(p Placed, blocks int) bool {
	if p.Block < 0 {
		return p.Span.LastBlock >= blocks
	}
	b := &s.blocks[p.Block]
	notice := b.Part == quire.PartMachine && b.Page.Number == 0 && b.By < 0
	return p.Block >= blocks && !notice
}

// restore undoes the epoch that the user wants undone, unless that changes nothing.
func (s *Scheduler) restore(now Moment) {
	p, ok := s.before(s.undo)
	if !ok {
		return
	}
	out := s.restored(p)
	first := s.common(out)
	if first < max(len(out), len(s.stream)) {
		s.remember()
		s.plan.kind, s.plan.reason = quire.EpochUndo, fmt.Sprintf("epoch %d is undone by the user", s.undo)
		s.noteRestored(out)
		before, kept := float64(s.net), float64(sizeOf(out[:first]))
		s.net = sizeOf(out)
		s.adopt(out, first)
		s.forgetThinking(first)
		s.sweep(first)
		s.plan.price = backAgain(now, before, float64(s.net), kept)
	}
	s.undo = 0
}

// backAgain is what a call costs more that sends another stream than it would have,
// of which a number of tokens stand as they did.
func backAgain(now Moment, before, then, kept float64) float64 {
	if now.Cold != "" {
		return now.Write * (then - before)
	}
	return now.Write*(then-kept) - now.Prices.Read*(before-kept)
}

// noteRestored enters the decisions that an undone epoch makes.
func (s *Scheduler) noteRestored(out []Placed) {
	for _, p := range out {
		if p.Block < 0 || s.blocks[p.Block].Page.Number == 0 {
			continue
		}
		from, was := quire.RenditionAbsent, 0
		if at := s.at[p.Block]; at >= 0 {
			from, was = s.stream[at].Form, s.stream[at].Tokens
		}
		if from != p.Form {
			s.plan.decisions = append(s.plan.decisions, quire.Decision{
				Page: s.blocks[p.Block].Page.Number, From: from, To: p.Form, Tokens: p.Tokens, Was: was, Reason: s.plan.reason,
			})
		}
	}
}

// rewindPasts takes out of the streams that are kept what a rewind took out.
func (s *Scheduler) rewindPasts(keep int) {
	for i := range s.pasts {
		p := &s.pasts[i]
		p.stream = p.stream[:upTo(p.stream, keep)]
	}
}
