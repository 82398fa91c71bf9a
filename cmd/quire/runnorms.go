package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/quire-agent/quire/internal/assemble"
	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/norms"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/x/gitexec"
)

// chosenNorms are the instructions for a task, of the files as they are now.
func (inv *invocation) chosenNorms(ctx context.Context, h *home, dir, words string) norms.Head {
	read := inv.readNorms(ctx, h, dir)
	return norms.Choose(read.Pages, words, norms.MaxTokens, h.pool.Counter)
}

// readNorms reads the instruction files of a project and of the user.
func (inv *invocation) readNorms(ctx context.Context, h *home, dir string) norms.Norms {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	pulled := sync.OnceValue(func() []string { return pulledFiles(ctx, dir) })
	return norms.Read(inv.normPlaces(h.pool.Home, dir), h.pool.Counter, func(path string) bool {
		return !norms.Owned(path) || slices.Contains(pulled(), path)
	})
}

// normPlaces are the folders of instruction files: Quire's home before the user's.
func (inv *invocation) normPlaces(home, dir string) []norms.Place {
	return norms.Places(dir, norms.Place{Dir: home, Shown: "home of quire/"}, norms.Place{Dir: inv.env.home(inv.app.goos), Shown: "~/"})
}

// pulledFiles are the instruction files that the last pull brought, where nothing
// was committed or checked out since.
func pulledFiles(ctx context.Context, dir string) (list []string) {
	const enough = 1 << 16
	last, _, err := gitexec.Run(ctx, dir, enough, "reflog", "-1", "--format=%gs")
	if err != nil || !strings.HasPrefix(string(last), "pull") {
		return nil
	}
	top, _, err := gitexec.Run(ctx, dir, enough, "rev-parse", "--show-toplevel")
	if err != nil {
		return nil
	}
	out, _, err := gitexec.Run(ctx, strings.TrimSpace(string(top)), enough, "diff", "--name-only", "-z", "HEAD@{1}", "HEAD")
	if err != nil {
		return nil
	}
	for name := range strings.SplitSeq(string(out), "\x00") {
		if slices.Contains(norms.Files(), filepath.Base(name)) {
			list = append(list, filepath.Join(strings.TrimSpace(string(top)), filepath.FromSlash(name)))
		}
	}
	return list
}

// opening is a head of norms as it stands in a prompt.
func opening(head norms.Head) (list []assemble.Text) {
	for _, t := range head.Texts {
		list = append(list, assemble.Text{Source: t.Source, Text: t.Text, Tokens: t.Tokens})
	}
	return list
}

// keptLife is how long a session that rests keeps its norms: as long as a cache may
// hold its prompt. After that they are chosen anew.
const keptLife = time.Hour + time.Minute

// keptNorms are those that a session has, nil where they are to be chosen anew.
func keptNorms(path string, now time.Time) (*norms.Head, error) {
	last, err := journal.Last(path)
	if err != nil || now.Sub(last.T) > keptLife {
		return nil, err
	}
	heads, err := normsOf(path)
	if err != nil || len(heads) == 0 {
		return &norms.Head{}, err
	}
	return &heads[len(heads)-1], nil
}

// normsOf are all heads of norms that a session had.
func normsOf(path string) (heads []norms.Head, err error) {
	for r, err := range journal.Read(path) {
		if err != nil {
			return heads, err
		}
		if r.Type != quire.RecordNorms {
			continue
		}
		var head norms.Head
		if err := json.Unmarshal(r.Line, &head); err != nil {
			return heads, fmt.Errorf("record %d, %s: %w", r.Seq, r.Type, err)
		}
		heads = append(heads, head)
	}
	return heads, nil
}

// judged is how many of the newest sessions say whether norms are ever matched.
const judged = 30

// normsReport is what is wrong with the instruction files of a project, a line each:
// what cannot be read, what stands there twice, paths that do not exist, and
// sections that none of the last sessions matched.
func (inv *invocation) normsReport(ctx context.Context, h *home, dir string) ([]string, error) {
	read := inv.readNorms(ctx, h, dir)
	lines := slices.Clone(read.Fault)
	for _, t := range read.Twice {
		lines = append(lines, fmt.Sprintf("%s says the same as %s", t.Page.Name(), t.Of.Name()))
	}
	for _, g := range norms.MissingPaths(read.Pages, named(dir)) {
		lines = append(lines, fmt.Sprintf("%s names %s, which does not exist", g.Page.Name(), g.Path))
	}
	heads, err := h.headsOf(dir)
	if err != nil {
		return nil, err
	}
	for _, p := range norms.Unmatched(read.Pages, heads, judged) {
		lines = append(lines, fmt.Sprintf("%s was not matched in the last %d sessions; it takes %d tokens", p.Name(), len(heads), p.Tokens))
	}
	return lines, nil
}

// named reports whether a path that a file names is there: from the file's folder or
// from the project's.
func named(dir string) func(string, string) bool {
	return func(of, path string) bool {
		for _, from := range []string{of, dir} {
			if _, err := os.Stat(filepath.Join(from, filepath.FromSlash(path))); err == nil {
				return true
			}
		}
		return false
	}
}

// headsOf are the last heads of the newest sessions of a project.
func (h *home) headsOf(dir string) (heads []norms.Head, err error) {
	all, err := journal.List(h.pool.Home)
	if err != nil {
		return nil, err
	}
	for i := len(all) - 1; i >= 0 && len(heads) < judged; i-- {
		first, err := journal.Head(all[i].Path)
		if err != nil || first.Info.Agent != quire.AgentQuire || first.Info.Project != dir {
			continue
		}
		own, err := normsOf(all[i].Path)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		if len(own) > 0 {
			heads = append(heads, own[len(own)-1])
		}
	}
	return heads, nil
}
