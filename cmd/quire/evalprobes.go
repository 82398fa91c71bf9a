package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"text/tabwriter"

	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/probe"
	"github.com/quire-agent/quire/internal/recording"
	"github.com/quire-agent/quire/internal/replay"
	"github.com/quire-agent/quire/internal/schedule"
	"github.com/quire-agent/quire/internal/token"
	"github.com/quire-agent/quire/internal/trace"
	"github.com/spf13/cobra"
)

// The probes of a whole corpus, and how many of one session at most: half of the
// probes are about the endless session where there is one.
const (
	probesInAll    = 200
	probesASession = 6
)

// A probeRun is one `quire eval probes`.
type probeRun struct {
	evalRun
	seed  uint64
	count int

	table   *schedule.Table
	profile price.Profile
	counter *token.Counter
}

func (inv *invocation) evalProbesCommand() *cobra.Command {
	r := &probeRun{evalRun: evalRun{invocation: inv}}
	cmd := &cobra.Command{
		Use:   "probes --corpus DIR",
		Short: "Ask recorded sessions for lines that they needed again",
		Long: `Replay recorded sessions under the policy of Quire and ask, at calls that took a line
from a page that had entered or was last quoted 10 or more calls before, whether the
line stands in the prompt, or comes back with one recall of at most 4,000 tokens, or
is lost.

The recall asks for up to six words of the line and of those beside it, as somebody who
remembers them would (words), or for up to twelve words of what the answer wrote
besides those lines (around). The seed chooses needs and words; nothing is chosen by
what comes of it. Of one session there are at most ` + fmt.Sprint(probesASession) + `, and half of all are of the
sessions of the folder "endless", replayed as one that never ends.`,
		Example: "  quire eval probes --corpus sessions\n  quire eval probes --corpus sessions --seed 2 --json",
		Args:    exactly(),
		RunE:    func(cmd *cobra.Command, _ []string) error { return r.do(cmd.Context()) },
	}
	f := cmd.Flags()
	f.StringVar(&r.corpus, "corpus", "", "folder of recorded sessions (required)")
	f.IntVar(&r.count, "probes", probesInAll, "ask `N` probes, where the sessions have so many")
	f.Uint64Var(&r.seed, "seed", 1, "choose by seed `N`")
	f.BoolVar(&r.joined, "endless", true, "also ask the sessions of the folder endless as one; --endless=false does not")
	f.BoolVar(&r.asJSON, "json", false, "write all figures as one JSON object")
	return cmd
}

func (r *probeRun) do(ctx context.Context) (err error) {
	switch {
	case r.corpus == "":
		return unusable(errors.New("quire eval probes needs --corpus DIR"), "name a folder with recorded sessions")
	case r.count < 1:
		return unusable(fmt.Errorf("%d is no number of probes", r.count), "leave --probes out for 200")
	}
	logs, err := r.logs()
	if err != nil {
		return err
	}
	if r.counter, err = token.NewCounter(); err != nil {
		return err
	}
	if r.table, err = schedule.Default(); err != nil {
		return err
	}
	known := false
	if r.profile, known = price.ProfileByName(usualProfile); !known {
		return errors.New("the usual profile of prices is missing") // unreachable: it is built in
	}
	found, err := r.probes(ctx, logs)
	if err != nil {
		return err
	}
	if r.asJSON {
		return writeJSON(r.out, found)
	}
	return writeProbes(r.out, found)
}

// probes asks the endless session, then as many of the others as are still wanted.
func (r *probeRun) probes(ctx context.Context, logs []*trace.Log) (*probeFindings, error) {
	found := &probeFindings{Seed: r.seed, Groups: map[string]*probeGroup{}}
	if joined := r.endless(logs); len(joined) > 0 {
		if err := r.session(ctx, found, "endless", joined, r.count/2, replay.EndlessBudget); err != nil {
			return nil, err
		}
	}
	asked := len(found.Probes)
	p := r.progress("asking", r.count-asked)
	for _, i := range dealt(len(logs), r.seed) {
		want := min(probesASession, r.count-len(found.Probes))
		if want < 1 {
			break
		}
		before := len(found.Probes)
		if err := r.session(ctx, found, "single", logs[i:i+1], want, replay.SingleBudget); err != nil {
			return nil, err
		}
		for range len(found.Probes) - before {
			p.step()
		}
	}
	p.end()
	return found, nil
}

