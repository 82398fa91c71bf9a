package brain

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/quire-agent/quire/internal/route"
	"github.com/quire-agent/quire/internal/tool"
)

// DispatchName is the name of the tool with which the primary asks one more
// specialist. It is in the tool list of every agent, so that all share one prefix;
// only the primary's does anything.
const DispatchName = "dispatch_specialist"

//go:embed dispatch.md
var dispatchPrompt string

// DispatchArgs are the arguments of the tool.
type DispatchArgs struct {
	Role   string `json:"role" jsonschema:"the specialist's role, as librarian, security or qa"`
	Goal   string `json:"goal" jsonschema:"what exactly is wanted; self-contained, the specialist sees nothing else of yours"`
	Reason string `json:"reason,omitempty" jsonschema:"why it is needed"`
}

// A Dispatcher does what the tool asks for. What it refuses it says in the text.
type Dispatcher interface {
	Dispatch(ctx context.Context, args DispatchArgs) (string, error)
}

// DispatchTool is the tool. Without a dispatcher it says that only the primary has
// one.
func DispatchTool(d Dispatcher) tool.Tool {
	run := func(ctx context.Context, args DispatchArgs) (tool.Result, error) {
		if d == nil {
			return tool.Failed("Only the primary can ask for a specialist. Report what is missing as a question."), nil
		}
		text, err := d.Dispatch(ctx, args)
		return tool.Result{Text: text}, err
	}
	return tool.New(DispatchName, dispatchPrompt, func(DispatchArgs) tool.Want { return tool.Want{} }, run)
}

// dispatching is what the primary has used of its leave to dispatch.
type dispatching struct {
	a    *attempt
	used int // those under way too
}

// Dispatch lets a specialist work for the primary while that waits.
func (b *Brain) Dispatch(ctx context.Context, args DispatchArgs) (string, error) {
	n, refused := b.admitDispatch(&args)
	if refused != "" {
		return refused, nil
	}
	r, err := b.dispatch.a.dispatched(ctx, args)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	fmt.Fprintf(&text, "Specialist %d of %d.\n", n, b.Mode.Dispatches)
	r.show(&text)
	return text.String(), nil
}

// admitDispatch counts a dispatch, or says why there is none.
func (b *Brain) admitDispatch(args *DispatchArgs) (n int, refused string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	ro, ok := b.Roles.Role(route.Role(args.Role))
	switch {
	case b.dispatch.a == nil:
		return 0, "No run is under way."
	case b.Alone:
		return 0, "Asking more specialists is switched off. Go on with what there is."
	case b.dispatch.a.plan.Route.Source == route.ByForce:
		return 0, "The roles of this run were given; nobody else is asked."
	case !ok || !ro.Dispatch:
		return 0, fmt.Sprintf("There is no specialist %q. There are %s.", args.Role, strings.Join(b.specialists(), ", "))
	case strings.TrimSpace(args.Goal) == "":
		return 0, "The goal is empty: say what exactly is wanted, self-contained."
	case b.dispatch.used >= b.Mode.Dispatches:
		return 0, fmt.Sprintf("All %d specialists of this run were used. Go on with what there is.", b.Mode.Dispatches)
	}
	b.dispatch.used++
	return b.dispatch.used, ""
}

func (b *Brain) specialists() (names []string) {
	for i := range b.Roles {
		if b.Roles[i].Dispatch {
			names = append(names, string(b.Roles[i].Name))
		}
	}
	return names
}

// dispatched is the result of a specialist. One that was asked for before the run
// was interrupted goes on, and one that had ended is not run again.
func (a *attempt) dispatched(ctx context.Context, args DispatchArgs) (ExecutedResult, error) {
	w := a.specialist(args)
	if r := a.mem.result(w.Context); r != nil {
		a.adopt(*r)
		return *r, nil
	}
	d := Dispatch{Run: a.req.Run, Phase: "request", Role: w.Role, Goal: args.Goal, Reason: args.Reason, Context: w.Context, Primary: a.plan.Route.Primary}
	if err := a.note(RecordDispatch, d); err != nil {
		return ExecutedResult{}, err
	}
	h := a.handoff(&w, a.mentioned())
	words, err := a.words(a.shared, &w, &h, nil)
	if err != nil {
		return ExecutedResult{}, err
	}
	if err := a.down(PhaseSupport, &h); err != nil {
		return ExecutedResult{}, err
	}
	r, err := a.do(ctx, &w, PhaseSupport, &h, words, desk{}, nil)
	if err != nil {
		return r, err
	}
	a.adopt(r)
	if err := a.close(PhaseSupport, &w, &r); err != nil {
		return r, err
	}
	d.Phase, d.Status, d.Summary = "result", r.Status, firstLine(r.Summary)
	return r, a.note(RecordDispatch, d)
}

// specialist is the worker of a dispatch, with the id that it had before.
func (a *attempt) specialist(args DispatchArgs) Worker {
	r := route.Role(args.Role)
	w := Worker{Worker: route.Worker{Role: r, Goal: args.Goal, Reason: args.Reason}}
	policy := a.policyOf(r)
	w.Models, w.Skipped = a.Staff.Usable(policy.Chain(), false)
	a.mu.Lock()
	defer a.mu.Unlock()
	if d, ok := a.mem.dispatched(r, args.Goal); ok && !slices.Contains(a.taken, d.Context) {
		w.Context = d.Context
		a.taken = append(a.taken, d.Context)
		return w
	}
	w.Context = a.NewID()
	a.plan.Context.Children = append(a.plan.Context.Children, w.Context)
	return w
}

// adopt adds a specialist's result to those that review and report know.
func (a *attempt) adopt(r ExecutedResult) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.results = append(a.results, r)
}
