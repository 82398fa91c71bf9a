package replay

import (
	"time"

	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/recording"
)

// A Setting is what a replay runs under. It is the same for all policies.
type Setting struct {
	Name   string
	Rates  price.Rates    // unit prices
	Rules  price.Rules    // of the prompt cache
	Life   price.Lifetime // of the cache entries that the client asks for
	Budget int            // quality budget in tokens, net of the constant prefix
	Window int            // context window of the model in tokens, 0 when unknown
	Cold   []bool         // by call: nothing of the stream is in the cache any more
	Missed []int          // the cold calls that no lifetime explains, rising
}

// UnderProfile is the setting of a session under a price profile: a call is
// cold if more than the profile's lifetime has passed since the start of the
// call before it.
func UnderProfile(s *recording.Session, p price.Profile, budget int) Setting {
	set := Setting{Name: p.Name, Rates: p.Rates, Rules: p.Rules, Life: p.Life, Budget: budget}
	life := p.Rules.Life(p.Life)
	set.Cold = coldAfter(s, func(int) time.Duration { return life })
	return set
}

// coldAfter marks the calls that come later than the given lifetime after the
// start of the call before them. The first call of all is cold.
func coldAfter(s *recording.Session, life func(k int) time.Duration) []bool {
	out := make([]bool, len(s.Calls))
	for k := range s.Calls {
		out[k] = k == 0 || s.Calls[k].At.Sub(s.Calls[k-1].At) > life(k)
	}
	return out
}

// Write is the price of writing a token to the cache.
func (set *Setting) Write() float64 {
	if set.Life == price.Long && set.Rules.LongTTL > 0 {
		return set.Rates.Write1h
	}
	return set.Rates.Write
}

// trip is the price of an extra call over a prompt that is in the cache.
func (set *Setting) trip(prompt, output int) float64 {
	return set.Rates.Cost(price.Charge{Read: prompt}, output)
}

// A PriceList finds the prices of a model by the name that a log records.
type PriceList interface {
	Model(name string) (price.Model, bool)
}

// AsRecorded is the setting of a session as it really ran, in US dollars: the
// prices of the model that most of its calls used, at the time of the first,
// and cold calls as they were: where the recorded lifetime was over, and where
// the provider reported a miss that no cut of the context explains. It is not
// known (false) when that model has no price or the session no call.
func AsRecorded(s *recording.Session, prices PriceList, budget int) (Setting, bool) {
	name := mainModel(s)
	m, ok := prices.Model(name)
	if !ok || len(s.Calls) == 0 {
		return Setting{}, false
	}
	set := Setting{Name: m.ID, Rates: m.Rates(s.Calls[0].At), Rules: m.Rules(), Life: lifeOf(s), Budget: budget, Window: m.Window}
	set.Cold = coldAfter(s, func(k int) time.Duration { return lifetimeAt(s, k, set.Rules) })
	for k := range set.Cold {
		if missedAt(s, k) && !set.Cold[k] {
			set.Cold[k], set.Missed = true, append(set.Missed, k)
		}
	}
	return set, true
}

// mainModel is the model that most calls of the main chain name.
func mainModel(s *recording.Session) string {
	count, best := map[string]int{}, s.Info.Model
	for i := range s.Calls {
		m := s.Calls[i].Model
		if m == "" {
			continue
		}
		if count[m]++; count[m] > count[best] || count[m] == count[best] && m < best {
			best = m
		}
	}
	return best
}

// life is the lifetime that most tokens were written for.
func lifeOf(s *recording.Session) price.Lifetime {
	var all, long int64
	for i := range s.Calls {
		all += s.Calls[i].Usage.CacheWrite
		long += s.Calls[i].Usage.CacheWrite1h
	}
	if long*2 > all {
		return price.Long
	}
	return price.Short
}

// lifetime is how long what call k-1 left in the cache lives: for an hour where
// the last write before it was for one.
func lifetimeAt(s *recording.Session, k int, rules price.Rules) time.Duration {
	for i := k - 1; i >= 0; i-- {
		if u := s.Calls[i].Usage; u.CacheWrite > 0 {
			if u.CacheWrite1h*2 > u.CacheWrite {
				return rules.Life(price.Long)
			}
			break
		}
	}
	return rules.Life(price.Short)
}

// missed reports whether the provider read less than half of the prompt before
// from its cache although the context had only grown.
func missedAt(s *recording.Session, k int) bool {
	if k == 0 || s.CutAt(k) {
		return false
	}
	u, before := s.Calls[k].Usage, s.Calls[k-1].Usage
	return u.Has(quire.KnownCache) && before.Has(quire.KnownInput) && u.CacheRead*2 < before.Prompt()
}

// Quality budgets of the evaluation, in tokens net of the constant prefix.
const (
	SingleBudget  = 80_000
	EndlessBudget = 40_000
)
