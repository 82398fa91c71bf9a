package main

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/run"
)

// A demoRow is the context of one call.
type demoRow struct {
	call    int
	tokens  int
	blocks  []run.Standing
	epoch   string
	recalls int
}

// event shows what happens, and keeps what the picture needs.
func (r *demoRun) event(a *agent, e run.Event) {
	switch e := e.(type) {
	case run.Planned:
		r.rows = append(r.rows, demoRow{call: e.Call, tokens: e.Prompt, blocks: a.loop.Step.Standing(), epoch: e.Plan.Kind})
		if e.Plan.Kind != "" {
			fmt.Fprintf(r.out, "    epoch: %s; %d tokens become %d\n", e.Plan.Reason, e.Plan.Before, e.Plan.After)
		}
		for _, f := range e.Plan.Foreseen {
			r.foreseen++
			fmt.Fprintf(r.out, "    foreseen: %v, %d tokens (%s)   <- back into the prompt\n", f.Page, f.Tokens, f.Reason)
		}
	case run.Acting:
		mark := ""
		if e.Call.Tool == run.RecallName {
			mark = "   <- back into the prompt"
			r.rows[len(r.rows)-1].recalls++
		}
		if e.Denied != "" {
			mark = "   not permitted: " + e.Denied
		}
		fmt.Fprintf(r.out, "    %s%s\n", clip(shownCall(e.Call), 100), mark)
	case run.Acted:
		if e.Result.Error || e.Result.Exit != nil {
			fmt.Fprintf(r.out, "      %s\n", clip(telling(e.Result.Text), 100))
		}
	}
}

// telling is the line of a result that says how it ended.
func telling(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for _, l := range lines {
		if l = strings.TrimSpace(l); strings.HasPrefix(l, "ok ") || strings.HasPrefix(l, "FAIL") || strings.Contains(l, ", want ") {
			return l
		}
	}
	return lines[0]
}

// perSign is how many tokens one sign of the picture stands for.
const perSign = 120

// picture draws the stream of each call.
func (r *demoRun) picture() {
	fmt.Fprintf(r.out, "\nThe context, call by call. One sign is %d tokens: # in full, = an excerpt, . a handle or a card; | begins an epoch.\n\n", perSign)
	fmt.Fprintln(r.out, "call  tokens")
	for _, row := range r.rows {
		mark := " "
		if row.epoch != "" {
			mark = "|"
		}
		fmt.Fprintf(r.out, "%4d %7d %s%s%s\n", row.call, row.tokens, mark, row.signs(), strings.Repeat("  recall", row.recalls))
	}
}

// signs draws the blocks in their order. What is smaller than a sign is joined to
// what comes after it.
func (row *demoRow) signs() string {
	var b strings.Builder
	rest := 0
	for _, s := range row.blocks {
		sign := "#"
		switch {
		case s.Form == quire.RenditionExcerpt:
			sign = "="
		case !s.Form.Resident():
			sign = "."
		}
		rest += s.Tokens
		b.WriteString(strings.Repeat(sign, rest/perSign))
		rest %= perSign
	}
	return b.String()
}

// bill shows what the session cost, and what it would have cost.
func (r *demoRun) bill(a *agent) error {
	bill := a.loop.Bill()
	m, _ := price.Default().Model(demoModel)
	sched := a.loop.Step.Context().Scheduler()
	recalls := 0
	for _, row := range r.rows {
		recalls += row.recalls
	}
	fmt.Fprintf(r.out, "\n%d calls, %d epochs, %d recalls, %d pages foreseen; %s.\n\n", bill.Calls, sched.Epochs(), recalls, r.foreseen, usageTokens(bill.Usage))
	w := tabwriter.NewWriter(r.out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "with Quire\t$%.4f\tthe prompts above\n", bill.Live)
	fmt.Fprintf(w, "without\t$%.4f\teverything kept, and a summary by the model whenever the window is full\n", bill.Shadow)
	fmt.Fprintf(w, "saved\t%.0f %%\tat the prices of %s in a window of %d tokens\n", 100*(1-bill.Live/bill.Shadow), m.ID, demoWindow)
	fmt.Fprintf(w, "charged\t$%.4f\tby the simulator of the provider, which knows nothing of us\n", m.Cost(bill.Usage, r.clock.at.Add(-time.Hour)))
	return w.Flush()
}
