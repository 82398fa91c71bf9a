package eval

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/recording"
	"github.com/quire-agent/quire/internal/replay"
)

// A Study is what an evaluation runs on.
type Study struct {
	Root     string               // folder of the corpus: it names the groups
	Sessions []*recording.Session // one by one
	Endless  *recording.Session   // the sessions of the folder "endless" joined in time order; nil without them
	Profiles []price.Profile
	Budget   int // overrides SingleBudget and EndlessBudget; 0: those
	Policies func(budget int) []replay.Policy
	Held     []replay.Policy  // besides those of Policies that hold a budget, those to be compared with the best memory of a size
	Workers  int              // sessions replayed at once
	Now      func() time.Time // clock for Steps
	Progress func(done int)   // called after each session, from one goroutine at a time; may be nil
}

// Findings is the result of a study, in the form of section 4 of the evaluation
// document. It does not depend on Workers.
type Findings struct {
	Profiles map[string]ProfileFindings       `json:"profiles"`
	Bounds   map[string]map[string]Efficiency `json:"bounds"` // group, budget
	Sessions []SessionFindings                `json:"sessions"`

	Table string `json:"table"` // of needs, by which ours decide; filled in by the caller

	// Same says that a second replay of the longest session gave the same
	// outcomes, Steps how long each policy took to decide on the longest
	// session there is.
	Same  bool            `json:"deterministic"`
	Steps map[string]Pace `json:"step_time"`

	Machine map[string]string `json:"machine"` // filled in by the caller
}

// ProfileFindings are the figures under one price profile.
type ProfileFindings struct {
	Single  map[string]map[string]Measures `json:"single"`            // group, policy
	Endless map[string]Measures            `json:"endless,omitempty"` // policy
}

// SessionFindings describes one session that was replayed.
type SessionFindings struct {
	Path        string                        `json:"path"`
	ID          string                        `json:"id"`
	Agent       quire.Agent                   `json:"agent"`
	Calls       int                           `json:"calls"`
	Items       int                           `json:"items"`
	Overhead    int                           `json:"overhead_tokens"`
	Measured    bool                          `json:"overhead_measured"`
	FitSamples  int                           `json:"fit_samples"`
	FitError    float64                       `json:"fit_error"`
	NeedsWide   int                           `json:"needs_wide"`
	NeedsStrict int                           `json:"needs_strict"`
	Written     int                           `json:"needs_written"`
	Sampled     int                           `json:"needs_index_halved"`
	Restored    float64                       `json:"restored"` // share of pages whose body has its SHA-256
	Skips       []recording.Skip              `json:"skipped,omitempty"`
	Notes       map[quire.Note]int            `json:"notes,omitempty"`
	Ratios      map[string]map[string]float64 `json:"cost_ratios"` // profile, policy: cost to append
}

// Run replays everything. It stops with an error when ctx is done or a body
// cannot be read.
func (st *Study) Run(ctx context.Context) (*Findings, error) {
	f := &Findings{Machine: map[string]string{}}
	profiles, single, err := st.compare(ctx)
	if err != nil {
		return nil, err
	}
	f.Profiles = profiles
	if f.Bounds, err = st.bounds(Groups(st.Root, st.Sessions)); err != nil {
		return nil, err
	}
	if f.Sessions, err = st.describe(single); err != nil {
		return nil, err
	}
	return f, st.check(f, single)
}

// Compare is [Study.Run] without what describes the sessions and the machine:
// the figures by profile.
func (st *Study) Compare(ctx context.Context) (map[string]ProfileFindings, error) {
	profiles, _, err := st.compare(ctx)
	return profiles, err
}

func (st *Study) compare(ctx context.Context) (map[string]ProfileFindings, [][]Case, error) {
	single, err := st.replayAll(ctx, st.Sessions, st.budget(replay.SingleBudget), singlePolicies(st.Policies))
	if err != nil {
		return nil, nil, err
	}
	profiles, groups := map[string]ProfileFindings{}, Groups(st.Root, st.Sessions)
	for i, p := range st.Profiles {
		profiles[p.Name] = ProfileFindings{Single: byGroup(groups, single[i])}
	}
	return profiles, single, st.endless(ctx, profiles)
}

// check replays the longest session again under the first profile and times the
// policies.
func (st *Study) check(f *Findings, single [][]Case) error {
	s := longest(st.Sessions)
	if s == nil || len(st.Profiles) == 0 {
		return nil
	}
	budget := st.budget(replay.SingleBudget)
	set := replay.UnderProfile(s, st.Profiles[0], budget)
	again, err := replay.Replay(s, singlePolicies(st.Policies)(budget), []replay.Setting{set})
	if err != nil {
		return fmt.Errorf("replay %s again: %w", s.Path, err)
	}
	first := slices.IndexFunc(single[0], func(c Case) bool { return c.Session == s })
	f.Same = reflect.DeepEqual(again[0], single[0][first].Outcomes)
	if st.joins() {
		s = st.Endless
		set = replay.UnderProfile(s, st.Profiles[0], st.budget(replay.EndlessBudget))
	}
	f.Steps = Paces(s, st.Policies(set.Budget), set, st.Now)
	return nil
}

