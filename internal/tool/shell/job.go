package shell

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/quire-agent/quire/internal/x/sandbox"
)

// patience is how long a command that was asked to end has for it, and how long
// its output is waited for when it has ended and a process of it has not.
const patience = 2 * time.Second

// A Job is a command that was started.
type Job struct {
	ID      string // "" for one that is waited for
	Command string

	cmd    *exec.Cmd
	out    spool
	cancel context.CancelFunc
	done   chan struct{}
	ended  error // of Wait; set before done is closed

	reading sync.Mutex
	read    int // bytes of the output that were given out
}

// start starts a command. It ends when the context does.
func (s *Shell) start(ctx context.Context, command, dir string, network bool) (*Job, error) {
	ctx, cancel := context.WithCancel(ctx)
	j := &Job{Command: command, cancel: cancel, done: make(chan struct{})}
	j.cmd = exec.CommandContext(ctx, s.Shell, "-c", command)
	j.cmd.Dir = filepath.Join(s.Project.Dir(), filepath.FromSlash(dir))
	j.cmd.Env = s.Env
	j.cmd.Stdout, j.cmd.Stderr = &j.out, &j.out
	j.cmd.WaitDelay = patience
	j.cmd.Cancel = func() error { return interrupt(j.cmd) }
	if s.Sandbox != nil {
		if err := sandbox.Wrap(j.cmd, s.Sandbox.Self, s.rules(network)); err != nil {
			cancel()
			return nil, err
		}
	}
	group(j.cmd)
	if err := j.cmd.Start(); err != nil {
		cancel()
		return nil, fmt.Errorf("start the command: %w", err)
	}
	go j.wait()
	return j, nil
}

// wait ends with the command, and ends what it left behind.
func (j *Job) wait() {
	j.ended = j.cmd.Wait()
	kill(j.cmd)
	j.cancel()
	close(j.done)
}

// stop asks the command to end, and ends it if it does not.
func (j *Job) stop() { j.cancel() }

func (j *Job) running() bool {
	select {
	case <-j.done:
		return false
	default:
		return true
	}
}

// exit is the exit code of a command that has ended by itself; ok is false when
// it was ended.
func (j *Job) exit() (code int, ok bool) {
	if errors.Is(j.ended, exec.ErrWaitDelay) {
		return 0, true // it ended, a process of it held the output open
	}
	code = j.cmd.ProcessState.ExitCode()
	return code, code >= 0
}

// state says how it is with a job.
func (j *Job) state() string {
	if j.running() {
		return "running"
	}
	if code, ok := j.exit(); ok {
		return fmt.Sprintf("ended with exit code %d", code)
	}
	return "ended by a signal"
}

// unread is the output since it was last asked for.
func (j *Job) unread() string {
	j.reading.Lock()
	defer j.reading.Unlock()
	text, next := j.out.from(j.read)
	j.read = next
	return text
}
