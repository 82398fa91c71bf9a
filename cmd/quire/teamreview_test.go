package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/brain"
)

const approves = "turn always\n when prompt contains Your role: review.\n say {\"decision\": \"approved\", \"rationale\": \"read it\", \"coverage\": [{\"file\": \"notes/a.txt\", \"depth\": \"inspected\"}]}\n"

// A rule of permission can demand a review, of files and of commands: somebody looks
// at the change though neither the router nor the words of the request asked for it.
func TestTeamReviewsWhatRulesDemand(t *testing.T) {
	t.Parallel()
	write := `call write {"path": "notes/a.txt", "content": "x\n"}`
	for name, c := range map[string]struct{ rules, call string }{
		"a path":         {`[{"write": "notes/**", "verdict": "allow", "review": "required"}]`, write},
		"a command":      {`[{"command": "sh make.sh", "verdict": "allow", "review": "required"}]`, `call bash {"command": "sh make.sh"}`},
		"no demand":      {`[{"write": "notes/**", "verdict": "allow", "review": "optional"}]`, write},
		"of other files": {`[{"write": "src/**", "verdict": "allow", "review": "required"}]`, write},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			play := planOf("") + turnOf(markPrimary, c.call) + turnOf(markPrimary, "say done") + approves + "turn always\n when prompt contains " + markPrimary + "\n say done again\n"
			w := newTeamWorld(t, play, map[string]string{"make.sh": "mkdir -p notes; echo x > notes/a.txt\n"})
			w.atHome("permit.json", `{"rules": `+c.rules+`}`)
			r := w.report("--permit", "full", "look around")
			wanted := strings.Contains(c.rules, "required") && name != "of other files"
			if (r.Review != nil) != wanted || wanted && r.Review.Tier != "high" || !wanted && r.Status != brain.StatusUnreviewed {
				t.Errorf("it ends %s, the review is %+v", r.Status, r.Review)
			}
		})
	}
}

// Where git knows nothing of the project the patch is what tools changed, and the
// reviewer sees it as a diff all the same.
func TestTeamOutsideGit(t *testing.T) {
	t.Parallel()
	play := planOf(`"review": true,`) +
		turnOf(markPrimary, `call read {"path": "a.txt"}`) +
		turnOf(markPrimary, `call edit {"path": "a.txt", "old_string": "old words", "new_string": "new words"}`, `call write {"path": "b.txt", "content": "fresh\n"}`, `call write {"path": "c.txt", "content": "for a while\n"}`, `call bash {"command": "rm c.txt gone.txt"}`) +
		turnOf(markPrimary, "say changed") + "turn always\n when prompt contains " + markOf("review") + "\n say {\"decision\": \"approved\", \"rationale\": \"fine\"}\n"
	w := newTeamWorld(t, play, map[string]string{"a.txt": "old words\n", "gone.txt": "last words\n"})
	if err := os.RemoveAll(filepath.Join(w.project, ".git")); err != nil {
		t.Fatal(err)
	}
	r := w.report("--permit", "full", "change the words of a.txt")
	if r.Patch == nil || strings.Join(r.Patch.Paths(), " ") != "a.txt b.txt gone.txt" || r.Patch.Stats.Insertions != 1 || r.Patch.Stats.Deletions != 2 || r.Status != brain.StatusApproved {
		t.Fatalf("it ends %s with %+v", r.Status, r.Patch)
	}
	sent := w.asked(markOf("review"))[0]
	for _, want := range []string{`-old words\n+new words`, `-last words`, "fresh"} {
		if !strings.Contains(sent, want) {
			t.Errorf("the reviewer is not shown %s", want)
		}
	}
}
