package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/quire-agent/quire/internal/assemble"
	"github.com/quire-agent/quire/internal/config"
	"github.com/quire-agent/quire/internal/model"
	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/run"
	"github.com/quire-agent/quire/internal/schedule"
)

// A calledModel is a model with what a session has to know of it.
type calledModel struct {
	run.Model
	id     string // as it is sent, and recorded
	output int    // tokens that one answer may have
	limits assemble.Limits
	priced bool // the rates are US dollars; otherwise they only say how the prices of a prompt's parts compare
}

// The reserve for an answer: what is asked for, and the most of a window that it
// may take.
const (
	answerTokens = 16_000
	answerShare  = 8
)

// facts are what a session has to know of a model: prices, rules and window of a
// name that the table knows. For others the parts of a prompt are weighed as most
// providers price them, and there is no bill.
func (inv *invocation) facts(s *config.Settings, id string, now time.Time) (run.Terms, bool, error) {
	table, err := priceTable(s.Path(config.Prices))
	if err != nil {
		return run.Terms{}, false, err
	}
	settings := schedule.Settings{Budget: s.Int(config.Budget)}
	if settings.Budget == 0 {
		settings.Budget = qualityBudget
	}
	m, known := table.Model(id)
	if !known {
		p, ok := price.ProfileByName(usualProfile)
		if !ok {
			return run.Terms{}, false, errors.New("the usual profile of prices is missing") // unreachable: it is built in
		}
		return run.Terms{Terms: schedule.Terms{Rates: p.Rates, Rules: p.Rules, Life: p.Life}, Settings: settings}, false, nil
	}
	return run.Terms{Terms: schedule.Terms{Rates: m.Rates(now), Rules: m.Rules(), Life: price.Short, Window: m.Window}, Settings: settings}, true, nil
}

// qualityBudget is how many tokens a stream should have at most, for the quality
// of answers (design, section 6.1).
const qualityBudget = 80_000

// usualProfile is how the parts of a prompt are weighed where no price is known.
const usualProfile = "claude"

// withFacts gives a model its bounds.
func withFacts(m run.Model, id string, terms *run.Terms, priced bool) calledModel {
	c := calledModel{Model: m, id: id, output: answerTokens, priced: priced}
	if w := terms.Terms.Window; w > 0 {
		c.output = min(c.output, w/answerShare)
		c.limits.Window = w - c.output
	}
	return c
}

// within are limits with those of an API besides the window.
func within(l assemble.Limits, api model.API) assemble.Limits {
	out := assemble.Accepted(string(api))
	out.Window = l.Window
	return out
}

// commandEnv is the environment of commands that the agent runs: without the keys
// of models.
func (inv *invocation) commandEnv() []string {
	var keys []string
	for _, p := range model.Providers() {
		keys = append(keys, p.Vars...)
	}
	return slices.DeleteFunc(slices.Clone(inv.env.pairs), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return slices.Contains(keys, strings.ToUpper(name))
	})
}

// usageTokens says how many tokens a usage has, as far as it is known.
func usageTokens(u quire.Usage) string {
	return fmt.Sprintf("%d tokens in (%d from the cache), %d out", u.Prompt(), u.CacheRead, u.Output)
}
