package route

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"pgregory.net/rapid"
)

// all are cards of all roles.
func all() (cards []Card) {
	for _, r := range []Role{Frontend, Backend, Designer, DBA, DevOps, Security, QA, Review, Summarize, Oracle, Librarian, Rush, Router} {
		cards = append(cards, Card{Role: r, Line: "what " + string(r) + " does", Chain: []string{"a/" + string(r), "a/blind"}})
	}
	return cards
}

func request(words string) Request {
	return Request{Words: words, Roles: all(), Limits: Limits{6, 4, 2}, Review: true}
}

// show is a plan in lines.
func show(p Plan) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s review=%v\n", p.Source, p.Primary, p.RequiresReview)
	for _, w := range p.Workers {
		fmt.Fprintf(&b, "worker %s %v", w.Role, w.Todos)
		if w.Model != "" {
			b.WriteString(" " + w.Model)
		}
		if w.Writes {
			b.WriteString(" writes")
		}
		b.WriteString("\n")
	}
	for _, t := range p.Todos {
		fmt.Fprintf(&b, "todo %s %s: %s\n", t.ID, t.Role, t.Title)
	}
	for _, d := range p.Dependencies {
		fmt.Fprintf(&b, "edge %s %s\n", d.From, d.To)
	}
	if c := p.Clarification; c != nil {
		fmt.Fprintf(&b, "asks %q", c.Question)
		for _, o := range c.Options {
			fmt.Fprintf(&b, " %s=%s", o.ID, o.Label)
		}
		b.WriteString("\n")
	}
	for _, n := range p.Notes {
		b.WriteString("note " + n + "\n")
	}
	return b.String()
}

// TestReplies reads replies of routers as testdata has them: the words, the reply,
// and the plan that comes of it.
func TestReplies(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			part := map[string]string{}
			for _, f := range txtar.Parse(text).Files {
				part[f.Name] = strings.TrimSpace(string(f.Data))
			}
			r := request(part["words"])
			r.Escalate = part["escalate"] != ""
			got, err := Parse(part["reply"], r)
			if err != nil {
				t.Fatal(err)
			}
			if strings.TrimSpace(show(got)) != part["plan"] {
				t.Errorf("got\n%swant\n%s", show(got), part["plan"])
			}
		})
	}
}

