package price

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/quire"
)

func day(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return t
}

func TestNames(t *testing.T) {
	table := Default()
	cases := map[string]string{
		"claude-opus-4-5":                              "claude-opus-4.5",
		"claude-opus-4.5":                              "claude-opus-4.5",
		"claude-opus-4-5-20251101":                     "claude-opus-4.5",
		"Claude-Opus-4-5":                              "claude-opus-4.5",
		"claude-opus-4-6[1m]":                          "claude-opus-4.6",
		"claude-opus-4-5@20251101":                     "claude-opus-4.5",
		"anthropic/claude-sonnet-4.6":                  "claude-sonnet-4.6",
		"openrouter/anthropic/claude-sonnet-4.6":       "claude-sonnet-4.6",
		"us.anthropic.claude-sonnet-4-5-20250929-v1:0": "claude-sonnet-4.5",
		"anthropic.claude-haiku-4-5-20251001-v1:0":     "claude-haiku-4.5",
		"bedrock/global.anthropic.claude-opus-4-6-v1":  "claude-opus-4.6",
		"gpt-5.5":                  "gpt-5.5",
		"openai/gpt-5.5":           "gpt-5.5",
		"gpt-5.5-2026-04-23":       "gpt-5.5",
		"gpt-5.3-codex-spark":      "gpt-5.3-codex-spark",
		"deepseek/deepseek-chat":   "deepseek-chat",
		"deepseek-flash":           "deepseek-v4.1-flash",
		"qwen3.8-max:explicit":     "qwen3.8-max:explicit",
		"gemini-3.1-pro":           "gemini-3.1-pro-preview",
		"opus":                     "",
		"claude-opus":              "",
		"claude-opus-4":            "",
		"claude-opus-4-5-latest":   "",
		"gpt-5.5-pro":              "",
		"gpt-5":                    "",
		"my-proxy/gpt-5.5":         "",
		"<synthetic>":              "",
		"":                         "",
		"gpt-5.5-20":               "",
		"-20251101":                "",
		"claude-opus-4-5-v1:0":     "",
		"deepseek-chat-0324":       "",
		"anthropic/":               "",
		"claude-opus-4-5-19991101": "",
	}
	for name, want := range cases {
		m, ok := table.Model(name)
		if ok != (want != "") || m.ID != want {
			t.Errorf("%q is %q (%v), want %q", name, m.ID, ok, want)
		}
	}
}

// Prices in effect at a time, in US dollars per million tokens.
func TestRates(t *testing.T) {
	table := Default()
	cases := []struct {
		model  string
		at     string
		prompt int
		want   Prices
	}{
		{"claude-opus-4-5", "2026-01-15T10:00:00Z", 150_000, Prices{5, 0.5, 6.25, 10, 25}},
		{"claude-sonnet-5.5", "2026-10-06T23:59:59Z", 1000, Prices{2, 0.2, 2.5, 4, 10}},
		{"claude-sonnet-5.5", "2026-10-07T00:00:00Z", 1000, Prices{2, 0.1, 2.5, 4, 10}},
		{"claude-haiku-5.5", "2026-11-01T00:00:00Z", 100_000, Prices{0.1, 0.01, 0.125, 0.2, 0.5}},
		{"claude-haiku-5.5", "2026-11-01T00:00:00Z", 100_001, Prices{0.5, 0.05, 0.625, 1, 2.5}},
		{"claude-sonnet-4.6", "2026-03-12T00:00:00Z", 200_001, Prices{6, 0.6, 7.5, 12, 22.5}},
		{"claude-sonnet-4.6", "2026-03-13T00:00:00Z", 200_001, Prices{3, 0.3, 3.75, 6, 15}},
		{"gpt-6.2-sol", "2026-11-20T00:00:00Z", 272_001, Prices{4, 0.2, 5, 5, 15}},
		{"gpt-5.5", "2026-06-20T00:00:00Z", 100_000, Prices{5, 0.5, 5, 5, 30}},
		{"gemini-3.8-flash", "2026-12-31T23:00:00Z", 1000, Prices{0.75, 0.75, 0.75, 0.75, 3.75}},
		{"gemini-3.8-flash", "2027-01-01T00:00:00Z", 1000, Prices{1.5, 1.5, 1.5, 1.5, 7.5}},
		{"grok-4.7", "2026-09-02T00:00:00Z", 199_999, Prices{2, 0.5, 2, 2, 6}},
		{"grok-4.7", "2026-09-02T00:00:00Z", 200_000, Prices{4, 1, 4, 4, 12}},
		{"deepseek-v4.1-flash", "2026-11-30T00:59:59Z", 1000, Prices{0.15, 0.003, 0.15, 0.15, 0.6}}, // a Monday
		{"deepseek-v4.1-flash", "2026-11-30T01:00:00Z", 1000, Prices{0.3, 0.006, 0.3, 0.3, 1.2}},
		{"deepseek-v4.1-flash", "2026-11-30T09:59:59Z", 1000, Prices{0.3, 0.006, 0.3, 0.3, 1.2}},
		{"deepseek-v4.1-flash", "2026-11-30T10:00:00Z", 1000, Prices{0.15, 0.003, 0.15, 0.15, 0.6}},
		{"deepseek-v4.1-flash", "2026-11-29T02:00:00Z", 1000, Prices{0.15, 0.003, 0.15, 0.15, 0.6}},   // a Sunday
		{"deepseek-v4.1-flash", "2026-11-30T09:30:00+08:00", 1000, Prices{0.3, 0.006, 0.3, 0.3, 1.2}}, // 01:30 UTC
		{"qwen3.8-max", "2026-10-01T00:00:00Z", 1000, Prices{1.68, 0.336, 1.68, 1.68, 5.04}},          // at 0.14 USD
		{"qwen3.8-max:explicit", "2026-10-01T00:00:00Z", 1000, Prices{1.68, 0.168, 2.1, 2.1, 5.04}},   // at 0.14 USD
		{"claude-fable-5.2", "2020-01-01T00:00:00Z", 1000, Prices{8, 0.2, 10, 16, 40}},                // before the table begins
		{"deepseek-chat", "2026-04-15T03:00:00Z", 1000, Prices{0.28, 0.028, 0.28, 0.28, 0.42}},
	}
	for _, c := range cases {
		m, ok := table.Model(c.model)
		if !ok {
			t.Errorf("%s is not known", c.model)
			continue
		}
		got := m.Rates(day(c.at)).For(c.prompt).times(1e6)
		if !near(got, c.want) {
			t.Errorf("%s at %s with %d tokens: %+v, want %+v", c.model, c.at, c.prompt, got, c.want)
		}
	}
}

