package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"

	"github.com/quire-agent/quire/internal/brain"
	"github.com/quire-agent/quire/internal/config"
	"github.com/quire-agent/quire/internal/ingest"
	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/model"
	"github.com/quire-agent/quire/internal/model/limit"
	"github.com/quire-agent/quire/internal/model/retry"
	"github.com/quire-agent/quire/internal/permit"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/role"
	"github.com/quire-agent/quire/internal/run"
	"github.com/quire-agent/quire/internal/tool"
)

// A hiredModel is a model of a team, opened once for all agents that run on it.
type hiredModel struct {
	calledModel
	terms run.Terms
	api   model.API
	err   error
}

// A modelSource opens models by their names. "" is the model of the run.
type modelSource interface {
	model(ctx context.Context, name string) hiredModel
	runs() string // the name of the model of the run
}

// A staff opens the agents of a team.
type staff struct {
	inv    *invocation
	home   *home
	models modelSource
	parts  agentParts // of the primary
	preset role.Brain
	rounds int
	cost   float64 // of all agents together, 0: no limit

	dispatches bool // the primary may ask more specialists

	main  *seat
	brain *brain.Brain

	mu     sync.Mutex
	opened map[string]hiredModel
	spent  float64
}

var _ brain.Staff = (*staff)(nil)

// model is one of the team's.
func (s *staff) model(ctx context.Context, name string) hiredModel {
	s.mu.Lock()
	defer s.mu.Unlock()
	if name == s.models.runs() {
		name = ""
	}
	m, ok := s.opened[name]
	if !ok {
		m = s.models.model(ctx, name)
		s.opened[name] = m
	}
	return m
}

// Usable are the models of a chain that can be called.
func (s *staff) Usable(chain []string, images bool) (models, skipped []string) {
	for _, name := range chain {
		m := s.model(context.Background(), name)
		if name == "" {
			name = s.models.runs()
		}
		switch {
		case m.err != nil:
			skipped = append(skipped, name+": "+m.err.Error())
		case images && !sees(m.id):
			skipped = append(skipped, name+": it does not see images")
		default:
			models = append(models, name)
		}
	}
	return models, skipped
}

// Open opens an agent. The primary's stream is the session's own.
func (s *staff) Open(ctx context.Context, j brain.Job) (brain.Agent, error) {
	if j.Phase == brain.PhasePrimary {
		return s.primary(ctx, j)
	}
	p, err := s.partsOf(ctx, j)
	if err != nil {
		return nil, err
	}
	p.parent = s.main.live.Name().ULID
	t, err := s.seat(p, j, s.dispatch(nil)...)
	if err != nil {
		return nil, err
	}
	t.others.only = true
	if err := t.enter(ctx, j); err != nil {
		return nil, errors.Join(err, t.close())
	}
	j.Session = t.live.Name().Number
	if err := errors.Join(t.record.Record(brain.RecordAgent, j.Scope), t.record.Sync(ctx)); err != nil {
		return nil, errors.Join(err, t.close())
	}
	return t, nil
}

// partsOf are what an agent of a job is made with.
func (s *staff) partsOf(ctx context.Context, j brain.Job) (agentParts, error) {
	m := s.model(ctx, j.Model)
	if m.err != nil {
		return agentParts{}, m.err
	}
	p := s.parts
	p.model, p.terms = m.calledModel, s.termsOf(m.terms)
	p.told = s.main.project.Dir()
	if j.Phase == brain.PhasePrimary {
		return p, nil
	}
	p.asker = nil
	if j.Dir != "" {
		p.dir = j.Dir
	}
	if j.Tools != role.ToolsWrite {
		p.mode = permit.ReadOnly
	}
	return p, nil
}

// termsOf are the terms of a stream as the brain wants them.
func (s *staff) termsOf(t run.Terms) run.Terms {
	if n := s.preset.Context.Tokens; n > 0 {
		t.Settings.Budget = n
	}
	t.Settings.Paid = s.preset.Context.Compaction == "aggressive"
	t.Settings.Manual = s.preset.Context.Compaction == "manual"
	return t
}

// seat makes an agent for a job, without its session.
func (s *staff) seat(p agentParts, j brain.Job, extra ...tool.Tool) (*seat, error) {
	p.extra = extra
	a, err := newAgent(p)
	if err != nil {
		return nil, err
	}
	t := &seat{agent: a, staff: s, job: j.Scope}
	t.others.space = j.Space
	t.watch(j.Watch)
	t.loop.Rounds, t.loop.Budget = s.roundsOf(j), s.left()
	t.loop.Head.Thinking = thinkingOf(s.model(context.Background(), j.Model).api, j.Thinking)
	t.loop.Gate = demandingGate{t.loop.Gate, t}
	if j.Tools == role.ToolsNone {
		t.loop.Gate = shut{}
	}
	return t, nil
}

// dispatch is the tool that asks one more specialist, where that is not switched off.
func (s *staff) dispatch(d brain.Dispatcher) []tool.Tool {
	if !s.dispatches {
		return nil
	}
	return []tool.Tool{brain.DispatchTool(d)}
}

