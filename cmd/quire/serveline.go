package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/quire-agent/quire/internal/gateway"
)

// seen prints the line of a call.
func (r *serveRun) seen(l gateway.Line) {
	if r.asJSON {
		text, err := json.Marshal(l)
		if err != nil {
			r.failed(err)
			return
		}
		fmt.Fprintln(r.out, r.mask(string(text)))
		return
	}
	fmt.Fprintln(r.out, r.mask(callLine(l, r.zone)))
}

func (r *serveRun) failed(err error) {
	fmt.Fprintln(r.err, "quire serve:", r.mask(err.Error()))
}

// callLine is a call in one line.
func callLine(l gateway.Line, zone *time.Location) string {
	parts := []string{l.At.In(zone).Format(time.TimeOnly), sessionOf(l), l.Model}
	if l.Status != 0 && l.Status < 400 {
		parts = append(parts, fmt.Sprintf("in %d", l.Prompt), fmt.Sprintf("cached %d", l.Usage.CacheRead), fmt.Sprintf("out %d", l.Usage.Output), dollars(l))
	} else {
		parts = append(parts, fmt.Sprintf("status %d", l.Status))
	}
	for _, p := range []struct {
		is   bool
		text string
	}{
		{l.Epoch != "", "epoch " + l.Epoch}, {l.Curated && l.Epoch == "", "curated"}, {l.Recalls > 0, fmt.Sprintf("recalled %d", l.Recalls)},
		{l.Opened != "", "sent as it came: " + l.Opened},
		{l.Cold != "", "cold: " + l.Cold}, {l.Cleared > 0, fmt.Sprintf("the client cleared %d results", l.Cleared)},
		{l.Cut, "cut off"}, {l.Error != "", l.Error}, {l.Odd != "", "not understood: " + l.Odd},
		{l.Note != "", l.Note}, {l.Lost > 1, fmt.Sprintf("%d calls were not recorded", l.Lost)},
	} {
		if p.is {
			parts = append(parts, p.text)
		}
	}
	parts = append(parts, l.Took.Round(time.Millisecond).String())
	return clip(strings.Join(parts, "  "), 500)
}

func sessionOf(l gateway.Line) string {
	switch {
	case l.Side:
		return "side"
	case l.Session == 0:
		return "-"
	case l.Branch != "":
		return l.Session.String() + "/" + l.Branch
	}
	return l.Session.String()
}

// dollars is what a call cost, as far as that is known.
func dollars(l gateway.Line) string {
	if !l.Priced {
		return "$?"
	}
	return fmt.Sprintf("$%.4f", l.Cost)
}
