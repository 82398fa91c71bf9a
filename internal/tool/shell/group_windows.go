package shell

import (
	"os/exec"
	"strconv"
	"syscall"
)

// group makes a command the first of a process group of its own.
func group(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// interrupt ends a command and what it started: Windows has no gentler way for
// programs without a window.
func interrupt(cmd *exec.Cmd) error {
	return exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(cmd.Process.Pid)).Run()
}

// kill ends those that are left. They may be gone already.
func kill(cmd *exec.Cmd) { _ = interrupt(cmd) }
