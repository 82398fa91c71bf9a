package main

import (
	"context"
	"errors"
	"iter"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/quire-agent/quire/internal/brain"
	"github.com/quire-agent/quire/internal/check"
	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/permit"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/run"
	"github.com/quire-agent/quire/internal/undo"
	"github.com/quire-agent/quire/internal/worktree"
	"github.com/quire-agent/quire/internal/x/sandbox"
)

// A teamProject is the project of a team's run: what was changed in it, how it is
// checked, and copies of it.
type teamProject struct {
	staff *staff

	mu     sync.Mutex
	copies map[string]*worktree.Tree // by task
}

var (
	_ brain.Project = (*teamProject)(nil)
	_ brain.Copies  = (*teamProject)(nil)
)

func (p *teamProject) dir() string { return p.staff.main.project.Dir() }

// Baseline is the state of the project now.
func (p *teamProject) Baseline(ctx context.Context) (check.Baseline, error) {
	return check.Measure(ctx, p.dir())
}

// Patch is what the run changed: as git sees it, or as its records say.
func (p *teamProject) Patch(ctx context.Context, since *check.Baseline) (check.Patch, error) {
	if since.Repo {
		return since.Patch(ctx, p.dir())
	}
	patch, _, err := p.compare(ctx)
	return patch, err
}

// compare makes the patch of the session's newest run of what its effects kept.
func (p *teamProject) compare(ctx context.Context) (patch check.Patch, d check.Diff, err error) {
	before, err := p.effects(ctx)
	if err != nil {
		return patch, d, err
	}
	return check.Compare(p.dir(), before, check.MaxDiff)
}

// effects are the files that the tools of the session changed in its newest run, with
// what they held before.
func (p *teamProject) effects(ctx context.Context) (list []check.Version, err error) {
	seen := map[string]bool{}
	for r, err := range p.records() {
		if err != nil {
			return nil, err
		}
		switch r.Type {
		case brain.RecordRequest:
			seen, list = map[string]bool{}, nil
		case quire.RecordEffect:
			e, err := journal.Decode[run.EffectRecord](r)
			if err != nil {
				return nil, err
			}
			for _, c := range e.Changes {
				if seen[c.Path] || c.Before.Kind == undo.Folder || c.After.Kind == undo.Folder {
					continue
				}
				seen[c.Path] = true
				v, err := p.version(ctx, c)
				if err != nil {
					return nil, err
				}
				list = append(list, v)
			}
		}
	}
	return list, nil
}

// version is what a path held before a change.
func (p *teamProject) version(ctx context.Context, c undo.Change) (v check.Version, err error) {
	v = check.Version{Path: c.Path, None: c.Before.Kind == undo.None}
	if c.Before.Hash == (quire.Hash{}) {
		return v, nil
	}
	v.Data, err = p.staff.home.pool.Bodies.Body(ctx, c.Before.Hash)
	if errors.Is(err, quire.ErrNotFound) {
		return v, nil
	}
	return v, err
}

// Diff is the text of a patch, and the beginnings of its new files.
func (p *teamProject) Diff(ctx context.Context, since *check.Baseline, patch *check.Patch) (d check.Diff, previews []check.Preview, err error) {
	if since.Repo {
		d, err = since.Diff(ctx, p.dir(), patch, check.MaxDiff)
	} else {
		_, d, err = p.compare(ctx)
	}
	if err != nil {
		return d, nil, err
	}
	previews, more, err := check.Previews(p.dir(), patch)
	d.Truncated = d.Truncated || more
	return d, previews, err
}

// Check runs the checks of a change.
func (p *teamProject) Check(ctx context.Context, patch *check.Patch, failed []string) (check.Summary, error) {
	files := p.staff.main.project.Root().FS()
	c, err := check.ReadConfig(files)
	if err != nil {
		return check.Summary{}, err
	}
	last := check.Summary{}
	for _, name := range failed {
		last.Results = append(last.Results, check.Result{Name: name, Status: check.Failed})
	}
	before, err := check.Measure(ctx, p.dir())
	if err != nil {
		return check.Summary{}, err
	}
	s, err := check.Run(ctx, p, check.Find(files, c), patch.Paths(), c, last)
	if err != nil {
		return s, err
	}
	after, err := check.Measure(ctx, p.dir())
	if err != nil {
		return s, err
	}
	s.Left = before.Made(&after)
	demanded, err := p.demanded(patch)
	s.Review, s.Demanded = s.Review || demanded, s.Demanded || demanded
	return s, err
}

