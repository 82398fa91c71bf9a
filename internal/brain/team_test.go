package brain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/check"
	"github.com/quire-agent/quire/internal/packet"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/role"
	"github.com/quire-agent/quire/internal/route"
	"github.com/quire-agent/quire/internal/run"
)

// words counts tokens as words.
type words struct{}

func (words) Count(text string) int { return len(strings.Fields(text)) }

// kept is a journal in memory, as JSON.
type kept struct {
	mu    sync.Mutex
	lines []keptLine
	stop  func(kind string) bool // ends the process, as far as the journal is concerned
}

type keptLine struct {
	kind string
	raw  json.RawMessage
}

var errKilled = errors.New("killed")

func (k *kept) Record(kind string, payload any) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.stop != nil && k.stop(kind) {
		return errKilled
	}
	raw, err := json.Marshal(payload)
	k.lines = append(k.lines, keptLine{kind, raw})
	return err
}

func (k *kept) Sync(context.Context) error { return nil }

// of are the records of a kind.
func of[T any](t *testing.T, k *kept, kind string) (list []T) {
	t.Helper()
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, l := range k.lines {
		if l.kind != kind {
			continue
		}
		var v T
		if err := json.Unmarshal(l.raw, &v); err != nil {
			t.Fatal(err)
		}
		list = append(list, v)
	}
	return list
}

