package report_test

import (
	"fmt"
	"math"
	"time"

	"github.com/quire-agent/quire/internal/audit"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/replay"
)

func ptr[T any](v T) *T { return &v }

// sample is a report made by hand: two agents, two models and one without a
// price, names that want escaping, every list filled.
func sample() audit.Report {
	first := time.Date(2026, 11, 3, 8, 12, 0, 0, time.UTC)
	return audit.Report{
		Zone: "UTC", First: first, Last: first.AddDate(0, 0, 11),
		Sessions: sampleSessions(first),
		Totals: audit.Totals{
			Sum: sum(1_204, 48.26, 1_210_000, 61_300_000, 4_020_000, 812_000), Sessions: 3, Side: 96, Duplicates: 41,
			Prompt: 66_530_000, Completion: 812_000, Ratio: ptr(81.93), InputCost: 38.11, OutputCost: 10.15,
		},
		Models: []audit.Group{
			{Name: "claude-opus-4-6", Sum: sum(820, 41.02, 9_000, 47_100_000, 3_600_000, 640_000)},
			{Name: "gpt-5.5", Sum: sum(330, 7.24, 1_201_000, 14_200_000, 420_000, 160_000)},
			{Name: "home-made<b>", Sum: audit.Sum{Calls: 54, Usage: usage(0, 0, 0, 12_000), Unpriced: 54}},
		},
		Days:     sampleDays(),
		Projects: []audit.Group{{Name: "/home/ann/shop", Sum: sum(1_100, 44, 9_000, 5e7, 3_600_000, 700_000)}, {Name: "/home/ann/店", Sum: sum(104, 4.26, 9_000, 1e7, 420_000, 112_000)}},
		Agents:   []audit.Group{{Name: "claude-code", Sum: sum(874, 41.02, 9_000, 47_100_000, 3_600_000, 652_000)}, {Name: "codex", Sum: sum(330, 7.24, 1_201_000, 14_200_000, 420_000, 160_000)}},
		Kinds:    sampleKinds(),
		Tools: []audit.ToolShare{
			{Tool: "Read", Uses: 212, Tokens: 410_000, Sent: 20_100_000, Amplification: ptr(49.0), Cost: 13.2, Unused: 7.1},
			{Tool: "Bash", Uses: 305, Tokens: 280_000, Sent: 11_800_000, Amplification: ptr(42.1), Cost: 7.9, Unused: 5.2},
		},
		Context:   audit.Context{Tokens: 1_320_000, Sent: 66_100_000, Amplification: ptr(50.1), Dead: ptr(.71), DeadStrict: ptr(.88), Unused: 12.3, UnusedTokens: 22_000_000},
		Cache:     sampleCache(),
		Pages:     samplePages(),
		Repeats:   sampleRepeats(),
		Timelines: []audit.Timeline{sampleTimeline("shop-1.jsonl", 240, 31.4), sampleTimeline("rollout-2.jsonl", 90, 7.24)},
		Policies:  samplePolicies(),
		Atlas:     sampleAtlas(),
		Replayed:  audit.Replayed{Sessions: 2, Calls: 1_054, Cost: ptr(44.1), Replay: ptr(45.0)},
		Notes:     []audit.Noted{{Note: quire.NoteDuplicateUsage, Times: 612}, {Note: quire.NoteTimeInversion, Times: 3}},
		Unpriced:  audit.Unpriced{Calls: 54, Models: []audit.Count{{Name: "home-made<b>", Times: 54}}},
		Counting:  []audit.Counting{{Family: "claude", Sessions: 2, MeanError: .012}, {Family: "gpt", Sessions: 1, Uncalibrated: 1}},
		Skipped:   []audit.Skipped{{Path: "/home/ann/.claude/projects/shop/torn.jsonl", Line: 812, Reason: "unexpected end of the record"}, {Path: "/home/ann/notes.bin", Reason: "no known format"}},
	}
}

func usage(input, read, write, output int64) audit.Usage {
	return audit.Usage{Input: &input, CacheRead: &read, CacheWrite: &write, CacheWrite1h: ptr(int64(0)), Output: &output}
}

func sum(calls int, cost float64, input, read, write, output int64) audit.Sum {
	return audit.Sum{Calls: calls, Cost: &cost, Usage: usage(input, read, write, output)}
}

