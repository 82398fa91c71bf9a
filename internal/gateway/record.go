package gateway

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/quire-agent/quire/internal/quire"
)

// A writing is one call on its way into the journal of its session.
type writing struct {
	*session
	*observer
	x      *ended
	view   *view
	place  *place
	stream *stream
	stamp  quire.Stamp
	note   viewRecord
	began  bool // the stream is new
	back   bool // the client went back
	fork   bool // it went on beside another branch
}

// record writes a call down: what is new in its view, its answer, its usage, the
// account, and what the tree needs to be built again.
func (s *session) record(ctx context.Context, o *observer, x *ended, v *view, p *place, a *answered, c charged, line *Line) error {
	w := &writing{session: s, observer: o, x: x, view: v, place: p}
	s.behind = true
	if err := w.write(a, c, line); err != nil {
		return err
	}
	p.tree.used, s.used = x.at, x.at
	o.publish(s)
	o.prune()
	if s.live == nil {
		return nil
	}
	return s.live.Sync(ctx)
}

func (w *writing) write(a *answered, c charged, line *Line) error {
	w.choose()
	w.stamp = quire.Stamp{At: w.x.began, Chain: w.stream.chain}
	w.note = viewRecord{Stamp: w.stamp, Credential: w.cred, Label: w.place.tree.label, Tree: slices.Index(w.trees, w.place.tree), Cleared: w.place.cleared}
	if err := w.align(); err != nil {
		return err
	}
	if err := w.enterHead(); err != nil {
		return err
	}
	if err := w.enterMessages(); err != nil {
		return err
	}
	call := w.session.call(a.reply.ID)
	w.describe(line, c)
	if err := w.answer(call, a); err != nil {
		return err
	}
	return w.finish(call, a, c, line)
}

// choose finds the stream that the view goes on from: the one that has most in
// common with it. A branch that was left and is gone on with gets a stream of its
// own, as both of them may live (parallel requests of one session).
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
	case most < len(best.path) && len(w.place.nodes) > most:
		w.newStream()
		w.stream.path = slices.Clone(best.path[:most])
		for i := range w.stream.path {
			w.stream.path[i].last = -1 // those parts stand in the other chain
		}
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
		if billing(b) || textOf(b) == "" {
			continue
		}
		if err := w.enter(quire.Part{Kind: quire.PartSystem, Text: textOf(b)}); err != nil {
			return err
		}
	}
	return nil
}

func (w *writing) enter(p quire.Part) error {
	err := w.live.Add(quire.Entered{Stamp: w.stamp, Node: w.stream.next, Part: p})
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
		for _, p := range enteredParts(m, w.theirs) {
			if err := w.enter(w.origin(p)); err != nil {
				return err
			}
		}
		w.walkTo(at)
	}
	return nil
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
	if err := w.live.Add(quire.Called{Stamp: w.stamp, Call: call, Model: w.view.call.Model}); err != nil {
		return err
	}
	stamp := w.stamp
	stamp.At = w.x.at
	parts := answerParts(a.reply.Blocks)
	for _, p := range parts {
		if err := w.live.Add(quire.Answered{Stamp: stamp, Call: call, Node: w.stream.next, Part: p}); err != nil {
			return err
		}
		w.stream.next++
	}
	m, ok := canonicalOf(quire.Message{Role: quire.RoleAssistant, Blocks: a.reply.Blocks})
	if !ok || !a.whole || len(w.stream.path) == 0 {
		w.stream.dangling = len(parts) > 0
		return nil
	}
	n := w.forest.grow(w.place.tree, w.stream.path[len(w.stream.path)-1].node, credentialHash(w.cred), &m)
	n.answer = true
	if a.reply.ID != "" {
		w.replies.Put(w.cred+a.reply.ID, n)
	}
	w.walkTo(n)
	w.say(w.stream, a.reply.Blocks)
	return nil
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
	w.note.System, w.note.Tools, w.note.Offers = w.view.system, w.view.tools, w.view.offers
	w.place.tree.tools = w.place.tree.tools || w.view.offers
	w.stream.last = state{at: w.x.began, model: w.view.call.Model, system: w.view.system, tools: w.view.tools}
	w.stream.prompt = line.Prompt
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
