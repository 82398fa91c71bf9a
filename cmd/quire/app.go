package main

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"sync"

	"github.com/quire-agent/quire/internal/config"
	"github.com/quire-agent/quire/internal/secret"
	"github.com/spf13/cobra"
)

// An app is the whole program. A test builds one and runs it in process.
type app struct {
	dir   string                          // working directory, absolute
	goos  string                          // operating system, as in runtime.GOOS
	build func() (*debug.BuildInfo, bool) // what the binary knows of itself

	// keyring reads a secret from the keyring of the system, "" where there is
	// none; nil where the system's own is not to be asked, as in tests.
	keyring func(ctx context.Context, account string) (string, error)

	// keepKey keeps a secret in it, and takes it out where it is empty; nil as
	// keyring is.
	keepKey func(ctx context.Context, account, secret string) error

	// frugal makes the process keep its memory small; nil where the process is
	// not ours alone, as in tests.
	frugal func()
}

// Run executes one command line and returns its exit code; exit.go has the
// table. It touches no process state: not the environment, not the signals, not
// the standard streams. Errors are printed to stderr. When ctx is cancelled the
// command stops and the code is that of an interrupt.
func (a app) Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, env environment) int {
	inv := &invocation{app: a, env: env, in: stdin, out: &output{w: stdout}, terminal: isTerminal(stdout), errTerminal: isTerminal(stderr), err: stderr}
	inv.finder = sync.OnceValue(secret.NewFinder)
	root := inv.rootCommand()
	root.SetArgs(append([]string{}, args...)) // never nil: nil means the process's own
	err := root.ExecuteContext(ctx)
	if err == nil {
		err = inv.out.failure()
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return int(inv.report(err))
}

// An invocation is one run of the program: what its command may touch.
type invocation struct {
	app         app
	env         environment
	in          io.Reader
	out         *output
	err         io.Writer
	terminal    bool // out is a terminal
	errTerminal bool // err is a terminal: the place for progress

	finder func() *secret.Finder // makes it when first asked
}

// mask hides the secrets of text that comes from a log, or may hold some of one.
// Everything of that kind is put through it before it is shown.
func (inv *invocation) mask(text string) string { return inv.finder().Mask(text) }

// settings loads the configuration with the flags that were given to cmd.
func (inv *invocation) settings(cmd *cobra.Command) (*config.Settings, error) {
	return config.Load(config.Sources{
		Flags:    givenFlags(cmd),
		Env:      inv.env.lookup,
		UserHome: inv.env.home(inv.app.goos),
		Dir:      inv.app.dir,
	})
}

// An output remembers the first error of its writer, so that a full disk is a
// failure and not a short report.
type output struct {
	w   io.Writer
	err error
}

// Write passes on to the writer until it fails once.
func (o *output) Write(p []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.w.Write(p)
	o.err = err
	return n, err
}

func (o *output) failure() error {
	if o.err == nil {
		return nil
	}
	return failure(fmt.Errorf("write the output: %w", o.err), "make room, or write it somewhere else")
}
