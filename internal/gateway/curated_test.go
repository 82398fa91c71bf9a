package gateway

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/curation"
	"github.com/quire-agent/quire/internal/ingest"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/script"
	"github.com/quire-agent/quire/internal/secret"
	"github.com/quire-agent/quire/internal/sim"
	"github.com/quire-agent/quire/internal/wire/anthropic"
	"github.com/quire-agent/quire/internal/wire/chat"
	"github.com/quire-agent/quire/internal/wire/gemini"
	"github.com/quire-agent/quire/internal/wire/responses"
)

// A clock is set by hand. It is safe for concurrent use.
type clock struct{ ns atomic.Int64 }

func (c *clock) now() time.Time       { return time.Unix(0, c.ns.Add(int64(time.Millisecond))).UTC() }
func (c *clock) pass(d time.Duration) { c.ns.Add(int64(d)) }

// A scene is a client of one API in front of a gateway and a strict provider.
type scene struct {
	t      *testing.T
	api    API
	model  string
	stream bool
	clock  *clock
	pool   *ingest.Pool
	sim    *sim.Sim
	up     string
	world  *world
	call   quire.Call
	label  string
	quiet  bool // curating is expected to fail
}

// newScene begins one; the model plays a script.
func newScene(t *testing.T, api API, model, text string, limits sim.Limits) *scene {
	t.Helper()
	s := &scene{t: t, api: api, model: model, clock: &clock{}}
	s.clock.ns.Store(time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC).UnixNano())
	parsed, err := script.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	c, err := counter()
	if err != nil {
		t.Fatal(err)
	}
	s.sim, err = sim.New(sim.Options{Counter: c, Script: parsed, Now: s.clock.now, Limits: limits, Secret: "s", Failed: func(err error) { t.Errorf("the simulator: %v", err) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.sim.Close)
	s.pool = newPool(t)
	s.pool.Now = s.clock.now
	s.up = serveHandler(t, s.sim)
	s.start()
	s.call = quire.Call{Model: model, MaxOutput: 4000, System: []quire.Block{{Part: quire.Part{Kind: quire.PartSystem, Text: "You work on a project."}}}}
	for _, name := range []string{"read", "bash"} {
		s.call.Tools = append(s.call.Tools, quire.ToolSpec{Name: name, Description: "The tool " + name + ".", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`)})
	}
	if api == Messages {
		s.call.System[0].Cache = quire.MarkShort
	}
	return s
}

func (s *scene) start() {
	s.world = newWorld(s.t, s.pool, s.up, func(o *Options) {
		o.Curate = &Curation{Secrets: secret.NewFinder()}
		if s.quiet {
			o.Failed = nil
		}
	})
}

// restart puts another gateway in the place of the one that runs.
func (s *scene) restart() {
	s.world.stop()
	s.start()
}

func (s *scene) say(text string) {
	s.call.Messages = append(s.call.Messages, quire.Message{Role: quire.RoleUser, Blocks: []quire.Block{{Part: quire.Part{Kind: quire.PartUser, Text: text}}}})
}

// ask sends the view and takes the answer into it.
func (s *scene) ask() (quire.Reply, Line) {
	s.t.Helper()
	r, text := s.send()
	reply := s.read(r, text)
	s.call.Messages = append(s.call.Messages, quire.Message{Role: quire.RoleAssistant, Blocks: reply.Blocks})
	return reply, s.world.line()
}

func (s *scene) send() (*http.Response, []byte) {
	s.t.Helper()
	c := s.call
	c.Stream = s.stream
	path := map[API]string{Messages: "/v1/messages", Chat: "/v1/chat/completions", Responses: "/v1/responses"}[s.api]
	var body []byte
	var err error
	switch s.api {
	case Messages:
		body, err = anthropic.EncodeCall(c)
	case Chat:
		if s.stream {
			c.Rest = []quire.Field{{Name: "stream_options", Value: json.RawMessage(`{"include_usage":true}`)}}
		}
		body, err = chat.EncodeCall(c)
	case Responses:
		c.Rest = []quire.Field{{Name: "store", Value: json.RawMessage("false")}, {Name: "include", Value: json.RawMessage(`["reasoning.encrypted_content"]`)}}
		body, err = responses.EncodeCall(c)
	default:
		path = "/v1beta/models/" + s.model + ":generateContent"
		if s.stream {
			path = "/v1beta/models/" + s.model + ":streamGenerateContent?alt=sse"
		}
		body, err = gemini.EncodeCall(c)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return post(s.t, s.world.url+path, string(body), "X-Claude-Code-Session-Id", s.label)
}

func (s *scene) read(r *http.Response, text []byte) quire.Reply {
	s.t.Helper()
	if r.StatusCode != 200 {
		s.t.Fatalf("status %d: %s", r.StatusCode, text)
	}
	if s.stream {
		var f curation.Fold
		for d, err := range s.api.decodeStream(bytes.NewReader(text)) {
			if err != nil {
				s.t.Fatalf("%v in\n%s", err, text)
			}
			f.Add(d)
		}
		reply, whole := f.Reply()
		if !whole {
			s.t.Fatalf("the answer has no end:\n%s", text)
		}
		return reply
	}
	reply, err := s.api.decodeReply(text)
	if err != nil {
		s.t.Fatalf("%v in\n%s", err, text)
	}
	return reply
}

// results answers the calls of an answer.
func (s *scene) results(r quire.Reply, text string) {
	m := quire.Message{Role: quire.RoleTool}
	for _, b := range r.Blocks {
		if b.Kind == quire.PartToolCall {
			m.Blocks = append(m.Blocks, quire.Block{Part: quire.Part{Kind: quire.PartToolResult, ToolUse: b.ToolUse, Tool: b.Tool, Text: text}})
		}
	}
	s.call.Messages = append(s.call.Messages, m)
}

// listing is a text of many lines that are like no others.
func listing(name string, lines int) string {
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "%s line %d holds value %d of the table\n", name, i, i*7919%10007)
	}
	return b.String()
}

// work is a turn of n rounds with large results.
func (s *scene) work(turn, n int) {
	s.t.Helper()
	s.say(fmt.Sprintf("do step %d", turn))
	for i := range n {
		r, l := s.ask()
		s.fine(l)
		s.results(r, listing(fmt.Sprintf("file %d of turn %d", i, turn), 40))
	}
	_, l := s.ask()
	s.fine(l)
}

func (s *scene) fine(l Line) {
	s.t.Helper()
	if l.Opened != "" || l.Status != 200 || l.Note != "" || l.Odd != "" {
		s.t.Fatalf("the call went wrong: %s", callText(s.t, l))
	}
}

// last is the request that came to the provider last, as it was sent.
func (s *scene) last() sim.Request {
	all := s.sim.Requests()
	return all[len(all)-1]
}

const rounds = `loop
 turn 6 times
  call bash {"command": "make part${call}"}
 turn
  say It is done, step ${loop}.
end`

func apis() []struct {
	api   API
	model string
} {
	return []struct {
		api   API
		model string
	}{{Messages, "claude-sonnet-4-5"}, {Chat, "gpt-5.5"}, {Responses, "gpt-5.5"}, {Gemini, "gemini-3.8-flash"}}
}

// G6: until its first epoch a session is relayed byte for byte; with it recall enters
// the list, last, and pages stand as handles. G5: what goes up then is ours.
//
// design.md G5, G6
func TestFirstEpoch(t *testing.T) {
	for _, a := range apis() {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s stream %v", a.api, stream), func(t *testing.T) {
				s := newScene(t, a.api, a.model, rounds, sim.Limits{})
				s.stream = stream
				for turn := range 4 {
					s.work(turn, 6)
				}
				if n := s.world.g.Status().Totals.Curated; n != 0 {
					t.Fatalf("%d calls were curated while the cache was warm", n)
				}
				s.clock.pass(26 * time.Hour)
				s.work(4, 6)
				s.work(5, 6)
				for _, r := range s.sim.Requests() {
					if r.Refused != "" {
						t.Fatalf("request %d was refused: %s\n%s", r.Number, r.Refused, r.Body)
					}
				}
				st := s.world.g.Status()
				if st.Totals.Epochs != 1 || st.Totals.Curated != 14 || st.Totals.Opened != 0 {
					t.Errorf("%d epochs, %d curated calls, %d failures", st.Totals.Epochs, st.Totals.Curated, st.Totals.Opened)
				}
				body := string(s.last().Body)
				if !strings.Contains(body, `"recall"`) || !strings.Contains(body, "recall p4") {
					t.Errorf("neither recall nor handles in %.3000s", body)
				}
			})
		}
	}
}

func sim0() sim.Limits { return sim.Limits{} }

// picture is an image of one pixel that is like no other.
func picture(n int) quire.Block {
	var b bytes.Buffer
	m := image.NewRGBA(image.Rect(0, 0, 1, 1))
	m.Set(0, 0, color.RGBA{uint8(n), 1, 2, 255})
	if err := png.Encode(&b, m); err != nil {
		panic(err)
	}
	data := b.String()
	return quire.Block{Part: quire.Part{Kind: quire.PartImage, Data: data, Media: &quire.Media{Type: "image/png", Bytes: len(data), Hash: quire.Sum(data), Width: 1, Height: 1}}}
}
