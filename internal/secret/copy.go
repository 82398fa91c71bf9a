package secret

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// The windows of a stream, in bytes.
const (
	window = 256 << 10
	ahead  = 8 << 10 // seen of what follows before something is let go
	behind = 1 << 10 // kept of what was let go
)

// Copy writes src to dst as [Finder.Mask] would have it as one text, a window at
// a time: a secret that lies across the end of one is masked like any other.
// Memory is that of a few windows, or of the longest secret.
func (f *Finder) Copy(dst io.Writer, src io.Reader) error {
	c := copying{finder: f, dst: dst}
	piece := make([]byte, window)
	for {
		n, err := io.ReadFull(src, piece)
		c.text += string(piece[:n])
		last := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !last {
			return fmt.Errorf("masking secrets: %w", err)
		}
		if err := c.release(last); err != nil {
			return fmt.Errorf("masking secrets: %w", err)
		}
		if last {
			return nil
		}
	}
}

// copying is a stream on its way.
type copying struct {
	finder *Finder
	dst    io.Writer
	text   string
	gone   int // bytes of text that were written
}

// release writes as much as is decided.
func (c *copying) release(all bool) error {
	found := c.finder.Find(c.text)
	end := len(c.text)
	if !all {
		end = max(c.gone, end-ahead)
	}
	var b strings.Builder
	for _, x := range found {
		if x.From < c.gone {
			continue
		}
		if x.From >= end || x.To > end {
			end = min(end, x.From)
			break
		}
		b.WriteString(c.text[c.gone:x.From])
		x.mark(&b, c.text)
		c.gone = x.To
	}
	b.WriteString(c.text[c.gone:end])
	c.gone = end
	c.forget()
	_, err := io.WriteString(c.dst, b.String())
	return err
}

// forget drops what no decision needs any more.
func (c *copying) forget() {
	if n := c.gone - behind; n > 0 {
		c.text, c.gone = c.text[n:], behind
	}
}
