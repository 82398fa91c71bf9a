package main

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"sync"

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

// Patch is what the run changed. Outside of a repository it is what the agents'
// tools are known to have changed.
func (p *teamProject) Patch(ctx context.Context, since *check.Baseline) (check.Patch, error) {
	if since.Repo {
		return since.Patch(ctx, p.dir())
	}
	paths, err := p.effects()
	return check.Changed(paths), err
}

// effects are the paths that the tools of this run changed.
func (p *teamProject) effects() ([]string, error) {
	seen := map[string]bool{}
	var paths []string
	for r, err := range journal.Read(p.staff.main.live.Name().Path) {
		if err != nil {
			return nil, err
		}
		switch r.Type {
		case brain.RecordRequest:
			seen, paths = map[string]bool{}, nil
		case quire.RecordEffect:
			e, err := journal.Decode[run.EffectRecord](r)
			if err != nil {
				return nil, err
			}
			for _, c := range e.Changes {
				if !seen[c.Path] {
					seen[c.Path] = true
					paths = append(paths, c.Path)
				}
			}
		}
	}
	return paths, nil
}

// Diff is the change as text.
func (p *teamProject) Diff(ctx context.Context, since *check.Baseline, patch *check.Patch) (d check.Diff, previews []check.Preview, err error) {
	if d, err = since.Diff(ctx, p.dir(), patch, check.MaxDiff); err != nil {
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
	return check.Run(ctx, p, check.Find(files, c), patch.Paths(), c, last)
}

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

// Copy makes a copy of the project for a task.
func (p *teamProject) Copy(ctx context.Context, task string) (string, error) {
	t, err := worktree.Add(ctx, p.dir(), copiesOf(p.staff.home))
	if err != nil {
		return "", err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.copies[task] = t
	return t.Dir, nil
}

// Merge puts what was changed in a copy into the project, so that it can be undone,
// and takes the copy away.
func (p *teamProject) Merge(ctx context.Context, task string) (files []string, conflicts []brain.Conflict, err error) {
	p.mu.Lock()
	t := p.copies[task]
	delete(p.copies, task)
	p.mu.Unlock()
	if t == nil {
		return nil, nil, nil
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	before, err := p.before(ctx, t)
	if err != nil {
		return nil, nil, err
	}
	m, err := t.Merge(ctx)
	for _, c := range m.Conflicts {
		conflicts = append(conflicts, brain.Conflict{Path: c.Path, Why: c.Why, Marked: clip(c.Marked, maxMarked)})
	}
	return m.Merged, conflicts, errors.Join(err, p.merged(task, m.Merged, before))
}

// maxMarked bounds what is shown of a conflict.
const maxMarked = 4_000

// before keeps what the project holds where a copy was changed.
func (p *teamProject) before(ctx context.Context, t *worktree.Tree) (map[string]undo.State, error) {
	b, err := check.Measure(ctx, t.Dir)
	if err != nil {
		return nil, err
	}
	tree := undo.New(p.staff.main.project, p.staff.home.pool.Bodies)
	kept := map[string]undo.State{}
	for _, f := range b.Files {
		if kept[f.Path], _, err = tree.Keep(ctx, f.Path); err != nil {
			return nil, err
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
		e.Changes = append(e.Changes, undo.Change{Path: f, Before: before[f], After: after})
	}
	if len(e.Changes) == 0 {
		return nil
	}
	return p.staff.main.record.Record(quire.RecordEffect, e)
}

// close takes away copies that were not merged.
func (p *teamProject) close() (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range p.copies {
		err = errors.Join(err, t.Close())
	}
	p.copies = map[string]*worktree.Tree{}
	return err
}
