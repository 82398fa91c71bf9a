package gateway

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/quire-agent/quire/internal/x/rawjson"
	"github.com/quire-agent/quire/internal/x/zstd"
)

// A body is a request that was taken in, without compression, with what was seen of
// it on the way.
type body struct {
	data   []byte
	places []rawjson.Place // its members, none where it is no object, or cannot be read
}

// An intake reads to an end within a budget, and looks at what it reads while it comes.
type intake struct {
	budget *budget
	most   int64 // bytes
	data   []byte
	held   int // bytes of the budget
	scan   *rawjson.Scanner
}

// errBudget says that there is no room for a copy.
var errBudget = errors.New("too much waits to be recorded")

// read reads what is announced to be so many bytes, or below 0 of some size. On an
// error data is what came until then.
func (in *intake) read(r io.Reader, size int64) error {
	const first = 2 << 20 // an announcement is a claim
	if !in.room(int(min(max(size+1, 512), first)), size) {
		return errBudget
	}
	for {
		if len(in.data) == cap(in.data) && !in.room(2*cap(in.data), size) {
			return errBudget
		}
		n, err := r.Read(in.data[len(in.data):cap(in.data)])
		in.data = in.data[:len(in.data)+n]
		in.look(n)
		switch {
		case int64(len(in.data)) > in.most:
			return errLarge
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// room makes room for n bytes, or for all that was announced where that is less.
func (in *intake) room(n int, size int64) bool {
	if whole := size + 1; whole > int64(len(in.data)) && whole < int64(n) {
		n = int(whole)
	}
	if !in.budget.take(n - in.held) {
		return false
	}
	in.held = n
	grown := make([]byte, len(in.data), n)
	copy(grown, in.data)
	in.data = grown
	return true
}

// look scans the last n bytes. What is no JSON is looked at no further.
func (in *intake) look(n int) {
	if in.scan == nil {
		return
	}
	if _, err := in.scan.Write(in.data[len(in.data)-n:]); err != nil {
		in.scan = nil
	}
}

// body is what was read.
func (in *intake) body() *body {
	b := &body{data: in.data}
	if in.scan != nil {
		// What has more members than are kept is relayed, as what is no JSON is.
		b.places, _ = in.scan.Outline()
	}
	return b
}

// takeIn reads a request to its end. Where the budget does not allow that, or the
// request breaks off, none is returned, and what came is put back in front of the rest.
func (e *exchange) takeIn(out *http.Request, up *upload) (*body, error) {
	plain := isPlain(e.packed)
	in := intake{budget: &e.gateway.copies, most: e.gateway.limits.Body}
	if plain {
		in.scan = new(rawjson.Scanner)
	}
	err := in.read(up, out.ContentLength)
	e.came, e.held = in.data, in.held
	switch {
	case errors.Is(err, errBudget):
		e.up.lose()
		up.kept = false
		out.Body = rest{io.MultiReader(bytes.NewReader(in.data), up), up}
		return nil, nil
	case err != nil:
		return nil, err
	case plain:
		return in.body(), nil
	}
	b, held := e.gateway.unpack(in.data, e.packed)
	e.held += held
	return b, nil
}

// rest is what is still to be sent of a request.
type rest struct {
	io.Reader
	io.Closer
}

// unpack takes the compression off a request; none where that cannot be done, or
// there is no room for what is in it. held is what it takes of the budget.
func (g *Gateway) unpack(data []byte, encoding string) (b *body, held int) {
	in := intake{budget: &g.copies, most: g.limits.Body, scan: new(rawjson.Scanner)}
	if err := in.unpack(data, encoding); err != nil {
		g.copies.give(in.held)
		return nil, 0
	}
	return in.body(), in.held
}

// errShape says that a request is no object, or one that nobody would send.
var errShape = errors.New("the request is no JSON object of a size that is read")

// plain is a request that is over, without its compression.
func (x *ended) plain() (*body, error) {
	b := x.body
	switch {
	case b != nil:
	case isPlain(x.packed):
		b = plainBody(x.request)
	default:
		in := intake{budget: &x.gateway.copies, most: x.gateway.limits.Body, scan: new(rawjson.Scanner)}
		err := in.unpack(x.request, x.packed)
		x.gateway.copies.give(in.held) // it is gone when the call is recorded
		if err != nil {
			return nil, err
		}
		b = in.body()
	}
	if b.places == nil {
		return nil, errShape
	}
	return b, nil
}

// view is the view of a request that was taken in. It is read once.
func (e *exchange) view() (*view, error) {
	if e.reading == nil {
		e.reading = &reading{}
		e.reading.view, e.reading.err = e.gateway.reader.view(e.route, e.body)
	}
	return e.reading.view, e.reading.err
}

// A reading is a view, or why there is none.
type reading struct {
	view *view
	err  error
}

// plainBody is a request that was read before.
func plainBody(data []byte) *body {
	in := intake{data: data, scan: new(rawjson.Scanner)}
	in.look(len(data))
	return in.body()
}

// isPlain reports whether an encoding is none.
func isPlain(encoding string) bool { return encoding == "" || encoding == "identity" }

// errPacked says that a body cannot be read because of how it is compressed.
var errPacked = errors.New("the compression of the request is not known")

func (in *intake) unpack(data []byte, encoding string) error {
	r, err := unpacker(data, encoding)
	if err != nil {
		return fmt.Errorf("read a request in %s: %w", encoding, err)
	}
	defer r.Close()
	if err := in.read(r, -1); err != nil {
		return fmt.Errorf("read a request in %s: %w", encoding, err)
	}
	return nil
}

// unpacker reads what is compressed.
func unpacker(data []byte, encoding string) (io.ReadCloser, error) {
	switch encoding {
	case "gzip":
		return gzip.NewReader(bytes.NewReader(data))
	case "zstd":
		return zstd.NewReader(bytes.NewReader(data))
	case "deflate":
		if r, err := zlib.NewReader(bytes.NewReader(data)); err == nil {
			return r, nil
		}
		return flate.NewReader(bytes.NewReader(data)), nil
	}
	return nil, errPacked
}
