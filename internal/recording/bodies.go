package recording

import (
	"errors"
	"fmt"
	"os"
	"sync"
)

// spoolAt is the size above which bodies move from memory to a temporary file.
const spoolAt = 8 << 20

// A Ref finds a body in [Bodies].
type Ref struct {
	off int64
	n   int32
}

// Len is the length of the body in bytes.
func (r Ref) Len() int { return int(r.n) }

// Bodies holds the bodies of a session: in memory while they are small, in a
// temporary file above that, so that the memory of a replay does not grow with
// the size of a log. Put must not run concurrently with anything; Get may run
// concurrently with Get.
type Bodies struct {
	mem  []byte // bodies from offset base on
	base int64
	file *os.File
	name string // of file, if it still has one
	once sync.Once
}

// Put stores a body. A write fault of the temporary file is returned; bodies
// stored before it stay readable.
func (b *Bodies) Put(text string) (Ref, error) {
	r := Ref{off: b.base + int64(len(b.mem)), n: int32(len(text))}
	b.mem = append(b.mem, text...)
	if len(b.mem) < spoolAt {
		return r, nil
	}
	return r, b.spill()
}

func (b *Bodies) spill() error {
	if b.file == nil {
		f, err := os.CreateTemp("", "quire-bodies-*")
		if err != nil {
			return fmt.Errorf("spool bodies: %w", err)
		}
		b.file = f
		// Where an open file may do without a name it has none from here on, so
		// that nothing is left when the process is killed.
		if os.Remove(f.Name()) != nil {
			b.name = f.Name()
		}
	}
	if _, err := b.file.WriteAt(b.mem, b.base); err != nil {
		return fmt.Errorf("spool bodies: %w", err)
	}
	b.base += int64(len(b.mem))
	b.mem = b.mem[:0]
	return nil
}

// Get reads a body back, byte for byte.
func (b *Bodies) Get(r Ref) (string, error) {
	if r.off >= b.base {
		i := r.off - b.base
		return string(b.mem[i : i+int64(r.n)]), nil
	}
	buf := make([]byte, r.n)
	if _, err := b.file.ReadAt(buf, r.off); err != nil {
		return "", fmt.Errorf("read spooled body: %w", err)
	}
	return string(buf), nil
}

// Close removes the temporary file, if there is one. Bodies cannot be read
// afterwards. It may be called more than once.
func (b *Bodies) Close() (err error) {
	b.once.Do(func() {
		b.mem = nil
		if b.file != nil {
			err = b.file.Close()
			if b.name != "" {
				err = errors.Join(err, os.Remove(b.name))
			}
		}
	})
	return err
}
