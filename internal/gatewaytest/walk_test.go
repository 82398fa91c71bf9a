package gatewaytest

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/quire-agent/quire/internal/gateway"
	"github.com/quire-agent/quire/internal/ingest"
	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/secret"
	"github.com/quire-agent/quire/internal/sim"
)

// A walk is a random client at work.
type walk struct {
	*peer
	rt     *rapid.T
	clock  *clock
	pool   *ingest.Pool
	g      *gateway.Gateway
	sims   [2]*sim.Sim
	talks  []*talk
	at     int  // the talk that goes on
	label  int  // of the next words or results
	loose  bool // requests ran in parallel: their order, and with it the bill, is not fixed
	change func(o *gateway.Options)
}

// newWalk begins a walk over an API.
func newWalk(rt *rapid.T, up *upstream, home string, faults bool, change func(*gateway.Options)) *walk {
	d := dialects()[rapid.IntRange(0, 3).Draw(rt, "api")]
	plans := scriptOf(drawPlans(rt, d.api == sim.Messages, faults))
	w := &walk{rt: rt, clock: newClock(), change: change}
	bound := rapid.Bool().Draw(rt, "bound")
	for i := range w.sims {
		w.sims[i] = newSim(rt, plans, w.clock.now, sim.Limits{BoundThinking: bound})
	}
	w.pool = newPool(rt, home, w.clock.tick())
	w.peer = &peer{t: rt, api: &d, up: up, key: "k", sent: map[string]bool{}}
	up.serves.Store(w.sims[through])
	w.ends[direct] = w.sims[direct]
	w.open()
	w.talks = []*talk{w.begun("session-1")}
	return w
}

// open starts a gateway over the pool.
func (w *walk) open() {
	o := options(w.pool, w.up.address)
	o.Failed = func(err error) { w.rt.Errorf("the gateway: %v", err) }
	o.Seen = func(l gateway.Line) {
		if l.Epoch != "" {
			w.rt.Logf("call of %s: %s", l.At.Format("02 15:04:05"), l.Epoch)
		}
	}
	w.change(&o)
	w.g = start(w.rt, o)
	w.ends[through] = w.g
}

func (w *walk) begun(label string) *talk {
	return &talk{tools: 3, system: "You work in a project. " + strings.Repeat(kind, 300), label: label}
}

func (w *walk) now() *talk { return w.talks[w.at] }

// next is a label that nothing carries yet.
func (w *walk) next() int { w.label++; return w.label - 1 }

// texts are results that carry a label, one for each call that waits.
func (w *walk) texts(k *talk, label int) []string {
	var list []string
	for i := range k.pending {
		lines := rapid.SampledFrom([]int{1, 3, 40, 200}).Draw(w.rt, "lines")
		var b strings.Builder
		fmt.Fprintf(&b, "[r%d] result %d\n", label, i)
		for n := range lines {
			fmt.Fprintf(&b, "line %d of result %d of step %d says something of its own\n", n, i, label)
		}
		list = append(list, b.String()+"done")
	}
	return list
}

// goOn answers what waits, or says something, and asks.
func (w *walk) goOn(m mishap) {
	k, label := w.now(), w.next()
	w.advance(k, label)
	w.ask(k, rapid.Bool().Draw(w.rt, "stream"), m)
}

// advance adds the results that are wanted, or words.
func (w *walk) advance(k *talk, label int) {
	switch {
	case len(k.pending) == 0:
		w.say(k, label, nil)
	case rapid.IntRange(0, 5).Draw(w.rt, "interrupts") == 0:
		w.say(k, label, w.texts(k, label))
	default:
		w.say(k, -1, w.texts(k, label))
	}
}

// settled reports whether the current talk may be changed: thinking of a loop under
// way must stand as it is.
func (w *walk) settled() bool { return len(w.now().pending) == 0 && len(w.now().views[0]) > 0 }

// A move is one thing that a client does. It ends with a valid talk.
type move struct {
	name string
	do   func()
}

// moves are all that a walk does.
func (w *walk) moves() []move {
	return []move{
		{"go on", func() { w.goOn(mishap{}) }}, {"go on", func() { w.goOn(mishap{}) }}, {"go on", func() { w.goOn(mishap{}) }},
		{"go on", func() { w.goOn(mishap{}) }}, {"go on", func() { w.goOn(mishap{}) }}, {"go on", func() { w.goOn(mishap{}) }},
		{"pause", w.pause},
		{"mishap", w.misfortune}, {"fork", w.fork}, {"rewind", w.rewind}, {"edit", w.edit}, {"clear", w.clear}, {"compact", w.compact},
		{"parallel", w.parallel}, {"subagent", w.subagent}, {"switch", w.turn}, {"tools", w.retool}, {"system", w.resystem}, {"model", w.remodel},
		{"image", w.image}, {"side", w.side}, {"count", w.countTokens}, {"restart", func() { stop(w.rt, w.g); w.open() }},
	}
}

