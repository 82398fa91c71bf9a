package trace

import (
	"errors"
	"fmt"
	"io"
	"time"
	"unicode/utf8"

	"github.com/quire-agent/quire/internal/quire"
)

// A sink hands the events of one log on: it stamps them, numbers the parts of
// each chain, keeps the ids of calls unique and notes times that go back. After
// the reader wanted no more it swallows everything.
type sink struct {
	quire.Stamp // of the record being read

	yield func(quire.Event) bool
	done  bool // the reader wants no more
	nodes map[string]int
	calls *recent[bool]
	times map[string]time.Time
}

func newSink(yield func(quire.Event) bool) *sink {
	return &sink{
		yield: yield,
		nodes: make(map[string]int),
		calls: newRecent[bool](recentLimit),
		times: make(map[string]time.Time),
	}
}

// record begins a record: the stamp of the events to come.
func (s *sink) record(line int, at time.Time, chain string) {
	s.Stamp = quire.Stamp{Line: line, At: at, Chain: chain}
	if at.IsZero() {
		return
	}
	if at.Before(s.times[chain]) {
		s.note(quire.NoteTimeInversion)
	}
	s.times[chain] = at
}

func (s *sink) send(e quire.Event) {
	s.done = s.done || !s.yield(e)
}

func (s *sink) open(info quire.SessionInfo) { s.send(quire.Opened{Stamp: s.Stamp, Info: info}) }

func (s *sink) enter(p quire.Part) {
	s.send(quire.Entered{Stamp: s.Stamp, Node: s.node(), Part: p})
}

// call opens a call. It returns false, and notes why, where a call of this id
// was opened before.
func (s *sink) call(id, model string) bool {
	if s.called(id) {
		s.note(quire.NoteDuplicateLine)
		return false
	}
	s.calls.put([]byte(id), true)
	s.send(quire.Called{Stamp: s.Stamp, Call: id, Model: model})
	return true
}

// called reports whether a call of this id was opened.
func (s *sink) called(id string) bool {
	_, ok := s.calls.get([]byte(id))
	return ok
}

func (s *sink) answer(call string, p quire.Part) {
	s.send(quire.Answered{Stamp: s.Stamp, Call: call, Node: s.node(), Part: p})
}

// errUsage is what usage is reported as that no call can have had.
var errUsage = errors.New("usage below zero or beyond any call's: not counted")

// meter sends the usage of a call, if any of it is known and can be true.
func (s *sink) meter(call string, u quire.Usage) {
	switch {
	case u.Known == 0:
	case u.Plausible():
		s.send(quire.Metered{Stamp: s.Stamp, Call: call, Usage: u})
	default:
		s.skip(errUsage)
	}
}

func (s *sink) skip(err error) { s.send(quire.Skipped{Stamp: s.Stamp, Reason: err.Error()}) }

func (s *sink) note(n quire.Note) { s.send(quire.Noted{Stamp: s.Stamp, Note: n}) }

// ended takes the error that ended the reading of a document. Damage is sent on
// as an event; what is left is a fault of the reader itself.
func (s *sink) ended(err error) error {
	switch {
	case err == nil, errors.Is(err, io.EOF), errors.Is(err, errStop):
		return nil
	case errors.Is(err, errTruncated), errors.Is(err, errSyntax), errors.Is(err, errOversized):
		s.skip(err)
		return nil
	}
	return fmt.Errorf("read log: %w", err)
}

// node is the number of the next part of the current chain.
func (s *sink) node() int {
	n := s.nodes[s.Chain]
	s.nodes[s.Chain] = n + 1
	return n
}

// encoded notes a record that is not UTF-8 throughout.
func (s *sink) encoded(record ...value) {
	for _, v := range record {
		if !utf8.Valid(v) {
			s.note(quire.NoteNotUTF8)
			return
		}
	}
}

// items hands on the elements of an array; damage inside it is reported. A
// value that is no array has none.
func (s *sink) items(v value, item func(value)) {
	w := v.items()
	for w.next() {
		item(w.val)
	}
	if w.err != nil {
		s.skip(w.err)
	}
}
