package brain

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/quire-agent/quire/internal/packet"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/role"
	"github.com/quire-agent/quire/internal/route"
	"github.com/quire-agent/quire/internal/run"
)

// constraints stand in every handoff.
func constraints(r route.Role, writes bool) []string {
	list := []string{
		fmt.Sprintf("Work as %s only.", r),
		"The Brain plans and hands on; you do not talk to other agents.",
		"Use what you were given and what you find in the project; you cannot see other conversations.",
		"The ids of your result are filled in for you.",
		"Report concise, structured findings: what the reader needs and nothing of how you found it.",
	}
	if writes {
		return append(list, "You work in a copy of the project of your own. What you change is merged by the Brain; change only what your goal needs.")
	}
	return append(list, "Change nothing in the project.")
}

// handoff is the packet that gives a job to an agent, with all that it may read.
func (a *attempt) handoff(w *Worker, refs []packet.ContextRef) packet.Handoff {
	ro, _ := a.Roles.Role(w.Role)
	return packet.Handoff{
		ID: "handoff:" + w.Context, Constraints: constraints(w.Role, w.Writes), ExpectedResult: ro.Output,
		Task: packet.AgentTaskContext{
			ID: w.Context, Parent: a.req.Run, Role: w.Role, Goal: w.Goal, Progress: packet.TaskProgress{Status: route.Pending}, Refs: append([]packet.ContextRef{}, refs...),
		},
	}
}

// space are the pages that a packet's references are the right to read.
func space(refs []packet.ContextRef) (pages []quire.PageRef) {
	for _, r := range refs {
		if p, ok := r.Page(); ok {
			pages = append(pages, p)
		}
	}
	return pages
}

// words are what an agent is given: what is the same for all agents of the run
// first, so that they share it in the cache, and what is its own last.
func (a *attempt) words(shared []quire.Block, w *Worker, h *packet.Handoff, upstream []ExecutedResult) ([]quire.Block, error) {
	ro, _ := a.Roles.Role(w.Role)
	blocks := append(append([]quire.Block{}, shared...), user(a.req.Prompt))
	attached := a.attached(&ro)
	blocks = append(blocks, attached.blocks...)
	raw, err := json.Marshal(h)
	if err != nil {
		return nil, fmt.Errorf("encode a handoff: %w", err)
	}
	var b strings.Builder
	b.WriteString("Above are the user's words to the team. Your part of it:\n\n" + a.profile(&ro) + "\nHandoff:\n" + string(raw) + "\n" + attached.handles)
	if text := shown(upstream); text != "" {
		b.WriteString("\nResults that yours depends on:\n" + text)
	}
	b.WriteString(shape(h))
	return append(blocks, machine(b.String())), nil
}

// profile is what makes an agent one of a role: the brain's own text, or the role's.
func (a *attempt) profile(ro *role.Role) string {
	policy := a.policyOf(ro.Name)
	if text := policy.System; strings.TrimSpace(text) != "" {
		return text + "\n"
	}
	return ro.Profile()
}

// shape is the form of a worker's reply.
func shape(h *packet.Handoff) string {
	return fmt.Sprintf(`
When you are done, answer with one JSON object and nothing else:
{"taskId": %q, "parentId": %q, "progress": {"status": "completed" or "blocked", "summary": "one line"}, "summary": "your result", "artifacts": [{"kind": "file" or "artifact", "uri": "file:PATH, or page:pN of a page of yours", "label": "…"}], "risks": ["…"], "nextQuestions": ["only where you are blocked"]}
`, h.Task.ID, h.Task.Parent)
}

// attachments are what the user's words refer to, for one agent.
type attachments struct {
	blocks  []quire.Block
	handles string
}

// attached are the files that the user attached: in full for roles that need them
// so, otherwise their first lines, which name them or say why they could not be had.
func (a *attempt) attached(ro *role.Role) (out attachments) {
	if a.Attach == nil {
		return out
	}
	blocks := a.Attach(a.req.Prompt)
	if ro.Attachments == "resident" {
		return attachments{blocks: blocks}
	}
	for _, b := range blocks {
		if b.Text != "" && b.Origin != quire.OriginOwn {
			out.handles += firstLine(b.Text) + "\n"
		}
	}
	if out.handles != "" {
		out.handles = "\nOf what the user attached you have the names; the tool read shows the files.\n" + out.handles
	}
	return out
}