// terms are what a walk does whose client changes what stands in front of its
// messages, and takes it back, while older prompts are in the cache still.
func (w *walk) terms() []move {
	return []move{
		{"go on", func() { w.goOn(mishap{}) }}, {"go on", func() { w.goOn(mishap{}) }}, {"go on", func() { w.goOn(mishap{}) }},
		{"go on", func() { w.goOn(mishap{}) }}, {"go on", func() { w.goOn(mishap{}) }}, {"pause", w.pause}, {"pause", w.pause},
		{"tools", w.retool}, {"system", w.resystem}, {"model", w.remodel}, {"model", w.remodel}, {"clear", w.clear}, {"rewind", w.rewind}, {"subagent", w.subagent}, {"switch", w.turn},
	}
}

func (w *walk) pause() {
	w.clock.pass(rapid.SampledFrom([]time.Duration{time.Minute, 6 * time.Minute, 2 * time.Hour, 30 * time.Hour}).Draw(w.rt, "pause"))
	w.goOn(mishap{})
}

func (w *walk) misfortune() {
	m := rapid.SampledFrom([]mishap{
		{fault: fault{status: 429}}, {fault: fault{status: 503}}, {fault: fault{status: 529}}, {fault: fault{cut: 60}}, {fault: fault{cut: 400}},
		{leave: 1}, {leave: 300}, {twice: true},
	}).Draw(w.rt, "mishap")
	w.goOn(m)
}

// places are where a talk can be cut: behind an answer without calls, or at nothing.
func places(v []quire.Message) []int {
	list := []int{0}
	for i, m := range v {
		if m.Role == quire.RoleAssistant && !slices.ContainsFunc(m.Blocks, func(b quire.Block) bool { return b.Kind == quire.PartToolCall }) {
			list = append(list, i+1)
		}
	}
	return list
}

// back cuts a talk at an earlier place.
func (w *walk) back(k *talk) {
	at := rapid.SampledFrom(places(k.views[0])).Draw(w.rt, "to")
	k.each(func(v []quire.Message) []quire.Message { return slices.Clip(v[:at]) })
	k.pending = nil
}

// fork leaves the talk as it is and goes on from an earlier place of it.
func (w *walk) fork() {
	k := w.now().clone()
	w.back(k)
	w.talks = append(w.talks, k)
	w.at = len(w.talks) - 1
	w.goOn(mishap{})
}

// rewind goes back for good.
func (w *walk) rewind() {
	w.back(w.now())
	w.goOn(mishap{})
}

// turn goes to another talk.
func (w *walk) turn() {
	w.at = rapid.IntRange(0, len(w.talks)-1).Draw(w.rt, "talk")
	w.goOn(mishap{})
}

// edit changes words in the middle. As thinking is bound to what is before it, what
// stands behind is sent without.
func (w *walk) edit() {
	if !w.settled() {
		return
	}
	i := rapid.IntRange(0, len(w.now().views[0])-1).Draw(w.rt, "message")
	w.now().each(func(v []quire.Message) []quire.Message {
		if v[i].Role != quire.RoleUser {
			return v
		}
		b := v[i].Blocks[0]
		b.Text += " (edited)"
		v[i].Blocks = append([]quire.Block{b}, v[i].Blocks[1:]...)
		return unthinking(v, i+1)
	})
	w.goOn(mishap{})
}

// unthinking is a view without the thinking from a message on. Signatures of calls,
// which one API wants, become what it takes in their place.
func unthinking(v []quire.Message, from int) []quire.Message {
	for i := from; i < len(v); i++ {
		blocks := slices.DeleteFunc(slices.Clone(v[i].Blocks), func(b quire.Block) bool { return b.Kind == quire.PartThinking })
		for j := range blocks {
			if blocks[j].Signature != "" {
				blocks[j].Signature = "skip_thought_signature_validator"
			}
		}
		v[i].Blocks = blocks
	}
	return v
}

// clear puts placeholders in the place of old results, as clients do to save room.
func (w *walk) clear() {
	if !w.settled() {
		return
	}
	keep := rapid.IntRange(0, 3).Draw(w.rt, "keep")
	w.now().each(func(v []quire.Message) []quire.Message {
		first, keep := len(v), keep
		for i := len(v) - 1; i >= 0; i-- {
			if v[i].Role != quire.RoleTool {
				continue
			}
			if keep--; keep < 0 {
				v[i], first = cleared(v[i]), i
			}
		}
		return unthinking(v, first)
	})
	w.goOn(mishap{})
}