// watch tells of what happens in the stream, and watches what belongs to it.
func (t *seat) watch(show func(run.Event)) {
	if show != nil {
		t.loop.Emit = t.seen(context.Background(), func(e run.Event) { t.hold(e); show(e) })
	}
}

// The rounds of agents that have one job.
const (
	routerRounds = 2
	workerRounds = 60
)

func (s *staff) roundsOf(j brain.Job) int {
	switch {
	case j.Phase == brain.PhaseRouter:
		return routerRounds
	case j.Phase != brain.PhasePrimary && s.rounds == 0:
		return workerRounds
	default:
		return s.rounds
	}
}

// left is what the team may still spend, 0 for no limit.
func (s *staff) left() float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cost == 0 {
		return 0
	}
	const nothing = 1e-9
	return max(s.cost-s.spent, nothing)
}

func (s *staff) spend(cost float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spent += cost
}

// primary is the agent of the session itself. With another model it is opened anew:
// the stream is kept, what was bound to the model before is not.
func (s *staff) primary(ctx context.Context, j brain.Job) (brain.Agent, error) {
	if s.main.name != j.Model {
		if err := s.reopen(ctx, j); err != nil {
			return nil, err
		}
	}
	t := s.main
	t.watch(j.Watch)
	t.others.space, t.loop.Rounds, t.loop.Budget = j.Space, s.roundsOf(j), s.left()
	t.loop.Head.Thinking = thinkingOf(s.model(ctx, j.Model).api, j.Thinking)
	return primarySeat{t}, nil
}

func (s *staff) reopen(ctx context.Context, j brain.Job) error {
	name := s.main.live.Name()
	p, err := s.partsOf(ctx, j)
	if err != nil {
		return err
	}
	if err := s.main.close(); err != nil {
		return err
	}
	t, err := s.seat(p, j, s.dispatch(s.brain)...)
	if err != nil {
		return err
	}
	t.name, t.record = j.Model, s.main.record
	s.main = t
	return t.resume(ctx, name)
}

// shut lets nothing through.
type shut struct{}

// Check denies.
func (shut) Check(context.Context, permit.Request, string) (permit.Decision, error) {
	return permit.Decision{Verdict: permit.Deny, Reason: "this role calls no tools; answer with what you have"}, nil
}

// thinkingOf is a level of thinking as an API has it.
func thinkingOf(api model.API, level string) quire.Thinking {
	switch {
	case level == "":
		return quire.Thinking{}
	case level == "off" && api == model.Messages:
		return quire.Thinking{Mode: "disabled"}
	case level == "off":
		return quire.Thinking{Effort: "none"}
	case api == model.Messages && level == "minimal":
		return quire.Thinking{Mode: "adaptive", Effort: "low"}
	case api == model.Messages:
		return quire.Thinking{Mode: "adaptive", Effort: level}
	}
	return quire.Thinking{Effort: level}
}

// sees reports whether a model takes images, as far as its name says: those that
// only read are listed. Of others the provider says so.
func sees(id string) bool {
	name := strings.ToLower(path.Base(id))
	for _, blind := range []string{"deepseek", "gpt-oss", "glm-4.5", "glm-4.6", "codestral", "kimi-k2", "qwen3-coder", "devstral", "text-"} {
		if strings.HasPrefix(name, blind) {
			return false
		}
	}
	return true
}

// A settledModels opens the models that settings name.
type settledModels struct {
	r   *agentRun
	run hiredModel
}

func (m *settledModels) runs() string { return m.r.settings.Name(config.Model) }

func (m *settledModels) model(ctx context.Context, name string) hiredModel {
	if name == "" {
		return m.run
	}
	b, err := m.r.newBooth(m.r.settings)
	if err != nil {
		return hiredModel{err: err}
	}
	c, err := b.open(ctx, name, false)
	if err != nil {
		return hiredModel{err: err}
	}
	c.caller = retry.New(limit.New(c.caller, atOnce), retry.Policy{Notice: m.r.waits})
	h, err := m.r.hired(c)
	h.err = err
	return h
}

// encoded is a record's payload.
func encoded(r quire.Record) (string, json.RawMessage) { return r.Type, r.Line }

// historyOf is what a journal says of the runs of its session.
func historyOf(path string) (*brain.History, error) {
	h := &brain.History{}
	for r, err := range journal.Read(path) {
		if err != nil && !errors.Is(err, quire.ErrDamaged) {
			return nil, err
		}
		if err == nil {
			err = h.Add(encoded(r))
		}
		if err != nil && !errors.Is(err, quire.ErrDamaged) {
			return nil, fmt.Errorf("the runs of the session: %w", err)
		}
	}
	return h, nil
}

// resumer takes what a session holds that goes on, for its agent and for how far
// that had got.
func (t *seat) resumer(own quire.SessionNumber) ingest.Resumer {
	return ingest.Resumer{
		Event:  func(e quire.Event) error { t.reached.event(e, t.loop.Head.MaxOutput); return t.agent.event(e) },
		Record: func(r quire.Record) error { t.reached.record(r, own); t.held(r); return t.agent.record(r) },
	}
}
