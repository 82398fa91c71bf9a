package worktree

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
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
	name    string   // path of its files, without their suffixes
	base    string   // the commit that it began with
	lock    *os.File // nil: it is given up
}

// The files of a worktree in the folder that holds all of them: the copy itself,
// where its repository is, with which commit it began, and the lock.
const (
	copySuffix = ".tree"
	repoSuffix = ".repo"
	baseSuffix = ".base" // written when the copy is whole
	lockSuffix = ".lock"
)

// Open makes a copy of the project for a task, or finds the one that a process which
// is gone had for it; found says which. parent is where copies are kept, a folder of
// the home. End it with Close or Leave. A copy that another process holds is
// [flock.ErrHeld].
func Open(ctx context.Context, project, parent, task string) (t *Tree, found bool, err error) {
	prefix, err := gitLine(ctx, project, nil, "rev-parse", "--show-prefix")
	if err != nil {
		if ctx.Err() != nil {
			return nil, false, ctx.Err()
		}
		return nil, false, ErrNoRepo
	}
	t = &Tree{project: project, name: nameOf(parent, project, task)}
	if found, err = t.begin(ctx); err != nil {
		return nil, false, fmt.Errorf("make a worktree of %s: %w", project, err)
	}
	t.Dir = filepath.Join(t.top(), filepath.FromSlash(prefix))
	return t, found, nil
}

// nameOf is the path of a copy's files without their suffixes. Equal tasks of a
// project have one copy.
func nameOf(parent, project, task string) string {
	sum := sha256.Sum256([]byte(project + "\x00" + task))
	return filepath.Join(parent, hex.EncodeToString(sum[:8]))
}

func (t *Tree) top() string { return t.name + copySuffix }

// begin takes the lock, then the copy that is there and whole, or makes one.
func (t *Tree) begin(ctx context.Context) (found bool, err error) {
	if err := os.MkdirAll(filepath.Dir(t.name), 0o700); err != nil {
		return false, err
	}
	if t.lock, err = os.OpenFile(t.name+lockSuffix, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return false, err
	}
	if err := flock.Try(t.lock); err != nil {
		return false, errors.Join(err, t.lock.Close())
	}
	if t.base = t.whole(); t.base != "" {
		return true, nil
	}
	if err := t.make(ctx); err != nil {
		return false, errors.Join(err, t.Close())
	}
	return false, nil
}

// whole is the commit with which the copy that is there began, "" where there is
// none, or where making it did not come to its end.
func (t *Tree) whole() string {
	text, err := os.ReadFile(t.name + baseSuffix)
	base, ended := strings.CutSuffix(string(text), "\n")
	if _, missing := os.Stat(t.top()); err != nil || !ended || missing != nil {
		return ""
	}
	return base
}

// make makes the copy, in place of one that is not whole.
func (t *Tree) make(ctx context.Context) (err error) {
	if err := remove(ctx, t.project, t.name); err != nil {
		return err
	}
	if err := os.WriteFile(t.name+repoSuffix, []byte(t.project), 0o600); err != nil {
		return err
	}
	if t.base, err = snapshot(ctx, t.project); err != nil {
		return err
	}
	if _, err := git(ctx, t.project, nil, "worktree", "add", "--quiet", "--detach", t.top(), t.base); err != nil {
		return err
	}
	return os.WriteFile(t.name+baseSuffix, []byte(t.base+"\n"), 0o600)
}

// Close removes the copy, with all in it that was not merged. It is done also after
// an interrupt, and may be called twice.
func (t *Tree) Close() error {
	if t.lock == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	err := remove(ctx, t.project, t.name)
	if err == nil {
		err = forget(t.name)
	}
	err = errors.Join(err, t.lock.Close())
	t.lock = nil
	if err == nil {
		err = unlock(t.name)
	}
	return err
}

// Leave gives the copy up and lets it stand, for [Open] with the same task.
func (t *Tree) Leave() error {
	if t.lock == nil {
		return nil
	}
	err := t.lock.Close()
	t.lock = nil
	return err
}

// Remove removes the copy that a process which is gone had for a task. None is fine,
// and one that a process holds stays.
func Remove(ctx context.Context, project, parent, task string) error {
	path := nameOf(parent, project, task) + lockSuffix
	_, err := sweep(ctx, path, time.Now())
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

// forget removes what is said of a copy that is gone. The lock goes last, when it is
// held by nobody: some systems do not remove a file that is open.
func forget(name string) error {
	for _, suffix := range []string{baseSuffix, repoSuffix} {
		if err := os.Remove(name + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func unlock(name string) error {
	if err := os.Remove(name + lockSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Sweep removes the worktrees that processes which are gone made before a time, and
// reports how many. Younger ones are kept for runs that go on, and those that a
// process holds are left alone.
func Sweep(ctx context.Context, parent string, before time.Time) (removed int, err error) {
	locks, err := filepath.Glob(filepath.Join(parent, "*"+lockSuffix))
	if err != nil {
		return 0, fmt.Errorf("sweep worktrees: %w", err)
	}
	for _, path := range locks {
		done, one := sweep(ctx, path, before)
		err = errors.Join(err, one)
		if done {
			removed++
		}
	}
	return removed, err
}

func sweep(ctx context.Context, path string, before time.Time) (done bool, err error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.ModTime().After(before) {
		return false, nil
	}
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
	if err = remove(ctx, string(project), name); err == nil {
		err = forget(name)
	}
	if err = errors.Join(err, lock.Close()); err == nil {
		err = unlock(name)
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
