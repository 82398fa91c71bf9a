package main

import (
	"context"
	"errors"
	"strings"

	"github.com/quire-agent/quire/internal/config"
	"github.com/quire-agent/quire/internal/ingest"
	"github.com/quire-agent/quire/internal/model"
	"github.com/quire-agent/quire/internal/model/replay"
	"github.com/quire-agent/quire/internal/quire"
)

// replayed is the provider of models that answer as a session was answered.
const replayed = "replay"

// modelName is the name of the run's model: that of the settings, or the one on which the
// brain of a team plans.
func (r *agentRun) modelName() (string, error) {
	name := r.settings.Name(config.Model)
	if name != "" || r.solo {
		return name, nil
	}
	c, err := crewOf(r.settings)
	return c.brain.Planner.Model, err
}

// chosen is the model that the settings or the brain name. replay/SESSION gives the answers of
// a session of the home again.
func (r *agentRun) chosen(ctx context.Context, h *home) (chosen, error) {
	named, err := r.modelName()
	if err != nil {
		return chosen{}, err
	}
	session, ok := strings.CutPrefix(named, replayed+"/")
	if !ok {
		return r.openNamed(ctx, r.settings, named, r.waits)
	}
	name, err := h.session(session)
	if err != nil {
		return chosen{}, err
	}
	m, err := replay.Read(func(yield func(quire.Event, error) bool) {
		done := errors.New("enough was read")
		err := h.pool.Replay(ctx, name, ingest.Resumer{
			Event: func(e quire.Event) error {
				if !yield(e, nil) {
					return done
				}
				return nil
			},
			Record: func(quire.Record) error { return nil },
		})
		if err != nil && !errors.Is(err, done) {
			yield(nil, err)
		}
	})
	if err != nil {
		return chosen{}, explain(err)
	}
	if m.Answers() == 0 {
		return chosen{}, unusable(errors.New(name.Number.String()+" holds no answer of a model"), "`quire session list` lists the sessions")
	}
	return chosen{m, model.Provider{Name: scripted}, session}, nil
}
