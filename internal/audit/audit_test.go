package audit_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/audit"
	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/recording"
	"github.com/quire-agent/quire/internal/replay"
	"pgregory.net/rapid"
)

const (
	opus   = "claude-opus-4-5-20251101" // 5 in, 25 out, .50 read, 6.25 and 10 write
	sonnet = "claude-sonnet-4-5"        // 3 in, 15 out
)

var begin = time.Date(2026, 11, 1, 23, 30, 0, 0, time.UTC)

const recorded = quire.KnownInput | quire.KnownCache | quire.KnownOutput

// metered is the usage of a call.
func metered(input, read, write, output int64) quire.Usage {
	return quire.Usage{Input: input, CacheRead: read, CacheWrite: write, Output: output, Known: recorded}
}

// small is a session of five calls, one minute apart but for a pause before the
// fourth. A file is read at call 1 (from 0), again unchanged at call 3, and
// needed at call 2 only.
func small(path string) *recording.Session {
	s := &recording.Session{
		Path: path, Info: quire.SessionInfo{ID: "id-" + path, Agent: quire.AgentClaudeCode, Project: "/home/ann/shop"},
		Overhead: 10_000,
		Pages: []quire.Page{
			{Number: 1, Kind: quire.PageUser, Call: 0},
			{Number: 2, Kind: quire.PageTool, Tool: "Read", Action: quire.ActionRead, Target: "cart.go", Call: 1},
			{Number: 3, Kind: quire.PageTool, Tool: "Read", Action: quire.ActionRead, Target: "cart.go", Call: 3},
		},
		Items: []recording.Item{
			{Page: 1, Kind: quire.PartUser, Call: 0, By: -1, Tokens: 100, Hash: 1},
			{Page: 2, Kind: quire.PartToolCall, Call: 1, By: 0, Tokens: 50, Hash: 2},
			{Page: 2, Kind: quire.PartToolResult, Call: 1, By: -1, Tokens: 2000, Hash: 3},
			{Page: 3, Kind: quire.PartToolCall, Call: 3, By: 2, Tokens: 50, Hash: 4},
			{Page: 3, Kind: quire.PartToolResult, Call: 3, By: -1, Tokens: 2000, Hash: 3},
		},
		Needs: []recording.Need{{Call: 2, Page: 2, Wide: true}},
	}
	usages := []quire.Usage{
		metered(0, 0, 10_100, 50), metered(0, 10_100, 2_050, 10), metered(0, 12_150, 0, 50),
		metered(0, 0, 14_200, 20), metered(0, 14_200, 0, 30),
	}
	at := begin
	for k, u := range usages {
		if k == 3 {
			at = at.Add(10 * time.Minute)
		}
		s.Calls = append(s.Calls, recording.Call{ID: fmt.Sprintf("msg_%s_%d", path, k), Model: opus, At: at, Usage: u, Output: int(u.Output)})
		at = at.Add(time.Minute)
	}
	s.Calls[0].Hint = "why is the total wrong?"
	return s
}