func TestNoPlan(t *testing.T) {
	for _, text := range []string{"", "I cannot do that.", `{"role": "backend"`, "[1]"} {
		if _, err := Parse(text, request("x")); !errors.Is(err, ErrNoPlan) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// The words alone, in English and Chinese: primary, support, and whether edits are
// reviewed (failures.md B9: the router can propose a review and cannot refuse one).
func TestHeuristic(t *testing.T) {
	for _, c := range []struct{ words, want string }{
		{"hello", "rush review=false:"},
		{"what is the capital of France?", "rush review=false:"},
		{"git rebase onto main", "devops review=false:"},
		{"fix the button on the checkout page", "frontend review=true: librarian review"},
		{"add an API endpoint for orders with its database migration and tests", "backend review=true: librarian dba review"},
		{"design the user flow of the wizard", "designer review=false:"},
		{"look for SQL injection in the login", "dba review=false: security"},
		{"is our OAuth handling secure?", "security review=false:"},
		{"review my pull request", "review review=false:"},
		{"summarize the discussion", "summarize review=false:"},
		{"fix the parser", "backend review=true: librarian review"},
		{"run the tests", "devops review=false:"},
		{"修复前端按钮的样式", "frontend review=true: librarian review"},
		{"给数据库新增一个索引", "dba review=true: librarian review"},
		{"总结一下这次讨论", "summarize review=false:"},
		{"提交并部署", "devops review=false:"},
		{"你好", "rush review=false:"},
		{"describe addition", "rush review=false:"}, // parts of words are none
	} {
		p := Heuristic(request(c.words))
		got := fmt.Sprintf("%s review=%v:", p.Primary, p.RequiresReview)
		for _, w := range p.Workers[1:] {
			got += " " + string(w.Role)
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.words, got, c.want)
		}
	}
	r := request("fix the button")
	if r.Review = false; Heuristic(r).RequiresReview {
		t.Error("a review that the brain has switched off")
	}
	if r.Roles = nil; Heuristic(r).Primary != Frontend {
		t.Error("without cards the words still decide")
	}
	if r.Roles = []Card{{Role: Oracle}}; Heuristic(r).Primary != Oracle {
		t.Error("a role that cannot be chosen was")
	}
}

// orchestrator.md appendix D1, D2 and D3: workers without dependencies are ready
// together, dependent ones wait for their upstreams, and a failed upstream blocks
// its dependants with a reason.
func TestNext(t *testing.T) {
	p, err := Parse(`{"role":"backend","workers":[{"role":"librarian"},{"role":"dba"},{"role":"qa"}],
		"todos":[{"id":"a","title":"a","role":"librarian"},{"id":"b","title":"b","role":"dba"},{"id":"c","title":"c","role":"qa"}],
		"dependencies":[{"from":"a","to":"c"}]}`, request("hm"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		state map[Role]Status
		want  string
	}{
		{nil, "[librarian dba] []"},
		{map[Role]Status{Librarian: Running, DBA: Running}, "[] []"},
		{map[Role]Status{Librarian: Completed, DBA: Running}, "[qa] []"},
		{map[Role]Status{Librarian: Failed, DBA: Completed}, "[] [{qa it waits for a of librarian, which is failed}]"},
		{map[Role]Status{Librarian: Blocked, QA: Blocked, DBA: Completed}, "[] []"},
	} {
		ready, stuck := p.Next(c.state)
		if got := fmt.Sprint(ready, " ", stuck); got != c.want {
			t.Errorf("%v: got %s, want %s", c.state, got, c.want)
		}
	}
	if got := p.Upstreams(QA); !slices.Equal(got, []Role{Librarian}) { // failures.md B7
		t.Errorf("qa gets the results of %v", got)
	}
	if got := p.Upstreams(Backend); !slices.Equal(got, []Role{Librarian, DBA, QA}) {
		t.Errorf("the primary gets the results of %v", got)
	}
	p.Dependencies = append(p.Dependencies, Dependency{From: "nowhere", To: "b"})
	if _, stuck := p.Next(nil); len(stuck) != 1 || stuck[0].Role != DBA {
		t.Errorf("%v", stuck)
	}
}

func TestForced(t *testing.T) {
	got := show(Forced([]Role{QA, Security, QA, Router}, request("fix it")))
	if want := "forced qa review=false\nworker qa [todo-01-qa]\nworker security [todo-02-security]\ntodo todo-01-qa qa: Respond to the request independently, as your role.\ntodo todo-02-security security: Respond to the request independently, as your role.\n"; got != want {
		t.Errorf("got\n%s", got)
	}
	if p := Forced(nil, request("fix it")); p.Source != ByHeuristic {
		t.Errorf("%+v", p)
	}
}

// orchestrator.md appendix D11: a review can be added when the work is done.
func TestWithReview(t *testing.T) {
	p := Forced([]Role{Backend, QA}, request("x"))
	q := p.WithReview("a sensitive path was changed")
	if p.Worker(Review) != nil || len(p.Todos) != 2 || p.RequiresReview {
		t.Errorf("the plan itself was changed: %s", show(p))
	}
	if w := q.Worker(Review); w == nil || !q.RequiresReview || len(q.Todos) != 3 || !slices.Contains(q.Dependencies, Dependency{From: "todo-01-backend", To: "review"}) {
		t.Errorf("%s", show(q))
	}
	if r := q.WithReview("again"); len(r.Workers) != 3 {
		t.Errorf("%s", show(r))
	}
}

func TestClarification(t *testing.T) {
	c := &Clarification{Question: "Which one?", Missing: []string{"the file"}, Options: []Option{{"old", "The old one", "as it was"}, {"new", "The new one", ""}}}
	if got, want := c.Text("do it"), "Which one?\nMissing: the file\nAnswer with a number or in your own words:\n1. The old one — as it was\n2. The new one\n"; got != want {
		t.Errorf("got %q", got)
	}
	if got := c.Text("做吧"); !strings.Contains(got, "请回答序号") {
		t.Errorf("got %q", got)
	}
}

func TestPrompt(t *testing.T) {
	r := request("do\nthis")
	r.Models = []Model{{ID: "a/seer", Vision: true, Window: 1000}, {ID: "a/blind", Tools: true}}
	plain := Prompt(r)
	for _, want := range []string{"At most 6 things to do, 4 workers", "- backend: what backend does (models: a/backend, a/blind)", "- a/seer: sees images, no tools, window of 1000 tokens"} {
		if !strings.Contains(plain, want) {
			t.Errorf("the prompt does not hold %q", want)
		}
	}
	if strings.Contains(plain, string(Router)) || strings.Contains(plain, "cannot take") || !strings.HasSuffix(plain, "The user's request:\ndo\nthis\n") {
		t.Errorf("%s", plain)
	}
	// failures.md B33: what is the same for every request comes first.
	if other := Prompt(Request{Words: "something else", Roles: r.Roles, Models: r.Models, Limits: r.Limits}); other[:strings.Index(other, "something else")] != plain[:strings.Index(plain, "do\nthis")] {
		t.Error("two requests share less than all before their words")
	}
	r.Images, r.Roles[0].Chain = 1, []string{"a/seer"}
	if text := Prompt(r); strings.Count(text, "(cannot take the images)") != 11 || !strings.Contains(text, "1 images go with") {
		t.Errorf("%s", text)
	}
	if r.Radical = true; !strings.Contains(Prompt(r), "Decompose further") {
		t.Error("nothing says that the mode is radical")
	}
}

// A model that a router names is only taken from the role's own chain, and only
// where it can see what there is to see.
func TestModels(t *testing.T) {
	for model, want := range map[string]string{"a/backend": "a/backend", "a/qa": "", "a/blind": "a/blind"} {
		p, err := Parse(fmt.Sprintf(`{"role":"backend","workers":[{"role":"backend","modelId":%q}]}`, model), request("x"))
		if err != nil || p.Worker(Backend).Model != want {
			t.Errorf("%s: %q, %v", model, p.Worker(Backend).Model, err)
		}
	}
	r := request("x")
	r.Images, r.Models = 1, []Model{{ID: "a/blind"}}
	if p, err := Parse(`{"role":"backend","workers":[{"role":"backend","modelId":"a/blind"}]}`, r); err != nil || p.Worker(Backend).Model != "" {
		t.Errorf("%+v, %v", p, err)
	}
}

// check holds what every plan keeps, whatever a router replied.
func check(t interface{ Errorf(string, ...any) }, p Plan, r Request) {
	if p.Worker(p.Primary) == nil {
		t.Errorf("the primary %q is no worker", p.Primary)
	}
	support := p.Support()
	if len(support) > r.Limits.limits().Workers {
		t.Errorf("%d workers support, at most %d", len(support), r.Limits.Workers)
	}
	seen := map[Role]bool{}
	for _, w := range p.Workers {
		if seen[w.Role] || len(w.Todos) == 0 || w.Goal == "" || w.Reason == "" {
			t.Errorf("%+v, a second one: %v", w, seen[w.Role])
		}
		seen[w.Role] = true
	}
	ids := map[string]bool{}
	for _, todo := range p.Todos {
		if ids[todo.ID] || todo.ID != slug(todo.ID) || p.Owner(todo.ID) != todo.Role || todo.Title == "" {
			t.Errorf("%+v of %q, a second one: %v", todo, p.Owner(todo.ID), ids[todo.ID])
		}
		ids[todo.ID] = true
	}
	state := map[Role]Status{}
	for {
		ready, stuck := p.Next(state)
		if len(stuck) > 0 {
			t.Errorf("stuck though nothing failed: %v", stuck)
		}
		if len(ready) == 0 {
			break
		}
		state[ready[0]] = Completed
	}
	if len(state) != len(support) {
		t.Errorf("%d of %d workers ever start", len(state), len(support))
	}
}

func TestPlanProperties(t *testing.T) {
	role := rapid.SampledFrom([]string{"backend", "frontend", "qa", "review", "librarian", "rush", "oracle", "routeBrain", "pet", ""})
	id := rapid.SampledFrom([]string{"a", "b", "C!", "a-2", "", "长"})
	rapid.Check(t, func(t *rapid.T) {
		r := request(rapid.SampledFrom([]string{"fix the button", "hello", "review it"}).Draw(t, "words"))
		r.Limits = Limits{rapid.IntRange(0, 5).Draw(t, "todos"), rapid.IntRange(0, 5).Draw(t, "workers"), 1}
		r.Escalate = rapid.Bool().Draw(t, "escalate")
		var workers, todos, edges []string
		for range rapid.IntRange(0, 6).Draw(t, "n") {
			workers = append(workers, fmt.Sprintf(`{"role":%q}`, role.Draw(t, "role")))
			todos = append(todos, fmt.Sprintf(`{"id":%q,"title":"t","role":%q}`, id.Draw(t, "id"), role.Draw(t, "role")))
			edges = append(edges, fmt.Sprintf(`{"from":%q,"to":%q}`, id.Draw(t, "from"), id.Draw(t, "to")))
		}
		reply := fmt.Sprintf(`{"role":%q,"confidence":%v,"review":true,"workers":[%s],"todos":[%s],"dependencies":[%s]}`, role.Draw(t, "primary"),
			rapid.Float64().Draw(t, "confidence"), strings.Join(workers, ","), strings.Join(todos, ","), strings.Join(edges, ","))
		p, err := Parse(reply, r)
		if err != nil {
			return // a number that JSON does not have
		}
		check(t, p, r)
		if again, _ := Parse(reply, r); show(again) != show(p) {
			t.Errorf("the same reply gives another plan")
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"", `{}`, `{"role":"qa","todos":[{"title":1}],"workers":{},"dependencies":[null],"clarification":[]}`, "```json\n{\"role\":\"backend\",\"confidence\":\"0.2\"}\n```", `{"clarification":{"required":true,"question":"?","options":[{"label":"a"},{"label":"b"},3]}}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, reply string) {
		r := request("fix the button")
		if p, err := Parse(reply, r); err == nil {
			check(t, p, r)
		}
	})
}
