package gateway

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/quire-agent/quire/internal/curation"
	"github.com/quire-agent/quire/internal/ingest"
	"github.com/quire-agent/quire/internal/quire"
)

// A writing is one call on its way into the journal of its session.
type writing struct {
	*session
	*observer
	x      *exchange
	view   *view
	place  *place
	stream *stream
	stamp  quire.Stamp
	note   viewRecord
	began  bool      // the stream is new
	back   bool      // the client went back
	fork   bool      // it went on beside another branch
	begun  bool      // what came is written
	grew   bool      // its answer entered the stream
	length int       // of the path when all of the view had entered
	called string    // the call in the journal, where it has a name already
	ended  time.Time // when the answer was over
	*curating
}

// record writes a call down: what is new in its view, its answer, its usage, the
// account, and what the tree needs to be built again.
func (s *session) record(ctx context.Context, o *observer, x *ended, v *view, p *place, a *answered, c charged, line *Line) error {
	w := x.writing
	if w == nil || !w.begun {
		w = &writing{session: s, observer: o, x: x.exchange, view: v, place: p}
		if err := w.begin(); err != nil {
			return err
		}
	}
	w.ended = x.at
	s.behind = true
	if err := w.write(a, c, line); err != nil {
		return err
	}
	w.place.tree.used, s.used = x.at, x.at
	o.publish(s)
	o.prune()
	if s.live == nil {
		return nil
	}
	err := w.sync(ctx)
	if err != nil && w.stream.curated != nil {
		// What waits is written with the next call. Without the stream the thinking that
		// is bound to it could not be sent again.
		w.fail(fmt.Errorf("record a call: %w", err))
		line.Note = "not recorded yet: " + err.Error()
		return nil
	}
	return err
}

// begin writes what came: which stream it goes on with, and what is new in it.
func (w *writing) begin() error {
	w.choose()
	w.stamp = quire.Stamp{At: w.x.began, Chain: w.stream.chain}
	w.note = viewRecord{Stamp: w.stamp, Credential: w.cred, Label: w.place.tree.label, Tree: slices.Index(w.trees, w.place.tree), Cleared: w.place.cleared}
	w.row.API = w.x.api
	for _, step := range []func() error{w.align, w.enterHead, w.enterMessages} {
		if err := step(); err != nil {
			return err
		}
	}
	w.length, w.begun = len(w.stream.path), true
	return nil
}

func (w *writing) pool() *ingest.Pool { return w.gateway.options.Pool }

func (w *writing) write(a *answered, c charged, line *Line) error {
	w.beside()
	call := w.called
	if call == "" {
		call = w.session.call(a.reply.ID)
	}
	w.describe(line, c)
	if err := w.answer(call, a); err != nil {
		return err
	}
	if err := w.finish(call, a, c, line); err != nil || !w.grew {
		return err
	}
	return w.fed(quire.Hash{})
}

// beside gives an answer a stream of its own where another one came first: the same
// view was sent twice at a time.
func (w *writing) beside() {
	old := w.stream
	if len(old.path) <= w.length {
		return
	}
	w.newStream()
	w.stream.path = slices.Clone(old.path[:w.length])
	for i := range w.stream.path {
		w.stream.path[i].last = -1
	}
	w.stream.forkOf(old, w.length)
	w.stamp.Chain, w.note.Chain = w.stream.chain, w.stream.chain
	w.note.Keep, w.note.Steps = 0, nil
	for _, at := range w.stream.path {
		w.note.Steps = append(w.note.Steps, stepOf(at))
	}
}

// choose finds the stream that the view goes on from: the one that has most in
// common with it. A branch that was left and is gone on with gets a stream of its
// own, as both of them may live (parallel requests of one session); so does each one
// of a curated session, where what was sent must stay known (G2, G5).
func (w *writing) choose() {
	best, most := (*stream)(nil), -1
	for _, s := range w.streams {
		if n := s.common(w.place.nodes); n > most || n == most && n == len(s.path) {
			best, most = s, n
		}
	}
	switch {
	case w.place.compacted != nil:
		w.stream = w.place.compacted
	case best == nil || most == 0:
		w.newStream()
	case most < len(best.path) && (len(w.place.nodes) > most || best.curated != nil):
		w.newStream()
		w.stream.path = slices.Clone(best.path[:most])
		for i := range w.stream.path {
			w.stream.path[i].last = -1 // those parts stand in the other chain
		}
		w.stream.forkOf(best, most)
		w.fork = true
	default:
		w.stream = best
	}
}

