package gateway

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/wire/anthropic"
)

// A doubter refuses requests that hold a text, and passes all others on.
type doubter struct {
	up     http.Handler
	mu     sync.Mutex // guards what follows
	refuse string
	status int
	times  int
	keys   []string
}

func (d *doubter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	d.mu.Lock()
	d.keys = append(d.keys, r.Header.Get("X-Api-Key")+r.Header.Get("Authorization"))
	no := d.times > 0 && bytes.Contains(body, []byte(d.refuse))
	if no {
		d.times--
	}
	status := d.status
	d.mu.Unlock()
	if no {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		kind := map[int]string{400: "invalid_request_error", 529: "overloaded_error"}[status]
		_, _ = io.WriteString(w, `{"type":"error","error":{"type":"`+kind+`","message":"no"}}`)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	d.up.ServeHTTP(w, r)
}

// between puts a doubter between the gateway and the provider.
func (s *scene) between() *doubter {
	d := &doubter{up: s.sim}
	s.up = serveHandler(s.t, d)
	s.restart()
	return d
}

// G17: where a provider finds fault with the stream, the client's own view goes up,
// which is counted and shown; the next call is curated again.
//
// design.md G17
func TestFailOpen(t *testing.T) {
	s := worked(t, Messages, "claude-sonnet-4-5", true, looksBack)
	s.quiet = true
	d := s.between()
	d.refuse, d.status, d.times = `"recall"`, 400, 1
	s.say("go on")
	_, l := s.ask()
	if l.Status != 200 || l.Opened == "" || l.Curated {
		t.Errorf("the call that was refused: %s", callText(t, l))
	}
	if st := s.world.g.Status(); st.Totals.Opened == 0 || st.Sessions[0].Opened != 1 || !strings.Contains(metrics(st), "quire_opened_total 1") {
		t.Errorf("it is not shown: %+v", st.Totals)
	}
	s.say("do one more")
	_, l = s.ask()
	if l.Status != 200 || !l.Curated {
		t.Errorf("the call behind it: %s", callText(t, l))
	}
	s.valid()
}

// G7: when the call behind a recall fails after bytes went out, the answer ends with
// the provider's word for being overloaded, and the retry resumes behind the recall.
//
// design.md G7
func TestInnerCallFails(t *testing.T) {
	for _, stream := range []bool{true, false} {
		s := worked(t, Messages, "claude-sonnet-4-5", stream, looksBack)
		s.quiet = true
		d := s.between()
		d.refuse, d.status, d.times = "of turn 0 line 7 ", 529, 1
		s.say("look back at the first file")
		before := len(s.sim.Requests())
		r, text := s.send()
		s.world.line()
		if stream && (r.StatusCode != 200 || !bytes.Contains(text, []byte("Let me look.")) || !bytes.Contains(text, []byte("overloaded_error"))) {
			t.Errorf("status %d: %s", r.StatusCode, text)
		}
		if !stream && r.StatusCode != 529 {
			t.Errorf("status %d: %s", r.StatusCode, text)
		}
		reply, l := s.ask()
		if got := texts(reply.Blocks); got != "It held a table." || l.Status != 200 {
			t.Errorf("the retry is answered %q: %s", got, callText(t, l))
		}
		if n := len(s.sim.Requests()) - before; n != 2 {
			t.Errorf("%d requests were answered, want 2", n)
		}
		s.say("go on")
		_, l = s.ask()
		if l.Status != 200 || !l.Curated {
			t.Errorf("the call behind it: %s", callText(t, l))
		}
		s.valid()
	}
}

// The gateway's own key goes up in the place of the client's; it is in no journal.
func TestOwnKey(t *testing.T) {
	s := newScene(t, Messages, "claude-sonnet-4-5", "turn always\n say Yes.", sim0())
	d := &doubter{up: s.sim}
	s.world.stop()
	s.world = newWorld(t, s.pool, serveHandler(t, d), func(o *Options) { o.Keys = map[API]string{Messages: "the-own-key"} })
	s.say("hello")
	s.ask()
	if len(d.keys) != 1 || d.keys[0] != "the-own-key" {
		t.Errorf("upstream saw %q", d.keys)
	}
	if strings.Contains(rawJournals(t, s.pool.Home), "own-key") {
		t.Error("the key is in a journal")
	}
}

// Compressed requests are understood, and go up as they came while they are relayed.
func TestCompressedRequests(t *testing.T) {
	s := worked(t, Messages, "claude-sonnet-4-5", false, looksBack)
	s.say("go on")
	c := s.call
	body, err := anthropic.EncodeCall(c)
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(body); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	r, text := post(t, s.world.url+"/v1/messages", packed.String(), "Content-Encoding", "gzip")
	if r.StatusCode != 200 {
		t.Fatalf("%d %s", r.StatusCode, text)
	}
	if l := s.world.line(); !l.Curated {
		t.Errorf("%s", callText(t, l))
	}
}

// A result with an image between its texts stays what it was, and the image can go.
func TestImagesInResults(t *testing.T) {
	s := newScene(t, Messages, "claude-sonnet-4-5", rounds, sim0())
	for turn := range 4 {
		s.say("do it")
		for i := range 6 {
			r, l := s.ask()
			s.fine(l)
			s.results(r, listing("part", 40))
			b := &s.call.Messages[len(s.call.Messages)-1].Blocks[0]
			text := func(t string) quire.Block {
				return quire.Block{Part: quire.Part{Kind: quire.PartMachine, Text: t}}
			}
			b.Content = []quire.Block{text(b.Text), picture(10*turn + i), text("behind it")}
			b.Text = ""
		}
		_, l := s.ask()
		s.fine(l)
	}
	s.clock.pass(26 * 3600e9)
	first := len(s.sim.Requests())
	s.work(4, 6)
	s.restart()
	s.work(5, 3)
	s.valid()
	s.extends(first)
	if n := s.world.g.Status().Totals.Curated; n == 0 {
		t.Error("nothing was curated")
	}
}
