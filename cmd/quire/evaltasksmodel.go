package main

import (
	"context"
	"fmt"
	"net/http"

	"github.com/quire-agent/quire/internal/config"
	"github.com/quire-agent/quire/internal/model"
	"github.com/quire-agent/quire/internal/model/anthropic"
	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/run"
	"github.com/quire-agent/quire/internal/schedule"
	"github.com/quire-agent/quire/internal/sim"
	"github.com/quire-agent/quire/internal/taskset"
)

// model is the one that plays a task: the one that was named, or the task's script
// behind a simulated provider. stop ends what goes on for it.
func (r *tasksRun) model(ctx context.Context, h *home, in *taskset.Instance, w *taskWorker) (m calledModel, t run.Terms, stop func(), err error) {
	if r.scripted {
		return r.played(h, in, w)
	}
	c, err := r.openModel(ctx, r.settings, nil)
	if err != nil {
		return m, t, nil, err
	}
	t, priced, err := r.facts(r.settings, c.id, w.clock.at())
	if err != nil {
		return m, t, nil, err
	}
	table, err := priceTable(r.settings.Path(config.Prices))
	if err != nil {
		return m, t, nil, err
	}
	if p, known := table.Model(c.id); known && priced {
		w.price = &p
	}
	return withFacts(c, c.id, &t, priced), t, func() {}, nil
}

// played is the script of a task behind a simulator with the clock of the task.
func (r *tasksRun) played(h *home, in *taskset.Instance, w *taskWorker) (m calledModel, t run.Terms, stop func(), err error) {
	p, known := price.Default().Model(demoModel)
	if !known {
		return m, t, nil, fmt.Errorf("the price of %s is not known", demoModel) // unreachable: the table is built in
	}
	s, err := sim.New(sim.Options{Counter: h.pool.Counter, Script: in.Script(), Now: w.clock.at})
	if err != nil {
		return m, t, nil, err
	}
	address, ends, err := serve(s)
	if err != nil {
		return m, t, nil, failure(err, "the simulated provider needs a port of this machine's own address 127.0.0.1")
	}
	w.price = &p
	t = run.Terms{Terms: schedule.Terms{Rates: p.Rates(w.clock.at()), Rules: p.Rules(), Life: price.Short, Window: p.Window}}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	c := anthropic.New(&model.Endpoint{Base: address, Key: model.NewKey("tasks", "the tasks"), Client: client})
	return withFacts(c, demoModel, &t, true), t, func() { s.Close(); ends() }, nil
}
