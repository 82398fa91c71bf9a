package route

import (
	"fmt"
	"slices"
	"strings"
)

// Prompt is what the router is asked: budgets, roles and models, the rules, the
// user's words at the end, so that what is the same for every request comes first.
func Prompt(r Request) string {
	var b strings.Builder
	b.WriteString("Plan who works on the user's request. Do not solve it and call no tools. Answer with one JSON object and nothing else.\n\n")
	r.budget(&b)
	r.roles(&b)
	r.models(&b)
	b.WriteString(principles)
	if r.Radical {
		b.WriteString(radical)
	}
	b.WriteString(shape(r))
	if r.Images > 0 {
		fmt.Fprintf(&b, "\n%d images go with the request. Choose roles whose chain has a model that sees.\n", r.Images)
	}
	b.WriteString("\nThe user's request:\n" + r.Words + "\n")
	return b.String()
}

func (r *Request) budget(b *strings.Builder) {
	l := r.Limits.limits()
	fmt.Fprintf(b, "At most %d things to do, %d workers besides the primary and the reviewer, %d at once.\n", l.Todos, l.Workers, l.Parallel)
}

func (r *Request) roles(b *strings.Builder) {
	b.WriteString("\nRoles:\n")
	for _, c := range r.Roles {
		if c.Role == Router {
			continue
		}
		fmt.Fprintf(b, "- %s: %s", c.Role, c.Line)
		if len(c.Chain) > 0 {
			fmt.Fprintf(b, " (models: %s)", strings.Join(c.Chain, ", "))
		}
		if r.Images > 0 && !slices.ContainsFunc(c.Chain, r.usable) {
			b.WriteString(" (cannot take the images)")
		}
		b.WriteByte('\n')
	}
}

func (r *Request) models(b *strings.Builder) {
	if len(r.Models) == 0 {
		return
	}
	b.WriteString("\nModels:\n")
	for _, m := range r.Models {
		fmt.Fprintf(b, "- %s: %s, %s", m.ID, either(m.Vision, "sees images", "text only"), either(m.Tools, "calls tools", "no tools"))
		if m.Window > 0 {
			fmt.Fprintf(b, ", window of %d tokens", m.Window)
		}
		b.WriteByte('\n')
	}
}

func either(yes bool, a, b string) string {
	if yes {
		return a
	}
	return b
}

const principles = `
Rules:
- There is no role for coding as such: choose the field that the work lies in.
- librarian finds out what is where in the project; oracle is for hard reasoning only.
- review judges changes that were made; qa works out what to test. They are not the same.
- rush answers small questions without tools; whatever needs the shell or git belongs to devops.
- summarize only where a recap is asked for.
- Models belong to roles; do not give a role another's.
- Workers do not talk to each other: what one needs of another is a dependency, and its result is passed on.
- Support works before the primary, the review after it. Support cannot depend on the primary or the review.
- Take few workers. One is enough for most requests.
- Ask the user only where the request can be read in ways that lead to different work, and nothing in it decides.
`

const radical = `- Decompose further than usual: librarian, oracle and qa early, and things to do that can go on beside each other.
`

// shape is the form of the reply.
func shape(r Request) string {
	var names []string
	for _, c := range r.Roles {
		if c.Role != Router {
			names = append(names, string(c.Role))
		}
	}
	return `
The reply:
{"role": "the primary, one of ` + strings.Join(names, ", ") + `",
 "workers": [{"role": "…", "goal": "what exactly, self-contained", "reason": "…", "writes": true only for support that is to change files itself}],
 "todos": [{"id": "short-id", "title": "…", "role": "…", "reason": "…"}],
 "dependencies": [{"from": "id that comes first", "to": "id that waits", "reason": "…"}],
 "review": true or false: should the result be reviewed by somebody else,
 "confidence": 0 to 1,
 "reason": "one sentence",
 "clarification": only where you must ask: {"required": true, "reason": "…", "question": "…", "missing": ["…"], "options": [two or three of {"id": "…", "label": "…", "description": "…"} that exclude each other, in the user's language]}}
`
}