func near(a, b Prices) bool {
	for _, d := range []float64{a.Input - b.Input, a.Read - b.Read, a.Write - b.Write, a.Write1h - b.Write1h, a.Output - b.Output} {
		if math.Abs(d) > 1e-9 {
			return false
		}
	}
	return true
}

func TestModelCost(t *testing.T) {
	m, _ := Default().Model("claude-opus-4-5")
	u := quire.Usage{Input: 10, CacheRead: 100_000, CacheWrite: 3000, CacheWrite1h: 1000, Output: 400}
	want := (10*5 + 100_000*0.5 + 2000*6.25 + 1000*10 + 400*25) / 1e6
	if got := m.Cost(u, day("2026-01-15T10:00:00Z")); math.Abs(got-want) > 1e-12 {
		t.Errorf("cost %v, want %v", got, want)
	}
	m, _ = Default().Model("claude-haiku-5.5")
	u = quire.Usage{CacheRead: 100_000, CacheWrite: 1, Output: 10} // one token over the cliff
	want = (100_000*0.05 + 0.625 + 10*2.5) / 1e6
	if got := m.Cost(u, day("2026-11-15T10:00:00Z")); math.Abs(got-want) > 1e-12 {
		t.Errorf("cost over the cliff %v, want %v", got, want)
	}
}

func TestProfiles(t *testing.T) {
	at := 300 * time.Second
	want := []struct {
		name        string
		read, write float64
		ttl         time.Duration
	}{
		{"claude", .1, 1.25, at}, {"claude-1h", .1, 2, time.Hour}, {"claude-new", .05, 1.25, at},
		{"gpt6", .05, 1.25, 30 * time.Minute}, {"deepseek", .02, 1, 6 * time.Hour}, {"qwen", .2, 1, at},
	}
	for i, p := range Profiles() {
		w := want[i]
		write := p.Rates.Write
		if p.Life == Long {
			write = p.Rates.Write1h
		}
		if p.Name != w.name || p.Rates.Input != 1 || p.Rates.Output != 5 || p.Rates.Read != w.read || write != w.write || p.Rules.Life(p.Life) != w.ttl {
			t.Errorf("profile %+v, want %+v", p, w)
		}
	}
	p, ok := ProfileByName("gpt6")
	if !ok || math.Abs(p.Rates.Cost(Charge{Read: 272_000}, 0)-13_600) > 1e-6 || math.Abs(p.Rates.Cost(Charge{Read: 272_001}, 1)-27_210.1) > 1e-6 {
		t.Errorf("the cliff of gpt6 is not at 272k: %+v", p)
	}
	if _, ok := ProfileByName("claude-2"); ok {
		t.Error("an unknown profile was found")
	}
}

func TestCold(t *testing.T) {
	r := Default().rule("anthropic-1024")
	if r.Cold(330*time.Second, Short) || !r.Cold(331*time.Second, Short) || r.Cold(time.Hour, Long) {
		t.Error("cold must mean later than the lifetime and its margin")
	}
}

