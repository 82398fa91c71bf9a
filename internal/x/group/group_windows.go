package group

import (
	"os/exec"
	"strconv"
	"syscall"
)

// Set makes a command that was not started yet the first of a process group of its own.
func Set(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// interrupt ends a command and what it started: Windows has no gentler way for
// programs without a window.
func interrupt(cmd *exec.Cmd) error {
	return exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(cmd.Process.Pid)).Run()
}

// Kill ends what is left of a command's group. It may be gone already.
func Kill(cmd *exec.Cmd) { _ = interrupt(cmd) }

// signal is nothing that Windows knows.
func signal(*exec.Cmd) string { return "" }