func sampleSessions(first time.Time) []audit.Session {
	policies := map[string]audit.Outcome{
		"append":  {Cost: ptr(33.0), Ratio: ptr(1.0), MeanPrompt: 88_000, PeakPrompt: 161_000},
		"compact": {Cost: ptr(29.7), Ratio: ptr(.9), Faults: 2, FaultsWide: 7, MeanPrompt: 71_000, PeakPrompt: 167_000},
	}
	return []audit.Session{
		{Path: "/home/ann/.claude/projects/shop/shop-1.jsonl", Agent: quire.AgentClaudeCode, ID: "8c1", Project: "/home/ann/shop", First: first, Last: first.Add(9 * time.Hour),
			Sum: sum(700, 31.4, 7_000, 4e7, 3_000_000, 500_000), Side: 96, Compactions: 2, Rewinds: 1, Peak: 161_000, Policies: policies},
		{Path: "/home/ann/.claude/projects/shop/shop-2.jsonl", Agent: quire.AgentClaudeCode, ID: "8c2", Project: "/home/ann/shop", First: first.AddDate(0, 0, 2), Last: first.AddDate(0, 0, 3),
			Sum: sum(174, 9.62, 2_000, 7_100_000, 600_000, 152_000), Peak: 92_000},
		{Path: "/home/ann/.codex/sessions/rollout-2.jsonl", Agent: quire.AgentCodex, ID: "019", Project: "/home/ann/店", First: first.AddDate(0, 0, 5), Last: first.AddDate(0, 0, 11),
			Sum: sum(330, 7.24, 1_201_000, 14_200_000, 420_000, 160_000), Peak: 143_000},
	}
}

func sampleDays() []audit.Day {
	var days []audit.Day
	for i, cost := range []float64{6.1, 11.9, 4.4, 0, 9.8, 2.2, 0, 0, 7.3, 5.1, 0, 1.46} {
		if cost == 0 {
			continue
		}
		codex := cost * float64(i%4) / 12
		claude := cost - codex
		days = append(days, audit.Day{
			Date: fmt.Sprintf("2026-11-%02d", i+3), Sum: sum(int(cost*25), cost, 100, 5e6, 3e5, 7e4),
			Models: []audit.Spend{{Name: "claude-opus-4-6", Cost: &claude}, {Name: "gpt-5.5", Cost: &codex}},
			Agents: []audit.Spend{{Name: "claude-code", Cost: &claude}, {Name: "codex", Cost: &codex}},
		})
	}
	return days
}

func sampleKinds() []audit.KindShare {
	rows := []struct {
		tokens, sent int64
		cost         float64
	}{
		{36_000, 20_400_000, 6.2}, {9_100, 610_000, .4}, {14_000, 900_000, .6}, {16_000, 800_000, .5}, {71_000, 3_100_000, 2.1}, {0, 0, 0},
		{190_000, 8_800_000, 4.5}, {410_000, 17_300_000, 11.9}, {260_000, 9_900_000, 7.1}, {88_000, 2_600_000, 2.2}, {31_000, 700_000, .6}, {0, 0, 0},
		{0, 2_100_000, 2.0}, {812_000, 0, 10.15},
	}
	var list []audit.KindShare
	for k, r := range rows {
		share := audit.KindShare{Kind: audit.Kind(k), Tokens: r.tokens, Sent: r.sent, Cost: r.cost}
		if r.tokens > 0 && r.sent > 0 {
			share.Amplification = ptr(float64(r.sent) / float64(r.tokens))
		}
		list = append(list, share)
	}
	return list
}

func sampleCache() audit.Cache {
	return audit.Cache{Calls: 1_150, Prompt: 66_530_000, Read: 61_300_000, Hit: ptr(.9214), Rewrites: []audit.Rewrite{
		{Cause: audit.CauseCompaction, Times: 2, Tokens: 31_000, Cost: .18}, {Cause: audit.CauseEdit, Times: 1, Tokens: 40_000, Cost: .23},
		{Cause: audit.CauseModel}, {Cause: audit.CauseIdle, Times: 23, Tokens: 1_410_000, Cost: 8.11}, {Cause: audit.CauseUnexplained, Times: 4, Tokens: 96_000, Cost: .31},
	}}
}

