package role_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/quire-agent/quire/internal/role"
	"github.com/quire-agent/quire/internal/route"
)

func known(r route.Role) bool { return r == "backend" || r == "review" || r == route.Router }

// The twelve roles that can be routed to are there, with the router; the names that
// are reserved are not.
func TestDefaultRoles(t *testing.T) {
	roles, err := role.Default()
	if err != nil {
		t.Fatal(err)
	}
	routed := 0
	for _, r := range roles {
		if r.Routed {
			routed++
		}
		if !strings.Contains(r.Profile(), "isolated") || !strings.Contains(r.Profile(), r.Identity) {
			t.Errorf("the profile of %s is %q", r.Name, r.Profile())
		}
		if slices.Contains(role.Reserved(), r.Name) {
			t.Errorf("%s is reserved", r.Name)
		}
		if len(r.Rules) < 2 || len(r.Rules) > 3 {
			t.Errorf("%s has %d rules", r.Name, len(r.Rules))
		}
	}
	if routed != 12 || len(roles) != 13 {
		t.Errorf("%d roles, %d of them routed", len(roles), routed)
	}
	for name, want := range map[route.Role]role.Tools{"routeBrain": role.ToolsNone, "rush": role.ToolsNone, "librarian": role.ToolsRead, "review": role.ToolsRead, "security": role.ToolsRead, "qa": role.ToolsRead} {
		if r, ok := roles.Role(name); !ok || r.Tools != want {
			t.Errorf("%s may %s, want %s", name, r.Tools, want)
		}
	}
	for name, want := range map[route.Role]bool{"review": false, "rush": false, "librarian": true, "oracle": true} {
		if r, _ := roles.Role(name); r.Dispatch != want {
			t.Errorf("%s can be dispatched: %t", name, r.Dispatch)
		}
	}
}

// Adding a role is adding a file; one of the same name replaces it.
func TestRolesAreFiles(t *testing.T) {
	roles, err := role.Default()
	if err != nil {
		t.Fatal(err)
	}
	with := func(name, text string) (role.Set, error) {
		return roles.With(fstest.MapFS{name: &fstest.MapFile{Data: []byte(text)}, "README.md": {Data: []byte("no role")}})
	}
	more, err := with("writer.json", `{"name": "writer", "identity": "You write.", "line": "texts", "tools": "read", "routed": true}`)
	if r, ok := more.Role("writer"); err != nil || !ok || len(more) != len(roles)+1 || r.Line != "texts" {
		t.Errorf("%+v, %v", r, err)
	}
	same, err := with("qa.json", `{"name": "qa", "identity": "You test.", "line": "mine", "tools": "none"}`)
	if r, _ := same.Role("qa"); err != nil || len(same) != len(roles) || r.Line != "mine" {
		t.Errorf("%+v, %v", r, err)
	}
	for text, want := range map[string]string{
		`{"name": "pet", "identity": "x", "line": "x", "tools": "read"}`:            "reserved",
		`{"name": "a/b", "identity": "x", "line": "x", "tools": "read"}`:            "letters",
		`{"name": "a", "identity": "x", "line": "x", "tools": "all"}`:               "none, read or write",
		`{"name": "a", "line": "x", "tools": "read"}`:                               "identity",
		`{"name": "a", "identity": "x", "line": "x", "tools": "read", "colour": 1}`: "colour",
	} {
		if _, err := with("x.json", text); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "x.json") {
			t.Errorf("%s: %v", text, err)
		}
	}
	if none, err := roles.With(fstest.MapFS{}); err != nil || len(none) != len(roles) {
		t.Errorf("an empty folder: %v", err)
	}
}

func library(t *testing.T, presets string) (*role.Library, error) {
	t.Helper()
	return role.ParseLibrary([]byte(`{"brains": [`+presets+`]}`), known)
}

// A preset is put over the one that it extends, member by member.
func TestExtends(t *testing.T) {
	l, err := library(t, `
		{"id": "a", "extends": "brain", "planner": {"modelId": "p/big", "thinkingLevel": "high"}, "roles": {"review": {"modelId": "q/one", "fallbackModelIds": ["q/two", "q/one"]}}},
		{"id": "b", "extends": "a", "name": "B", "roles": {"review": {"thinkingLevel": "low"}, "backend": {"modelId": "r/x"}}, "routing": {"maxParallelAgents": 5}, "context": {"compaction": "manual"}}`)
	if err != nil {
		t.Fatal(err)
	}
	b, err := l.Brain("b")
	if err != nil {
		t.Fatal(err)
	}
	review := b.Policy("review")
	if b.Name != "B" || b.Planner.Model != "p/big" || review.Model != "q/one" || review.Thinking != "low" || b.Routing.Parallel != 5 || !b.Routing.Review || b.Context.Compaction != "manual" || b.Context.Isolation != "strict" {
		t.Errorf("got %+v", b)
	}
	if got := review.Chain(); !slices.Equal(got, []string{"q/one", "q/two"}) {
		t.Errorf("the chain is %v", got)
	}
	if b.Policy("qa").Model != "p/big" || b.Policy(route.Router).Model != "p/big" {
		t.Error("a role that is not named does not work like the planner")
	}
	if got := l.IDs(); !slices.Equal(got, []string{"brain", "a", "b"}) {
		t.Errorf("the brains are %v", got)
	}
}

