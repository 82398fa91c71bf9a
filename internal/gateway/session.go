package gateway

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/quire-agent/quire/internal/ingest"
	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/quire"
)

// A session is one journal with the trees that are kept in it: one, and one more
// for each time that its client compacted.
type session struct {
	name    journal.Name
	live    *ingest.Live // nil while the journal is closed
	trees   []*tree
	streams []*stream
	heads   map[quire.Hash]bool // system prompts and tool lists that entered
	names   map[string]int      // of calls, how often
	busy    int                 // calls under way that may be curated
	book    *book               // nil while no stream of the session is in mind
	said    []said              // answers that may come back as a summary, the latest last
	cred    string
	used    time.Time
	behind  bool // more was recorded than rows were made of
	row     Row
	shadow  float64
	paid    float64
}

// A stream is one sequence of prompts, each of which goes on from the one before it
// or from a place in it: a chain of the journal.
type stream struct {
	chain    string
	next     int // number of the next part
	path     []step
	dangling bool // an answer stands behind the path that its client did not get whole
	last     state
	prompt   int // tokens of the last one
	curated  *curated
	forms    []*curated // all curated ones, for each of the terms that the client took, in the order in which they began; curated is one of them
	begun    int        // forms of which a record says that they began
	written  int        // number of the one that the latest record is of
	sent     []state    // when each of the terms was last sent, the latest last
}

// A step is a node with the number of its last part.
type step struct {
	node *node
	last int
}

// A state is what the last call of a stream had beside its messages.
type state struct {
	at time.Time
	terms
}

// said is an answer, or the summary in it.
type said struct {
	text   string
	stream *stream
}

// session finds the session of a call, or begins one.
func (o *observer) session(ctx context.Context, x *exchange, v *view, p *place) (*session, error) {
	if p.tree != nil && p.tree.session != nil {
		s := p.tree.session
		return s, o.open(ctx, s)
	}
	if s, st := o.compacted(x, v); s != nil {
		t := o.forest.plant(x.label, x.began)
		t.session, s.trees = s, append(s.trees, t)
		*p = place{tree: t, compacted: st}
		return s, o.open(ctx, s)
	}
	if p.tree == nil {
		p.tree = o.forest.plant(x.label, x.began)
	}
	s := &session{trees: []*tree{p.tree}, heads: map[quire.Hash]bool{}, names: map[string]int{}, cred: x.cred, used: x.began}
	p.tree.session = s
	o.sessions = append(o.sessions, s)
	return s, o.begin(ctx, s, x, v)
}

// begin begins the journal of a session.
func (o *observer) begin(ctx context.Context, s *session, x *exchange, v *view) error {
	info := quire.SessionInfo{Agent: quire.AgentQuire, Project: v.project, Started: x.began}
	live, err := o.gateway.options.Pool.Begin(ctx, info)
	if err != nil {
		return err
	}
	s.live, s.name = live, live.Name()
	s.row = Row{Session: s.name.Number, Project: v.project, API: x.api, Started: x.began}
	return o.limitOpen(s)
}

// open opens the journal again where it was closed.
func (o *observer) open(ctx context.Context, s *session) error {
	s.used = o.gateway.options.Pool.Now()
	if s.live != nil {
		return nil
	}
	live, err := o.gateway.options.Pool.Resume(ctx, s.name, ingest.Resumer{
		Event: func(quire.Event) error { return nil }, Record: func(quire.Record) error { return nil }})
	if err != nil {
		return err
	}
	s.live = live
	return o.limitOpen(s)
}

// limitOpen closes the journals that were not used for the longest time.
func (o *observer) limitOpen(but *session) error {
	var open []*session
	for _, s := range o.sessions {
		if s.live != nil && s != but {
			open = append(open, s)
		}
	}
	slices.SortStableFunc(open, func(a, b *session) int { return a.used.Compare(b.used) })
	var errs []error
	for i := 0; i <= len(open)-o.gateway.limits.Open; i++ {
		errs = append(errs, open[i].close())
	}
	return errors.Join(errs...)
}

