package main

import (
	"fmt"
	"strings"
	"testing"
)

// What was decided about pages is told without the secrets that they hold.
func TestWhyShowsNoSecret(t *testing.T) {
	home, plants := t.TempDir(), toolPlants()
	runAt(t, home, "import", plantTools(t, "/home/ann/shop", plants))
	lines := [][]string{{"task"}, {"task", "--json"}, {"epoch", "list", "--profile", "claude"}, {"why", "--call", "1", "--profile", "claude"}}
	for n := range plants {
		lines = append(lines, []string{"why", fmt.Sprintf("p%d", n+1), "--profile", "claude", "--json"})
	}
	masked := 0
	for _, line := range lines {
		text := runAt(t, home, line...)
		lookFor(t, plants, strings.Join(line, " "), text)
		masked += strings.Count(text, "‹secret:")
	}
	if masked < len(plants)/3 {
		t.Errorf("%d secrets are masked", masked)
	}
}
