package price

// A Profile is a set of relative prices with the cache rules that go with it,
// for comparing policies without naming a model: input = 1, output = 5.
type Profile struct {
	Name  string
	Rates Rates    // in input tokens
	Rules Rules    // of its cache
	Life  Lifetime // that its client asks for
}

// Profiles returns the price profiles of the evaluation, in the order in which
// reports show them. Their rules are those of the embedded table, whatever a
// user's file says, so that figures of different machines compare.
func Profiles() []Profile {
	t := Default()
	return []Profile{
		{Name: "claude", Rates: relative(0.10, 1.25, 2), Rules: t.rule("anthropic-1024"), Life: Short},
		{Name: "claude-1h", Rates: relative(0.10, 1.25, 2), Rules: t.rule("anthropic-1024"), Life: Long},
		{Name: "claude-new", Rates: relative(0.05, 1.25, 2), Rules: t.rule("anthropic-512"), Life: Short},
		{Name: "gpt6", Rates: relative(0.05, 1.25, 1.25).doubledAbove(272_000), Rules: t.rule("openai-breakpoints"), Life: Short},
		{Name: "deepseek", Rates: relative(0.02, 1, 1), Rules: t.rule("deepseek"), Life: Short},
		{Name: "qwen", Rates: relative(0.2, 1, 1), Rules: t.rule("alibaba-implicit"), Life: Short},
	}
}

// ProfileByName finds a profile.
func ProfileByName(name string) (Profile, bool) {
	for _, p := range Profiles() {
		if p.Name == name {
			return p, true
		}
	}
	return Profile{}, false
}

func relative(read, write, long float64) Rates {
	return Rates{Prices: Prices{Input: 1, Read: read, Write: write, Write1h: long, Output: 5}}
}

func (r Rates) doubledAbove(tokens int) Rates {
	r.CliffAt, r.Above = tokens, r.Prices.times(2)
	return r
}
