package sim

import (
	"errors"
	"net/http"
	"time"

	"github.com/quire-agent/quire/internal/script"
)

// The ends of an answer that was broken on purpose: with its connection, and
// without.
var (
	errBroken  = errors.New("broken by the script")
	errGarbled = errors.New("garbled by the script")
)

// garbage is what comes in place of an answer.
const garbage = "\x00\xff<html><body>502 Bad Gateway</body></html>\n\ndata: {\"type\":\n\n"

// A faulty sends a body and breaks it where its fault says. Each part is flushed.
type faulty struct {
	w       http.ResponseWriter
	fault   script.Fault
	stalled func(time.Duration) bool // waits; reports whether to go on
	sent    int
	done    bool // the fault has happened
}

// send sends a part of the body. It fails with errBroken when the connection is to
// be cut and with errGarbled when nothing more is to be sent. A client that has left is no fault: it is the next part that finds out.
func (f *faulty) send(part []byte) error {
	if f.fault.Break == "" || f.done || f.sent+len(part) < f.fault.At {
		return f.write(part)
	}
	at := f.fault.At - f.sent
	if err := f.write(part[:at]); err != nil {
		return err
	}
	f.done = true
	switch f.fault.Break {
	case script.BreakGarbage:
		if err := f.write([]byte(garbage)); err != nil {
			return err
		}
		return errGarbled
	case script.BreakStall:
		if !f.stalled(f.fault.For) {
			return errBroken
		}
		return f.write(part[at:])
	}
	return errBroken
}

func (f *faulty) write(part []byte) error {
	if len(part) == 0 && f.sent > 0 {
		return nil
	}
	n, err := f.w.Write(part)
	f.sent += n
	if err != nil {
		return errBroken
	}
	// A writer that cannot flush sends when it can.
	_ = http.NewResponseController(f.w).Flush()
	return nil
}
