//go:build unix

package retrieve

import (
	"syscall"
	"time"
)

// processorTime is what this process has used of the processors: unlike the time
// on the wall it means something while others use them too.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