// session asks up to n probes of one session.
func (r *probeRun) session(ctx context.Context, found *probeFindings, group string, logs []*trace.Log, n, budget int) (err error) {
	load := recording.Loader{Counter: r.counter}
	s, err := load.Join(ctx, logs)
	if err != nil {
		return err
	}
	defer closing(s, &err)
	probes, err := probe.Choose(s, n, r.seed)
	if err != nil || len(probes) == 0 {
		return err
	}
	policy := replay.Ours(replay.Always(r.table))[0]
	results, err := probe.Ask(ctx, s, policy, replay.UnderProfile(s, r.profile, budget), probes, r.counter)
	if err != nil {
		return err
	}
	rel, err := filepath.Rel(r.corpus, logs[0].Path)
	if err != nil || group == "endless" {
		rel = group
	}
	for i := range results {
		found.add(group, filepath.ToSlash(rel), &results[i])
	}
	return nil
}

// dealt are the numbers from 0 to n-1 in an order that a seed makes.
func dealt(n int, seed uint64) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	rand.New(rand.NewPCG(seed, 3)).Shuffle(n, func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

// probeFindings is what `quire eval probes` found.
type probeFindings struct {
	Seed   uint64                 `json:"seed"`
	Groups map[string]*probeGroup `json:"groups"`
	Probes []probeResult          `json:"probes"`
}

// A probeGroup counts the probes of single sessions, or of the endless one.
type probeGroup struct {
	Probes   int              `json:"probes"`
	Resident int              `json:"resident"` // the line stood in the prompt
	Recalled map[string]int   `json:"recalled"` // of the others, by the way of asking
	Lost     map[string]int   `json:"lost"`
	Found    map[string]int   `json:"found"` // one recall has it, whether it stood in the prompt or not
	Mean     map[string]int   `json:"mean_tokens"`
	tokens   map[string]int64 // of all recalls
}

// A probeResult is one probe. It holds none of the session's text.
type probeResult struct {
	Session  string          `json:"session"`
	Call     int32           `json:"call"`
	Page     string          `json:"page"`
	Resident bool            `json:"resident"`
	Recalled map[string]bool `json:"recalled"`
}

func (f *probeFindings) add(group, session string, r *probe.Result) {
	g := f.Groups[group]
	if g == nil {
		g = &probeGroup{Recalled: map[string]int{}, Lost: map[string]int{}, Found: map[string]int{}, Mean: map[string]int{}, tokens: map[string]int64{}}
		f.Groups[group] = g
	}
	g.Probes++
	if r.Resident {
		g.Resident++
	}
	out := probeResult{Session: session, Call: r.Call, Page: r.Page.String(), Resident: r.Resident, Recalled: map[string]bool{}}
	for _, w := range probe.Ways() {
		g.way(string(w), r, w)
		out.Recalled[string(w)] = r.Recalled[w]
	}
	f.Probes = append(f.Probes, out)
}

func (g *probeGroup) way(name string, r *probe.Result, w probe.Way) {
	g.tokens[name] += int64(r.Tokens[w])
	g.Mean[name] = int(g.tokens[name] / int64(g.Probes))
	if r.Recalled[w] {
		g.Found[name]++
	}
	switch {
	case r.Lost(w):
		g.Lost[name]++
	case !r.Resident:
		g.Recalled[name]++
	}
}

func writeProbes(w io.Writer, f *probeFindings) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "sessions\tasked by\tprobes\tresident\trecalled\tlost\tany recall\tmean tokens\t")
	for _, name := range sortedKeys(f.Groups) {
		g := f.Groups[name]
		for _, way := range probe.Ways() {
			k := string(way)
			fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t\n", name, k, g.Probes, g.Resident, g.Recalled[k], g.Lost[k], g.Found[k], g.Mean[k])
		}
	}
	return t.Flush()
}
