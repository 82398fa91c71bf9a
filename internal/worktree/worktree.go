package worktree

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/quire-agent/quire/internal/x/flock"
	"github.com/quire-agent/quire/internal/x/gitexec"
)

// ErrNoRepo says that the project is in no git repository: those who write must do
// so one after the other.
var ErrNoRepo = errors.New("the project is in no git repository")

// A Tree is a copy of a project. Its methods are for one goroutine; several trees
// of a project may be used at once, but for Merge: one at a time.
type Tree struct {
	Dir     string // the project's folder in the copy
	project string
	top     string // of the worktree
	base    string // the commit that it began with
	lock    *os.File
	meta    string
}

// The files of a worktree in the folder that holds all of them: the copy itself,
// where its repository is, and the lock.
const (
	copySuffix = ".tree"
	repoSuffix = ".repo"
	lockSuffix = ".lock"
)

// Add makes a copy of the project in a folder. parent is where copies are kept, a
// folder of the home. Close it in the end.
func Add(ctx context.Context, project, parent string) (*Tree, error) {
	prefix, err := gitLine(ctx, project, nil, "rev-parse", "--show-prefix")
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, ErrNoRepo
	}
	t := &Tree{project: project}
	if err := t.begin(ctx, parent); err != nil {
		return nil, errors.Join(fmt.Errorf("make a worktree of %s: %w", project, err), t.Close())
	}
	t.Dir = filepath.Join(t.top, filepath.FromSlash(prefix))
	return t, nil
}

func (t *Tree) begin(ctx context.Context, parent string) error {
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return err
	}
	name := filepath.Join(parent, rand.Text()[:16])
	lock, err := os.OpenFile(name+lockSuffix, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	t.lock, t.meta = lock, name+repoSuffix
	if err := flock.Try(lock); err != nil {
		return err
	}
	if err := os.WriteFile(t.meta, []byte(t.project), 0o600); err != nil {
		return err
	}
	if t.base, err = snapshot(ctx, t.project); err != nil {
		return err
	}
	t.top = name + copySuffix
	_, err = git(ctx, t.project, nil, "worktree", "add", "--quiet", "--detach", t.top, t.base)
	return err
}

// Close removes the copy, with all in it that was not merged. It is done also after
// an interrupt, and may be called twice.
func (t *Tree) Close() error {
	if t.lock == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	name := strings.TrimSuffix(t.meta, repoSuffix)
	err := remove(ctx, t.project, name)
	err = errors.Join(err, t.lock.Close())
	t.lock = nil
	if err == nil {
		err = forget(name)
	}
	return err
}

// remove takes a worktree out of its repository and off the disk. A repository that
// is gone does not matter.
func remove(ctx context.Context, project, name string) error {
	top := name + copySuffix
	_, _ = git(ctx, project, nil, "worktree", "remove", "--force", "--force", top)
	if err := os.RemoveAll(top); err != nil {
		return fmt.Errorf("remove the worktree %s: %w", top, err)
	}
	_, _ = git(ctx, project, nil, "worktree", "prune")
	return nil
}

func forget(name string) error {
	for _, suffix := range []string{repoSuffix, lockSuffix} {
		if err := os.Remove(name + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Sweep removes the worktrees of processes that are gone, and reports how many.
// Those that a process holds are left alone.
func Sweep(ctx context.Context, parent string) (removed int, err error) {
	locks, err := filepath.Glob(filepath.Join(parent, "*"+lockSuffix))
	if err != nil {
		return 0, fmt.Errorf("sweep worktrees: %w", err)
	}
	for _, path := range locks {
		done, one := sweep(ctx, path)
		err = errors.Join(err, one)
		if done {
			removed++
		}
	}
	return removed, err
}

func sweep(ctx context.Context, path string) (done bool, err error) {
	lock, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("sweep worktrees: %w", err)
	}
	held := flock.Try(lock)
	if held != nil {
		err = lock.Close()
		if !errors.Is(held, flock.ErrHeld) {
			err = errors.Join(held, err)
		}
		return false, err
	}
	name := strings.TrimSuffix(path, lockSuffix)
	project, err := os.ReadFile(name + repoSuffix)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, errors.Join(fmt.Errorf("sweep worktrees: %w", err), lock.Close())
	}
	err = errors.Join(remove(ctx, string(project), name), lock.Close())
	if err == nil {
		err = forget(name)
	}
	return err == nil, err
}

// snapshot is a commit of what a project holds now, on no branch. The project's own
// index is not touched.
func snapshot(ctx context.Context, project string) (string, error) {
	top, err := gitLine(ctx, project, nil, "rev-parse", "--show-toplevel")
	if err != nil {
		return "", err
	}
	head, noHead := gitLine(ctx, top, nil, "rev-parse", "--verify", "HEAD")
	dirty, err := git(ctx, top, nil, "status", "--porcelain", "-z")
	if err != nil || noHead == nil && len(dirty) == 0 {
		return head, err
	}
	index, err := copyIndex(ctx, top)
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(filepath.Dir(index))
	env := append(author(), "GIT_INDEX_FILE="+index)
	if _, err := git(ctx, top, env, "add", "--all"); err != nil {
		return "", err
	}
	tree, err := gitLine(ctx, top, env, "write-tree")
	if err != nil {
		return "", err
	}
	args := []string{"commit-tree", tree, "-m", "the project as it is"}
	if noHead == nil {
		args = append(args, "-p", head)
	}
	return gitLine(ctx, top, env, args...)
}

func author() []string {
	return []string{"GIT_AUTHOR_NAME=quire", "GIT_AUTHOR_EMAIL=quire@localhost", "GIT_COMMITTER_NAME=quire", "GIT_COMMITTER_EMAIL=quire@localhost"}
}

// copyIndex is a copy of the index, in a folder of its own, so that only what
// changed is read again.
func copyIndex(ctx context.Context, top string) (string, error) {
	from, err := gitLine(ctx, top, nil, "rev-parse", "--git-path", "index")
	if err != nil {
		return "", err
	}
	if !filepath.IsAbs(from) {
		from = filepath.Join(top, from)
	}
	dir, err := os.MkdirTemp("", "quire-index-")
	if err != nil {
		return "", err
	}
	to := filepath.Join(dir, "index")
	return to, copyFile(from, to)
}

// copyFile copies a file that may not be there.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// git runs git and returns what it wrote. What it says when it fails is the error.
func git(ctx context.Context, dir string, env []string, args ...string) ([]byte, error) {
	cmd, err := gitexec.Command(ctx, dir, args...)
	if err != nil {
		return nil, err
	}
	cmd.Env = append(cmd.Env, env...)
	var out, fault bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &fault
	if err := cmd.Run(); err != nil {
		return out.Bytes(), fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(fault.String()))
	}
	return out.Bytes(), nil
}

func gitLine(ctx context.Context, dir string, env []string, args ...string) (string, error) {
	out, err := git(ctx, dir, env, args...)
	return strings.TrimRight(string(out), "\r\n"), err
}
