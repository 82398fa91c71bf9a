package eval

import (
	"github.com/quire-agent/quire/internal/recording"
	"github.com/quire-agent/quire/internal/replay"
	"slices"
	"time"
)

// A Pace is how long a policy took to decide, in microseconds per call.
type Pace struct {
	P50 float64 `json:"p50_us"`
	P99 float64 `json:"p99_us"`
}

// Paces times each step of the policies over a session. Unlike all other
// figures it depends on the machine. now is the clock.
func Paces(s *recording.Session, policies []replay.Policy, set replay.Setting, now func() time.Time) map[string]Pace {
	out := map[string]Pace{}
	if len(s.Calls) == 0 {
		return out
	}
	for _, p := range policies {
		player := p.Start(s, set)
		took := make([]int, len(s.Calls))
		for k := range s.Calls {
			began := now()
			player.Step(k)
			took[k] = int(now().Sub(began))
		}
		out[p.Name] = Pace{micros(replay.Percentile(took, .5)), micros(replay.Percentile(took, .99))}
	}
	return out
}

func micros(ns int) float64 { return float64(ns) / float64(time.Microsecond) }

// longest is the session with the most calls, the first of several; nil
// without sessions.
func longest(sessions []*recording.Session) *recording.Session {
	if len(sessions) == 0 {
		return nil
	}
	return slices.MaxFunc(sessions, func(a, b *recording.Session) int { return len(a.Calls) - len(b.Calls) })
}
