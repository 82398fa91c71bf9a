package modeltest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/quire-agent/quire/internal/quire"
)

// A Protocol is the provider's side of a protocol.
type Protocol struct {
	Path      string // in which a call arrives; %s is the name of the model
	KeyHeader string // that holds the key
	KeyPrefix string // in front of it there

	Decode func(body []byte) (quire.Call, error)
	Deltas func() func(quire.Delta) ([]byte, error) // one for each answer
	Done   string                                   // what follows the last event
	Reply  func(quire.Reply) ([]byte, error)
	Error  func(*quire.CallError) (status int, body []byte)
	Broken func(*quire.CallError) []byte // the event of an error in the middle

	TooLong    string // message of the error for a prompt that is too long
	Filtered   string // message of the error of a filter; "": it has none, and answers that it refuses
	NoThought  bool   // thinking is not sent back
	NoSigning  bool   // thinking has no signature
	SignsCalls bool   // the signature stands at the tool call behind the thinking
	NameInPath bool   // the name of the model is in the path and not in the body
}

// A server plays a provider: its calls are answered one after the other.
type server struct {
	*httptest.Server
	t        *testing.T
	protocol Protocol

	mu      sync.Mutex
	answers []answer
	calls   []quire.Call
}

// An answer is what the provider does with a call.
type answer func(s *server, w http.ResponseWriter, r *http.Request)

func serve(t *testing.T, p Protocol, answers ...answer) *server {
	s := &server{t: t, protocol: p, answers: answers}
	s.Server = httptest.NewServer(s)
	return s
}

// ServeHTTP checks and keeps a call, and answers it.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a, err := s.take(r)
	if err != nil {
		s.t.Error(err)
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	a(s, w, r)
}

func (s *server) take(r *http.Request) (answer, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	c, err := s.protocol.Decode(body)
	if err != nil {
		return nil, fmt.Errorf("the call is no call: %w", err)
	}
	path := s.protocol.Path
	if s.protocol.NameInPath {
		path, c.Model, c.Stream = fmt.Sprintf(path, Name), Name, true
	}
	if got := r.URL.RequestURI(); got != path {
		return nil, fmt.Errorf("called at %s, want %s", got, path)
	}
	if got := r.Header.Get(s.protocol.KeyHeader); got != s.protocol.KeyPrefix+secret {
		return nil, fmt.Errorf("the key arrives as %q", got)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls = append(s.calls, c); len(s.calls) > len(s.answers) {
		return nil, fmt.Errorf("call %d is one too many", len(s.calls))
	}
	return s.answers[len(s.calls)-1], nil
}

// call is the nth call that came, from 0.
func (s *server) call(n int) quire.Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n >= len(s.calls) {
		s.t.Fatalf("%d calls came", len(s.calls))
	}
	return s.calls[n]
}

// say streams deltas as far as they go.
func (s *server) say(w http.ResponseWriter, deltas []quire.Delta) {
	w.Header().Set("Content-Type", "text/event-stream")
	encode := s.protocol.Deltas()
	for _, d := range deltas {
		b, err := encode(d)
		if err != nil {
			s.t.Error(err)
			return
		}
		if _, err := w.Write(b); err != nil {
			return // the client has left
		}
	}
	if flusher, ok := w.(http.Flusher); ok {
		flusher.Flush()
	}
}

// streams answers with a whole reply.
func streams(deltas []quire.Delta) answer {
	return func(s *server, w http.ResponseWriter, _ *http.Request) {
		s.say(w, deltas)
		_, _ = io.WriteString(w, s.protocol.Done) // a client that has its answer may be gone
	}
}

// cuts breaks the connection off behind some deltas.
func cuts(deltas []quire.Delta) answer {
	return func(s *server, w http.ResponseWriter, _ *http.Request) {
		s.say(w, deltas)
		panic(http.ErrAbortHandler)
	}
}

// hangs says nothing more behind some deltas until the client leaves, and tells.
func hangs(deltas []quire.Delta, left chan<- struct{}) answer {
	return func(s *server, w http.ResponseWriter, r *http.Request) {
		s.say(w, deltas)
		<-r.Context().Done()
		close(left)
	}
}

// breaks says that something is wrong in the middle of an answer.
func breaks(deltas []quire.Delta, e *quire.CallError) answer {
	return func(s *server, w http.ResponseWriter, _ *http.Request) {
		s.say(w, deltas)
		_, _ = w.Write(s.protocol.Broken(e)) // the client may be gone
	}
}

// refuses answers with an error.
func refuses(e *quire.CallError) answer {
	return func(s *server, w http.ResponseWriter, _ *http.Request) {
		status, body := s.protocol.Error(e)
		w.Header().Set("Content-Type", "application/json")
		if e.After > 0 {
			w.Header().Set("Retry-After", fmt.Sprint(e.After))
		}
		w.WriteHeader(status)
		_, _ = w.Write(body) // the client may be gone
	}
}

// writes answers with anything at all.
func writes(kind, text string) answer {
	return func(_ *server, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		_, _ = io.Copy(w, strings.NewReader(text)) // the client may be gone
	}
}