func (w *writing) newStream() {
	chain := ""
	if n := len(w.streams); n > 0 {
		chain = "branch-" + strconv.Itoa(n)
	}
	w.stream = &stream{chain: chain}
	w.streams = append(w.streams, w.stream)
	w.began = true
}

// common is how many steps of the path a view begins with.
func (s *stream) common(nodes []*node) int {
	n := 0
	for n < len(nodes) && n < len(s.path) && s.path[n].node == nodes[n] {
		n++
	}
	return n
}

// align makes the path a prefix of the view: the client compacted, went back, or
// left an answer behind that it did not get whole.
func (w *writing) align() error {
	s := w.stream
	if w.place.compacted != nil {
		s.path, s.dangling = nil, false
		s.uncurate()
		return w.live.Add(quire.Compacted{Stamp: w.stamp, PreTokens: s.prompt})
	}
	n := s.common(w.place.nodes)
	if w.note.Keep = n; w.fork {
		w.note.Keep = 0
		for _, at := range s.path {
			w.note.Steps = append(w.note.Steps, stepOf(at))
		}
	}
	w.back = n < len(s.path)
	if !w.back && !s.dangling {
		return nil
	}
	s.path, s.dangling = s.path[:n], false
	s.curatedTo(n)
	keep := -1
	if n > 0 {
		keep = s.path[n-1].last
	}
	return w.live.Add(quire.Rewound{Stamp: w.stamp, Keep: keep})
}

// enterHead enters the system prompt and the tools, each form of them once.
func (w *writing) enterHead() error {
	if !w.heads[w.view.tools] && w.view.offers {
		w.heads[w.view.tools] = true
		if err := w.enter(toolsPart(w.view.call.Tools)); err != nil {
			return err
		}
	}
	if w.heads[w.view.system] {
		return nil
	}
	w.heads[w.view.system] = true
	for i := range w.view.call.System {
		b := &w.view.call.System[i]
		if billing(b) || curation.TextOf(b) == "" {
			continue
		}
		if err := w.enter(quire.Part{Kind: quire.PartSystem, Text: curation.TextOf(b)}); err != nil {
			return err
		}
	}
	return nil
}

func (w *writing) enter(p quire.Part) error {
	err := w.live.Add(quire.Entered{Stamp: w.stamp, Node: w.stream.next, Part: p})
	w.book.add(w.stream.chain, w.stream.next, p)
	w.stream.next++
	return err
}

// enterMessages enters what of the view is not on the path.
func (w *writing) enterMessages() error {
	cred := credentialHash(w.cred)
	s := w.stream
	at := (*node)(nil)
	if len(s.path) > 0 {
		at = s.path[len(s.path)-1].node
	}
	for i := len(s.path); i < len(w.place.nodes)+w.unknown(); i++ {
		m := &w.view.messages[i-w.place.implied]
		if i < len(w.place.nodes) {
			at = w.place.nodes[i]
		} else {
			at = w.forest.grow(w.place.tree, at, cred, m)
		}
		from := w.stream.next
		for _, p := range enteredParts(m, w.theirs) {
			if err := w.enter(w.origin(p)); err != nil {
				return err
			}
		}
		at.stand(w.stream.chain, from, w.stream.next)
		w.walkTo(at)
	}
	return nil
}

// stand notes where the parts of a node are, the first time that they are written.
func (n *node) stand(chain string, from, next int) {
	if n.parts.N == 0 {
		n.parts = span{chain, from, next - from}
	}
}

// unknown is how many messages of the view are not known.
func (w *writing) unknown() int { return len(w.view.messages) - (len(w.place.nodes) - w.place.implied) }

func (w *writing) walkTo(n *node) {
	at := step{n, w.stream.next - 1}
	w.stream.path, w.note.Steps = append(w.stream.path, at), append(w.note.Steps, stepOf(at))
}

// origin says of what comes first after a compaction that it is a summary, or was
// put back: all of it that is not the user's.
func (w *writing) origin(p quire.Part) quire.Part {
	if w.place.compacted == nil || p.Kind == quire.PartUser {
		return p
	}
	p.Origin = quire.OriginReinjected
	for _, one := range w.said {
		if p.Text != "" && strings.Contains(p.Text, one.text) {
			p.Origin = quire.OriginSummary
		}
	}
	return p
}

// theirs reports whether a text was not seen in another session before: what is
// there word for word is not typed but sent by a program (G19).
func (w *writing) theirs(text string) bool {
	sum := quire.Sum(text)
	key := string(sum[:])
	first, ok := w.words.Get(key)
	if !ok {
		w.words.Put(key, w.session.name.ULID)
	}
	return !ok || first == w.session.name.ULID
}

