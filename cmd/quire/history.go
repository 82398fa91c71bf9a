package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/quire-agent/quire/internal/config"
	"github.com/quire-agent/quire/internal/history"
	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/recording"
	"github.com/quire-agent/quire/internal/schedule"
	"github.com/spf13/cobra"
)

// history tells what was decided in a session: from its plans, or by playing it. A
// profile, where one is named, has it played.
func (inv *invocation) history(cmd *cobra.Command, h *home, name journal.Name, profile string) (*history.History, error) {
	s, err := inv.settings(cmd)
	if err != nil {
		return nil, err
	}
	prices, err := priceTable(s.Path(config.Prices))
	if err != nil {
		return nil, err
	}
	src := history.Source{Path: name.Path, Bodies: h.pool.Bodies}
	way := history.Way{Prices: prices, Budget: s.Int(config.Budget)}
	if profile != "" {
		p, ok := price.ProfileByName(profile)
		if !ok {
			return nil, unusable(fmt.Errorf("%q is not a price profile", profile), "there are "+strings.Join(profileNames(), ", "))
		}
		way.Profile = &p
	} else if told, ok, err := src.Recorded(momentOf(prices, time.Now())); ok || err != nil {
		return told, err
	}
	return inv.play(cmd.Context(), h, &src, way)
}

// play plays a session through the scheduler.
func (inv *invocation) play(ctx context.Context, h *home, src *history.Source, way history.Way) (told *history.History, err error) {
	if err := h.counting(); err != nil {
		return nil, err
	}
	way.Counter = h.pool.Counter
	if way.Table, err = schedule.Default(); err != nil {
		return nil, err
	}
	told, err = src.Play(ctx, way)
	switch {
	case errors.Is(err, history.ErrNoPrice):
		return nil, unusable(err, "name a price profile, as in --profile "+profileNames()[0])
	case errors.Is(err, recording.ErrTooLong):
		return nil, failure(err, "`quire session show` tells what it holds")
	}
	return told, err
}

// momentOf gives the prices of a model at a time.
func momentOf(prices *price.Table, at time.Time) func(string) (schedule.Moment, bool) {
	return func(model string) (schedule.Moment, bool) {
		m, ok := prices.Model(model)
		if !ok {
			return schedule.Moment{}, false
		}
		p := m.Rates(at).Prices
		return schedule.Moment{Prices: p, Write: p.Write}, true
	}
}

// profileFlag lets a command play sessions under a price profile.
func profileFlag(cmd *cobra.Command, to *string) {
	cmd.Flags().StringVar(to, "profile", "", "play the session under the prices of `PROFILE`: "+strings.Join(profileNames(), ", "))
}

// sessionFlag lets a command work on a session that is not the newest.
func sessionFlag(cmd *cobra.Command, to *string) {
	cmd.Flags().StringVar(to, "session", "", "of `SESSION` instead of the newest")
}

// flagged is the session that a flag names, or the newest where it was not given.
func (h *home) flagged(cmd *cobra.Command, text string) (journal.Name, error) {
	if cmd.Flags().Changed("session") {
		return h.session(text)
	}
	return h.newest()
}

// lastCall is the last call of the main chain that pages know of.
func (h *home) lastCall(ctx context.Context, as quire.Reader, n quire.SessionNumber) (last int, err error) {
	for r, err := range h.pool.Table.Rows(ctx, as, quire.Filter{Session: n}) {
		if err != nil {
			return 0, err
		}
		last = max(last, r.Call, r.LastRef)
	}
	return last, nil
}

// aboutPages says of each page of a session what it is about.
func (h *home) aboutPages(ctx context.Context, as quire.Reader, n quire.SessionNumber) (map[quire.PageNumber]string, error) {
	of := map[quire.PageNumber]string{}
	for r, err := range h.pool.Table.Rows(ctx, as, quire.Filter{Session: n}) {
		if err != nil {
			return nil, err
		}
		of[r.Number] = clip(h.secrets.Mask(aboutOrKind(&r)), aboutShown)
	}
	return of, nil
}

// aboutShown is how many characters of what a page is about are shown.
const aboutShown = 60

func aboutOrKind(r *quire.Row) string {
	switch {
	case about(r) != "":
		return about(r)
	case r.Kind == quire.PageUser:
		return "the user's words"
	case r.Kind == quire.PageAssistant:
		return "the model's words"
	}
	return r.Kind.String()
}

// A purse writes sums of money as the history has them.
type purse bool // relative: in input tokens

func purseOf(h *history.History) purse { return purse(h.Relative) }

// sum writes a sum with its unit.
func (p purse) sum(x float64) string {
	if p {
		return fmt.Sprintf("%.0f input tokens", x)
	}
	return usd(x)
}

// change says how much dearer something is, or cheaper where x is below zero.
func (p purse) change(x float64) string {
	if x < 0 {
		return p.sum(-x) + " less"
	}
	return p.sum(x) + " more"
}

// saved says what an account holds.
func (p purse) saved(x float64) string {
	if x < 0 {
		return p.sum(-x) + " dearer than without Quire"
	}
	return p.sum(x) + " saved"
}

// short writes a sum without its unit where that is tokens.
func (p purse) short(x float64) string {
	if p {
		return fmt.Sprintf("%.0f", x)
	}
	return usd(x)
}

func usd(x float64) string {
	sign := ""
	if x < 0 {
		sign, x = "-", -x
	}
	switch {
	case x < 0.00005:
		return "$0"
	case x < 0.1:
		return fmt.Sprintf("%s$%.4f", sign, x)
	}
	return fmt.Sprintf("%s$%.2f", sign, x)
}

// percent writes a chance.
func percent(x float64) string {
	switch {
	case x > 0 && x < 0.0005:
		return "under 0.1 %"
	case x < 0.1:
		return fmt.Sprintf("%.1f %%", 100*x)
	}
	return fmt.Sprintf("%.0f %%", math.Round(100*x))
}

// toldFrom says where a history is from.
func toldFrom(h *history.History) string {
	switch {
	case h.Recorded:
		return "as it was sent"
	case h.Relative:
		return "played under the profile " + h.Prices
	}
	return "played under the prices of " + h.Prices + ", with the pauses that there were"
}
