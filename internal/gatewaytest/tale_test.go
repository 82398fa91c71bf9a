package gatewaytest

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/gateway"
	"github.com/quire-agent/quire/internal/ingest"
	"github.com/quire-agent/quire/internal/sim"
)

// A tale is one session that is told step by step, so that something can go wrong in
// a known place. Two cold pauses begin epochs in it, and the model reads back what
// was folded, beside other calls and alone.
type tale struct {
	*peer
	t    testing.TB
	sims [2]*sim.Sim
	talk *talk
	pass func(time.Duration)
}

// plot is what the model does in a tale, by label.
func plot() []plan {
	list := []plan{
		{calls: 2}, {calls: 1, says: true}, {calls: 1}, {says: true},
		{calls: 1}, {calls: 1, recall: "beside"}, {says: true},
		{calls: 1, recall: "alone"}, {calls: 2}, {says: true, recall: "twice"},
	}
	for i := range list {
		list[i].thinks = true
	}
	return list
}

// newTale makes a tale that is told to a handler, whose upstream is up.
func newTale(t testing.TB, d dialect, up *upstream, gated http.Handler, now func() time.Time) *tale {
	t.Helper()
	x := &tale{t: t, peer: &peer{t: t, api: &d, up: up, key: "k", sent: map[string]bool{}}}
	text := scriptOf(plot())
	for i := range x.sims {
		x.sims[i] = newSim(t, text, now, sim.Limits{BoundThinking: true})
	}
	up.serves.Store(x.sims[through])
	x.ends = [2]http.Handler{gated, x.sims[direct]}
	x.talk = &talk{tools: 3, system: "You work in a project. " + strings.Repeat(kind, 300), label: "tale"}
	return x
}

// resultOf is a long result with a label.
func resultOf(label, number int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[r%d] result %d\n", label, number)
	for n := range 150 {
		fmt.Fprintf(&b, "line %d of result %d of step %d says something of its own\n", n, number, label)
	}
	return b.String() + "done"
}

// ready adds what a step begins with: results, or words after a pause.
func (x *tale) ready(label int) {
	if waiting := len(x.talk.pending); waiting > 0 {
		var texts []string
		for i := range waiting {
			texts = append(texts, resultOf(label, i))
		}
		x.say(x.talk, -1, texts)
		return
	}
	if label > 0 {
		x.pass(30 * time.Hour)
	}
	x.say(x.talk, label, nil)
}

// step tells one step; what is heard must be what is heard without the gateway.
func (x *tale) step(label int, stream bool) {
	x.t.Helper()
	x.ready(label)
	x.ask(x.talk, stream, mishap{})
}

// tell tells all of it.
func (x *tale) tell() {
	x.t.Helper()
	for label := range plot() {
		x.step(label, label%2 == 0)
	}
}

// accepted holds that both providers took every request.
func (x *tale) accepted() {
	x.t.Helper()
	for i, s := range x.sims {
		for _, q := range s.Requests() {
			if q.Refused != "" {
				x.t.Errorf("end %d: request %d was refused: %s", i, q.Number, q.Refused)
			}
		}
	}
}

// kept holds that all that was said is in a pool, and that the pool is sound. What is
// derived may be behind a journal whose process was killed: it is made when it is
// wanted.
func (x *tale) kept(pool *ingest.Pool) {
	x.t.Helper()
	w := &walk{peer: x.peer, pool: pool}
	w.recoverable()
	health, err := pool.Check(context.Background())
	bad := slices.DeleteFunc(health.Faults, func(f ingest.Fault) bool { return f.What == ingest.FaultBehind })
	if err != nil || len(bad) > 0 {
		x.t.Errorf("the pool: %v, %v", bad, err)
	}
}

// A stage is a gateway in this process with a tale.
type stage struct {
	*tale
	g     *gateway.Gateway
	pool  *ingest.Pool
	clock *clock
}

// newStage starts one; change has the last word on its options, after curating.
func newStage(t testing.TB, d dialect, change func(*gateway.Options)) *stage {
	t.Helper()
	up, c := newUpstream(t), newClock()
	s := &stage{clock: c, pool: newPool(t, filepath.Join(t.TempDir(), "home"), c.tick())}
	o := options(s.pool, up.address)
	curating(&o)
	o.Failed = func(err error) { t.Logf("the gateway: %v", err) }
	if change != nil {
		change(&o)
	}
	s.g = start(t, o)
	s.tale = newTale(t, d, up, s.g, c.now)
	s.tale.pass = c.pass
	return s
}

// The tale itself, on each API: it is curated, and pages are read back.
func TestTale(t *testing.T) {
	for _, d := range dialects() {
		t.Run(string(d.api), func(t *testing.T) {
			s := newStage(t, d, nil)
			s.tell()
			n := s.g.Status().Totals
			stop(t, s.g)
			s.accepted()
			s.kept(s.pool)
			if n.Epochs == 0 || n.Curated == 0 || n.Recalls == 0 || n.Opened != 0 {
				t.Errorf("%+v", n)
			}
		})
	}
}