func reportOf(t *testing.T, opts audit.Options, sessions ...*recording.Session) audit.Report {
	t.Helper()
	if opts.Prices == nil {
		opts.Prices = price.Default()
	}
	a := audit.New(opts)
	for _, s := range sessions {
		a.Add(s, nil)
	}
	return a.Report(time.UTC)
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9*max(1, math.Abs(want)) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func same[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func TestUsageAndCost(t *testing.T) {
	r := reportOf(t, audit.Options{}, small("a"))
	u := r.Totals.Usage
	same(t, "input", *u.Input, 0)
	same(t, "read", *u.CacheRead, 10_100+12_150+14_200)
	same(t, "write", *u.CacheWrite, 10_100+2_050+14_200)
	same(t, "output", *u.Output, 160)
	same(t, "output estimated", u.OutputEstimated, nil)
	same(t, "estimated", len(u.Estimated), 0)
	near(t, "cost", *r.Totals.Cost, (36_450*.5+26_350*6.25+160*25)/1e6)
	near(t, "output cost", r.Totals.OutputCost, 160*25/1e6)
	near(t, "ratio", *r.Totals.Ratio, (36_450+26_350)/160.0)
	near(t, "hit share", *r.Cache.Hit, 36_450.0/62_800)
}

func TestKindsShareTheCost(t *testing.T) {
	r := reportOf(t, audit.Options{}, small("a"))
	sum := 0.0
	for _, k := range r.Kinds {
		sum += k.Cost
	}
	near(t, "sum of kinds", sum, *r.Totals.Cost)
	read := r.Kinds[audit.KindRead]
	same(t, "read tokens", read.Tokens, 4_000)
	same(t, "read sent", read.Sent, 2_000*4+2_000*2)
	near(t, "read amplification", *read.Amplification, 3)
	// Written at call 1 and, after the pause, with everything else at call 3;
	// read from the cache in between. The second copy is written at call 3.
	near(t, "read cost", read.Cost, (2_000*(6.25+.5+6.25+.5)+2_000*(6.25+.5))/1e6)
	same(t, "system sent", r.Kinds[audit.KindSystem].Sent, 50_000)
}

func TestDeadResidency(t *testing.T) {
	r := reportOf(t, audit.Options{}, small("a"))
	paged := 100*5 + 2_050*4 + 2_050*2
	dead := 100*5 + 2_050*2 + 2_050*2 // the user's words; the file after call 2; its copy
	near(t, "dead", *r.Context.Dead, float64(dead)/float64(paged))
	near(t, "dead strict", *r.Context.DeadStrict, 1) // no strict need
	same(t, "unused tokens", r.Context.UnusedTokens, 2_050*2+2_050)
	near(t, "unused", r.Context.Unused, (2_050*(6.25+.5)+2_050*.5)/1e6)
}

func TestRepeats(t *testing.T) {
	r := reportOf(t, audit.Options{}, small("a"))
	same(t, "times", r.Repeats.Times, 1)
	same(t, "tokens", r.Repeats.Tokens, 2_000)
	same(t, "forgotten", r.Repeats.Forgotten, 0)
	same(t, "target", r.Repeats.Worst[0].Target, "cart.go")

	s := small("b")
	s.Cuts = []recording.Cut{{Call: 3, Item: 3, Trigger: "auto"}}
	r = reportOf(t, audit.Options{}, s)
	same(t, "forgotten after a compaction", r.Repeats.Forgotten, 1)

	s = small("c")
	s.Items[4].Hash = 5
	same(t, "changed content", reportOf(t, audit.Options{}, s).Repeats.Times, 0)
}

func TestCausesOfRewrites(t *testing.T) {
	cases := []struct {
		name   string
		change func(*recording.Session)
		cause  audit.Cause
	}{
		{"idle", func(*recording.Session) {}, audit.CauseIdle},
		{"written for an hour", func(s *recording.Session) {
			s.Calls[0].Usage.CacheWrite1h, s.Calls[1].Usage.CacheWrite1h = 10_100, 2_050
		}, audit.CauseUnexplained},
		{"compaction", func(s *recording.Session) { s.Cuts = []recording.Cut{{Call: 3, Item: 3, Trigger: "auto"}} }, audit.CauseCompaction},
		{"rewind", func(s *recording.Session) { s.Cuts = []recording.Cut{{Call: 3, Item: 3, Keep: 1, Rewind: true}} }, audit.CauseEdit},
		{"results cleared", func(s *recording.Session) { s.Cuts = []recording.Cut{{Call: 3, Item: 3, Trigger: "micro"}} }, audit.CauseEdit},
		{"model", func(s *recording.Session) { s.Calls[3].Model = sonnet }, audit.CauseModel},
		{"shorter", func(s *recording.Session) {
			s.Calls[3].At, s.Calls[4].At = s.Calls[2].At, s.Calls[2].At
			s.Calls[3].Usage = metered(0, 0, 9_000, 1)
			s.Calls[4].Usage = metered(0, 9_000, 0, 1)
		}, audit.CauseEdit},
		{"nothing recorded", func(s *recording.Session) { s.Calls[3].At, s.Calls[4].At = s.Calls[2].At, s.Calls[2].At }, audit.CauseUnexplained},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := small("a")
			c.change(s)
			for _, w := range reportOf(t, audit.Options{}, s).Cache.Rewrites {
				want := 0
				if w.Cause == c.cause {
					want = 1
				}
				same(t, string(w.Cause), w.Times, want)
			}
		})
	}
}

func TestCostOfARewrite(t *testing.T) {
	r := reportOf(t, audit.Options{}, small("a"))
	for _, w := range r.Cache.Rewrites {
		if w.Cause == audit.CauseIdle {
			same(t, "tokens", w.Tokens, 12_150)
			near(t, "cost", w.Cost, 12_150*(6.25-.5)/1e6)
		}
	}
}

