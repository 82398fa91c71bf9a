package price

import "github.com/quire-agent/quire/internal/quire"

// Prices are what one token costs, by what the provider did with it. The unit
// is the caller's: US dollars for a [Model], input tokens for a [Profile].
type Prices struct {
	Input   float64 // prompt token that was neither read from nor written to a cache
	Read    float64 // prompt token read from a cache
	Write   float64 // prompt token written for the shorter lifetime; the input price where writing is free
	Write1h float64 // prompt token written for the longer lifetime
	Output  float64 // token of the answer, reasoning included
}

// times returns the prices multiplied by f.
func (p Prices) times(f float64) Prices {
	return Prices{Input: p.Input * f, Read: p.Read * f, Write: p.Write * f, Write1h: p.Write1h * f, Output: p.Output * f}
}

// Rates are the prices of a request, which may depend on how long its prompt is.
type Rates struct {
	Prices
	CliffAt int    // a request whose prompt has more tokens than this is priced by Above, all of it; 0: no cliff
	Above   Prices // set only with CliffAt
}

// For returns the prices of a request with a prompt of that many tokens.
func (r Rates) For(prompt int) Prices {
	if r.CliffAt > 0 && prompt > r.CliffAt {
		return r.Above
	}
	return r.Prices
}

// Cost is the price of a request with its answer, in the unit of the rates.
func (r Rates) Cost(charge Charge, output int) float64 {
	p := r.For(charge.Prompt())
	return float64(charge.Uncached)*p.Input +
		float64(charge.Read)*p.Read +
		float64(charge.Write)*p.Write +
		float64(charge.Write1h)*p.Write1h +
		float64(output)*p.Output
}

// A Charge says how a provider charges the prompt of one request, in tokens.
// Read, Write, Write1h and Uncached are disjoint and add up to the prompt.
type Charge struct {
	Read     int  // read from the cache
	Write    int  // written for the shorter lifetime
	Write1h  int  // written for the longer lifetime
	Uncached int  // neither; also what was written where the provider does not charge writes
	Cold     bool // nothing was read: the whole prompt was processed anew
	Lapsed   int  // tokens kept from the preceding request that were not read only because their lifetime was over
}

// Prompt is the size of the prompt.
func (c Charge) Prompt() int { return c.Read + c.Write + c.Write1h + c.Uncached }

// Recorded is the charge that a provider reported. What it does not report
// (Lapsed) is zero.
func Recorded(u quire.Usage) Charge {
	return Charge{
		Read:     int(u.CacheRead),
		Write:    int(u.CacheWrite - u.CacheWrite1h),
		Write1h:  int(u.CacheWrite1h),
		Uncached: int(u.Input),
		Cold:     u.CacheRead == 0,
	}
}
