package journal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/x/flock"
)

const (
	lockSuffix = ".lock"
	homeLock   = "ingest" + lockSuffix
	deriveLock = "derive" + lockSuffix

	// lockPause is how long who waits for a lock waits between two looks at it.
	lockPause = 20 * time.Millisecond
)

// A Lock is one of a home. It is given up with Close, or when the process ends.
type Lock struct{ file *os.File }

// LockHome takes the lock of a home. It is held by whoever adds bodies before a
// journal names them, drops bodies that none names, removes sessions or makes
// anew what is derived. Somebody else's lock, or that of another part of this
// process, is [quire.ErrLocked] and names the pid of its holder, as hold does.
func LockHome(home string) (*Lock, error) {
	l, err := lockFile(home, homeLock)
	if err != nil {
		return nil, fmt.Errorf("lock the pool in %s: %w", home, kindOf(err))
	}
	return l, nil
}

// LockDerived takes the lock of what is derived in a home, and waits for it: it
// is held by whoever makes rows of a journal, or takes them out again, so that
// rows of an older reading never take the place of those of a newer one. Who
// holds it may read journals and append nothing; whoever also holds that of the
// home has taken that first.
func LockDerived(ctx context.Context, home string) (*Lock, error) {
	l, err := waitFile(ctx, home, deriveLock)
	if err != nil {
		return nil, fmt.Errorf("lock what is derived in %s: %w", home, kindOf(err))
	}
	return l, nil
}

// WaitHome is [LockHome], but waits for who holds the lock.
func WaitHome(ctx context.Context, home string) (*Lock, error) {
	l, err := waitFile(ctx, home, homeLock)
	if err != nil {
		return nil, fmt.Errorf("lock the pool in %s: %w", home, kindOf(err))
	}
	return l, nil
}

// Idle is [quire.ErrLocked], with the pid of who does, while somebody writes a
// journal.
func Idle(path string) error {
	f, err := hold(path)
	if err != nil {
		return fmt.Errorf("journal %s: %w", path, kindOf(err))
	}
	return release(f)
}

func waitFile(ctx context.Context, home, name string) (*Lock, error) {
	for {
		l, err := lockFile(home, name)
		if !errors.Is(err, quire.ErrLocked) {
			return l, err
		}
		if err := pause(ctx); err != nil {
			return nil, err
		}
	}
}

func pause(ctx context.Context) error {
	timer := time.NewTimer(lockPause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

func lockFile(home, name string) (*Lock, error) {
	if err := makeFolder(home); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(home, name), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if _, err := holdOpen(f); err != nil { // always current: nobody deletes it
		return nil, errors.Join(err, f.Close())
	}
	return &Lock{f}, nil
}

// Close gives the lock up. A pid that cannot be taken out of the file names a
// former holder, and does no harm.
func (l *Lock) Close() error {
	_ = l.file.Truncate(0)
	return l.file.Close()
}

// hold takes the writer's lock of a journal: the lock of a file beside it, which
// holds the pid of its holder. It is released with release. Somebody else's lock
// is [quire.ErrLocked]; in the moment between a lock and its pid the error may
// name the pid of a former holder.
func hold(path string) (*os.File, error) {
	for {
		f, err := os.OpenFile(path+lockSuffix, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		current, err := holdOpen(f)
		if current && err == nil {
			return f, nil
		}
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
	}
}

// holdOpen locks an open lock file. It is current if the file is still the one
// under its name: a former holder may have deleted it meanwhile.
func holdOpen(f *os.File) (current bool, err error) {
	err = flock.Try(f)
	if errors.Is(err, flock.ErrHeld) {
		return false, fmt.Errorf("%w: %s has it open", quire.ErrLocked, holder(f))
	}
	if err != nil {
		return false, err
	}
	mine, err := f.Stat()
	if err != nil {
		return false, err
	}
	named, err := os.Stat(f.Name())
	if errors.Is(err, fs.ErrNotExist) || (err == nil && !os.SameFile(mine, named)) {
		return false, nil
	}
	return true, errors.Join(err, f.Truncate(0), writePid(f))
}

// writePid says who holds the lock. On a full disk nobody is told: the lock holds
// all the same, and without it nothing could be deleted there.
func writePid(f io.WriterAt) error {
	_, err := f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	if isFull(err) {
		return nil
	}
	return err
}

// holder says who holds a lock.
func holder(f *os.File) string {
	text, err := io.ReadAll(io.LimitReader(f, 20))
	pid := strings.TrimSpace(string(text))
	if _, bad := strconv.Atoi(pid); err != nil || bad != nil {
		return "a process that has not said its pid"
	}
	return "process " + pid
}

// release gives the lock up. The file is deleted first, while nobody else can
// hold it; where the system does not allow that it stays, and does no harm.
func release(f *os.File) error {
	_ = os.Remove(f.Name())
	return f.Close()
}

// makeFolder creates a folder of mode 0700, with those above it, durably.
func makeFolder(dir string) error {
	_, err := os.Stat(dir)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	parent := filepath.Dir(dir)
	if parent != dir {
		if err := makeFolder(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncFolder(parent)
}