func TestDearestPages(t *testing.T) {
	r := reportOf(t, audit.Options{}, small("a"))
	same(t, "pages", len(r.Pages), 3)
	p := r.Pages[0]
	same(t, "dearest", p.Target, "cart.go")
	same(t, "why", p.Why, "read at call 2, sent 3 times more, last needed at call 3")
	near(t, "cost", p.Cost, 2_050*(6.25+.5+6.25+.5)/1e6)
	same(t, "second", r.Pages[1].Why, "read at call 4, sent once more, never quoted again")
	same(t, "the user's words", r.Pages[2].Target, "why is the total wrong?")
}

func TestDuplicatesAcrossFiles(t *testing.T) {
	a, b := small("a"), small("b")
	for k := range b.Calls[:3] {
		b.Calls[k].ID = a.Calls[k].ID
	}
	r := reportOf(t, audit.Options{}, b, a)
	same(t, "duplicates", r.Totals.Duplicates, 3)
	same(t, "calls", r.Totals.Calls, 7)
	same(t, "calls of the second session", r.Sessions[1].Calls, 5)
	same(t, "read", *r.Totals.Usage.CacheRead, 36_450+14_200)
}

func TestLocalIDsAreNotShared(t *testing.T) {
	a, b := small("a"), small("b")
	a.Calls[0].ID, b.Calls[0].ID = "1", "1"
	a.Calls[1].ID, b.Calls[1].ID = "#2", "#2"
	same(t, "duplicates", reportOf(t, audit.Options{}, a, b).Totals.Duplicates, 0)
}

func TestSideChainsAreInUsage(t *testing.T) {
	s := small("a")
	s.Side = []recording.Call{{ID: "side", Model: opus, At: begin, Usage: metered(1_000, 0, 0, 10), Output: 10}}
	r := reportOf(t, audit.Options{}, s)
	same(t, "calls", r.Totals.Calls, 6)
	same(t, "side calls", r.Totals.Side, 1)
	same(t, "input", *r.Totals.Usage.Input, 1_000)
	near(t, "cost of the kind", r.Kinds[audit.KindSide].Cost, 1_000*5/1e6)
}

func TestUnknownFiguresAreNull(t *testing.T) {
	s := small("a")
	for k := range s.Calls {
		s.Calls[k].Usage = quire.Usage{Output: 5, Known: quire.KnownOutput}
	}
	r := reportOf(t, audit.Options{}, s)
	u := r.Totals.Usage
	if u.Input != nil || u.CacheRead != nil || u.CacheWrite != nil || r.Totals.Cost != nil {
		t.Errorf("unknown figures are not null: %+v, cost %v", u, r.Totals.Cost)
	}
	same(t, "output", *u.Output, 25)
	same(t, "estimated", strings.Join(u.Estimated, " "), "input cache_read cache_write")
	same(t, "prompt", *u.PromptEstimated, 10_100+12_150+12_150+14_200+14_200)
	if r.Totals.CostEstimated == nil || *r.Totals.CostEstimated <= 0 {
		t.Errorf("no estimated cost: %v", r.Totals.CostEstimated)
	}
}

func TestOutputKnownToBeTooLow(t *testing.T) {
	s := small("a")
	for k := range s.Calls {
		s.Calls[k].Usage.Known |= quire.OutputAtStart
		s.Calls[k].Usage.Output, s.Calls[k].Output = 1, 100
	}
	r := reportOf(t, audit.Options{}, s)
	same(t, "output", *r.Totals.Usage.Output, 5)
	same(t, "estimated", *r.Totals.Usage.OutputEstimated, 500)
	near(t, "output cost", r.Totals.OutputCost, 500*25/1e6)
}

func TestModelsWithoutAPrice(t *testing.T) {
	s := small("a")
	for k := range s.Calls {
		s.Calls[k].Model = "nobody-knows-1"
	}
	r := reportOf(t, audit.Options{}, s)
	same(t, "cost", r.Totals.Cost, nil)
	same(t, "unpriced", r.Unpriced.Calls, 5)
	same(t, "name", r.Unpriced.Models[0], audit.Count{Name: "nobody-knows-1", Times: 5})
}

