package trial

import (
	"encoding/json"
	"os/exec"
	"testing"

	"github.com/quire-agent/quire/internal/taskset"
)

// A found is what `quire eval tasks --json` writes, as far as it is looked at.
type found struct {
	Policies map[string]struct {
		Tasks, Skipped, Solved, Calls, Faults int
		Cost                                  float64
	}
	Runs []struct {
		Task, Policy, Missing, Check string
		Solved                       bool
		Calls                        int
		Stops                        []string
	}
}

// TestTasks holds that what an agent needs from long ago is there or comes back:
// under append and quire all tasks are solved, and without memory most are not.
func TestTasks(t *testing.T) {
	quire := built(t)
	args := []string{"eval", "tasks", "--json"}
	if testing.Short() {
		for _, name := range []string{"js-key", "py-version", "sh-exit", "sh-greeting", "zh-docs-rule", "zh-sh-name"} {
			args = append(args, "--task", name)
		}
	}
	cmd := exec.Command(quire, args...)
	cmd.Dir = t.TempDir()
	cmd.Env = environment(cmd.Dir)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("quire eval tasks: %v\n%s", err, stderrOf(err))
	}
	var f found
	if err := json.Unmarshal(out, &f); err != nil {
		t.Fatal(err)
	}
	far := distances(t)
	for _, r := range f.Runs {
		switch {
		case r.Missing != "":
			t.Logf("%s was left out: there is no %s", r.Task, r.Missing)
		case r.Policy != "none" && !r.Solved:
			t.Errorf("%s was not solved under %s: %q, %s", r.Task, r.Policy, r.Stops, r.Check)
		case r.Calls < far[r.Task]:
			t.Errorf("%s took %d calls, its fact is to be %d calls away", r.Task, r.Calls, far[r.Task])
		}
	}
	none, ours := f.Policies["none"], f.Policies["quire"]
	if none.Solved*3 > none.Tasks {
		t.Errorf("without memory %d of %d tasks are solved", none.Solved, none.Tasks)
	}
	if ours.Tasks > 3 && ours.Faults == 0 {
		t.Error("nothing ever left the prompt under quire")
	}
	for _, p := range []string{"append", "quire", "none"} {
		s := f.Policies[p]
		t.Logf("%s: %d of %d solved, %d skipped, %d calls, $%.4f, %d faults", p, s.Solved, s.Tasks, s.Skipped, s.Calls, s.Cost, s.Faults)
	}
}

func distances(t *testing.T) map[string]int {
	t.Helper()
	all, err := taskset.All()
	if err != nil {
		t.Fatal(err)
	}
	far := map[string]int{}
	for _, x := range all {
		far[x.Name] = x.Far
	}
	return far
}
