package assemble

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/schedule"
)

// grown is a world in which so many pages entered. What its window holds stands,
// the rest is folded.
func grown(b *testing.B, pages int) *world {
	b.Helper()
	w := newWorld(b, schedule.Settings{Care: 50, Window: 200_000}, table(.3))
	w.user("go on")
	for int(w.page) < pages {
		w.round(b)
	}
	return w
}

// round is a call and an answer of one tool call; every tenth ends the turn.
func (w *world) round(b *testing.B) {
	b.Helper()
	if err := w.try(); err != nil {
		b.Fatal(err)
	}
	w.answered()
}

func (w *world) answered() {
	w.moment.Call++
	w.moment.Cold, w.head.Renewed = "", false
	if w.moment.Call%10 == 0 {
		w.reply(false, "Done.", false)
		w.user("Then go on.")
		return
	}
	w.reply(w.moment.Call%8 == 0, "", false, tool{args: fmt.Sprintf(`{"path":"f%d"}`, w.page), result: strings.Repeat("a line of source\n", 40), action: quire.ActionRead})
}

// BenchmarkCall is plan and assemble of one call in a session that is so long
// already, epochs among them. The time of a call does not grow with it.
func BenchmarkCall(b *testing.B) {
	for _, pages := range []int{100, 1_000, 10_000, 20_000} {
		b.Run(fmt.Sprintf("pages=%d", pages), func(b *testing.B) { calls(b, grown(b, pages)) })
	}
}

func calls(b *testing.B, w *world) {
	took := make([]time.Duration, 0, b.N)
	epochs := 0
	b.ReportAllocs()
	for b.Loop() {
		start := time.Now()
		if err := w.try(); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(start))
		b.StopTimer()
		if w.plan.Kind != "" {
			epochs++
		}
		w.answered()
		b.StartTimer()
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
	b.ReportMetric(float64(took[len(took)-1].Microseconds()), "max-µs")
	b.ReportMetric(float64(epochs), "epochs")
}

// BenchmarkEpoch is a call that makes all of the prompt anew.
func BenchmarkEpoch(b *testing.B) {
	for _, pages := range []int{1_000, 10_000} {
		b.Run(fmt.Sprintf("pages=%d", pages), func(b *testing.B) {
			w := grown(b, pages)
			for b.Loop() {
				w.moment.Cold, w.head.Renewed = "a pause", true
				w.round(b)
			}
		})
	}
}