func TestDaysFollowTheZone(t *testing.T) {
	a := audit.New(audit.Options{Prices: price.Default()})
	a.Add(small("a"), nil)
	days := func(zone *time.Location) string {
		var list []string
		for _, d := range a.Report(zone).Days {
			list = append(list, fmt.Sprintf("%s %d", d.Date, d.Calls))
		}
		return strings.Join(list, ", ")
	}
	same(t, "UTC", days(nil), "2026-11-01 5")
	same(t, "east", days(time.FixedZone("east", 1_500)), "2026-11-01 3, 2026-11-02 2")
}

func TestFilters(t *testing.T) {
	s := small("a")
	s.Calls[4].Model = sonnet
	r := reportOf(t, audit.Options{Model: "SONNET"}, s)
	same(t, "calls of a model", r.Totals.Calls, 1)
	r = reportOf(t, audit.Options{Since: s.Calls[3].At}, s)
	same(t, "calls since", r.Totals.Calls, 2)
	same(t, "page was sent", r.Pages[0].Sent, 2)
	r = reportOf(t, audit.Options{Until: s.Calls[3].At}, s)
	same(t, "calls until", r.Totals.Calls, 3)
	r = reportOf(t, audit.Options{Since: begin.AddDate(0, 0, 1)}, s)
	same(t, "sessions", len(r.Sessions), 0)
}

func TestPolicies(t *testing.T) {
	a := audit.New(audit.Options{Prices: price.Default()})
	outcomes := func(compact float64) []replay.Outcome {
		return []replay.Outcome{
			{Policy: audit.AsRecorded, Calls: 5, Cost: 9, CostStrict: 1.5, Output: 1},
			{Policy: "append", Calls: 5, Cost: 1, Output: 1, Prompt: 500, Peak: 200},
			{Policy: "compact", Calls: 5, Cost: compact, Output: 1, Prompt: 250, Peak: 100, Faults: 1, FaultsWide: 2},
		}
	}
	a.Add(small("a"), outcomes(.5))
	a.Add(small("b"), outcomes(2))
	r := a.Report(nil)
	p := r.Policies["compact"]
	near(t, "cost", *p.Cost, 4.5)
	near(t, "ratio", *p.Ratio, 4.5/4)
	near(t, "to what happened", *p.ToRecorded, 4.5/5)
	near(t, "worst", *p.WorstRatio, 1.5)
	same(t, "worst session", p.WorstSession, "b")
	same(t, "faults", p.Faults, 2)
	same(t, "wide faults", p.FaultsWide, 4)
	near(t, "mean prompt", p.MeanPrompt, 50)
	near(t, "session's ratio", *r.Sessions[0].Policies["compact"].Ratio, .75)
	near(t, "replayed", *r.Replayed.Cost, 2**r.Sessions[0].Cost)
	near(t, "replay", *r.Replayed.Replay, 5)
}

func TestPoliciesWithoutAPrice(t *testing.T) {
	s := small("a")
	s.Calls[2].Model = "nobody-knows-1"
	a := audit.New(audit.Options{Prices: price.Default()})
	a.Add(s, []replay.Outcome{{Policy: "append", Calls: 5, Cost: 1, FaultsWide: 3, Prompt: 500}})
	r := a.Report(nil)
	same(t, "cost", r.Policies["append"].Cost, nil)
	same(t, "replayed", r.Replayed.Cost, nil)
	same(t, "faults", r.Policies["append"].FaultsWide, 3)
}

func TestCopiesCountOnce(t *testing.T) {
	a, b := small("a"), small("b")
	for k := range b.Calls {
		b.Calls[k].ID = a.Calls[k].ID
	}
	r := reportOf(t, audit.Options{}, a, b)
	same(t, "duplicates", r.Totals.Duplicates, 5)
	same(t, "sessions", len(r.Sessions), 2)
	same(t, "duplicates of the copy", r.Sessions[1].Duplicates, 5)
	same(t, "dearest pages", len(r.Pages), 3)
	same(t, "repeats", r.Repeats.Times, 1)
	same(t, "timelines", len(r.Timelines), 1)
}

