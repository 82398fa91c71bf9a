//go:build !(linux || darwin || freebsd || netbsd || openbsd)

package sqlite

import (
	"io/fs"
	"os"
)

// writable reports why a file cannot be written, nil when it can.
func writable(path string) error {
	info, err := os.Stat(path)
	if err == nil && info.Mode().Perm()&0o200 == 0 {
		err = &fs.PathError{Op: "write", Path: path, Err: fs.ErrPermission}
	}
	return err
}
