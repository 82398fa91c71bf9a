package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/quire-agent/quire/internal/model"
	"github.com/quire-agent/quire/internal/model/anthropic"
	"github.com/quire-agent/quire/internal/permit"
	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/run"
	"github.com/quire-agent/quire/internal/schedule"
	"github.com/quire-agent/quire/internal/script"
	"github.com/quire-agent/quire/internal/sim"
	"github.com/quire-agent/quire/internal/store/sqlite"
	"github.com/spf13/cobra"
)

// demoFiles are the project of the demo, each with .txt behind its name, and the
// script of its model.
//
//go:embed demo
var demoFiles embed.FS

// The model that the demo pays for, and a window that is so small that a short
// session fills it.
const (
	demoModel  = "claude-sonnet-5-5"
	demoWindow = 20_000
)

// A demoTurn is what the user says, and after which pause.
type demoTurn struct {
	pause time.Duration
	words string
}

func demoTurns() []demoTurn {
	return []demoTurn{
		{0, "The test of the cart fails. Why?"},
		{50 * time.Minute, "And who sets the rates of the shipping? Read all of them."},
		{2 * time.Hour, "How many tests are there?"},
		{16 * time.Hour, "Now fix the cart."},
		{20 * time.Minute, "What does a parcel of 10 kg to Norway cost?"},
		{3 * time.Hour, "Put the fix into the changelog."},
		{time.Hour, "What did the test say before the fix?"},
		{15 * time.Hour, "Which countries are in zone 2?"},
		{2 * time.Hour, "Is a parcel of 500 g to Austria dearer than one to Denmark?"},
		{4 * time.Hour, "Sum it up in a sentence."},
	}
}

// A demoRun is one `quire demo`.
type demoRun struct {
	*invocation
	keep  bool
	group bool // a team is shown
	clock demoClock
	rows  []demoRow

	foreseen int // pages that came in unasked
}

// A demoClock is moved by hand; asking for the time lets a second pass.
type demoClock struct {
	mu sync.Mutex
	at time.Time
}

// Now is the time.
func (c *demoClock) Now() time.Time { return c.pass(time.Second) }

func (c *demoClock) pass(d time.Duration) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
	return c.at
}

func (inv *invocation) demoCommand() *cobra.Command {
	r := &demoRun{invocation: inv}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show the agent at work, without a key and without a network",
		Long: `Show the agent at work: in a temporary folder it finds and fixes a bug of a small Go
project, over a day with long pauses. Only the model is not real: it plays a script,
behind a simulator of the provider that refuses what the provider refuses and meters
what it would charge. Pauses are those of a clock that is moved by hand.

In the end the context is drawn, call by call, with the bill, and the bill that the
same session would have had without Quire.

The tests of the project want Go. Without it the demo says so and runs without them.`,
		Example: "  quire demo",
		Args:    exactly(),
		RunE:    func(cmd *cobra.Command, _ []string) error { return r.do(cmd.Context()) },
	}
	cmd.Flags().BoolVar(&r.group, "team", false, "show a team: planner, workers, checks, a reviewer, and the fixes")
	cmd.Flags().BoolVar(&r.keep, "keep", false, "leave project and session where they are, and say where")
	return cmd
}

func (r *demoRun) do(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp("", "quire-demo-")
	if err != nil {
		return failure(err, "make a folder for temporary files, or name one with TMPDIR")
	}
	if !r.keep {
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	project := filepath.Join(dir, "shop")
	if err := layOut(project); err != nil {
		return err
	}
	h, err := r.homeAt(ctx, filepath.Join(dir, "home"), sqlite.Options{})
	if err != nil {
		return err
	}
	defer func() { err = h.close(err) }()
	if err := h.counting(); err != nil {
		return err
	}
	r.clock.at = time.Now().Truncate(24 * time.Hour).Add(9 * time.Hour)
	show := r.show
	if r.group {
		show = r.showTeam
	}
	if err := show(ctx, h, project); err != nil {
		return err
	}
	if r.keep {
		fmt.Fprintf(r.out, "\nThe project is in %s. Look at the session with\n  QUIRE_HOME=%s quire session show s1\n", project, h.pool.Home)
	}
	return nil
}

// layOut writes the project.
func layOut(project string) error {
	if err := os.MkdirAll(project, 0o755); err != nil {
		return err
	}
	entries, err := demoFiles.ReadDir("demo")
	if err != nil {
		return err
	}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".txt")
		if !ok {
			continue
		}
		text, err := demoFiles.ReadFile("demo/" + e.Name())
		if err == nil {
			err = os.WriteFile(filepath.Join(project, name), text, 0o644)
		}
		if err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(project, "rates.csv"), []byte(demoRates()), 0o644)
}

