package quire

// Usage is what a provider reported for one call, in tokens. The four counts
// are disjoint: prompt size = Input + CacheRead + CacheWrite. A count whose bit
// is missing from Known was not recorded and is zero.
type Usage struct {
	Input        int64       `json:"input"`          // prompt tokens that were neither read from nor written to a cache
	CacheRead    int64       `json:"cache_read"`     // prompt tokens read from the cache
	CacheWrite   int64       `json:"cache_write"`    // prompt tokens written to the cache, all lifetimes
	CacheWrite1h int64       `json:"cache_write_1h"` // of CacheWrite, those written for one hour
	Output       int64       `json:"output"`         // all tokens produced, reasoning included
	Reasoning    int64       `json:"reasoning"`      // of Output, the reasoning, where recorded
	Known        UsageFields `json:"known"`
}

// UsageFields is a set of the counts that a format records.
type UsageFields uint8

// The fields.
const (
	KnownInput    UsageFields = 1 << iota // Input, and with it the size of the prompt
	KnownCache                            // CacheRead and CacheWrite
	KnownOutput                           // Output
	OutputAtStart                         // Output is a value from the start of the stream and too low: estimate beside it
)

// Has reports whether all fields of f are known.
func (u Usage) Has(f UsageFields) bool { return u.Known&f == f }

// Prompt is the size of the prompt.
func (u Usage) Prompt() int64 { return u.Input + u.CacheRead + u.CacheWrite }

// MaxTokens is more than any call can have used. A count above it, or below
// zero, is damage.
const MaxTokens = 1 << 40

// Plausible reports whether all counts are between zero and MaxTokens.
func (u Usage) Plausible() bool {
	for _, n := range [...]int64{u.Input, u.CacheRead, u.CacheWrite, u.CacheWrite1h, u.Output, u.Reasoning} {
		if n < 0 || n > MaxTokens {
			return false
		}
	}
	return true
}

// Add returns the sum of two usages; a field is known if it is known in both.
// The zero Usage is neutral for the counts but not for Known.
func (u Usage) Add(v Usage) Usage {
	u.Input += v.Input
	u.CacheRead += v.CacheRead
	u.CacheWrite += v.CacheWrite
	u.CacheWrite1h += v.CacheWrite1h
	u.Output += v.Output
	u.Reasoning += v.Reasoning
	u.Known &= v.Known
	return u
}