// answer writes the call and what it answered. An answer that came whole is a node:
// the client will send it back.
func (w *writing) answer(call string, a *answered) error {
	from, err := w.reply(call, &a.reply)
	if err != nil {
		return err
	}
	shown := a.reply.Blocks
	if w.x.reply != nil {
		shown = w.x.reply.Shown()
	}
	m, ok := canonicalOf(quire.Message{Role: quire.RoleAssistant, Blocks: shown})
	if !ok || !a.whole || len(w.stream.path) == 0 {
		w.stream.dangling = w.stream.next > from
		return nil
	}
	n := w.forest.grow(w.place.tree, w.stream.path[len(w.stream.path)-1].node, credentialHash(w.cred), &m)
	n.answer, n.at = true, w.x.began
	n.stand(w.stream.chain, from, w.stream.next)
	if a.reply.ID != "" {
		w.replies.Put(w.cred+a.reply.ID, n)
	}
	w.walkTo(n)
	w.say(w.stream, shown)
	return w.feedAnswer(&a.reply, from)
}

// reply writes a call and the parts of its answer, and returns the number of the
// first of them.
func (w *writing) reply(call string, r *quire.Reply) (from int, err error) {
	if err := w.live.Add(quire.Called{Stamp: w.stamp, Call: call, Model: w.view.call.Model}); err != nil {
		return 0, err
	}
	w.book.called(w.stream.chain)
	stamp := w.stamp
	stamp.At = w.ended
	from = w.stream.next
	for _, p := range answerParts(r.Blocks) {
		if err := w.live.Add(quire.Answered{Stamp: stamp, Call: call, Node: w.stream.next, Part: p}); err != nil {
			return 0, err
		}
		w.book.add(w.stream.chain, w.stream.next, p)
		w.stream.next++
	}
	return from, nil
}

// finish writes the usage, the account and the view.
func (w *writing) finish(call string, a *answered, c charged, line *Line) error {
	if a.reply.Usage.Known != 0 {
		if err := w.live.Add(quire.Metered{Stamp: w.stamp, Call: call, Usage: a.reply.Usage}); err != nil {
			return err
		}
	}
	w.shadow += c.shadow
	w.paid += c.cost
	if c.priced {
		if err := w.live.Record(quire.RecordAccount, quire.AccountRecord{Stamp: w.stamp, Call: call, Shadow: w.shadow, Live: w.paid}); err != nil {
			return err
		}
	}
	w.note.Call, w.note.Reply, w.note.Dangling = call, a.reply.ID, w.stream.dangling
	w.note.System, w.note.Tools, w.note.Offers, w.note.Model = w.view.system, w.view.tools, w.view.offers, w.view.call.Model
	w.place.tree.tools = w.place.tree.tools || w.view.offers
	w.stream.last = state{w.x.began, w.view.terms()}
	w.stream.note(w.stream.last.terms, w.x.began)
	w.stream.prompt = line.Prompt
	if w.curating != nil {
		line.curatedNote = w.curating.note
	}
	w.row.Saved, w.row.View = w.shadow-w.paid, c.prompt
	if m, ok := w.gateway.options.Prices.Model(w.view.call.Model); ok {
		w.row.Full = m.Window > 0 && c.prompt > m.Window
	}
	w.hint(line)
	w.row.add(line, w.x.began)
	return w.live.Record(quire.RecordView, w.note)
}

// describe says in the line which session the call is of, and why its prompt was
// not in the cache.
func (w *writing) describe(line *Line, c charged) {
	line.Session, line.Branch, line.Cleared = w.session.name.Number, w.stream.chain, w.place.cleared
	last := w.stream.last
	switch {
	case !c.cold:
	case w.place.compacted != nil:
		line.Cold = "the client compacted"
	case w.fork:
		line.Cold = "another branch"
	case w.began:
		line.Cold = "first call"
	case last.model != "" && last.model != w.view.call.Model:
		line.Cold = "another model"
	case last.tools != (quire.Hash{}) && last.tools != w.view.tools:
		line.Cold = "the tools changed"
	case last.system != (quire.Hash{}) && last.system != w.view.system:
		line.Cold = "the system prompt changed"
	case c.lapsed > 0 && !last.at.IsZero():
		line.Cold = "idle " + w.x.began.Sub(last.at).Round(time.Second).String()
	case w.back:
		line.Cold = "the client went back"
	default:
		line.Cold = c.why
	}
}
