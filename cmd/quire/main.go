package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"

	"github.com/quire-agent/quire/internal/x/keyring"
	"github.com/quire-agent/quire/internal/x/sandbox"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == sandbox.Command {
		become()
	}
	dir, err := os.Getwd()
	if err != nil {
		fmt.Fprintln(os.Stderr, "quire: find the working directory:", err)
		os.Exit(int(exitFailure))
	}
	os.Exit(runProcess(dir))
}

// become is the process of a command in the sandbox. It does not return.
func become() {
	err := sandbox.Become(os.Args[2:], os.Environ())
	fmt.Fprintln(os.Stderr, "quire: start the command in the sandbox:", err)
	os.Exit(int(exitFailure))
}

// runProcess is main without the exit, so that its defers run. The first
// interrupt or SIGTERM asks the command to stop; after it the signal has its usual effect,
// so that a second one ends the process at once.
func runProcess(dir string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	a := app{dir: dir, goos: runtime.GOOS, build: debug.ReadBuildInfo, keyring: keyring.Get, keepKey: keyring.Put, frugal: frugal}
	return a.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, newEnvironment(os.Environ()))
}

// frugal makes the process trade time for memory: it collects garbage after
// every quarter of growth, and more often above 170 MiB. Most of what audit
// holds of a huge log are tables without pointers, which cost the collector
// nothing.
func frugal() {
	debug.SetGCPercent(25)
	debug.SetMemoryLimit(170 << 20)
}
