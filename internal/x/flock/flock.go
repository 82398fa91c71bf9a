// Package flock locks files between processes. The operating system holds the
// lock: it goes when the file is closed or the process ends, however it ends, so
// no lock is ever left behind.
//
// Locks are advisory: they keep apart only those who ask for them, and never a
// reader of the file. They belong to the open file, so two opens within one
// process exclude each other too. On a network file system they are as good as
// its server.
package flock

import (
	"errors"
	"fmt"
	"os"
)

// ErrHeld says that somebody else holds the lock.
var ErrHeld = errors.New("the lock is held")

// Try takes the lock of an open file, or is [ErrHeld] at once. The file must be
// open for writing.
func Try(f *os.File) error {
	if err := lock(f, false); err != nil {
		return fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	return nil
}

// Wait takes the lock of an open file, and waits for as long as somebody else
// holds it. It is for locks that are held for moments. The file must be open for
// writing.
func Wait(f *os.File) error {
	if err := lock(f, true); err != nil {
		return fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	return nil
}
