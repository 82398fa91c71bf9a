package brain

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/quire-agent/quire/internal/check"
	"github.com/quire-agent/quire/internal/packet"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/review"
	"github.com/quire-agent/quire/internal/route"
)

// A verdict is what checks and review came to after a turn of the primary.
type verdict struct {
	patch    check.Patch
	checks   *check.Summary   // nil: none were made
	decision *review.Decision // nil: there was no review
	fixes    int
}

// trigger is why the primary has to be asked again, "" where it has not.
func (v *verdict) trigger() string {
	switch {
	case v.decision != nil && v.decision.Verdict == review.Blocked:
		return ""
	case v.checks != nil && len(v.checks.Failing()) > 0:
		return "checks failed: " + strings.Join(v.checks.Failing(), ", ")
	case v.decision != nil && v.decision.Verdict == review.ChangesRequested:
		return "the review asks for changes"
	}
	return ""
}

// finish checks and reviews what the primary did, lets it mend that as often as the
// mode allows, and reports.
func (a *attempt) finish(ctx context.Context, au *author) (err error) {
	defer func() { err = joined(err, au.close()) }()
	var v verdict
	for i := range a.mem.checks {
		a.left = append(a.left, a.mem.checks[i].Left...)
	}
	if v.patch, err = a.patch(ctx); err != nil {
		return err
	}
	judged := au.err == nil && au.end.CutOff == "" && au.worker.Role != route.Review && a.plan.Route.Source != route.ByForce
	for n := 0; judged; n++ {
		if v, err = a.judge(ctx, au, n, v); err != nil {
			return err
		}
		v.fixes = n
		why := v.trigger()
		if why == "" || n >= a.Mode.Fixes {
			break
		}
		if err := a.fix(ctx, au, n+1, why, &v); err != nil {
			return err
		}
		if au.err != nil || au.end.CutOff != "" {
			v.fixes = n + 1
			break
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return a.conclusion(au, &v)
}

// patch is what the run changed, without what its checks left behind.
func (a *attempt) patch(ctx context.Context) (check.Patch, error) {
	p, err := a.Project.Patch(ctx, &a.req.Baseline)
	if err != nil {
		return p, fmt.Errorf("%w: %w", errRecord, err)
	}
	return p.Without(a.left), nil
}

// judge makes patch, checks and review of a turn.
func (a *attempt) judge(ctx context.Context, au *author, n int, before verdict) (v verdict, err error) {
	if v.patch, err = a.patch(ctx); err != nil {
		return v, err
	}
	if v.patch.Empty() {
		return v, nil
	}
	if v.checks, err = a.checked(ctx, n, &v, before.checks); err != nil {
		return v, err
	}
	a.emit(Checked{n, *v.checks})
	if !a.plan.Route.RequiresReview && !v.checks.Review {
		return v, nil
	}
	if len(v.checks.Failing()) > 0 && n < a.Mode.Fixes && a.mem.review(n) == nil {
		return v, nil // it is mended first: a review of what does not work tells nothing
	}
	v.decision, err = a.reviewed(ctx, au, n, &v)
	return v, err
}

// checked runs the checks, those that failed before first, or takes what is
// recorded.
func (a *attempt) checked(ctx context.Context, n int, v *verdict, before *check.Summary) (*check.Summary, error) {
	if c := a.mem.check(n); c != nil {
		return &c.Summary, nil
	}
	var failed []string
	if before != nil {
		failed = before.Failing()
	}
	s, err := a.Project.Check(ctx, &v.patch, failed)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errRecord, err)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	a.left = append(a.left, s.Left...)
	return &s, a.note(RecordCheck, CheckRecord{a.req.Run, n, s})
}

// tier is the risk of a patch; what a rule of permission or of checks wants reviewed
// is more of one.
func (v *verdict) tier() string {
	return string(check.TierOf(v.patch.Paths(), v.checks != nil && v.checks.Demanded))
}

// fix asks the primary again, with the evidence.
func (a *attempt) fix(ctx context.Context, au *author, n int, why string, v *verdict) error {
	if a.mem.turn(n) == nil && !slices.ContainsFunc(a.mem.fixes, func(f Fix) bool { return f.Turn == n }) {
		if err := a.note(RecordFix, Fix{a.req.Run, n, why}); err != nil {
			return err
		}
	}
	a.emit(Fixing{n, why})
	return au.turn(ctx, n, []quire.Block{machine(a.evidence(v))})
}

// outputTokens is how much of one check's output the primary is shown.
const outputTokens = 800

// evidence is what the primary has to mend.
func (a *attempt) evidence(v *verdict) string {
	var b strings.Builder
	b.WriteString("The work is not done. Mend what follows, then report the whole result to the user again.\n")
	if v.checks != nil {
		for _, r := range v.checks.Results {
			if r.Status == check.Failed {
				out := excerpt(r.Stdout+"\n"+r.Stderr, a.Count, outputTokens)
				fmt.Fprintf(&b, "\n## Check %s failed, exit code %d\n%s\n", r.Name, r.Exit, out)
			}
		}
	}
	if d := v.decision; d != nil && d.Verdict == review.ChangesRequested {
		b.WriteString("\n## The review\n" + d.Text())
	}
	return b.String()
}

// reviewed is the decision of an independent reviewer, with a stream of its own for
// each review: what it read for the last one may be stale.
func (a *attempt) reviewed(ctx context.Context, au *author, n int, v *verdict) (*review.Decision, error) {
	if r := a.mem.review(n); r != nil {
		return &r.Decision, nil
	}
	w, err := a.reviewer(n, v)
	if err != nil {
		return nil, err
	}
	m, evidence, err := a.material(ctx, au, v)
	if err != nil {
		return nil, err
	}
	h := a.handoff(&w, nil)
	words, err := a.reviewWords(&w, &h, m)
	if err != nil {
		return nil, err
	}
	if err := a.down(PhaseReview, &h); err != nil {
		return nil, err
	}
	if err := a.move(PhaseReview, w.Role, route.Running, w.Todos, "", ""); err != nil {
		return nil, err
	}
	r, err := a.do(ctx, &w, PhaseReview, &h, words, desk{}, nil)
	if err != nil {
		return nil, err
	}
	evidence.Independence = review.Between(review.Model{ID: au.end.Model}, review.Model{ID: r.Model})
	d := review.Gate(review.Parse(review.Work{Text: r.reply, Failed: r.Status == route.Failed, CutOff: string(r.CutOff)}), evidence)
	if r.Status == route.Completed {
		r.Summary = cmp.Or(d.Rationale, string(d.Verdict))
	}
	if err := a.close(PhaseReview, &w, &r); err != nil {
		return nil, err
	}
	if err := a.note(RecordReviewArtifacts, ReviewArtifacts{a.req.Run, n, v.patch.Paths(), m.Cut, string(v.checks.Status), m.Tier, d.Mode, evidence.Independence}); err != nil {
		return nil, err
	}
	a.emit(Reviewed{n, d})
	return &d, a.note(RecordReview, ReviewRecord{a.req.Run, n, d})
}

// reviewer is the reviewer of a turn, with a job of its own. Where the plan has
// none it is added: the checks or a rule asked for one.
func (a *attempt) reviewer(n int, v *verdict) (Worker, error) {
	if a.plan.worker(route.Review) == nil {
		why := "the changed files want a review"
		a.plan.Route = a.plan.Route.WithReview(why)
		a.hire(*a.plan.Route.Worker(route.Review))
		a.todos = append(a.todos, a.plan.Route.Todos[len(a.plan.Route.Todos)-1])
		if err := a.note(RecordContextPlan, ContextPlan{a.req.Run, a.plan}); err != nil {
			return Worker{}, err
		}
		if err := a.note(RecordTodoPlan, TodoPlan{a.req.Run, a.todos, a.plan.Route.Dependencies, why}); err != nil {
			return Worker{}, err
		}
	}
	w := *a.plan.worker(route.Review)
	if n > 0 {
		w.Context = fmt.Sprintf("%s-%d", w.Context, n+1)
	}
	return w, nil
}

// material is what the reviewer judges by, and what its decision is held against.
func (a *attempt) material(ctx context.Context, au *author, v *verdict) (m review.Material, e review.Evidence, err error) {
	d, previews, err := a.Project.Diff(ctx, &a.req.Baseline, &v.patch)
	if err != nil {
		return m, e, fmt.Errorf("%w: %w", errRecord, err)
	}
	m = review.Material{Result: au.end.Text, Workers: shown(a.results), Before: v.patch.Before, Stat: d.Stat, Diff: d.Text, Cut: d.Truncated, Tier: v.tier()}
	for _, f := range v.patch.Changed {
		m.Files = append(m.Files, review.File{Path: f.Path, Status: f.Status})
	}
	for _, p := range previews {
		m.New = append(m.New, review.Preview{Path: p.Path, Bytes: p.Size, Binary: p.Binary, Cut: p.Truncated, Text: p.Text})
	}
	for _, r := range v.checks.Results {
		m.Checks = append(m.Checks, review.Check{Name: r.Name, Passed: r.Status == check.Passed, Exit: r.Exit, Stdout: r.Stdout, Stderr: r.Stderr})
	}
	if v.checks.Status == check.Skipped {
		m.NoChecks = v.checks.Reason
	}
	e = review.Evidence{Tier: m.Tier, Files: v.patch.Paths(), Truncated: d.Truncated, Failing: v.checks.Failing(), NoChecks: m.NoChecks}
	return m, e, nil
}

// reviewWords are what the reviewer is given.
func (a *attempt) reviewWords(w *Worker, h *packet.Handoff, m review.Material) ([]quire.Block, error) {
	ro, _ := a.Roles.Role(route.Review)
	blocks := append(append([]quire.Block{}, a.shared...), user(a.req.Prompt))
	text := "Above are the user's words to the team. Your part of it:\n\n" + a.profile(&ro) + "\nGoal: " + w.Goal + "\nTask: " + h.Task.ID + "\n\n" + review.Prompt(m)
	return append(blocks, machine(text)), nil
}

// conclusion ends the run.
func (a *attempt) conclusion(au *author, v *verdict) error {
	r := a.report(a.status(au, v))
	r.Summary = au.end.Text
	if au.err != nil {
		r.Error = au.err.Error()
	}
	if v.decision != nil {
		r.Summary = strings.TrimSpace(r.Summary) + "\n\nReview\n" + v.decision.Text()
	}
	r.fill(a, au, v)
	if !v.patch.Empty() {
		if err := a.note(RecordPatch, PatchRecord{a.req.Run, v.patch}); err != nil {
			return err
		}
	}
	return a.end(r)
}
