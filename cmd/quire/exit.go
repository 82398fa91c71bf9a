package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/quire-agent/quire/internal/config"
)

// An exitCode is what the process returns.
type exitCode int

// The exit codes. Scripts rely on them; a code never changes its meaning.
const (
	exitOK          exitCode = 0
	exitFailure     exitCode = 1
	exitUnusable    exitCode = 2
	exitCutOff      exitCode = 3
	exitDenied      exitCode = 4
	exitProvider    exitCode = 5
	exitInterrupted exitCode = 130 // 128 + SIGINT, as shells have it
)

// exitTable describes the codes, for `quire help exit-codes`.
func exitTable() string {
	rows := []struct {
		code    exitCode
		meaning string
	}{
		{exitOK, "done; of several inputs at least one could be read"},
		{exitFailure, "failed: something that should have worked did not"},
		{exitUnusable, "nothing to work on: wrong usage, wrong settings, or no input could be read"},
		{exitCutOff, "run: stopped before it was done: a limit was reached, or the answer was cut off"},
		{exitDenied, "run: done, but calls of the model were not permitted"},
		{exitProvider, "run: the model, or the way to it, failed"},
		{exitInterrupted, "interrupted (Ctrl-C)"},
	}
	var b strings.Builder
	for _, r := range rows {
		fmt.Fprintf(&b, "  %3d  %s\n", r.code, r.meaning)
	}
	return b.String()
}

// codeOf is the one place where errors become exit codes.
func codeOf(err error) exitCode {
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case is[*problem](err):
		p, _ := errors.AsType[*problem](err)
		return p.code
	case is[*config.Error](err):
		return exitUnusable
	default:
		return exitFailure
	}
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// A problem is an error together with what the user can do about it.
type problem struct {
	err  error
	next string // a sentence without its full stop; "" when there is nothing to say
	code exitCode
}

// Error says what happened, without the advice.
func (p *problem) Error() string { return p.err.Error() }

// Unwrap gives the cause.
func (p *problem) Unwrap() error { return p.err }

// failure is a problem of the world: exit code 1.
func failure(err error, next string) error { return &problem{err, next, exitFailure} }

// unusable is a problem of what was given: usage or input. Exit code 2.
func unusable(err error, next string) error { return &problem{err, next, exitUnusable} }

// report prints an error with its advice and returns its exit code. An error may
// quote a log, so secrets in it are masked. Usage is never dumped: the error says
// what is wrong and names the help to read.
func (inv *invocation) report(err error) exitCode {
	code := codeOf(err)
	switch code {
	case exitOK:
		return code
	case exitInterrupted:
		fmt.Fprintln(inv.err, "quire: interrupted")
		return code
	}
	fmt.Fprintf(inv.err, "quire: %s\n", inv.mask(err.Error()))
	if next := advice(err); next != "" {
		fmt.Fprintf(inv.err, "  next: %s\n", inv.mask(next))
	}
	return code
}

func advice(err error) string {
	if p, ok := errors.AsType[*problem](err); ok {
		return p.next
	}
	if e, ok := errors.AsType[*config.Error](err); ok {
		return e.Next
	}
	return ""
}
