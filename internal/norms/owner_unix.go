//go:build unix

package norms

import (
	"os"
	"syscall"
)

// Owned reports whether a file is the user's own: theirs by the system, or the
// administrator's.
func Owned(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	me := os.Getuid()
	return !ok || me == 0 || int(stat.Uid) == me || stat.Uid == 0
}