// TestRecordedPolicy holds that the policy's prompts are those of the record.
func TestRecordedPolicy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := randomSession(t, "a")
		player := audit.Recorded().Start(s, replay.Setting{})
		var prompt []int32
		for k := range s.Calls {
			p := player.Step(k)
			if p.Keep > len(prompt) || (p.Keep < len(prompt)) != (p.Reason != "") {
				t.Fatalf("call %d keeps %d of %d, reason %q", k, p.Keep, len(prompt), p.Reason)
			}
			prompt = prompt[:p.Keep]
			for _, b := range p.Blocks {
				prompt = append(prompt, b.Item)
			}
			if want := inContext(s, int32(k)); !slices.Equal(prompt, want) {
				t.Fatalf("call %d sends %v, want %v", k, prompt, want)
			}
		}
	})
}

// inContext is the context of call k, straight from what a cut means.
func inContext(s *recording.Session, k int32) []int32 {
	var items []int32
	for i, it := range s.Items[:s.Calls[k].Items] {
		system := it.Kind == quire.PartSystem || it.Kind == quire.PartTools
		gone := system && it.Call == 0
		for _, c := range s.Cuts {
			past := c.Call <= k && int32(i) < c.Item
			gone = gone || past && c.Rewind && int32(i) >= c.Keep || past && !c.Rewind && !system
		}
		if !gone {
			items = append(items, int32(i))
		}
	}
	return items
}

func TestTimelineIsSampled(t *testing.T) {
	s := small("a")
	s.Items, s.Needs = nil, nil
	for len(s.Calls) < 1_001 {
		s.Calls = append(s.Calls, s.Calls[4])
		s.Calls[len(s.Calls)-1].ID = fmt.Sprintf("more-%d", len(s.Calls))
	}
	s.Calls[700].Usage.Input = 90_000
	line := reportOf(t, audit.Options{}, s).Timelines[0]
	same(t, "points", len(line.Points), 400)
	peak := audit.Point{}
	for _, p := range line.Points {
		sum := int64(0)
		for _, n := range p.Tokens {
			sum += n
		}
		same(t, "sum of the kinds", sum, p.Prompt)
		if p.Prompt > peak.Prompt {
			peak = p
		}
	}
	same(t, "peak", peak.Call, 701)
	same(t, "pauses", fmt.Sprint(line.Pauses), "[4]")
}

func TestSkipped(t *testing.T) {
	a := audit.New(audit.Options{Prices: price.Default()})
	s := small("b")
	s.Skips = []recording.Skip{{Line: 7, Reason: "broken"}, {Line: 3, Reason: "broken"}}
	a.Add(s, nil)
	a.Skip("a", 0, "empty")
	got := fmt.Sprint(a.Report(nil).Skipped)
	same(t, "skipped", got, "[{a 0 empty} {b 3 broken} {b 7 broken}]")
}

// TestOrderDoesNotMatter adds random sessions, some of which share calls, in two
// orders.
func TestOrderDoesNotMatter(t *testing.T) {
	prices := price.Default()
	rapid.Check(t, func(t *rapid.T) {
		var sessions []*recording.Session
		for i := range rapid.IntRange(1, 5).Draw(t, "sessions") {
			sessions = append(sessions, randomSession(t, fmt.Sprintf("s%d", i)))
		}
		first := encoded(t, prices, sessions)
		seed := rapid.Int64().Draw(t, "seed")
		rand.New(rand.NewSource(seed)).Shuffle(len(sessions), func(i, j int) { sessions[i], sessions[j] = sessions[j], sessions[i] })
		if second := encoded(t, prices, sessions); first != second {
			t.Fatalf("another order, another report:\n%s\n%s", first, second)
		}
	})
}

