package shell

import (
	"bytes"
	"strings"
	"sync"

	"github.com/quire-agent/quire/internal/tool"
)

// keep is how many bytes of the beginning, and at least how many of the end, of
// an output are kept.
const keep = 200 << 10

// A spool takes the output of a command. It may be used concurrently.
type spool struct {
	mu    sync.Mutex
	head  []byte
	tail  []byte // of what came after head, the last
	total int    // bytes written
	gone  int    // line feeds in what was left out
}

// Write takes everything.
func (s *spool) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total += len(p)
	n := min(len(p), keep-len(s.head))
	s.head = append(s.head, p[:n]...)
	s.tail = append(s.tail, p[n:]...)
	if len(s.tail) > 2*keep {
		out := s.tail[:len(s.tail)-keep]
		s.gone += bytes.Count(out, []byte("\n"))
		s.tail = bytes.Clone(s.tail[len(out):])
	}
	return len(p), nil
}

// from is the text from a byte on, with what is left out said in its place, and
// the byte after it.
func (s *spool) from(at int) (text string, next int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	if at < len(s.head) {
		b.Write(s.head[at:])
		at = len(s.head)
	}
	first := s.total - len(s.tail)
	if first > at {
		b.WriteString(tool.Missing(first-at, s.gone))
		at = first
	}
	b.Write(s.tail[at-first:])
	return tool.Valid(b.String()), s.total
}
