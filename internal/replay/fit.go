package replay

import (
	"cmp"
	"errors"
	"slices"
	"sync"

	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/recording"
	"github.com/quire-agent/quire/internal/run"
	"github.com/quire-agent/quire/internal/schedule"
)

// FitAll fits sessions, as many at a time as workers, and returns what each of
// them shows, in their order.
func FitAll(sessions []*recording.Session, workers int) ([]*schedule.Fit, error) {
	out, errs := make([]*schedule.Fit, len(sessions)), make([]error, len(sessions))
	next := make(chan int)
	var wg sync.WaitGroup
	for range max(workers, 1) {
		wg.Go(func() {
			for i := range next {
				out[i], errs[i] = FitSession(sessions[i])
			}
		})
	}
	for i := range sessions {
		next <- i
	}
	close(next)
	wg.Wait()
	return out, errors.Join(errs...)
}

// FitSession replays a session that is only appended to, and enters for each
// block of each prompt whether the call needed it.
func FitSession(s *recording.Session) (*schedule.Fit, error) {
	p := newOurs(s, Setting{}, run.Terms{})
	fit, needed := &schedule.Fit{}, needsOf(s)
	for k := range s.Calls {
		p.refer(k)
		p.enter(k)
		if s.Work != nil {
			p.work(k)
		}
		p.trials(k, fit, needed)
	}
	if err := foresee(s, fit); err != nil {
		return nil, err
	}
	return fit, nil
}

type needKey struct {
	call int32
	page quire.PageNumber
}

// needsOf finds the needs by call and page.
func needsOf(s *recording.Session) map[needKey]recording.Need {
	out := make(map[needKey]recording.Need, len(s.Needs))
	for i := range s.Needs {
		n := &s.Needs[i]
		key := needKey{n.Call, n.Page}
		seen := out[key]
		out[key] = recording.Need{Strict: n.Strict || seen.Strict, Wide: n.Wide || seen.Wide}
	}
	return out
}

func (p *ours) trials(k int, fit *schedule.Fit, needed map[needKey]recording.Need) {
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

// foresee plays the session through the scheduler and enters, for each page that
// words point to and that is away, whether it was used. A page that stands says
// nothing, as it is one that was kept because it is likely to be used. Which pages
// are away follows from the table that is shipped.
func foresee(s *recording.Session, fit *schedule.Fit) error {
	table, err := schedule.Default()
	if err != nil || len(s.Hints) == 0 {
		return err
	}
	set := schedule.Settings{Care: schedule.DefaultCare, Blind: true}
	player := Scheduled("quire", set, Always(table)).Start(s, usual(s)).(*ours)
	for k := range s.Calls {
		player.Step(k)
		player.hinted(k, fit)
	}
	return nil
}

// usual is the setting of the commonest prices.
func usual(s *recording.Session) Setting { return UnderProfile(s, price.Profiles()[0], SingleBudget) }

// hinted enters what the words before call k point to.
func (p *ours) hinted(k int, fit *schedule.Fit) {
	now := schedule.Moment{Call: k, Turn: p.turn}
	for _, h := range p.s.Hints[k] {
		if g, ok := p.ctx.Scheduler().Glimpse(h, now); ok {
			fit.Hinted(g, neededWithin(p.s, h.Page, k, schedule.ForeseenWithin))
		}
	}
}

// neededWithin reports whether one of n calls from call k on needs a page.
func neededWithin(s *recording.Session, page quire.PageNumber, k, n int) bool {
	at, _ := slices.BinarySearchFunc(s.Needs, int32(k), func(n recording.Need, k int32) int { return cmp.Compare(n.Call, k) })
	for ; at < len(s.Needs) && s.Needs[at].Call < int32(k+n); at++ {
		if s.Needs[at].Page == page {
			return true
		}
	}
	return false
}
