//go:build !unix

package retrieve

import "time"

// processorTime is 0 where it is not known.
func processorTime() time.Duration { return 0 }