// demoRates is a table like that of a carrier: long, and read once.
func demoRates() string {
	zones := []struct {
		countries  string
		zone       int
		base, step int
	}{{"DE", 1, 490, 60}, {"AT BE DK FR LU NL PL", 2, 890, 120}, {"CH FI IT NO SE", 3, 1240, 250}, {"US", 4, 1990, 480}}
	var b strings.Builder
	b.WriteString("country,zone,from_grams,to_grams,cents\n")
	for _, z := range zones {
		for _, country := range strings.Fields(z.countries) {
			for kg := range 20 {
				fmt.Fprintf(&b, "%s,%d,%d,%d,%d\n", country, z.zone, kg*1000+1, (kg+1)*1000, z.base+z.step*kg)
			}
		}
	}
	return b.String()
}

// show runs the session behind a simulator.
func (r *demoRun) show(ctx context.Context, h *home, project string) (err error) {
	text, err := demoFiles.ReadFile("demo/model.script")
	if err != nil {
		return err
	}
	plan, err := script.Parse(string(text))
	if err != nil {
		return fmt.Errorf("the script of the demo: %w", err)
	}
	s, err := sim.New(sim.Options{Counter: h.pool.Counter, Script: plan, Now: r.clock.Now})
	if err != nil {
		return err
	}
	defer s.Close()
	address, stop, err := serve(s)
	if err != nil {
		return failure(err, "the demo needs a port of this machine's own address 127.0.0.1")
	}
	defer stop()
	a, err := r.agent(h, project, address)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.close()) }()
	if err := a.begin(ctx); err != nil {
		return err
	}
	return r.session(ctx, a)
}

// serve answers at an address of this machine until stop is called.
func serve(h http.Handler) (address string, stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	var wg sync.WaitGroup
	wg.Go(func() { _ = server.Serve(l) }) // it ends with an error that says that it was closed
	return "http://" + l.Addr().String(), func() { _ = server.Close(); wg.Wait() }, nil
}

func (r *demoRun) agent(h *home, project, address string) (*agent, error) {
	m, known := price.Default().Model(demoModel)
	if !known {
		return nil, fmt.Errorf("the price of %s is not known", demoModel)
	}
	terms := run.Terms{
		Terms:    schedule.Terms{Rates: m.Rates(r.clock.at), Rules: m.Rules(), Life: price.Short, Window: demoWindow},
		Settings: schedule.Settings{Budget: demoWindow},
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	called := withFacts(anthropic.New(&model.Endpoint{Base: address, Key: model.NewKey("demo", "the demo"), Client: client}), demoModel, &terms, true)
	return newAgent(agentParts{inv: r.offline(), home: h, dir: project, model: called, terms: terms, mode: permit.Full, now: r.clock.Now})
}

// offline is the invocation with an environment in which Go needs no network.
func (r *demoRun) offline() *invocation {
	inv := *r.invocation
	inv.env = inv.env.with("CGO_ENABLED=0", "GOFLAGS=-trimpath", "GOTOOLCHAIN=local", "GOPROXY=off", "GOWORK=off")
	return &inv
}

// session is the talk, and what came of it.
func (r *demoRun) session(ctx context.Context, a *agent) error {
	fmt.Fprintf(r.out, "A day with Quire in %s. The model plays a script, its provider is simulated; the rest is real.\n", "a small Go project")
	if found("go") == "" {
		fmt.Fprintln(r.out, "Go was not found on the PATH: the tests of the project cannot run, and nothing here is proved by them.")
	}
	a.loop.Emit = func(e run.Event) { r.event(a, e) }
	for _, t := range demoTurns() {
		at := r.clock.pass(t.pause)
		fmt.Fprintf(r.out, "\n%s  > %s\n", at.Format("Mon 15:04"), t.words)
		out, err := a.turn(ctx, t.words)
		if err != nil {
			return err
		}
		if out.Stop != run.StopDone {
			return errors.Join(ctx.Err(), fmt.Errorf("the demo stopped: %s", out.Stop), out.Err)
		}
		fmt.Fprintf(r.out, "  %s\n", strings.TrimSpace(out.Text))
	}
	r.picture()
	return r.bill(a)
}
