package sim

import (
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/quire-agent/quire/internal/quire"
)

// A Request is one request as it came, and how it was answered.
type Request struct {
	Number     int             `json:"number"` // from 1
	At         time.Time       `json:"at"`
	API        API             `json:"api"`
	Path       string          `json:"path"`
	Model      string          `json:"model"`
	Stream     bool            `json:"stream"`
	Credential string          `json:"credential"`        // a hash of the key, "" without one
	Header     http.Header     `json:"header"`            // without keys
	Body       json.RawMessage `json:"body,omitempty"`    // as it came, where it was JSON; of old requests, not kept
	Bytes      int             `json:"bytes"`             // of the body
	Prompt     int             `json:"prompt"`            // tokens, 0 where it was refused before they were counted
	Status     int             `json:"status"`            // of HTTP
	Refused    string          `json:"refused,omitempty"` // why the request is not valid
	Turn       int             `json:"turn,omitempty"`    // line of the turn of the script that answered
	Fault      string          `json:"fault,omitempty"`   // what the turn did to the answer
	Dropped    int             `json:"dropped,omitempty"` // blocks of thinking of another prefix that were dropped
	Lapsed     int             `json:"lapsed,omitempty"`  // tokens that were not read only because their lifetime was over
	Usage      quire.Usage     `json:"usage"`
	Stop       quire.Stop      `json:"stop,omitempty"`
}

// maxKept bounds the bodies that a record keeps, in bytes: those of the newest
// requests stay.
const maxKept = 256 << 20

// A record keeps requests. It is safe for concurrent use.
type record struct {
	mu   sync.Mutex
	list []*Request
	kept int // bytes
	from int // the first request whose body is kept
}

// begin adds a request and numbers it.
func (r *record) begin(q Request) *Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	q.Number = len(r.list) + 1
	r.list = append(r.list, &q)
	r.kept += len(q.Body)
	for r.kept > maxKept && r.from < len(r.list)-1 {
		r.kept -= len(r.list[r.from].Body)
		r.list[r.from].Body = nil
		r.from++
	}
	return &q
}

// change notes more of a request.
func (r *record) change(q *Request, note func(*Request)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	note(q)
}

func (r *record) all() []Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := make([]Request, len(r.list))
	for i, q := range r.list {
		list[i] = *q
	}
	return list
}

// listRequests answers with the record as JSON.
func (s *Sim) listRequests(w http.ResponseWriter, _ *http.Request) {
	body, err := json.MarshalIndent(s.Requests(), "", "  ")
	if err != nil {
		s.failed(err)
		s.write(w, 500, []byte(`{}`))
		return
	}
	s.write(w, 200, append(body, '\n'))
}

// withoutKeys is a header that may be shown.
func withoutKeys(h http.Header) http.Header {
	h = h.Clone()
	for _, name := range [...]string{"Authorization", "X-Api-Key", "X-Goog-Api-Key", "Cookie", "Proxy-Authorization"} {
		h.Del(name)
	}
	return h
}
