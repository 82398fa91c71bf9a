//go:build linux || darwin || freebsd || netbsd || openbsd

package sqlite

import (
	"io/fs"
	"syscall"
)

// mayWrite is the mode that access(2) asks for.
const mayWrite = 2

// writable reports why a file cannot be written, nil when it can.
func writable(path string) error {
	if err := syscall.Access(path, mayWrite); err != nil {
		return &fs.PathError{Op: "write", Path: path, Err: err}
	}
	return nil
}
