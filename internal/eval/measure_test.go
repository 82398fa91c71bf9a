package eval

import (
	"encoding/json"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/recording"
	"github.com/quire-agent/quire/internal/replay"
)

// outcome is what a policy did in ten calls at some cost; half of the cost is
// that of the constant prefix.
func outcome(policy string, cost float64) replay.Outcome {
	return replay.Outcome{
		Policy: policy, Calls: 10, Cost: cost, CostStrict: cost, Prefix: cost / 2, Output: 100,
		Prompt: 1_000, Net: 400, Completion: 20, Peak: 150, Prompts: []int32{100, 150},
	}
}

func twoCases() []Case {
	mine := func(cost, strict, extra float64) replay.Outcome {
		o := outcome("mine", cost)
		o.CostStrict, o.Extra, o.Faults, o.FaultsWide = strict, extra, 1, 3
		o.Wanted, o.Covered, o.WantedWide, o.CoveredWide = 40, 30, 100, 60
		o.Edits, o.EditsServed, o.Rereads, o.ServedText, o.Served = 4, 3, 5, 2, 4
		o.Epochs, o.Reasons, o.MisSchedules, o.Thrash = 2, map[string]int{"cold": 2}, 1, 1
		o.LiveCalls, o.DeadCalls, o.Slope, o.Read, o.TooBig, o.Peak = 100, 300, 12, 500, 1, 170
		return o
	}
	s := &recording.Session{}
	return []Case{
		{Session: s, Optimum: 400, Outcomes: []replay.Outcome{
			outcome("append", 1_000), outcome("compact", 800), outcome("oracle-cold", 600), outcome("oracle-any", 500), mine(700, 650, 20),
		}},
		{Session: s, Optimum: 1_000, Outcomes: []replay.Outcome{
			outcome("append", 1_000), outcome("compact", 1_200), outcome("oracle-cold", 900), outcome("oracle-any", 700), mine(1_100, 1_000, 40),
		}},
	}
}

func TestMeasure(t *testing.T) {
	m := Measure(twoCases(), "mine", "append")
	for _, c := range []struct {
		name string
		got  *float64
		want float64
	}{
		{"cost_ratio", m.CostRatio, 1_800. / 2_000},
		{"cost_ratio_strict", m.CostRatioStrict, 1_650. / 2_000},
		{"cost_ratio_output", m.CostRatioOutput, 2_000. / 2_200},
		{"cost_vs_compact", m.CostVsCompact, 1_800. / 2_000},
		{"cost_vs_best", m.CostVsBest, 1_800. / (800 + 1_000)},
		{"cost_net", m.CostNet, 900. / 1_000},
		{"cost_x3", m.CostX3, (1_800. + 2*60) / 2_000},
		{"cost_x10", m.CostX10, (1_800. + 9*60) / 2_000},
		{"worst_ratio", m.WorstRatio, 1.1},
		{"oracle_cold_share", m.OracleCold, (300. - 100) / (400 + 100)},
		{"oracle_any_share", m.OracleAny, (300. - 100) / (500 + 300)},
		{"regret_mean", m.RegretMean, (700./400 + 1_100./1_000) / 2},
		{"regret_worst", m.RegretWorst, 700. / 400},
		{"faults_per_call", &m.Faults, .1},
		{"faults_wide_per_call", &m.FaultsWide, .3},
		{"coverage", m.Coverage, .75},
		{"coverage_wide", m.CoverageWide, .6},
		{"edit_coverage", m.EditCoverage, .75},
		{"rereads_served_text", m.ServedText, .4},
		{"rereads_served", m.Served, .8},
		{"mean_prompt", &m.MeanPrompt, 100},
		{"mean_prompt_net", &m.MeanPromptNet, 40},
		{"prompt_completion_net", m.Completion, 20},
		{"slope", &m.Slope, 12},
		{"epochs_per_100", &m.Epochs, 20},
		{"cache_read_share", m.CacheRead, .5},
		{"dead_residency", m.DeadResidency, .75},
		{"misschedules_per_100", &m.MisSchedules, 10},
	} {
		if c.got == nil || math.Abs(*c.got-c.want) > 1e-9 {
			t.Errorf("%s: got %v, want %v", c.name, show(c.got), c.want)
		}
	}
	if m.Sessions != 2 || m.Calls != 20 || m.Dearer != 1 || m.DearerBest != 1 || m.P95Prompt != 150 || m.PeakPrompt != 170 ||
		m.Thrash != 2 || m.TooBig != 2 || m.Reasons["cold"] != 4 {
		t.Errorf("got %+v", m)
	}
}

func show(f *float64) any {
	if f == nil {
		return nil
	}
	return *f
}

// Relative to compact, as in endless, the base changes and nothing else.
func TestMeasureToAnotherBase(t *testing.T) {
	a, c := Measure(twoCases(), "mine", "append"), Measure(twoCases(), "mine", "compact")
	if *c.CostRatio != 1_800./2_000 || *c.CostRatioStrict != 1_650./2_000 || *c.WorstRatio != *a.WorstRatio {
		t.Errorf("got %v, %v, %v", *c.CostRatio, *c.CostRatioStrict, *c.WorstRatio)
	}
}

func TestDearerIsMoreThanRounding(t *testing.T) {
	for _, tt := range []struct {
		cost   float64
		dearer int
	}{{1_000.5, 0}, {1_000.6, 1}, {999, 0}} {
		c := Case{Outcomes: []replay.Outcome{outcome("append", 1_000), outcome("compact", 2_000), outcome("mine", tt.cost)}}
		if m := Measure([]Case{c}, "mine", "append"); m.Dearer != tt.dearer || m.DearerBest != tt.dearer {
			t.Errorf("%v: %d dearer than append, %d than the best", tt.cost, m.Dearer, m.DearerBest)
		}
	}
}