// Errors name the chain that is wrong.
func TestBadPresets(t *testing.T) {
	for presets, want := range map[string]string{
		`{"id": "a", "extends": "b"}, {"id": "b", "extends": "a"}`:               "a -> b -> a",
		`{"id": "a", "extends": "a"}`:                                            "a -> a",
		`{"id": "a", "extends": "none"}`:                                         `brain "a" extends "none"`,
		`{"id": "a", "name": "A"}`:                                               "lacks description, planner, roles, routing, context",
		`{"id": "a", "extends": "brain"}, {"id": "a", "extends": "brain"}`:       "only once",
		`{"extends": "brain"}`:                                                   "an id must be there",
		`{"id": "a", "extends": "brain", "roles": {"coder": {"modelId": "x"}}}`:  `no role "coder"`,
		`{"id": "a", "extends": "brain", "planner": {"thinkingLevel": "huge"}}`:  `"huge"`,
		`{"id": "a", "extends": "brain", "context": {"compaction": "never"}}`:    `compaction is "never"`,
		`{"id": "a", "extends": "brain", "context": {"isolation": "none"}}`:      `isolation is "none"`,
		`{"id": "a", "extends": "brain", "rooting": {}}`:                         "rooting",
		`{"id": "a", "extends": "brain", "routing": {"maxParallelAgents": "x"}}`: "routing.maxParallelAgents: string stands where a whole number is wanted",
		`[]`: "brains: array stands where an object is wanted",
	} {
		if _, err := library(t, presets); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", presets, err, want)
		}
	}
	for text, want := range map[string]string{`[]`: "the file: array stands where an object is wanted", `{"brains": []} x`: "behind the end", ``: "EOF"} {
		if _, err := role.ParseLibrary([]byte(text), known); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	l, err := role.ParseLibrary(nil, known)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Brain("other"); err == nil || !strings.Contains(err.Error(), "brain") {
		t.Errorf("an unknown brain: %v", err)
	}
}

// The built-in brain can be replaced by one of the same id.
func TestOwnDefault(t *testing.T) {
	l, err := library(t, `{"id": "brain", "name": "Mine", "description": "d", "planner": {"modelId": "p/m"}, "roles": {}, "routing": {"maxParallelAgents": 0}, "context": {"compaction": "auto", "isolation": "strict"}}`)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := l.Brain("brain"); err != nil || b.Name != "Mine" || len(l.IDs()) != 1 {
		t.Errorf("%+v, %v", b, err)
	}
}

// One that extends the brain of its own id says only what is other than built in, and
// what is null says nothing.
func TestAdjustedDefault(t *testing.T) {
	l, err := library(t, `{"id": "brain", "extends": "brain", "routing": {"maxParallelAgents": 3}, "planner": null, "roles": {"review": null}}, {"id": "a", "extends": "brain", "name": "A"}`)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"brain", "a"} {
		if b, err := l.Brain(id); err != nil || b.Routing.Parallel != 3 || !b.Routing.Review || b.Context.Isolation != "strict" {
			t.Errorf("%+v, %v", b, err)
		}
	}
}

func TestModes(t *testing.T) {
	for _, c := range []struct {
		mode              string
		configured        int
		parallel, workers int
	}{{"auto", 2, 2, 2}, {"auto", 0, 1, 1}, {"auto", -3, 1, 1}, {"radical", 2, 4, 4}, {"radical", 6, 6, 6}} {
		m, ok := role.ModeOf(c.mode)
		if parallel, workers := m.Limits(c.configured); !ok || parallel != c.parallel || workers != c.workers {
			t.Errorf("%s with %d: %d and %d", c.mode, c.configured, parallel, workers)
		}
	}
	if _, ok := role.ModeOf("wild"); ok {
		t.Error("there is a mode wild")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"name": "a", "identity": "x", "line": "y", "tools": "read"}`))
	f.Add([]byte(`{"name": ""}`))
	f.Add([]byte(`[`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := role.Parse(text)
		if err != nil {
			return
		}
		raw, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := role.Parse(raw); err != nil || again.Profile() != r.Profile() {
			t.Errorf("%+v, %v", again, err)
		}
	})
}

func FuzzLibrary(f *testing.F) {
	f.Add([]byte(`{"brains": [{"id": "a", "extends": "brain"}]}`))
	f.Add([]byte(`{"brains": [{"id": "a", "extends": "a"}]}`))
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		l, err := role.ParseLibrary(text, known)
		if err != nil {
			return
		}
		for _, id := range l.IDs() {
			if _, err := l.Brain(id); err != nil {
				t.Errorf("%s was taken and cannot be resolved: %v", id, err)
			}
		}
	})
}