// demanded reports whether a rule of permission demands a review of what was changed,
// or of a command that was run.
func (p *teamProject) demanded(patch *check.Patch) (bool, error) {
	policy, err := p.staff.main.policy()
	if err != nil {
		return false, err
	}
	if _, required := policy.Review(permit.Request{Writes: patch.Paths()}); required {
		return true, nil
	}
	required := false
	for r, err := range p.records() {
		if err != nil {
			return false, err
		}
		switch r.Type {
		case brain.RecordRequest:
			required = false
		case recordDemand:
			required = true
		}
	}
	return required, nil
}

// recordDemand stands in the session's journal where a command was run of which a
// rule of permission demands a review.
const recordDemand = "review_demanded"

type demand struct {
	Task    string `json:"taskId"`
	Command string `json:"command"`
	Why     string `json:"why"`
}

// A demandingGate notes what has to be reviewed of what it lets through.
type demandingGate struct {
	run.Gate
	seat *seat
}

// Check decides as the gate does.
func (g demandingGate) Check(ctx context.Context, r permit.Request, notice string) (permit.Decision, error) {
	d, err := g.Gate.Check(ctx, r, notice)
	if err != nil || d.Verdict != permit.Allow || r.Command == "" {
		return d, err
	}
	policy, err := g.seat.policy()
	if err != nil {
		return d, err
	}
	why, required := policy.Review(r)
	if !required {
		return d, nil
	}
	return d, g.seat.staff.main.record.Record(recordDemand, demand{g.seat.job.Task, g.seat.inv.mask(clip(r.Command, maxDemand)), why})
}

// maxDemand bounds what is recorded of a command, in bytes.
const maxDemand = 400

// Run runs one check, unless the rules of permission are against it. That a run may
// change files is leave to run its project's own checks.
func (p *teamProject) Run(ctx context.Context, c check.Command, b check.Bounds) (check.Result, error) {
	if p.staff.parts.mode == permit.ReadOnly {
		return check.Result{}, check.ErrRefused
	}
	policy, err := p.staff.main.policy()
	if err != nil {
		return check.Result{}, err
	}
	if policy.Judge(permit.Request{Tool: "check", Command: c.Line(), Dir: c.Dir}).Verdict == permit.Deny {
		return check.Result{}, check.ErrRefused
	}
	e := check.Exec{Dir: p.dir(), Env: p.staff.parts.inv.commandEnv(), Wrap: p.wrap(), Now: p.staff.parts.now}
	return e.Run(ctx, c, b)
}

// wrap puts a check into the sandbox that commands of the agent have.
func (p *teamProject) wrap() func(*exec.Cmd) error {
	box := p.staff.parts.inv.sandbox()
	if box == nil {
		return nil
	}
	rules := sandbox.Rules{Write: append([]string{p.dir()}, box.Write...), Network: true}
	return func(cmd *exec.Cmd) error { return sandbox.Wrap(cmd, box.Self, rules) }
}

// copiesOf is the folder of a home in which copies of projects are.
func copiesOf(h *home) string { return filepath.Join(h.pool.Home, "worktrees") }

// leftFor is how long a copy is kept that an interrupted run left behind: a run that
// goes on later has its writers begin anew.
const leftFor = 3 * 24 * time.Hour

