package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/quire-agent/quire/internal/config"
	"github.com/quire-agent/quire/internal/model"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/spf13/cobra"
)

func (inv *invocation) modelsTestCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "test [NAME…]",
		Short: "Call models with a tiny request and say what is wrong",
		Long: `Call models with a request of a few tokens and say whether they answer, and what is
wrong where they do not: missing key, refused key (others can read it), auth (the
provider does not take the key), not permitted, rate, region, network, no such model,
provider (a fault or overload there), invalid response, or invalid request.

NAME is PROVIDER/MODEL or PROVIDER, for its usual model. Without NAME the model of
the settings is tried, and the usual model of each provider that has a key. Nothing
is tried twice. It may cost a fraction of a cent.

The exit code is 0 if all that were tried answered, 1 if one did not, and 2 if there
was nothing to try.`,
		Example: "  quire models test\n  quire models test anthropic ollama/qwen3-coder\n  quire models test chat/local --base-url http://localhost:8000/v1",
	}
	asJSON := cmd.Flags().Bool("json", false, "write JSON")
	limit := cmd.Flags().Duration("timeout", time.Minute, "how long an answer may take")
	cmd.RunE = func(cmd *cobra.Command, names []string) error {
		s, err := inv.settings(cmd)
		if err != nil {
			return err
		}
		b, err := inv.newBooth(s)
		if err != nil {
			return err
		}
		t := trials{booth: b, limit: *limit, asJSON: *asJSON, invocation: inv}
		if len(names) == 0 {
			names = b.ready(cmd.Context(), s.Name(config.Model))
			t.chosen = s.Name(config.Model)
		} else if len(names) == 1 {
			t.chosen = names[0]
		}
		return t.do(cmd.Context(), names)
	}
	bind(cmd.Flags(), string(config.Model), string(config.ModelURL))
	return cmd
}

// ready are the models that can be tried: the chosen one, and the usual one of
// each provider with a key.
func (b *booth) ready(ctx context.Context, chosen string) []string {
	var names []string
	if chosen != "" {
		names = append(names, chosen)
	}
	used, _, _ := strings.Cut(chosen, "/")
	for _, p := range model.Providers() {
		if key, err := b.keys.Find(ctx, p); err == nil && !key.Empty() && p.Default != "" && p.Name != used {
			names = append(names, p.Name)
		}
	}
	return names
}

// trials are the calls of one `quire models test`.
type trials struct {
	*invocation
	booth  *booth
	chosen string // the name that a bare address is for
	limit  time.Duration
	asJSON bool
}

// A triedModel is what came of a call, as JSON shows it.
type triedModel struct {
	Name   string  `json:"name"`
	Result string  `json:"result"`         // ok, or the kind of failure
	Took   float64 `json:"took,omitempty"` // seconds to the end of the answer
	Error  string  `json:"error,omitempty"`
	Next   string  `json:"next,omitempty"`
}

// resultOK is the result of a model that answered.
const resultOK = "ok"

func (t *trials) do(ctx context.Context, names []string) error {
	if len(names) == 0 {
		return unusable(errors.New("there is no model to try: no provider has a key"), "`quire models` lists where keys are looked for; a local server is tried by its name, as ollama/MODEL")
	}
	tried := make([]triedModel, len(names))
	var all sync.WaitGroup
	for i, name := range names {
		all.Go(func() { tried[i] = t.try(ctx, name) })
	}
	all.Wait()
	t.booth.client.CloseIdleConnections()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err := t.show(tried); err != nil {
		return err
	}
	return failedTrials(tried)
}

func failedTrials(tried []triedModel) error {
	failed := 0
	for _, one := range tried {
		if one.Result != resultOK {
			failed++
		}
	}
	if failed == 0 {
		return nil
	}
	return failure(fmt.Errorf("%d of %d models did not answer", failed, len(tried)), "")
}

func (t *trials) show(tried []triedModel) error {
	for i := range tried {
		tried[i].Error, tried[i].Next = t.mask(tried[i].Error), t.mask(tried[i].Next)
	}
	if t.asJSON {
		return writeJSON(t.out, tried)
	}
	table := tabwriter.NewWriter(t.out, 0, 0, 2, ' ', 0)
	for _, one := range tried {
		fmt.Fprintf(table, "%s\t%s\t%s\n", one.Name, one.Result, one.words())
	}
	return table.Flush()
}

func (m *triedModel) words() string {
	if m.Result == resultOK {
		return fmt.Sprintf("%.1f s", m.Took)
	}
	const most = 200
	text := clip(m.Error, most)
	if m.Next != "" {
		text += "; " + m.Next
	}
	return text
}

func (t *trials) try(ctx context.Context, name string) triedModel {
	out := triedModel{Name: name, Result: resultOK}
	begin := time.Now()
	ctx, cancel := context.WithTimeout(ctx, t.limit)
	defer cancel()
	m, err := t.booth.open(ctx, name, name == t.chosen)
	if err == nil {
		err = answers(ctx, m)
	}
	if err == nil {
		out.Took = time.Since(begin).Seconds()
		return out
	}
	out.Error = err.Error()
	out.Result, out.Next = diagnose(err)
	return out
}

// answers makes a call and reads the answer.
func answers(ctx context.Context, m chosen) error {
	const enough = 64 // tokens; some providers want 16 at least
	words := quire.Block{Part: quire.Part{Kind: quire.PartUser, Text: "Reply with the word ready."}}
	c := quire.Call{Model: m.id, MaxOutput: enough, Messages: []quire.Message{{Role: quire.RoleUser, Blocks: []quire.Block{words}}}}
	for _, err := range m.Call(ctx, c) {
		if err != nil {
			return err
		}
	}
	return nil
}

// diagnose says what kind of failure an error is, and what to do about it.
func diagnose(err error) (result, next string) {
	if e, ok := errors.AsType[*model.KeyError](err); ok {
		if e.Missing {
			return "missing key", e.Next
		}
		return "refused key", e.Next
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return "network", "the answer took longer than --timeout allows"
	}
	if e, ok := errors.AsType[*quire.CallError](err); ok {
		return diagnoseCall(e)
	}
	return "invalid request", advice(err)
}

func diagnoseCall(e *quire.CallError) (result, next string) {
	switch e.Kind {
	case quire.CallAuth:
		return "auth", "the provider does not take the key: get a new one, or look at where it was found with `quire models`"
	case quire.CallForbidden:
		return "not permitted", "the account may lack credit, or access to this model"
	case quire.CallRate:
		return "rate", "wait, or raise the limits of the account"
	case quire.CallRegion:
		return "region", "the provider does not serve this country; use another one"
	case quire.CallNetwork, quire.CallCut:
		return "network", "see that a server is running at the address, and what HTTPS_PROXY says"
	case quire.CallNotFound:
		return "no such model", "check the name and the address"
	case quire.CallOverloaded, quire.CallServer:
		return "provider", "try again later"
	case quire.CallGarbled:
		return "invalid response", "what answers there does not speak this protocol: check --base-url"
	default:
		return "invalid request", ""
	}
}
