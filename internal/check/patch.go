package check

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/x/gitexec"
)

// A File is a changed one, with git's short status.
type File struct {
	Path   string `json:"path"` // from the project's folder, with slashes
	Status string `json:"status"`
	Hash   string `json:"hash,omitempty"` // of its content, "" where it is gone or no regular file
}

// A Baseline is the state of a project before a run. It can be kept in a journal.
type Baseline struct {
	Repo  bool   `json:"repo"` // the project is in a git repository
	Head  string `json:"head,omitempty"`
	Files []File `json:"changedFiles"` // changed already
}

// A Patch is what a run changed.
type Patch struct {
	Changed []File   `json:"changedFiles"`
	Before  []string `json:"preExistingChangedFiles"` // changed before the run, and not by it
	Stats   Stats    `json:"diffStats"`
}

// Paths are those of the changed files.
func (p *Patch) Paths() (list []string) {
	for _, f := range p.Changed {
		list = append(list, f.Path)
	}
	return list
}

// Empty reports whether nothing was changed.
func (p *Patch) Empty() bool { return len(p.Changed) == 0 }

// Stats are a patch in figures.
type Stats struct {
	Files      int    `json:"filesChanged"`
	Insertions int    `json:"insertions"`
	Deletions  int    `json:"deletions"`
	Untracked  int    `json:"untrackedFiles"`
	Raw        string `json:"raw"`
}

// maxStatus bounds what git writes about changed files, in bytes.
const maxStatus = 16 << 20

// emptyTree is what a repository without a commit is compared with.
const emptyTree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

// Measure takes the state of the project in a folder.
func Measure(ctx context.Context, dir string) (Baseline, error) {
	b := Baseline{Files: []File{}}
	if _, _, err := gitexec.Run(ctx, dir, maxStatus, "rev-parse", "--is-inside-work-tree"); err != nil {
		return b, ctx.Err() // no repository, or no git
	}
	b.Repo, b.Head = true, emptyTree
	if out, _, err := gitexec.Run(ctx, dir, maxStatus, "rev-parse", "--verify", "HEAD"); err == nil {
		b.Head = strings.TrimSpace(string(out))
	}
	files, err := state(ctx, dir)
	if err != nil {
		return b, fmt.Errorf("measure the state of %s: %w", dir, err)
	}
	b.Files = files
	return b, nil
}

// state lists what differs from the last commit, by path.
func state(ctx context.Context, dir string) ([]File, error) {
	prefix, _, err := gitexec.Run(ctx, dir, maxStatus, "rev-parse", "--show-prefix")
	if err != nil {
		return nil, err
	}
	out, cut, err := gitexec.Run(ctx, dir, maxStatus, "status", "--porcelain=v1", "-z", "--untracked-files=all", "--", ".")
	if err != nil {
		return nil, err
	}
	if cut {
		return nil, errors.New("git status is too long")
	}
	return hashed(dir, below(status(string(out)), strings.TrimRight(string(prefix), "\n")))
}

// status reads git's porcelain form, entries that end with a zero byte. A rename
// is a file that is new and one that is gone.
func status(out string) (files []File) {
	entries := strings.Split(out, "\x00")
	for i := 0; i < len(entries); i++ {
		e := entries[i]
		if len(e) < 4 || e[2] != ' ' {
			continue
		}
		code, path := strings.TrimSpace(e[:2]), e[3:]
		if strings.ContainsAny(code, "RC") && i+1 < len(entries) {
			i++
			if strings.Contains(code, "R") {
				files = append(files, File{Path: entries[i], Status: "D"})
			}
			code = "A"
		}
		files = append(files, File{Path: path, Status: code})
	}
	slices.SortStableFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return files
}

// below are the files in a folder, their paths from there.
func below(files []File, prefix string) (in []File) {
	for _, f := range files {
		if path, ok := strings.CutPrefix(f.Path, prefix); ok {
			f.Path = path
			in = append(in, f)
		}
	}
	return in
}

// hashed are the files with the hashes of what they hold.
func hashed(dir string, files []File) ([]File, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	for i := range files {
		files[i].Hash = hashOf(root, files[i].Path)
	}
	return slices.Clip(files), nil
}

// maxHashed bounds the files that are compared by their content; a longer one is
// compared by its length and time.
const maxHashed = 64 << 20

