package schedule

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/quire"
)

// long is a session of many turns, each of five calls.
func long(b *testing.B, set Settings, calls int) *session {
	x := &session{s: newTest(b, set)}
	for range calls {
		x.play()
	}
	return x
}

// play is one call of a session without chance: an answer, a read or an edit of
// one of fifty files, now and then the user.
func (x *session) play() Plan {
	if x.call > 0 {
		x.enter(quire.PartThinking, quire.Page{}, 120, x.call-1)
		p := x.next(quire.PageTool, quire.ActionRead, fmt.Sprintf("f%d.go", x.call%50), 900)
		x.enter(quire.PartToolCall, p, 40, x.call-1)
		x.enter(quire.PartToolResult, p, 300+x.call%7*200, -1)
		x.s.Refer(quire.PageNumber(1+(x.call*7919)%int(x.page)), x.call-1, x.turn)
	}
	if x.call%5 == 0 {
		x.turn++
		x.user(60)
	}
	now := Moment{Call: x.call, Turn: x.turn, Prefix: 20_000, Prices: claude(), Write: 1.25, Account: 1e9}
	if x.call%40 == 39 {
		now.Cold = "the cache has lapsed"
	}
	x.call++
	return x.s.Plan(now)
}

// BenchmarkPlan is one call with its epochs, after as many calls; the time of the
// slowest hundredth is reported besides. It must not grow with the calls made.
func BenchmarkPlan(b *testing.B) {
	for _, calls := range []int{1_000, 10_000} {
		b.Run(fmt.Sprintf("calls=%d", calls), func(b *testing.B) {
			x := long(b, Settings{Window: 150_000, Budget: 80_000, Notice: 40}, calls)
			b.ReportAllocs()
			slowest(b, func() { x.play() })
		})
	}
}

// slowest runs calls and reports the slowest hundredth of them.
func slowest(b *testing.B, call func()) {
	var took []time.Duration
	for b.Loop() {
		start := time.Now()
		call()
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds()), "p99-ns")
}

// BenchmarkEpoch is a free epoch over a stream in which 10,000 pages stand.
func BenchmarkEpoch(b *testing.B) {
	x := long(b, Settings{}, 10_000)
	stream, at, net := slices.Clone(x.s.stream), slices.Clone(x.s.at), x.s.net
	now := Moment{Call: x.call, Turn: x.turn, Prefix: 20_000, Prices: claude(), Write: 1.25}
	b.ReportAllocs()
	for b.Loop() {
		x.s.stream, x.s.at, x.s.net, x.s.plan = slices.Clone(stream), slices.Clone(at), net, pending{}
		x.s.demote(now, 0)
	}
}

// BenchmarkCut looks for the best cut of such a stream.
func BenchmarkCut(b *testing.B) {
	x := long(b, Settings{}, 10_000)
	now := Moment{Call: x.call, Turn: x.turn, Prefix: 20_000, Prices: claude(), Write: 1.25}
	b.ReportAllocs()
	for b.Loop() {
		x.s.bestCut(now)
	}
}

// BenchmarkFold folds 5,000 pages at once.
func BenchmarkFold(b *testing.B) {
	x := long(b, Settings{Window: 1 << 30}, 5_000)
	stream, at, net := slices.Clone(x.s.stream), slices.Clone(x.s.at), x.s.net
	now := Moment{Call: x.call, Turn: x.turn, Prefix: 20_000, Prices: claude(), Write: 1.25}
	b.ReportAllocs()
	for b.Loop() {
		x.s.stream, x.s.at, x.s.net, x.s.plan = slices.Clone(stream), slices.Clone(at), net, pending{}
		x.s.fold(now, true)
	}
}