func cleared(m quire.Message) quire.Message {
	m.Blocks = slices.Clone(m.Blocks)
	for i := range m.Blocks {
		m.Blocks[i].Text = "[cleared]"
	}
	return m
}

// compact asks for a summary and goes on from it alone.
func (w *walk) compact() {
	if !w.settled() {
		return
	}
	k := w.now()
	w.say(k, w.next(), nil)
	w.ask(k, true, mishap{})
	if len(k.pending) > 0 {
		return // the model had other ideas; the client goes on with them
	}
	for i := range k.views {
		last := k.views[i][len(k.views[i])-1]
		summary := "This session goes on from another one. Its summary:\n" + last.Blocks[len(last.Blocks)-1].Text + strings.Repeat(" And so on and so forth.", 6)
		k.views[i] = []quire.Message{{Role: quire.RoleUser, Blocks: []quire.Block{{Part: quire.Part{Kind: quire.PartUser, Text: summary}}}}}
	}
	w.goOn(mishap{})
}

// parallel asks in two talks of the session at a time.
func (w *walk) parallel() {
	w.loose = true
	a := w.now()
	b := a.clone()
	w.back(b)
	w.advance(a, w.next())
	w.advance(b, w.next())
	heardA := [2]heard{}
	heardB := [2]heard{}
	var wg sync.WaitGroup
	wg.Go(func() { heardA[through] = w.send(a, through, true, 0) })
	heardB[through] = w.send(b, through, false, 0)
	wg.Wait()
	heardA[direct], heardB[direct] = w.send(a, direct, true, 0), w.send(b, direct, false, 0)
	w.agree(a, heardA[through], heardA[direct])
	w.agree(b, heardB[through], heardB[direct])
	w.talks = append(w.talks, b)
}

// subagent begins a conversation of its own under the id of the session.
func (w *walk) subagent() {
	k := w.begun(w.now().label)
	k.system = "You are a helper. " + k.system
	w.talks = append(w.talks, k)
	w.at = len(w.talks) - 1
	w.goOn(mishap{})
}

// changed sends what stands without its thinking, which a change of anything in
// front of it makes void.
func (w *walk) changed() {
	w.now().each(func(v []quire.Message) []quire.Message { return unthinking(v, 0) })
	w.goOn(mishap{})
}

func (w *walk) retool() {
	if w.settled() {
		w.now().tools = 3 + (w.now().tools+1)%2
		w.changed()
	}
}

func (w *walk) resystem() {
	if w.settled() {
		w.now().system += " And again."
		w.changed()
	}
}

func (w *walk) remodel() {
	if w.settled() {
		w.now().model = 1 - w.now().model
		w.changed()
	}
}

func (w *walk) image() {
	if !w.settled() {
		return
	}
	w.say(w.now(), w.next(), nil, picture(w.label))
	w.ask(w.now(), true, mishap{})
}

// side asks a small model for a title: no tools, and nothing goes on from it.
func (w *walk) side() {
	k := w.begun(w.now().label)
	k.tools, k.model = 0, 1
	k.add(quire.Message{Role: quire.RoleUser, Blocks: []quire.Block{{Part: quire.Part{Kind: quire.PartUser, Text: fmt.Sprint("a title for talk ", w.label)}}}})
	kept := w.sent
	w.sent = map[string]bool{}
	w.ask(k, false, mishap{})
	w.sent = kept
}

func (w *walk) countTokens() {
	if w.api.count == "" || !w.settled() {
		return
	}
	k := w.now().clone()
	w.say(k, w.label, nil)
	delete(w.sent, k.views[0][len(k.views[0])-1].Blocks[0].Text)
	c := w.call(k, through, false)
	c.MaxOutput = 0
	body, err := w.peer.api.call(c)
	if err != nil {
		w.rt.Fatal(err)
	}
	r, err := w.api.post(w.api.count, body, "k", k.label)
	if err != nil {
		w.rt.Fatal(err)
	}
	out := answerOf(w.g, r)
	if out.Code != http.StatusOK || !strings.Contains(out.Body.String(), `"input_tokens":`) {
		w.rt.Fatalf("count_tokens: %d %s", out.Code, out.Body)
	}
}

// judge looks at what both ends took, and at what it cost.
func (w *walk) judge(faults bool) {
	var spent [2]float64
	for i, s := range w.sims {
		for _, q := range s.Requests() {
			if q.Refused != "" {
				w.rt.Fatalf("end %d: request %d was refused: %s\n%s", i, q.Number, q.Refused, q.Body)
			}
			spent[i] += cost(q)
		}
	}
	if !w.loose && !faults && spent[through] > spent[direct]*1.0000001 {
		w.rt.Fatalf("through the gateway it cost $%.6f, without $%.6f\n%s", spent[through], spent[direct], w.books())
	}
}

