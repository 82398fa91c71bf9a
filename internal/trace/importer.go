package trace

import (
	"io"

	"github.com/quire-agent/quire/internal/quire"
)

// An importer reads one format. Importers keep no state: everything a read
// needs lives in the call.
type importer struct {
	agent quire.Agent

	// match recognises the format from the head of the decompressed file
	// (at most headSize bytes, cut anywhere). At most one importer matches a
	// head that any agent really writes; the first in the list wins otherwise.
	match func(head []byte) bool

	// read yields the events of one log in the order of its records. It stops
	// when yield returns false. It returns an error only for a fault of the
	// reader itself; damage in the log is yielded as [quire.Skipped]. The
	// memory it holds does not grow with the size of the log.
	read func(src io.Reader, yield func(quire.Event) bool) error
}

// headSize is how much of a file is looked at to recognise its format.
const headSize = 256 << 10
