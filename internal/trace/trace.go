// Package trace reads the session logs of coding agents and turns them into the
// program's own events. A format is recognised by its content, never by a
// file's name. There is one importer a file; each reads as a stream, so that
// memory does not grow with the size of a log, and none of them loses a record
// silently: what cannot be read is yielded as [quire.Skipped].
package trace

import (
	"iter"

	"github.com/quire-agent/quire/internal/quire"
)

// A Log is one recorded session (with its side chains) in one file.
type Log struct {
	Path   string      // of the file, as given or found
	Part   string      // names the session within a file that holds several; "" otherwise
	Agent  quire.Agent // recognised from the content
	Size   int64       // of the file in bytes
	events iter.Seq2[quire.Event, error]
}

// Events reads the log from its beginning. The first event is a
// [quire.Opened]. A record that cannot be read is an event ([quire.Skipped])
// and reading goes on; an error (the file became unreadable, the stream broke)
// comes last and ends the sequence. Events may be called again and then reads
// again; the sequences of one Log must not be read concurrently.
func (l *Log) Events() iter.Seq2[quire.Event, error] { return l.events }