func TestMerge(t *testing.T) {
	base := Default()
	merged, err := base.Merge(strings.NewReader(`{
		"rules": [{"name": "mine", "match": "automatic", "minimum": 10, "ttl": "1m"}],
		"exchange": [{"currency": "CNY", "from": "2026-10-01", "usd": 0.2, "grade": "primary", "source": "my bank"}],
		"models": [
			{"id": "gpt-5.5", "prices": [{"grade": "primary", "source": "my contract", "input": 1, "output": 2}], "aliases": ["house-model"]},
			{"id": "mine-1", "rules": "mine", "window": 8000, "prices": [{"from": "2026-10-02", "currency": "CNY", "grade": "primary", "source": "my contract", "input": 10, "output": 20}]}
		],
		"resellers": ["my-proxy"]
	}`))
	if err != nil {
		t.Fatal(err)
	}
	at := day("2026-11-30T00:00:00Z")
	for name, want := range map[string]Prices{
		"my-proxy/gpt-5.5": {1, 1, 1, 1, 2},
		"house-model":      {1, 1, 1, 1, 2},
		"mine-1":           {2, 2, 2, 2, 4},
		"qwen3.8-max":      {1.68, 0.336, 1.68, 1.68, 5.04}, // its price is older than the new rate
	} {
		m, ok := merged.Model(name)
		if !ok || !near(m.Rates(at).times(1e6), want) {
			t.Errorf("%s: found %v, want %+v", name, ok, want)
		}
	}
	if m, _ := merged.Model("gpt-5.5"); m.Rules().Name != "openai-steps-24h" || m.Source(at).Text != "my contract" {
		t.Errorf("what the file does not state was lost: %+v", m)
	}
	if m, _ := merged.Model("mine-1"); m.Rules().Minimum != 10 || m.Window != 8000 {
		t.Errorf("the new model is %+v", m)
	}
	if m, _ := base.Model("gpt-5.5"); m.Rates(at).times(1e6).Input != 5 {
		t.Error("the base table was changed")
	}
}

