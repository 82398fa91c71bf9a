package flock

import (
	"errors"
	"math"
	"os"

	"golang.org/x/sys/windows"
)

// lock takes one byte far behind the end of any file: locks of this system keep
// readers out of what is locked.
func lock(f *os.File, wait bool) error {
	how := uint32(windows.LOCKFILE_EXCLUSIVE_LOCK)
	if !wait {
		how |= windows.LOCKFILE_FAIL_IMMEDIATELY
	}
	at := &windows.Overlapped{Offset: math.MaxUint32, OffsetHigh: math.MaxInt32}
	err := windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return ErrHeld
	}
	return err
}
