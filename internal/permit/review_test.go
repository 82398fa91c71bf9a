package permit

import (
	"encoding/json"
	"strings"
	"testing"
)

// What has to be reviewed is a matter of layers, for paths and for commands; a
// project's file can demand a review and cannot lift one.
func TestReview(t *testing.T) {
	layer := func(name, rules string) Layer {
		l := Layer{Name: name}
		if err := json.Unmarshal([]byte(rules), &l.Rules); err != nil {
			t.Fatal(err)
		}
		return l
	}
	user := layer("user", `[{"write": "docs/**", "verdict": "allow", "review": "required", "reason": "it is read by customers"},
		{"command": "make release", "verdict": "ask", "review": "required"}, {"write": ".github/workflows/**", "verdict": "ask", "review": "optional"}, {"write": "src/**", "verdict": "allow"}]`)
	theirs := layer("project", `[{"write": "docs/**", "verdict": "allow", "review": "optional"}, {"write": "src/pay/**", "verdict": "allow", "review": "required"}]`)
	theirs.Tighten = true
	p := &Policy{Mode: Edit, Layers: []Layer{Defaults(), user, theirs}, Project: project(t)}
	for _, c := range []struct {
		name string
		r    Request
		want string // in the reason, "" for no review
	}{
		{"a rule of the user", Request{Writes: []string{"a.txt", "docs/a.md"}}, "customers"},
		{"a rule without a demand", Request{Writes: []string{"src/a.go"}}, ""},
		{"a project's rule", Request{Writes: []string{"src/pay/a.go"}}, "(project)"},
		{"a default that the user lifts", Request{Writes: []string{".github/workflows/ci.yml"}}, ""},
		{"a default", Request{Writes: []string{".gitlab-ci.yml"}}, "built in"},
		{"a command among others", Request{Command: "cd x && make -s release; ls"}, "make release"},
		{"another command", Request{Command: "make test"}, ""},
		{"nothing", Request{}, ""},
	} {
		why, required := p.Review(c.r)
		if required != (c.want != "") || !strings.Contains(why, c.want) {
			t.Errorf("%s: %t, %q", c.name, required, why)
		}
	}
	var r Rule
	if err := json.Unmarshal([]byte(`{"write": "a", "verdict": "ask", "review": "maybe"}`), &r); err == nil || !strings.Contains(err.Error(), "required or optional") {
		t.Errorf("got %v", err)
	}
}