func hashOf(root *os.Root, path string) string {
	info, err := root.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	if info.Size() > maxHashed {
		return fmt.Sprintf("%d@%d", info.Size(), info.ModTime().UnixNano())
	}
	f, err := root.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	var text bytes.Buffer
	if _, err := io.Copy(&text, f); err != nil {
		return ""
	}
	return quire.Sum(text.String()).String()
}

// Patch is what changed since the baseline, committed or not.
func (b *Baseline) Patch(ctx context.Context, dir string) (Patch, error) {
	p := Patch{Changed: []File{}, Before: []string{}}
	if !b.Repo {
		return p, nil
	}
	now, err := b.since(ctx, dir)
	if err != nil {
		return p, fmt.Errorf("compare %s with its state before: %w", dir, err)
	}
	for _, f := range now {
		if b.has(f) {
			p.Before = append(p.Before, f.Path)
			continue
		}
		p.Changed = append(p.Changed, f)
	}
	p.Changed = append(p.Changed, b.restored(now)...)
	slices.SortFunc(p.Changed, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	p.Stats, err = b.stats(ctx, dir, &p)
	return p, err
}

// Made lists the new files that a project holds now and did not hold, or not like
// this, when the baseline was measured. Both are measured in the same folder.
func (b *Baseline) Made(now *Baseline) (list []File) {
	for _, f := range now.Files {
		if f.Status == "??" && !b.has(f) {
			list = append(list, f)
		}
	}
	return list
}

// Without is the patch without new files that somebody else made, as they made them.
func (p *Patch) Without(made []File) Patch {
	q := *p
	q.Changed = slices.DeleteFunc(slices.Clone(p.Changed), func(f File) bool { return f.Status == "??" && slices.Contains(made, f) })
	gone := len(p.Changed) - len(q.Changed)
	q.Stats.Files -= gone
	q.Stats.Untracked -= gone
	return q
}

// has reports whether a file was like this before.
func (b *Baseline) has(f File) bool {
	return slices.ContainsFunc(b.Files, func(old File) bool { return old.Path == f.Path && old.Hash == f.Hash })
}

// restored are files that were changed before and are as committed now: that is a
// change too.
func (b *Baseline) restored(now []File) (list []File) {
	for _, old := range b.Files {
		if !slices.ContainsFunc(now, func(f File) bool { return f.Path == old.Path }) {
			status := "M"
			if old.Status == "??" {
				status = "D"
			}
			list = append(list, File{Path: old.Path, Status: status})
		}
	}
	return list
}

// since lists what differs from the commit of the baseline: what is not committed,
// and what was committed since.
func (b *Baseline) since(ctx context.Context, dir string) ([]File, error) {
	files, err := state(ctx, dir)
	if err != nil {
		return nil, err
	}
	out, _, err := gitexec.Run(ctx, dir, maxStatus, "diff", "--name-status", "--no-renames", "-z", "--relative", b.Head)
	if err != nil {
		return nil, err
	}
	fields := strings.Split(string(out), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		known := func(f File) bool { return f.Path == fields[i+1] }
		if !slices.ContainsFunc(files, known) {
			files = append(files, File{Path: fields[i+1], Status: fields[i]})
		}
	}
	return hashed(dir, files)
}

// stats are the figures of a patch.
func (b *Baseline) stats(ctx context.Context, dir string, p *Patch) (Stats, error) {
	s := Stats{Files: len(p.Changed)}
	var tracked []string
	for _, f := range p.Changed {
		if f.Status == "??" {
			s.Untracked++
			continue
		}
		tracked = append(tracked, f.Path)
	}
	if len(tracked) == 0 {
		return s, nil
	}
	out, _, err := gitexec.Run(ctx, dir, maxStatus, b.diff(tracked, "--numstat")...)
	if err != nil {
		return s, fmt.Errorf("count the changed lines: %w", err)
	}
	s.Raw = string(out)
	for line := range strings.Lines(s.Raw) {
		added, rest, _ := strings.Cut(line, "\t")
		removed, _, _ := strings.Cut(rest, "\t")
		s.Insertions += count(added)
		s.Deletions += count(removed)
	}
	return s, nil
}

// count is a number of lines; that of a binary file is a dash.
func count(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}

// mostPaths is how many paths one command names; with more, all are compared.
const mostPaths = 500

func (b *Baseline) diff(paths []string, flags ...string) []string {
	args := append([]string{"diff", "--no-ext-diff", "--no-textconv", "--no-renames", "--relative"}, flags...)
	args = append(args, b.Head, "--")
	if len(paths) > mostPaths {
		return args
	}
	return append(args, paths...)
}