// books are the requests of both ends side by side, with their money.
func (w *walk) books() string {
	var b strings.Builder
	lists := [2][]sim.Request{w.sims[through].Requests(), w.sims[direct].Requests()}
	for i := range max(len(lists[0]), len(lists[1])) {
		for end, list := range lists {
			if i >= len(list) {
				continue
			}
			q := &list[i]
			u := q.Usage
			fmt.Fprintf(&b, "%3d %-7s %s %-18s plain %6d read %6d write %6d out %4d $%.6f", i, []string{"through", "direct"}[end], q.At.Format("02 15:04:05"), q.Model, u.Input, u.CacheRead, u.CacheWrite, u.Output, cost(*q))
			if strings.Contains(string(q.Body), `"recall"`) {
				b.WriteString(" recall")
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

// cost is what a request cost in US dollars, by the usage that was reported.
func cost(q sim.Request) float64 {
	m, ok := price.Default().Model(q.Model)
	if !ok {
		return 0
	}
	return m.Rates(q.At).Cost(price.Recorded(q.Usage), int(q.Usage.Output))
}

// recoverable holds that every text that was said and heard is in the pool, and
// named by a journal.
func (w *walk) recoverable() {
	named := namedBodies(w.t, w.pool.Home)
	for text := range w.sent {
		h := quire.Sum(text)
		body, err := w.pool.Bodies.Body(context.Background(), h)
		if err != nil || string(body) != text || !named[h] {
			w.t.Fatalf("%q is not recoverable: named %v, %v", text[:min(len(text), 80)], named[h], err)
		}
	}
}

// namedBodies are the bodies of parts that journals of a home name.
func namedBodies(t failer, home string) map[quire.Hash]bool {
	names, err := journal.List(home)
	if err != nil {
		t.Fatalf("%v", err)
	}
	named := map[quire.Hash]bool{}
	for _, n := range names {
		for r, err := range journal.Read(n.Path) {
			if err != nil {
				t.Fatalf("%v", err)
			}
			if r.Type != quire.RecordPart {
				continue
			}
			p, err := journal.Decode[quire.PartRecord](r)
			if err != nil {
				t.Fatalf("%v", err)
			}
			named[p.Body] = true
		}
	}
	return named
}

// walkOn lets a walk go its way.
func walkOn(rt *rapid.T, up *upstream, home string, faults bool, change func(*gateway.Options), moves func(*walk) []move) {
	w := newWalk(rt, up, home, faults, change)
	defer func() { stop(rt, w.g) }()
	w.goOn(mishap{})
	steps := moves(w)
	for range rapid.IntRange(1, 20).Draw(rt, "steps") {
		if w.label > labels-4 {
			break
		}
		s := steps[rapid.IntRange(0, len(steps)-1).Draw(rt, "step")]
		rt.Log(s.name)
		s.do()
		w.judge(faults)
	}
	t := w.g.Status().Totals
	rt.Logf("%d calls, %d curated, %d epochs, %d recalls", t.Calls, t.Curated, t.Epochs, t.Recalls)
	stop(rt, w.g)
	if t.Opened != 0 {
		rt.Fatalf("curation failed %d times", t.Opened)
	}
	w.recoverable()
}

// relayed leaves a gateway as a relay; curating makes it curate. The budget is small,
// so that little is enough to be folded.
func relayed(*gateway.Options) {}

func curating(o *gateway.Options) {
	o.Curate = &gateway.Curation{Secrets: secret.NewFinder(), Budget: 6000}
}

// walks lets many clients go their way.
func walks(t *testing.T, faults bool, change func(*gateway.Options), moves func(*walk) []move) {
	up := newUpstream(t)
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		home := filepath.Join(dir, fmt.Sprint(n))
		defer os.RemoveAll(home)
		walkOn(rt, up, home, faults, change, moves)
	})
}

// Whatever a client does, what it hears is what it would hear without the gateway,
// every request is one that a vendor takes, the bill is no higher, and everything
// can be had again. First through the relay, then through curation, and then with a
// model that asks for what was taken out of its prompt; that may cost something.
func TestRelayedWalks(t *testing.T) { walks(t, false, relayed, (*walk).moves) }

// failures.md A1, A2, A4, A5, A6, A8, A9, A10, A31, A32, A34
func TestCuratedWalks(t *testing.T) { walks(t, false, curating, (*walk).moves) }

// A client that goes back to what it had before finds in the cache what it had left
// there, and so does a curated one.
func TestTermsWalks(t *testing.T) { walks(t, false, curating, (*walk).terms) }

// failures.md A37
func TestRecallingWalks(t *testing.T) { walks(t, true, curating, (*walk).moves) }
