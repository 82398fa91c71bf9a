package journal

import (
	"errors"
	"os"
	"syscall"
)

// The codes of winerror.h.
const (
	errorWriteProtect   = syscall.Errno(19)
	errorHandleDiskFull = syscall.Errno(39)
	errorDiskFull       = syscall.Errno(112)
)

// isFull reports whether the disk, or the user's share of it, is full.
func isFull(err error) bool {
	return errors.Is(err, errorDiskFull) || errors.Is(err, errorHandleDiskFull)
}

// isReadOnly reports whether writing is not allowed there.
func isReadOnly(err error) bool {
	return errors.Is(err, os.ErrPermission) || errors.Is(err, errorWriteProtect)
}

// syncFolder does nothing: on this system the names of a folder are the file
// system's own business, and a folder cannot be synced.
func syncFolder(string) error { return nil }
