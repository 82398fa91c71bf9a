package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/quire-agent/quire/internal/run"
	"github.com/quire-agent/quire/internal/tool/todo"
	"github.com/quire-agent/quire/internal/x/gitexec"
)

// State measures the project: where git stands, what is to be done, what goes on
// in the background, and what the user put back.
func (a *agent) State(ctx context.Context) string {
	var lines []string
	if head := gitState(ctx, a.project.Dir()); head != "" {
		lines = append(lines, head)
	}
	if list := todoState(a.todos.Items()); list != "" {
		lines = append(lines, list)
	}
	for _, j := range a.shell.Jobs() {
		lines = append(lines, fmt.Sprintf("In the background: %s, %s", j.ID, clip(j.Command, 120)))
	}
	if len(a.undone) > 0 {
		lines = append(lines, run.PutBack(a.undone))
	}
	if len(lines) == 0 {
		return ""
	}
	return run.StateHead + ": " + strings.Join(lines, "\n")
}

// gitState is a line about the repository, "" outside of one.
func gitState(ctx context.Context, dir string) string {
	const enough = 1 << 20
	out, _, err := gitexec.Run(ctx, dir, enough, "status", "--porcelain=v2", "--branch", "--untracked-files=normal")
	if err != nil {
		return ""
	}
	branch, head, dirty := "", "", 0
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		switch name, value, _ := strings.Cut(strings.TrimPrefix(line, "# "), " "); {
		case name == "branch.head":
			branch = value
		case name == "branch.oid":
			head = value[:min(len(value), 10)]
		case line != "" && line[0] != '#':
			dirty++
		}
	}
	return fmt.Sprintf("branch %s at %s, %d %s not committed.", branch, head, dirty, plural(dirty, "path", "paths"))
}

// todoState is a line about the things to do, "" where there are none.
func todoState(items []todo.Item) string {
	open, current := 0, ""
	for _, i := range items {
		if i.Status != todo.Done {
			open++
		}
		if i.Status == todo.InProgress && current == "" {
			current = ", now: " + clip(i.Content, 120)
		}
	}
	if open == 0 {
		return ""
	}
	return fmt.Sprintf("Of the list of things to do %d of %d are open%s.", open, len(items), current)
}