func samplePages() []audit.PageCost {
	return []audit.PageCost{
		{Session: "/home/ann/.claude/projects/shop/shop-1.jsonl", Page: 31, Kind: quire.PageTool, Tool: "Read", Action: quire.ActionRead, Target: "/home/ann/shop/internal/checkout/total.go",
			Lines: quire.Range{First: 1, Last: 420}, Tokens: 6_200, First: 12, Sent: 144, Needed: 15, Cost: 1.21, Why: "read at call 12, sent 143 times more, last needed at call 15"},
		{Session: "/home/ann/.claude/projects/shop/shop-1.jsonl", Page: 58, Kind: quire.PageTool, Tool: "Bash", Action: quire.ActionRun, Target: "go test ./... 2>&1 | tail -n 400 && echo '<done>' \x1b[31m",
			Tokens: 9_800, First: 40, Sent: 71, Cost: .83, Why: "run at call 40, sent 70 times more, never quoted again"},
		{Session: "/home/ann/.codex/sessions/rollout-2.jsonl", Page: 2, Kind: quire.PageUser, Target: "为什么总价不对？", Tokens: 2_100, First: 1, Sent: 330, Cost: .4, Why: "asked at call 1, sent 329 times more"},
	}
}

func sampleRepeats() audit.Repeats {
	return audit.Repeats{Times: 37, Tokens: 141_000, Forgotten: 9, Cost: 2.94, Worst: []audit.RepeatRow{
		{Session: "/home/ann/.claude/projects/shop/shop-1.jsonl", Target: "internal/checkout/total.go", Action: quire.ActionRead, Times: 11, Tokens: 61_000, Forgotten: 4, Cost: 1.4},
		{Session: "/home/ann/.claude/projects/shop/shop-2.jsonl", Target: "go.mod", Action: quire.ActionRead, Times: 5, Tokens: 4_000, Cost: .1},
	}}
}

// sampleTimeline grows, falls back at its compactions and grows again.
func sampleTimeline(path string, calls int, cost float64) audit.Timeline {
	t := audit.Timeline{Session: path, ID: path, Cost: cost, Calls: calls, Compactions: []int{calls * 6 / 10}, Pauses: []int{calls / 4, calls * 8 / 10}}
	for k := audit.KindSystem; k < audit.KindSide; k++ {
		t.Kinds = append(t.Kinds, k)
	}
	start := time.Date(2026, 11, 3, 8, 12, 0, 0, time.UTC)
	for k := range calls {
		age := float64(k % (calls * 6 / 10))
		p := audit.Point{Call: k + 1, At: start.Add(time.Duration(k) * time.Minute), Tokens: make([]int64, len(t.Kinds))}
		for j := range t.Kinds {
			p.Tokens[j] = int64(age * float64(20+(j*37)%90) * (1 + .2*math.Floor(age/40)))
		}
		p.Tokens[audit.KindSystem] = 21_000
		for _, n := range p.Tokens {
			p.Prompt += n
		}
		t.Points = append(t.Points, p)
	}
	return t
}

// sampleAtlas is a session of eight calls in four rows with an epoch and a fault.
func sampleAtlas() *replay.Atlas {
	return &replay.Atlas{
		Policy: "quire", Session: "/home/ann/.claude/projects/shop/shop-1.jsonl", Total: 240,
		Calls: []int{30, 60, 90, 120, 150, 180, 210, 240}, Pages: []quire.PageNumber{1, 40, 80, 120},
		Rows:   []string{"hhwwssss", "..hwcsss", "...hhwcc", "......hh"},
		Epochs: []replay.AtlasEpoch{{Call: 135, Kind: quire.EpochFree}}, Faults: []replay.AtlasFault{{Call: 170, Row: 1}},
	}
}

func samplePolicies() map[string]audit.Policy {
	row := func(cost, worst float64, strict, wide int, mean float64, peak int) audit.Policy {
		return audit.Policy{
			Outcome:  audit.Outcome{Cost: &cost, Ratio: ptr(cost / 46), ToRecorded: ptr(cost / 45), Faults: strict, FaultsWide: wide, MeanPrompt: mean, PeakPrompt: peak},
			Sessions: 2, Calls: 1_054, WorstRatio: &worst, WorstSession: "/home/ann/.codex/sessions/rollout-2.jsonl",
		}
	}
	future := row(28.9, .93, 4, 11, 52_000, 151_000)
	future.Oracle = true
	return map[string]audit.Policy{
		"as-recorded": row(45, .98, 0, 12, 80_100, 161_000), "append": row(46, 1, 0, 0, 88_100, 190_000), "compact": row(39.4, 1.01, 6, 29, 71_000, 167_000),
		"keep-last-10": row(47.9, 1.2, 60, 181, 50_200, 120_000), "cold-idle-5": row(33.2, 1.0002, 5, 22, 61_000, 160_000),
		"quire": row(31.9, 1, 2, 13, 49_000, 148_000), "lru@40k": row(36.1, 1.08, 30, 88, 38_000, 40_000), "oracle-cold": future,
	}
}