func (st *Study) budget(normal int) int {
	if st.Budget > 0 {
		return st.Budget
	}
	return normal
}

// singlePolicies leaves out what differs from compact only over several
// recorded sessions.
func singlePolicies(all func(int) []replay.Policy) func(int) []replay.Policy {
	return func(budget int) []replay.Policy {
		return slices.DeleteFunc(all(budget), func(p replay.Policy) bool { return p.Name == "fresh" })
	}
}

// endless replays the joined session.
func (st *Study) endless(ctx context.Context, profiles map[string]ProfileFindings) error {
	if !st.joins() {
		return nil
	}
	joined, err := st.replayAll(ctx, []*recording.Session{st.Endless}, st.budget(replay.EndlessBudget), st.Policies)
	if err != nil {
		return err
	}
	for i, p := range st.Profiles {
		found := profiles[p.Name]
		found.Endless = measureAll(joined[i], "compact")
		profiles[p.Name] = found
	}
	return nil
}

func (st *Study) joins() bool { return st.Endless != nil && len(st.Endless.Calls) > 0 }

func byGroup(groups []Group, cases []Case) map[string]map[string]Measures {
	out := map[string]map[string]Measures{}
	for _, g := range groups {
		var in []Case
		for _, i := range g.Sessions {
			in = append(in, cases[i])
		}
		out[g.Name] = measureAll(in, "append")
	}
	return out
}

func measureAll(cases []Case, base string) map[string]Measures {
	out := map[string]Measures{}
	if len(cases) == 0 {
		return out
	}
	for _, o := range cases[0].Outcomes {
		out[o.Policy] = Measure(cases, o.Policy, base)
	}
	return out
}

// replayAll returns cases[profile][session].
func (st *Study) replayAll(ctx context.Context, sessions []*recording.Session, budget int, policies func(int) []replay.Policy) ([][]Case, error) {
	out := make([][]Case, len(st.Profiles))
	for i := range out {
		out[i] = make([]Case, len(sessions))
	}
	next := make(chan int)
	errs := make([]error, len(sessions))
	var wg sync.WaitGroup
	var mu sync.Mutex
	done := 0
	for range max(st.Workers, 1) {
		wg.Go(func() {
			for i := range next {
				errs[i] = st.replayInto(out, i, sessions[i], policies(budget), budget)
				mu.Lock()
				if done++; st.Progress != nil {
					st.Progress(done)
				}
				mu.Unlock()
			}
		})
	}
	for i := range sessions {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	wg.Wait()
	for _, err := range append(errs, ctx.Err()) {
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (st *Study) replayInto(out [][]Case, i int, s *recording.Session, policies []replay.Policy, budget int) error {
	var settings []replay.Setting
	for _, p := range st.Profiles {
		settings = append(settings, replay.UnderProfile(s, p, budget))
	}
	outcomes, err := replay.Replay(s, policies, settings)
	if err != nil {
		return fmt.Errorf("replay %s: %w", s.Path, err)
	}
	for j := range settings {
		out[j][i] = Case{Session: s, Outcomes: outcomes[j], Window: settings[j].Window, Optimum: rewritesOf(s, settings[j]).least().cost}
	}
	return nil
}

func (st *Study) describe(single [][]Case) ([]SessionFindings, error) {
	out := make([]SessionFindings, len(st.Sessions))
	for i, s := range st.Sessions {
		ratios := map[string]map[string]float64{}
		for j, p := range st.Profiles {
			ratios[p.Name] = single[j][i].ratios()
		}
		var err error
		if out[i], err = describe(s, ratios); err != nil {
			return nil, err
		}
	}
	if !st.joins() {
		return out, nil
	}
	d, err := describe(st.Endless, nil)
	d.Path, d.ID = endlessFolder, endlessFolder
	return append(out, d), err
}

func (c *Case) ratios() map[string]float64 {
	out := map[string]float64{}
	base := c.find("append")
	for _, o := range c.Outcomes {
		if base != nil && base.Cost > 0 {
			out[o.Policy] = o.Cost / base.Cost
		}
	}
	return out
}

func describe(s *recording.Session, ratios map[string]map[string]float64) (SessionFindings, error) {
	d := SessionFindings{
		Path: s.Path, ID: s.Info.ID, Agent: s.Info.Agent, Calls: len(s.Calls), Items: len(s.Items),
		Overhead: s.Overhead, Measured: s.Measured, FitSamples: s.Counted.Samples, FitError: s.Counted.MeanError,
		Sampled: s.Sampled, Skips: s.Skips, Notes: s.Notes, Ratios: ratios,
	}
	for i := range s.Needs {
		n := &s.Needs[i]
		d.NeedsWide += count(n.Wide)
		d.NeedsStrict += count(n.Strict)
		d.Written += count(n.Written)
	}
	var err error
	d.Restored, err = s.Restored()
	return d, err
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}
