package gatewaytest

import (
	"bytes"
	"io"
	"net/http"
)

func bodyOf(r *http.Request) []byte {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(err)
	}
	return body
}

// withBody is a request once more.
func withBody(r *http.Request, body []byte) *http.Request {
	r = r.Clone(r.Context())
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return r
}

// A held is an answer that is kept until it is whole.
type held struct {
	header http.Header
	status int
	body   bytes.Buffer
	done   bool
}

// Header is the header of the answer.
func (h *held) Header() http.Header { return h.header }

// WriteHeader notes the status.
func (h *held) WriteHeader(status int) { h.status = status }

// Write keeps a piece.
func (h *held) Write(p []byte) (int, error) { return h.body.Write(p) }

// to sends it on.
func (h *held) to(w http.ResponseWriter) {
	for name, values := range h.header {
		w.Header()[name] = values
	}
	w.WriteHeader(h.status)
	// A recorder takes everything.
	_, _ = w.Write(h.body.Bytes())
}