func encoded(t *rapid.T, prices audit.Prices, sessions []*recording.Session) string {
	a := audit.New(audit.Options{Prices: prices})
	for _, s := range sessions {
		a.Add(s, nil)
	}
	text, err := json.Marshal(a.Report(nil))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestMoneyAddsUp holds that the money of kinds, models and days is that of the
// totals, whatever the sessions hold.
func TestMoneyAddsUp(t *testing.T) {
	prices := price.Default()
	rapid.Check(t, func(t *rapid.T) {
		a := audit.New(audit.Options{Prices: prices})
		a.Add(randomSession(t, "a"), nil)
		a.Add(randomSession(t, "b"), nil)
		r := a.Report(nil)
		want := r.Totals.InputCost + r.Totals.OutputCost
		kinds, days := 0.0, 0.0
		for _, k := range r.Kinds {
			kinds += k.Cost
		}
		for _, d := range r.Days {
			for _, m := range d.Models {
				if m.Cost != nil {
					days += *m.Cost
				}
			}
		}
		for name, got := range map[string]float64{"kinds": kinds, "days": days} {
			if math.Abs(got-want) > 1e-9*max(1, want) {
				t.Fatalf("%s: %v, totals %v", name, got, want)
			}
		}
	})
}

// randomSession is a consistent session of anything.
func randomSession(t *rapid.T, path string) *recording.Session {
	n := rapid.IntRange(0, 12).Draw(t, "calls")
	s := &recording.Session{Path: path, Info: quire.SessionInfo{ID: path, Agent: quire.AgentCodex}, Overhead: rapid.IntRange(0, 500).Draw(t, "overhead")}
	at := begin
	for k := range n {
		at = at.Add(time.Duration(rapid.IntRange(0, 7_200).Draw(t, "gap")) * time.Second)
		for range rapid.IntRange(0, 3).Draw(t, "items") {
			s.Items = append(s.Items, randomItem(t, s, int32(k)))
		}
		c := randomCall(t, at)
		c.Items = int32(len(s.Items))
		s.Calls = append(s.Calls, c)
		if rapid.IntRange(0, 5).Draw(t, "cut") == 0 {
			c := recording.Cut{Call: int32(k) + 1, Item: int32(len(s.Items)), Rewind: rapid.Bool().Draw(t, "rewind")}
			if c.Rewind {
				c.Keep = int32(rapid.IntRange(0, len(s.Items)).Draw(t, "keep"))
			}
			s.Cuts = append(s.Cuts, c)
		}
	}
	for p := range s.Pages {
		if rapid.Bool().Draw(t, "needed") {
			s.Needs = append(s.Needs, recording.Need{Call: int32(rapid.IntRange(0, n-1).Draw(t, "need")), Page: quire.PageNumber(p + 1), Strict: true})
		}
	}
	return s
}

func randomItem(t *rapid.T, s *recording.Session, k int32) recording.Item {
	kind := quire.PartKind(rapid.IntRange(1, 10).Draw(t, "kind"))
	s.Pages = append(s.Pages, quire.Page{
		Number: quire.PageNumber(len(s.Pages) + 1), Kind: quire.PageTool, Action: quire.ActionRead,
		Tool: rapid.SampledFrom([]string{"", "Read", "Bash"}).Draw(t, "tool"), Target: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "target"),
	})
	return recording.Item{
		Page: quire.PageNumber(len(s.Pages)), Kind: kind, Call: k, By: -1,
		Tokens: int32(rapid.IntRange(0, 5_000).Draw(t, "tokens")), Hash: rapid.Uint64Range(0, 3).Draw(t, "hash"),
	}
}

func randomCall(t *rapid.T, at time.Time) recording.Call {
	size := rapid.Int64Range(0, 20_000)
	u := metered(size.Draw(t, "input"), size.Draw(t, "read"), size.Draw(t, "write"), size.Draw(t, "output"))
	u.Known = rapid.SampledFrom([]quire.UsageFields{recorded, quire.KnownOutput, recorded | quire.OutputAtStart}).Draw(t, "known")
	if !u.Has(quire.KnownInput) {
		u.Input, u.CacheRead, u.CacheWrite = 0, 0, 0
	}
	return recording.Call{
		ID:    rapid.SampledFrom([]string{"m1", "m2", "m3", "m4", "m5", "m6", "m7", "m8"}).Draw(t, "id"),
		Model: rapid.SampledFrom([]string{opus, sonnet, "nobody-knows-1", ""}).Draw(t, "model"),
		At:    at, Usage: u, Output: int(u.Output),
	}
}

func BenchmarkAdd(b *testing.B) {
	s := small("a")
	for k := range 5_000 {
		c := s.Calls[4]
		c.ID = fmt.Sprintf("more-%d", k)
		s.Calls = append(s.Calls, c)
		s.Pages = append(s.Pages, quire.Page{Number: quire.PageNumber(k + 4), Kind: quire.PageTool, Tool: "Bash", Action: quire.ActionRun, Target: fmt.Sprint(k)})
		s.Items = append(s.Items, recording.Item{Page: quire.PageNumber(k + 4), Kind: quire.PartToolResult, Call: int32(k + 5), Tokens: 300, Hash: uint64(k)})
	}
	prices := price.Default()
	b.ReportAllocs()
	for b.Loop() {
		audit.New(audit.Options{Prices: prices}).Add(s, nil)
	}
}
