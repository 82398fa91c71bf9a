package group

import (
	"bytes"
	"errors"
	"os/exec"
	"time"
)

// patience is how long a command that was asked to end has for it, and how long
// its output is waited for when it has ended and a process of it has not.
const patience = 2 * time.Second

// An Ending says how a command ended.
type Ending struct {
	Exit   int    // -1 where it was ended by a signal
	Signal string // its name, "" for none
}

// Run runs a command that was made with a context and not started, and waits for
// it. When the context ends the command's group is asked to end, and ended
// if it does not. What the command left behind is ended too. The error is for a
// command that could not be started.
func Run(cmd *exec.Cmd) (Ending, error) {
	Set(cmd)
	cmd.WaitDelay = patience
	cmd.Cancel = func() error { return interrupt(cmd) }
	if err := cmd.Start(); err != nil {
		return Ending{}, err
	}
	err := cmd.Wait()
	Kill(cmd)
	if errors.Is(err, exec.ErrWaitDelay) {
		return Ending{}, nil // it ended, a process of it held the output open
	}
	return Ending{cmd.ProcessState.ExitCode(), signal(cmd)}, nil
}

// A Tail keeps the last bytes of what is written to it.
type Tail struct {
	Limit int
	kept  bytes.Buffer
	left  int
}

// Write takes everything.
func (t *Tail) Write(p []byte) (int, error) {
	t.kept.Write(p)
	if over := t.kept.Len() - 2*t.Limit; over > 0 {
		t.drop()
	}
	return len(p), nil
}

func (t *Tail) drop() {
	if over := t.kept.Len() - t.Limit; over > 0 {
		t.left += over
		t.kept.Next(over)
	}
}

// Text is what was kept, without a rune that is cut, and how many bytes before it
// were left out.
func (t *Tail) Text() (text string, left int) {
	t.drop()
	kept := t.kept.Bytes()
	n := 0
	for t.left > 0 && n < min(len(kept), 3) && kept[n]&0xC0 == 0x80 {
		n++
	}
	return string(bytes.ToValidUTF8(kept[n:], []byte("\uFFFD"))), t.left + n
}
