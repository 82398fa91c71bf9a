package price

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A clone charges what the cache itself would, and asking it changes nothing: the
// charges that follow are those of a cache that was never asked.
func TestCloneChargesTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rules := drawRules(t)
		asked, silent := NewCache(rules), NewCache(rules)
		at := time.Unix(0, 0)
		for range rapid.IntRange(1, 12).Draw(t, "sends") {
			at = at.Add(time.Duration(rapid.IntRange(0, 600).Draw(t, "after")) * time.Second)
			keep, add := rapid.IntRange(0, 8).Draw(t, "keep"), drawBlocks(t)
			quoted := asked.Clone().Send(at, keep, add)
			asked.Clone().Send(at.Add(time.Hour), 0, drawBlocks(t))
			got, want := asked.Send(at, keep, add), silent.Send(at, keep, add)
			if quoted != want || got != want {
				t.Fatalf("quoted %+v, charged %+v, want %+v", quoted, got, want)
			}
		}
	})
}