// failures.md A13: a window comes from the model that was named, or from the
// user, and never from a model that is merely called alike.
func TestWindowsAreNotGuessed(t *testing.T) {
	base := Default()
	if m, ok := base.Model("claude-opus-4-5"); !ok || m.Window != 200_000 {
		t.Errorf("claude-opus-4-5 has the window %d", m.Window)
	}
	for _, name := range []string{"claude-opus-4", "my-claude-opus-4-5-mini", "opus", "gpt-5.5-nano-local"} {
		if m, ok := base.Model(name); ok {
			t.Errorf("%s was taken for %s with its window of %d", name, m.ID, m.Window)
		}
	}
	merged, err := base.Merge(strings.NewReader(`{"models": [{"id": "claude-opus-4-5", "window": 32768}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if m, _ := merged.Model("anthropic/claude-opus-4-5-20251101"); m.Window != 32768 {
		t.Errorf("the user's window was overruled by %d", m.Window)
	}
}

func TestMergeErrors(t *testing.T) {
	base := Default()
	price := `{"grade": "primary", "source": "x", "input": 1, "output": 2`
	cases := map[string]string{
		"{\"models\": [\n  {\"id\": \"a\",\n   \"windw\": 5}]}": `line 3, column 10: unknown key "windw"`,
		`{"modles": []}`:                                                         `line 1, column 9: unknown key "modles"`,
		`{"models": [{"id": "a", "id": "b"}]}`:                                   `key "id" stands twice`,
		`{"models": [{"id": 5}]}`:                                                `a string expected`,
		`{"models": [{"window": 5}]}`:                                            `a model needs an id`,
		`{"models": [{"id": "a", "window": 1.5}]}`:                               `a whole number`,
		`{"models": [{"id": "a", "window": -1}]}`:                                `must not be negative`,
		`{"models": [{"id": "a", "rules": "none", "prices": [` + price + `}]}]}`: `there are no rules "none"`,
		`{"models": [{"id": "a", "rules": "deepseek"}]}`:                         `no prices`,
		`{"models": [{"id": "mine", "aliases": ["gpt-5-5"], "rules": "deepseek", "prices": [` + price + `}]}]}`:                   `belongs to "gpt-5.5"`,
		`{"models": [{"id": "gpt-5.5", "prices": [` + price + `, "currency": "EUR"}]}]}`:                                          `no exchange rate for EUR`,
		`{"models": [{"id": "gpt-5.5", "prices": [{"input": 1, "output": 2}]}]}`:                                                  `needs a source`,
		`{"models": [{"id": "gpt-5.5", "prices": [{"grade": "good"}]}]}`:                                                          `"good" is not a grade`,
		`{"models": [{"id": "gpt-5.5", "prices": [{"from": "30.11.2026"}]}]}`:                                                     `is not a day`,
		`{"models": [{"id": "gpt-5.5", "prices": [` + price + `, "above": {"input": 3}}]}]}`:                                      `"above" needs tokens and prices`,
		`{"models": [{"id": "gpt-5.5", "prices": [` + price + `, "peak": {"days": ["Mo"]}}]}]}`:                                   `"Mo" is not a day`,
		`{"models": [{"id": "gpt-5.5", "prices": [` + price + `, "peak": {"days": ["Mon"], "hours": [[4, 1]]}}]}]}`:               `hours are two numbers`,
		`{"models": [{"id": "gpt-5.5", "prices": [` + price + `, "from": "2026-01-02"}, ` + price + `, "from": "2026-01-01"}]}]}`: `not in the order of their days`,
		`{"rules": [{"name": "a"}]}`:                     `rules need a name and a ttl`,
		`{"rules": [{"name": "a", "ttl": "5 minutes"}]}`: `is not a duration`,
		`{"rules": [{"name": "a", "ttl": "5m"}]}`:        `match at breakpoints and permit none`,
		`{"rules": [{"name": "a", "match": "exact"}]}`:   `is not a way of matching`,
		`{"exchange": [{"currency": "EUR"}]}`:            `needs a currency and what it is worth`,
		`{"models": [`:                                   `the text ends too early`,
		`{} {}`:                                          `text after the end`,
		`[]`:                                             `"{" expected`,
		``:                                               `the text ends too early`,
	}
	for text, want := range cases {
		_, err := base.Merge(strings.NewReader(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", text, err, want)
		}
	}
}

// Every row of the embedded table is complete and plausible.
func TestEmbedded(t *testing.T) {
	for _, m := range Default().Models() {
		for _, r := range m.prices {
			p := r.prices
			if p.Read > p.Input || p.Write < p.Input || p.Write1h < p.Write || p.Output <= p.Input {
				t.Errorf("%s: prices %+v", m.ID, p)
			}
			if r.cliff > 0 && r.above.Input <= p.Input {
				t.Errorf("%s: a cliff that goes down", m.ID)
			}
			if r.source.Grade == Assumed && r.source.Note == "" {
				t.Errorf("%s: an assumed price without a reason", m.ID)
			}
		}
		if r := m.Rules(); m.Provider == "" || r.TTL < 5*time.Minute || r.Margin != 30*time.Second {
			t.Errorf("%s: rules %+v", m.ID, r)
		}
	}
}

// No input makes Merge panic, and what it accepts can be used.
func FuzzMerge(f *testing.F) {
	f.Add(`{}`)
	f.Add(`{"models": [{"id": "a", "rules": "deepseek", "prices": [{"grade": "primary", "source": "x", "input": 1, "output": 2, "above": {"tokens": 5, "input": 2, "output": 3}}]}]}`)
	f.Add(`{"models": [{"id": "gpt-5.5", "prices": [{"grade": "derived", "source": "x", "currency": "CNY", "input": 1, "output": 2, "peak": {"days": ["Sun"], "hours": [[0, 24]], "input": 2, "output": 3}}]}]}`)
	f.Add(`{"rules": [{"name": "deepseek", "match": "automatic", "ttl": "1h", "note": "short"}]}`)
	f.Add(`{"exchange": [{"currency": "CNY", "usd": 1e300}], "resellers": [""]}`)
	f.Add("{\"models\": [\n{\"id\": \"a\",\r\n \"nope\": 1}]}")
	base := Default()
	f.Fuzz(func(t *testing.T, text string) {
		table, err := base.Merge(strings.NewReader(text))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "read prices: ") {
				t.Fatalf("error without its operation: %v", err)
			}
			return
		}
		for _, m := range table.Models() {
			if _, ok := table.Model(m.ID); !ok {
				t.Fatalf("%q is in the table and not found", m.ID)
			}
			if cost := m.Cost(quire.Usage{Input: 1, Output: 1}, time.Time{}); cost < 0 {
				t.Fatalf("%q costs %v", m.ID, cost)
			}
		}
	})
}

// No name makes the lookup panic, and what is found by a name is found by its id.
func FuzzName(f *testing.F) {
	table := Default()
	for _, seed := range []string{"us.anthropic.claude-opus-4-5-20251101-v1:0", "openai/gpt-5.5-2026-01-01", "a/b/c", ".", "-v", "@", "[1m]", "eu.anthropic.-v1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		m, ok := table.Model(name)
		if !ok {
			return
		}
		if again, ok := table.Model(m.ID); !ok || again.ID != m.ID {
			t.Fatalf("%q is %q, which is not found", name, m.ID)
		}
	})
}
