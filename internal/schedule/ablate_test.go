package schedule

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// A table that is blind to a property says the same whatever it is.
func TestABlindTableIgnoresItsProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := &Fit{}
		for range rapid.IntRange(1, 60).Draw(t, "trials") {
			f.Seen(drawCase(t), rapid.Bool().Draw(t, "strict"), true)
		}
		p := rapid.SampledFrom(Properties()).Draw(t, "property")
		table, c := f.Blind(p, "blind"), drawCase(t)
		other := c.without(p)
		if p == PropertyIdle {
			other.Idle = 1
		}
		for _, factors := range []Factors{table.Strict, table.Wide} {
			if a, b := factors.Within(c, 30), factors.Within(other, 30); math.Abs(a-b) > 1e-12 { // the same terms, added up in other steps
				t.Fatalf("blind to %v: %v and %v", p, a, b)
			}
		}
	})
}
