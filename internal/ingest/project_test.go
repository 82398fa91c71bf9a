package ingest

import (
	"strings"
	"testing"
)

// Projects that differ only in their secrets stay two, and no secret of a
// session is in its row.
func TestProjectsWithSecrets(t *testing.T) {
	mask := func(s string) string {
		return strings.NewReplacer("hunter2", "‹secret›", "hunter3", "‹secret›").Replace(s)
	}
	if got := ProjectName("/home/ann/shop", mask); got != "/home/ann/shop" {
		t.Errorf("a path without secrets is called %s", got)
	}
	two, three := ProjectName("/home/hunter2/shop", mask), ProjectName("/home/hunter3/shop", mask)
	if two == three || strings.Contains(two+three, "hunter") || !strings.HasPrefix(two, "/home/‹secret›/shop~") {
		t.Errorf("%s and %s", two, three)
	}
	p := newPool(t)
	log := work()
	for i := range log.lines {
		log.lines[i] = strings.ReplaceAll(log.lines[i], `"cwd":"/p"`, `"cwd":"/p/hunter2","gitBranch":"hunter2"`)
	}
	got := imported(t, p, log.write(t))
	derived(t, p, got)
	s := sessions(t, p)[0]
	if s.Project != ProjectName("/p/hunter2", p.Mask) || s.Branch != "‹secret›" {
		t.Errorf("the session is of %s, branch %s", s.Project, s.Branch)
	}
}
