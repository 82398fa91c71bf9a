package eval

import (
	"sync"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/run"
	"github.com/quire-agent/quire/internal/schedule"
)

// FitAll fits sessions, as many at a time as workers, and returns what each of
// them shows, in their order.
func FitAll(sessions []*Session, workers int) []*schedule.Fit {
	out := make([]*schedule.Fit, len(sessions))
	next := make(chan int)
	var wg sync.WaitGroup
	for range max(workers, 1) {
		wg.Go(func() {
			for i := range next {
				out[i] = FitSession(sessions[i])
			}
		})
	}
	for i := range sessions {
		next <- i
	}
	close(next)
	wg.Wait()
	return out
}

// FitSession replays a session that is only appended to, and enters for each
// block of each prompt whether the call needed it.
func FitSession(s *Session) *schedule.Fit {
	p := newOurs(s, Setting{}, run.Terms{})
	fit, needed := &schedule.Fit{}, needsOf(s)
	for k := range s.Calls {
		p.refer(k)
		p.enter(k)
		p.trials(k, fit, needed)
	}
	return fit
}

type needKey struct {
	call int32
	page quire.PageNumber
}

// needsOf finds the needs by call and page.
func needsOf(s *Session) map[needKey]Need {
	out := make(map[needKey]Need, len(s.Needs))
	for i := range s.Needs {
		n := &s.Needs[i]
		key := needKey{n.Call, n.Page}
		seen := out[key]
		out[key] = Need{Strict: n.Strict || seen.Strict, Wide: n.Wide || seen.Wide}
	}
	return out
}

func (p *ours) trials(k int, fit *schedule.Fit, needed map[needKey]Need) {
	now := schedule.Moment{Call: k, Turn: int(p.s.Calls[k].Turn)}
	for _, pl := range p.ctx.Scheduler().Stream() {
		b := p.ctx.Scheduler().Block(pl.Block)
		if kind := schedule.KindOf(b); b.Page.Number == 0 || kind == schedule.KindArgs {
			continue
		}
		n := needed[needKey{int32(k), b.Page.Number}]
		fit.Seen(p.ctx.Scheduler().Case(pl.Block, now), n.Strict, n.Wide)
	}
}