// mentioned are references to what the user attached.
func (a *attempt) mentioned() (refs []packet.ContextRef) {
	for _, m := range run.Mentions(a.req.Prompt) {
		ref := packet.ContextRef{Kind: packet.RefFile, URI: "file:" + m.Path, Label: "attached by the user"}
		if m.Session != "" {
			ref.Kind, ref.URI = packet.RefThread, "session:"+m.Session
		}
		if m.Lines.First > 0 {
			ref.URI += fmt.Sprintf("#L%d-L%d", m.Lines.First, m.Lines.Last)
		}
		refs = append(refs, ref)
	}
	return refs
}

// shown are results as other agents read them.
func shown(results []ExecutedResult) string {
	var b strings.Builder
	for i := range results {
		results[i].show(&b)
	}
	return b.String()
}

func (r *ExecutedResult) show(b *strings.Builder) {
	fmt.Fprintf(b, "\n## %s (%s)\nTask: %s -> %s\nGoal: %s\n", r.Role, r.state(), r.Task, r.Parent, r.Goal)
	if r.Progress.Summary != "" && r.Progress.Summary != r.Summary {
		fmt.Fprintf(b, "Progress: %s\n", firstLine(r.Progress.Summary))
	}
	fmt.Fprintf(b, "Summary: %s\n", r.Summary)
	if len(r.Artifacts) > 0 {
		b.WriteString("Artifacts:\n")
		for _, ref := range r.Artifacts {
			fmt.Fprintf(b, "- %s %s %s\n", ref.Kind, ref.URI, ref.Label)
		}
	}
	items(b, "Risks", r.Risks)
	items(b, "Open questions", r.NextQuestions)
	for _, c := range r.Conflicts {
		fmt.Fprintf(b, "Not merged, the project has another version of %s: %s\n%s\n", c.Path, c.Why, c.Marked)
	}
}

// state says how a job ended, and why its result is not whole.
func (r *ExecutedResult) state() string {
	if r.CutOff != "" {
		return fmt.Sprintf("%s, cut off: %s", r.Status, r.CutOff)
	}
	return string(r.Status)
}

func items(b *strings.Builder, head string, list []string) {
	if len(list) == 0 {
		return
	}
	b.WriteString(head + ":\n")
	for _, i := range list {
		b.WriteString("- " + i + "\n")
	}
}

// primaryWords are what the primary is given.
func (a *attempt) primaryWords() []quire.Block {
	ro, _ := a.Roles.Role(a.plan.Route.Primary)
	blocks := []quire.Block{user(a.req.Prompt)}
	if a.Attach != nil {
		blocks = append(blocks, a.Attach(a.req.Prompt)...)
	}
	var b strings.Builder
	b.WriteString("You are the primary of the team for the user's words above: you do the work.\n\n" + a.profile(&ro))
	if w := a.plan.worker(a.plan.Route.Primary); w != nil && w.Goal != "" {
		b.WriteString("\nGoal: " + w.Goal + "\n")
	}
	items(&b, "\nTo do", a.mine())
	if text := shown(a.results); text != "" {
		b.WriteString("\nThe others report (advice, not orders; where they contradict each other, decide):\n" + text)
	}
	if a.Mode.Dispatches > 0 && !a.Alone && a.plan.Route.Source != route.ByForce {
		fmt.Fprintf(&b, "\nThe tool %s asks one more specialist, up to %d times. Use it only where a field is missing above.\n", DispatchName, a.Mode.Dispatches)
	}
	b.WriteString("\nWhen you are done, report to the user: the result first, in proportion to the task, in the user's language.\n")
	return append(blocks, machine(b.String()))
}

// mine are the primary's things to do.
func (a *attempt) mine() (titles []string) {
	for _, t := range a.todos {
		if t.Role == a.plan.Route.Primary {
			titles = append(titles, t.Title)
		}
	}
	return titles
}
