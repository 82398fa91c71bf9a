package audit

import (
	"time"

	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/recording"
)

// bill is the money of one call in US dollars.
type bill struct {
	priced    bool // the model has a price; all other fields are zero if not
	estimated bool // the prompt was not recorded
	prompt    float64
	output    float64
	read      float64 // of prompt, what came from the cache
	lost      float64 // a token: paid without the cache, above reading it from there
}

func (b bill) total() float64 { return b.prompt + b.output }

// charge prices a usage. It is linear in the counts once the size of the prompt
// has chosen the rates.
func charge(m price.Model, u quire.Usage, output int, at time.Time) bill {
	r := m.Rates(at).For(int(u.Prompt()))
	five := u.CacheWrite - u.CacheWrite1h
	b := bill{
		priced: true,
		output: float64(output) * r.Output,
		read:   float64(u.CacheRead) * r.Read,
	}
	anew := float64(u.Input)*r.Input + float64(five)*r.Write + float64(u.CacheWrite1h)*r.Write1h
	b.prompt = b.read + anew
	if n := u.Prompt() - u.CacheRead; n > 0 {
		b.lost = anew/float64(n) - r.Read
	}
	return b
}

// guess is the usage of a call whose prompt was not recorded: prompt tokens of
// which kept extend the call before, in the cache if that was within its
// lifetime.
func guess(prompt, kept int64, warm, writes bool) quire.Usage {
	var u quire.Usage
	if warm {
		u.CacheRead = min(kept, prompt)
	}
	if rest := prompt - u.CacheRead; writes {
		u.CacheWrite = rest
	} else {
		u.Input = rest
	}
	return u
}

// lifetime is how long what c wrote to the cache lives: as recorded, otherwise
// as the rules of the model have it. before is that of the call in front.
func lifetime(c recording.Call, before, rule time.Duration) time.Duration {
	switch {
	case c.Usage.CacheWrite == 0 && before > 0:
		return before
	case c.Usage.CacheWrite == 0:
		return rule
	case 2*c.Usage.CacheWrite1h >= c.Usage.CacheWrite:
		return time.Hour
	default:
		return 5 * time.Minute
	}
}

// split shares the money of a prompt between what earlier calls had sent
// already (old tokens) and what is new in it: the cache holds the beginning of
// a prompt, so old content takes the reads first. Sizes are counted tokens;
// read is the share of the prompt that came from the cache. The returned rates
// are dollars a counted token, and old*rateOld + fresh*rateNew is b.prompt
// unless both sizes are zero.
func (b bill) split(old, fresh int64, read float64) (rateOld, rateNew float64) {
	all := float64(old + fresh)
	if all == 0 {
		return 0, 0
	}
	anew, cached := b.prompt-b.read, read*all
	rateRead, rateAnew := 0.0, 0.0
	if cached > 0 {
		rateRead = b.read / cached
	}
	if all > cached {
		rateAnew = anew / (all - cached)
	}
	inOld := min(cached, float64(old))
	if old > 0 {
		rateOld = (inOld*rateRead + (float64(old)-inOld)*rateAnew) / float64(old)
	}
	if fresh > 0 {
		rateNew = ((cached-inOld)*rateRead + (float64(fresh)-cached+inOld)*rateAnew) / float64(fresh)
	}
	return rateOld, rateNew
}