// A session that append does not bring through cannot be dearer than append.
func TestDearerCountsWhereAppendFits(t *testing.T) {
	for _, tt := range []struct{ peak, window, dearer int }{{150, 0, 1}, {200_000, 0, 1}, {200_001, 0, 0}, {150, 149, 0}, {200_001, 400_000, 1}} {
		a, mine := outcome("append", 1_000), outcome("mine", 1_100)
		a.Peak = tt.peak
		c := Case{Window: tt.window, Outcomes: []replay.Outcome{a, outcome("compact", 900), mine}}
		if m := Measure([]Case{c}, "mine", "append"); m.Dearer != tt.dearer || m.DearerBest != 1 || *m.WorstRatio != 1.1 {
			t.Errorf("a prompt of %d in a window of %d: %d dearer, %d than the best", tt.peak, tt.window, m.Dearer, m.DearerBest)
		}
	}
}

// What cannot be known is null, and everything can be written as JSON.
func TestUnknownFiguresAreNull(t *testing.T) {
	empty := Case{Session: &recording.Session{}, Outcomes: []replay.Outcome{{Policy: "append"}, {Policy: "compact"}, {Policy: "mine"}}}
	alone := Case{Session: &recording.Session{}, Outcomes: []replay.Outcome{outcome("mine", 10)}}
	for name, cases := range map[string][]Case{"no session": nil, "no call": {empty}, "no base": {alone}, "not played": {{}}} {
		m := Measure(cases, "mine", "append")
		for _, f := range []*float64{m.CostRatio, m.CostVsCompact, m.WorstRatio, m.OracleCold, m.RegretMean, m.Coverage, m.EditCoverage, m.Served} {
			if f != nil {
				t.Errorf("%s: got %v", name, *f)
			}
		}
		if _, err := json.Marshal(m); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if r := empty.ratios(); len(r) > 0 {
		t.Errorf("ratios of nothing: %v", r)
	}
}

func TestGroups(t *testing.T) {
	root := filepath.FromSlash("/corpus")
	session := func(path string, calls ...string) *recording.Session {
		s := &recording.Session{Path: filepath.Join(root, filepath.FromSlash(path))}
		for _, id := range calls {
			s.Calls = append(s.Calls, recording.Call{ID: id})
		}
		return s
	}
	groups := Groups(root, []*recording.Session{
		session("bench/first/a.jsonl", "1", "2"),
		session("bench/second/b.jsonl", "3"),
		session("bench/second/c.jsonl", "4"),
		session("bench/d.jsonl", "5"),
		session("endless/e.jsonl", "3"),
		session("endless/f.jsonl", "6"),
		session("other/deep/g.jsonl", "4", "7"),
		session("h.jsonl", "8"),
		session("i.jsonl"),
	})
	want := map[string][]int{
		"all": {0, 2, 3, 4, 5, 7, 8}, "bench": {0, 1, 2, 3}, "e50": {4, 5}, "first": {0}, "second": {1, 2}, "other": {6},
	}
	var names []string
	for _, g := range groups {
		names = append(names, g.Name)
		if !slices.Equal(g.Sessions, want[g.Name]) {
			t.Errorf("%s: got %v, want %v", g.Name, g.Sessions, want[g.Name])
		}
	}
	if !slices.IsSorted(names) || len(names) != len(want) {
		t.Errorf("groups %v", names)
	}
}

func TestEfficiency(t *testing.T) {
	var sum hits
	for _, served := range []int{60, 20} {
		sum.add(hits{bound: hitBound{needs: 100, lower: 80, upper: 90}, served: map[string]int{"lru": served}})
	}
	e := sum.efficiency()
	if e.Needs != 200 || *e.Lower != .8 || *e.Upper != .9 || *e.Policies["lru"][0] != 80./180 || *e.Policies["lru"][1] != 80./160 {
		t.Errorf("got %+v", e)
	}
	if e := (&hits{}).efficiency(); e.Lower != nil || e.Upper != nil {
		t.Errorf("bounds of nothing: %+v", e)
	}
}

func TestBaselinesAreTen(t *testing.T) {
	var names, timed, oracles []string
	for _, p := range replay.Baselines(64_000) {
		names = append(names, p.Name)
		if p.Timed {
			timed = append(timed, p.Name)
		}
		if p.Oracle {
			oracles = append(oracles, p.Name)
		}
		if p.Budgeted != (p.Kind == "lru") {
			t.Errorf("%s: kind %q, budgeted %t", p.Name, p.Kind, p.Budgeted)
		}
	}
	want := "append compact keep-last-10 clear-tool-uses fifo-4 lru@64k cold-idle-5 fresh oracle-cold oracle-any"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if strings.Join(timed, " ") != "cold-idle-5 oracle-cold oracle-any" || strings.Join(oracles, " ") != "oracle-cold oracle-any" {
		t.Errorf("timed %v, oracles %v", timed, oracles)
	}
}

func TestWritePrice(t *testing.T) {
	rates := price.Rates{Prices: price.Prices{Write: 1.25, Write1h: 2}}
	for _, tt := range []struct {
		set  replay.Setting
		want float64
	}{
		{replay.Setting{Rates: rates}, 1.25},
		{replay.Setting{Rates: rates, Life: price.Long}, 1.25}, // not offered
		{replay.Setting{Rates: rates, Life: price.Long, Rules: price.Rules{LongTTL: 1}}, 2},
	} {
		if got := tt.set.Write(); got != tt.want {
			t.Errorf("%+v: got %v", tt.set, got)
		}
	}
}