func (s *session) close() error {
	if s.live == nil {
		return nil
	}
	err := s.live.Close()
	s.live = nil
	return err
}

// forget takes a tree from a session, and the session with its last one.
func (o *observer) forget(s *session, t *tree) error {
	s.trees = slices.DeleteFunc(s.trees, func(other *tree) bool { return other == t })
	if len(s.trees) > 0 {
		return nil
	}
	return o.remove(s)
}

func (o *observer) remove(s *session) error {
	o.sessions = slices.DeleteFunc(o.sessions, func(other *session) bool { return other == s })
	o.unpublish(s)
	return s.close()
}

// compactions is how many sessions, the latest first, are asked for the summary
// that a new view may begin with.
const compactions = 64

// compacted finds the session that a view goes on from after its client compacted
// it: one of the first messages holds a text that we relayed as an answer (G4).
func (o *observer) compacted(x *exchange, v *view) (*session, *stream) {
	var first strings.Builder
	for i := 0; i < len(v.messages) && i < 3; i++ {
		for j := range v.messages[i].Blocks {
			first.WriteString(v.messages[i].Blocks[j].Text + "\n")
		}
	}
	text := first.String()
	list := slices.Clone(o.sessions)
	slices.SortStableFunc(list, func(a, b *session) int { return b.used.Compare(a.used) })
	for _, s := range list[:min(len(list), compactions)] {
		for _, one := range slices.Backward(s.said) {
			if s.cred == x.cred && strings.Contains(text, one.text) {
				return s, one.stream
			}
		}
	}
	return nil, nil
}

// summaryFrom is the least length in bytes of a text by which a summary is known,
// and summaryTo that of the longest that is kept in mind.
const (
	summaryFrom = 100
	summaryTo   = 64 << 10
)

// say keeps an answer in mind that may come back as a summary.
func (s *session) say(st *stream, blocks []quire.Block) {
	for i := range blocks {
		b := &blocks[i]
		if b.Kind != quire.PartText || b.Opaque != nil {
			continue
		}
		text := strings.TrimSpace(b.Text)
		if _, rest, ok := strings.Cut(text, "<summary>"); ok {
			text, _, _ = strings.Cut(rest, "</summary>")
			text = strings.TrimSpace(text)
		}
		if len(text) >= summaryFrom && len(text) <= summaryTo {
			s.said = append(s.said, said{strings.Clone(text), st})
		}
	}
	s.said = s.said[max(0, len(s.said)-2):]
}

// name makes the name of a call its own.
func (s *session) call(id string) string {
	if id == "" {
		id = "call"
	}
	s.names[id]++
	if n := s.names[id]; n > 1 || id == "call" {
		return id + "#" + strconv.Itoa(n)
	}
	return id
}

// derive has rows and index made of what was recorded, while calls go on; not while
// they are being made already.
func (o *observer) derive(ctx context.Context) {
	var names []journal.Name
	for _, s := range o.sessions {
		if s.behind && !o.deriving {
			names = append(names, s.name)
			s.behind = false
		}
	}
	if len(names) == 0 {
		return
	}
	o.deriving = true
	go func() {
		var errs []error
		defer func() {
			if fault := recover(); fault != nil {
				errs = append(errs, fmt.Errorf("make rows: the gateway is at fault: %v", fault))
			}
			o.derived <- errors.Join(errs...)
		}()
		for _, n := range names {
			if _, err := o.gateway.options.Pool.Derive(ctx, n.Path); err != nil {
				errs = append(errs, fmt.Errorf("make rows of %v: %w", n.Number, err))
			}
		}
	}()
}

// unload forgets of sessions that are idle what can be made again.
func (o *observer) unload() {
	const idle = 2 * time.Minute
	now := o.gateway.options.Pool.Now()
	for _, s := range o.sessions {
		if s.busy > 0 || now.Sub(s.used) < idle {
			continue
		}
		o.fail(s.close())
		s.book = nil
		for _, st := range s.streams {
			for _, c := range st.forms {
				c.mirror, c.pending = nil, nil
			}
		}
	}
}