func (k *kept) history(t *testing.T) *History {
	t.Helper()
	h := &History{}
	for _, l := range k.lines {
		if err := h.Add(l.kind, l.raw); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

// turn is what an agent is asked.
type turn struct {
	Job
	text string // all words, line by line
	user string // the user's

	media int // images
}

// crew answers for all agents.
type crew struct {
	mu     sync.Mutex
	answer func(context.Context, turn) run.Outcome
	turns  []turn
	opened []Job
	pages  map[quire.PageRef]string
	skip   map[string]string   // models that cannot be used, and why
	left   map[route.Role]Left // of agents that are opened again
}

func (c *crew) Usable(chain []string, images bool) (models, skipped []string) {
	for _, m := range chain {
		if m == "" {
			m = "p/m"
		}
		if why := c.skip[m]; why != "" || images && strings.Contains(m, "blind") {
			skipped = append(skipped, m+": "+why)
			continue
		}
		models = append(models, m)
	}
	return models, skipped
}

func (c *crew) Open(_ context.Context, j Job) (Agent, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	resumed := j.Session != 0
	if !resumed {
		j.Session = quire.SessionNumber(len(c.opened) + 2)
	}
	if j.Phase == PhasePrimary {
		j.Session, resumed = 1, true
	}
	c.opened = append(c.opened, j)
	return &member{crew: c, job: j, resumed: resumed}, nil
}

type member struct {
	crew    *crew
	job     Job
	resumed bool
}

func (m *member) Turn(ctx context.Context, blocks ...quire.Block) (run.Outcome, error) {
	t := turn{Job: m.job}
	for _, b := range blocks {
		t.text += b.Text + "\n"
		if b.Media != nil {
			t.media++
		}
		if b.Kind == quire.PartUser {
			t.user += b.Text
		}
	}
	m.crew.mu.Lock()
	m.crew.turns = append(m.crew.turns, t)
	m.crew.mu.Unlock()
	if m.job.Watch != nil {
		m.job.Watch(run.Said{})
	}
	return m.crew.answer(ctx, t), ctx.Err()
}

func (m *member) Left() Left {
	if !m.resumed {
		return Left{}
	}
	return m.crew.left[m.job.Role]
}
func (m *member) Session() quire.SessionNumber { return m.job.Session }

func (m *member) Publish(_ context.Context, refs []packet.ContextRef) (ok []packet.ContextRef, refused []string) {
	for _, r := range refs {
		if p, is := r.Page(); is && p.Page == 13 {
			refused = append(refused, r.URI)
			continue
		}
		ok = append(ok, r)
	}
	return ok, refused
}

func (m *member) Keep(_ context.Context, text string) (quire.PageRef, error) {
	m.crew.mu.Lock()
	defer m.crew.mu.Unlock()
	ref := quire.PageRef{Session: m.job.Session, Page: 99}
	m.crew.pages[ref] = text
	return ref, nil
}

func (m *member) Close() error { return nil }

// of are the turns of a role.
func (c *crew) of(r route.Role) (list []turn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range c.turns {
		if t.Role == r {
			list = append(list, t)
		}
	}
	return list
}

// site is a project in memory.
type site struct {
	patches []check.Patch   // by the number of turns of the primary
	checks  []check.Summary // in their order
	asked   [][]string      // what had failed before, at each check
	turn    func() int
	ran     int
}

func (s *site) Baseline(context.Context) (check.Baseline, error) {
	return check.Baseline{Repo: true}, nil
}

func (s *site) Patch(context.Context, *check.Baseline) (check.Patch, error) {
	if len(s.patches) == 0 {
		return check.Patch{}, nil
	}
	return s.patches[min(s.turn(), len(s.patches))-1], nil
}

func (s *site) Diff(context.Context, *check.Baseline, *check.Patch) (check.Diff, []check.Preview, error) {
	return check.Diff{Text: "-a\n+b\n"}, nil, nil
}

func (s *site) Check(_ context.Context, _ *check.Patch, failed []string) (check.Summary, error) {
	s.asked = append(s.asked, failed)
	c := s.checks[min(s.ran, len(s.checks)-1)]
	s.ran++
	return c, nil
}

func patch(paths ...string) check.Patch {
	p := check.Patch{Before: []string{}, Changed: []check.File{}}
	for _, path := range paths {
		p.Changed = append(p.Changed, check.File{Path: path, Status: "M"})
	}
	p.Stats.Files = len(p.Changed)
	return p
}

func passed() check.Summary {
	return check.Summary{Status: check.Passed, Results: []check.Result{{Name: "test", Status: check.Passed}}}
}

func failing(name string) check.Summary {
	return check.Summary{Status: check.Failed, Results: []check.Result{{Name: name, Status: check.Failed, Exit: 1, Stdout: "want 4, got 5"}}}
}

// A stage is a Brain with everything around it in memory.
type stage struct {
	*Brain
	crew *crew
	site *site
	book *kept
	seen []Event
}

func says(text string) run.Outcome { return run.Outcome{Stop: run.StopDone, Text: text} }

func breaks(why string) run.Outcome {
	return run.Outcome{Stop: run.StopFailed, CutOff: "error", Err: &quire.CallError{Kind: quire.CallServer, Message: why}}
}

// newStage makes one; plan is what the router answers, answer what all others do.
func newStage(t *testing.T, mode, plan string, answer func(ctx context.Context, tu turn) run.Outcome) *stage {
	t.Helper()
	roles, err := role.Default()
	if err != nil {
		t.Fatal(err)
	}
	library, err := role.ParseLibrary(nil, func(route.Role) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	b, err := library.Brain(role.DefaultBrain)
	if err != nil {
		t.Fatal(err)
	}
	m, _ := role.ModeOf(mode)
	s := &stage{crew: &crew{pages: map[quire.PageRef]string{}, skip: map[string]string{}, left: map[route.Role]Left{}}, site: &site{}, book: &kept{}}
	s.crew.answer = func(ctx context.Context, tu turn) run.Outcome {
		if tu.Phase == PhaseRouter {
			return says(plan)
		}
		return answer(ctx, tu)
	}
	s.site.turn = func() int {
		n := 0
		for _, tu := range s.crew.of("backend") {
			if tu.Phase == PhasePrimary {
				n++
			}
		}
		return max(n, 1)
	}
	ids := 0
	var idMu sync.Mutex
	s.Brain = &Brain{
		Staff: s.crew, Project: s.site, Record: s.book, Roles: roles, Model: b, Mode: m, History: &History{}, Count: words{}, Now: time.Now,
		NewID: func() string { idMu.Lock(); defer idMu.Unlock(); ids++; return fmt.Sprintf("id%d", ids) },
		Emit:  func(e Event) { s.seen = append(s.seen, e) }, Permit: "edit", Writes: true,
	}
	return s
}

func (s *stage) run(t *testing.T, prompt string) FinalReport {
	t.Helper()
	r, err := s.Run(t.Context(), prompt, 0)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// routed is a router's reply: the primary is backend, edges are from>to.
func routed(review bool, workers []string, edges ...string) string {
	type item struct {
		ID    string `json:"id,omitempty"`
		Title string `json:"title,omitempty"`
		Role  string `json:"role,omitempty"`
		Goal  string `json:"goal,omitempty"`
		From  string `json:"from,omitempty"`
		To    string `json:"to,omitempty"`
	}
	reply := struct {
		Role         string `json:"role"`
		Workers      []item `json:"workers"`
		Todos        []item `json:"todos"`
		Dependencies []item `json:"dependencies"`
		Review       bool   `json:"review"`
	}{Role: "backend", Review: review}
	for _, w := range append(workers, "backend") {
		reply.Workers = append(reply.Workers, item{Role: w, Goal: "the goal of " + w})
		reply.Todos = append(reply.Todos, item{ID: "t-" + w, Title: "what " + w + " does", Role: w})
	}
	for _, e := range edges {
		from, to, _ := strings.Cut(e, ">")
		reply.Dependencies = append(reply.Dependencies, item{From: "t-" + from, To: "t-" + to})
	}
	raw, err := json.Marshal(reply)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// idle is what everybody says who does nothing remarkable.
func idle(_ context.Context, tu turn) run.Outcome { return says("the result of " + string(tu.Role)) }

// result is the recorded result of a worker.
func (s *stage) result(t *testing.T, r route.Role) ExecutedResult {
	t.Helper()
	for _, e := range of[WorkerEnd](t, s.book, RecordWorkerEnd) {
		if e.Worker == r {
			return e.Result
		}
	}
	t.Fatalf("%s has no result on record", r)
	return ExecutedResult{}
}