// Copy makes a copy of the project for a task, or finds the one that is there.
func (p *teamProject) Copy(ctx context.Context, task string) (string, bool, error) {
	t, found, err := worktree.Open(ctx, p.dir(), copiesOf(p.staff.home), task)
	if err != nil {
		return "", false, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.copies[task] = t
	return t.Dir, found, nil
}

// Merge puts what was changed in a copy into the project, so that it can be undone.
func (p *teamProject) Merge(ctx context.Context, task string) (files []string, conflicts []brain.Conflict, err error) {
	p.mu.Lock()
	t := p.copies[task]
	p.mu.Unlock()
	if t == nil {
		return nil, nil, nil
	}
	before, err := p.before(ctx, t, task)
	if err != nil {
		return nil, nil, err
	}
	m, err := t.Merge(ctx)
	for _, c := range m.Conflicts {
		conflicts = append(conflicts, brain.Conflict{Path: c.Path, Why: c.Why, Marked: clip(c.Marked, maxMarked)})
	}
	return m.Merged, conflicts, errors.Join(err, p.merged(task, m.Merged, before))
}

// Drop takes the copy of a task away, also one that an interrupted run left.
func (p *teamProject) Drop(ctx context.Context, task string) error {
	p.mu.Lock()
	t := p.copies[task]
	delete(p.copies, task)
	p.mu.Unlock()
	if t != nil {
		return t.Close()
	}
	return worktree.Remove(ctx, p.dir(), copiesOf(p.staff.home), task)
}

// maxMarked bounds what is shown of a conflict.
const maxMarked = 4_000

// recordMerging stands in the session's journal before changes of a copy are put into
// the project: what the files held, so that a merge that was interrupted can be undone
// too.
const recordMerging = "worktree_merging"

type merging struct {
	Task  string       `json:"taskId"`
	Files []mergedFile `json:"files"`
}

type mergedFile struct {
	Path   string     `json:"path"`
	Before undo.State `json:"before"`
}

// before keeps what the project holds where a copy was changed, or takes what was
// kept before the merge was interrupted.
func (p *teamProject) before(ctx context.Context, t *worktree.Tree, task string) (map[string]undo.State, error) {
	kept, err := p.kept(task)
	if err != nil || kept != nil {
		return kept, err
	}
	paths, err := t.Changed(ctx)
	if err != nil {
		return nil, err
	}
	tree := undo.New(p.staff.main.project, p.staff.home.pool.Bodies)
	kept, m := map[string]undo.State{}, merging{Task: task}
	for _, path := range paths {
		if kept[path], _, err = tree.Keep(ctx, path); err != nil {
			return nil, err
		}
		m.Files = append(m.Files, mergedFile{path, kept[path]})
	}
	if err := p.staff.main.record.Record(recordMerging, m); err != nil {
		return nil, err
	}
	return kept, p.staff.main.record.Sync(ctx)
}

// records are those of the session's journal. Places that are damaged are passed over.
func (p *teamProject) records() iter.Seq2[quire.Record, error] {
	return func(yield func(quire.Record, error) bool) {
		for r, err := range journal.Read(p.staff.main.live.Name().Path) {
			if !errors.Is(err, quire.ErrDamaged) && !yield(r, err) {
				return
			}
		}
	}
}

// kept is what files held before a merge that was interrupted, nil where none was.
func (p *teamProject) kept(task string) (kept map[string]undo.State, err error) {
	for r, err := range p.records() {
		if err != nil {
			return nil, err
		}
		if r.Type != recordMerging {
			continue
		}
		m, err := journal.Decode[merging](r)
		if err != nil {
			return nil, err
		}
		if m.Task != task {
			continue
		}
		kept = map[string]undo.State{}
		for _, f := range m.Files {
			kept[f.Path] = f.Before
		}
	}
	return kept, nil
}

// merged records what a merge changed.
func (p *teamProject) merged(task string, files []string, before map[string]undo.State) error {
	tree := undo.New(p.staff.main.project, p.staff.home.pool.Bodies)
	e := run.EffectRecord{Stamp: quire.Stamp{At: p.staff.parts.now().Round(0)}, Turn: p.staff.main.record.turns() + 1, ToolUse: "merge:" + task}
	for _, f := range files {
		after, _, err := tree.State(f)
		if err != nil {
			return err
		}
		if after != before[f] {
			e.Changes = append(e.Changes, undo.Change{Path: f, Before: before[f], After: after})
		}
	}
	if len(e.Changes) == 0 {
		return nil
	}
	return p.staff.main.record.Record(quire.RecordEffect, e)
}

// close gives copies up that were not merged. They stay for the run that goes on.
func (p *teamProject) close() (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range p.copies {
		err = errors.Join(err, t.Leave())
	}
	p.copies = map[string]*worktree.Tree{}
	return err
}
