package audit

import (
	"slices"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/recording"
)

// causes are the causes in their order.
var causes = [...]Cause{CauseCompaction, CauseEdit, CauseModel, CauseIdle, CauseUnexplained}

// A loss counts as a rewrite from this many tokens and this share of what had
// been cached; below it are the roundings of automatic caches.
const (
	rewriteTokens = 1024
	rewriteShare  = 0.1
)

// rewrites adds up what was paid again although the call before had left it in
// the cache.
func (r *reader) rewrites() (sum [len(causes)]Rewrite) {
	for i, c := range causes {
		sum[i].Cause = c
	}
	explicit := slices.ContainsFunc(r.s.Calls, func(c recording.Call) bool { return c.Usage.CacheWrite > 0 })
	for k := 1; k < len(r.s.Calls); k++ {
		lost := r.lost(k, explicit)
		if lost == 0 || !r.counts(r.s.Calls[k]) {
			continue
		}
		w := &sum[slices.Index(causes[:], r.cause(k))]
		w.Times++
		w.Tokens += lost
		w.Cost += float64(lost) * r.bills[k].lost
	}
	return sum
}

// lost is how many tokens of call k's prompt the cache should have held but did
// not. Where writes are recorded the call before left what it read and wrote,
// otherwise all of its prompt.
func (r *reader) lost(k int, explicit bool) int64 {
	u, before := r.s.Calls[k].Usage, r.s.Calls[k-1].Usage
	if !u.Has(quire.KnownInput|quire.KnownCache) || !before.Has(quire.KnownInput|quire.KnownCache) {
		return 0
	}
	held := before.Prompt()
	if explicit {
		held = before.CacheRead + before.CacheWrite
	}
	lost := min(held, u.Prompt()) - u.CacheRead
	if lost < rewriteTokens || float64(lost) < rewriteShare*float64(held) {
		return 0
	}
	return lost
}

func (r *reader) cause(k int) Cause {
	before, now := r.s.Calls[k-1], r.s.Calls[k]
	compacted, edited := r.cutAt(k)
	switch {
	case compacted:
		return CauseCompaction
	case edited:
		return CauseEdit
	case r.model(before) != r.model(now):
		return CauseModel
	case r.idle[k]:
		return CauseIdle
	case now.Usage.Prompt() < before.Usage.Prompt():
		return CauseEdit
	default:
		return CauseUnexplained
	}
}

// cutAt reports whether the context was replaced, or edited, just before call k.
func (r *reader) cutAt(k int) (compacted, edited bool) {
	i, _ := slices.BinarySearchFunc(r.s.Cuts, int32(k), func(c recording.Cut, k int32) int { return int(c.Call - k) })
	for ; i < len(r.s.Cuts) && r.s.Cuts[i].Call == int32(k); i++ {
		micro := r.s.Cuts[i].Rewind || r.s.Cuts[i].Trigger == triggerMicro
		compacted = compacted || !micro
		edited = edited || micro
	}
	return compacted, edited
}
