package modeltest_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/quire-agent/quire/internal/model"
	"github.com/quire-agent/quire/internal/model/anthropic"
	"github.com/quire-agent/quire/internal/model/gemini"
	"github.com/quire-agent/quire/internal/model/modeltest"
	"github.com/quire-agent/quire/internal/model/openai"
	"github.com/quire-agent/quire/internal/model/retry"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/script"
	"github.com/quire-agent/quire/internal/sim"
	"github.com/quire-agent/quire/internal/token"
	"github.com/quire-agent/quire/internal/wire/wiretest"
)

// A vendor is a protocol against the strict simulator.
type vendor struct {
	name, base, model string
	thinking          quire.Thinking
	open              func(*model.Endpoint) modeltest.Caller
}

func vendors() []vendor {
	return []vendor{
		{"messages", "", "claude-opus-5-5", quire.Thinking{Mode: "enabled", Budget: 1024}, func(e *model.Endpoint) modeltest.Caller { return anthropic.New(e) }},
		{"responses", "/v1", "gpt-6.2-sol", quire.Thinking{Effort: "high"}, func(e *model.Endpoint) modeltest.Caller { return openai.NewResponses(e) }},
		{"chat", "/v1", "gpt-6.2-sol", quire.Thinking{Effort: "high"}, func(e *model.Endpoint) modeltest.Caller { return openai.NewChat(e, "openai") }},
		{"gemini", "/v1beta", "gemini-4-hydrogen", quire.Thinking{Budget: 1024}, func(e *model.Endpoint) modeltest.Caller { return gemini.New(e) }},
	}
}

// A play is a scenario: what the simulator does, and what is asked of it.
type play struct {
	name   string
	script string
	limits sim.Limits
	thinks bool // thinking is asked for
	run    func(*stage)
}

func plays() []play {
	return []play{
		{name: "text", script: "turn\n when system contains brief\n say A lake, 湖.", run: (*stage).text},
		{name: "one tool", script: "turn\n when tool look\n say I look.\n call look as c1 {\"at\": \"lake\"}\nturn\n when answered c1\n when result contains boat\n say A boat.", run: (*stage).tools},
		{name: "parallel tools", script: "turn\n call look as c1 {\"at\": \"left\"}\n call look as c2 {\"at\": \"right\"}\nturn\n when answered c1\n when answered c2\n say A boat.", run: (*stage).tools},
		{name: "thinking with tools", script: "turn\n think Where?\n call look as c1 {\"at\": \"lake\"}\nturn\n when answered c1\n think There.\n say A boat.", limits: sim.Limits{BoundThinking: true}, thinks: true, run: (*stage).tools},
		{name: "long stream", script: "turn\n words 3000", run: (*stage).long},
		{name: "cancel", script: "turn\n words 3000\n stall 6000", run: (*stage).cancel},
		{name: "overload", script: "turn 2 times\n fail 529 after 0.001\nturn\n say At last.", run: (*stage).late},
		{name: "rate", script: "turn\n fail 429\nturn\n say At last.", run: (*stage).late},
		{name: "dropped connection", script: "turn\n drop\nturn\n say At last.", run: (*stage).late},
		{name: "cut stream", script: "turn\n words 2000\n cut 4000\nturn\n say never", run: func(s *stage) { s.fail(quire.CallCut, true) }},
		{name: "content filter", script: "turn\n say I\n stop refusal", run: (*stage).refused},
		{name: "context overflow", script: "turn\n say never", limits: sim.Limits{Window: 30}, run: func(s *stage) { s.fail(quire.CallTooLong, false) }},
		{name: "body too large", script: "turn\n say never", limits: sim.Limits{Body: 100}, run: func(s *stage) { s.fail(quire.CallTooLarge, false) }},
	}
}

// TestSimulator runs the scenarios against the simulator, which refuses what the
// vendors refuse.
func TestSimulator(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	counter, err := token.NewCounter()
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range vendors() {
		for _, p := range plays() {
			t.Run(v.name+"/"+p.name, func(t *testing.T) { perform(t, counter, v, p) })
		}
	}
}

func perform(t *testing.T, counter *token.Counter, v vendor, p play) {
	text, err := script.Parse(p.script)
	if err != nil {
		t.Fatal(err)
	}
	provider, err := sim.New(sim.Options{Counter: counter, Script: text, Limits: p.limits, Key: "made-up-key"})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(provider)
	client := model.NewClient(func(string) (string, bool) { return "", false })
	defer func() {
		client.CloseIdleConnections()
		provider.Close()
		server.Close()
	}()
	m := v.open(&model.Endpoint{Base: server.URL + v.base, Key: model.NewKey("made-up-key", "a test"), Client: client})
	if !p.thinks {
		v.thinking = quire.Thinking{}
	}
	p.run(&stage{t, v, retry.New(m, retry.Policy{First: time.Millisecond}), provider})
}

// A stage is one scenario against one vendor.
type stage struct {
	t     *testing.T
	v     vendor
	model modeltest.Caller
	sim   *sim.Sim
}

func (s *stage) call() quire.Call {
	say := func(kind quire.PartKind, text string) []quire.Block {
		return []quire.Block{{Part: quire.Part{Kind: kind, Text: text}}}
	}
	return quire.Call{
		Model: s.v.model, MaxOutput: 30000, Thinking: s.v.thinking, System: say(quire.PartSystem, "Be brief."),
		Tools:    []quire.ToolSpec{{Name: "look", Description: "Looks.", Schema: []byte(`{"type":"object","properties":{"at":{"type":"string"}}}`)}},
		Messages: []quire.Message{{Role: quire.RoleUser, Blocks: say(quire.PartUser, strings.Repeat("What is there, now? ", 20))}},
	}
}

func collect(seq iter.Seq2[quire.Delta, error]) (deltas []quire.Delta, err error) {
	for d, err := range seq {
		if err != nil {
			return deltas, err
		}
		deltas = append(deltas, d)
	}
	return deltas, nil
}

func (s *stage) ask(c quire.Call) quire.Reply {
	deltas, err := collect(s.model.Call(s.t.Context(), c))
	if err != nil {
		s.t.Fatal(err)
	}
	r, err := wiretest.Fold(deltas)
	if err != nil {
		s.t.Fatal(err)
	}
	all := s.sim.Requests()
	if u := all[len(all)-1].Usage; r.Usage.Prompt() != u.Prompt() || r.Usage.Output != u.Output || u.Output == 0 {
		s.t.Errorf("the usage is %+v, the simulator metered %+v", r.Usage, u)
	}
	return r
}

// words is what an answer says.
func words(r quire.Reply) (text string) {
	for _, b := range r.Blocks {
		if b.Kind == quire.PartText {
			text += b.Text
		}
	}
	return text
}

func (s *stage) says(r quire.Reply, want string, stop quire.Stop) {
	if got := words(r); got != want || r.Stop != stop {
		s.t.Errorf("it says %q and stops for %s, want %q and %s", got, r.Stop, want, stop)
	}
}

func (s *stage) text() { s.says(s.ask(s.call()), "A lake, 湖.", quire.StopEnd) }

func (s *stage) late() { s.says(s.ask(s.call()), "At last.", quire.StopEnd) }

// tools runs what the model calls until it is done.
func (s *stage) tools() {
	c := s.call()
	first := s.ask(c)
	if first.Stop != quire.StopTool {
		s.t.Fatalf("it stops for %s", first.Stop)
	}
	results := quire.Message{Role: quire.RoleTool}
	for _, b := range first.Blocks {
		if b.Kind == quire.PartToolCall {
			results.Blocks = append(results.Blocks, quire.Block{Part: quire.Part{Kind: quire.PartToolResult, Tool: b.Tool, ToolUse: b.ToolUse, Text: "a boat"}})
		}
	}
	c.Messages = append(c.Messages, quire.Message{Role: quire.RoleAssistant, Blocks: first.Blocks}, results)
	s.says(s.ask(c), "A boat.", quire.StopEnd)
	if all := s.sim.Requests(); all[len(all)-1].Dropped > 0 {
		s.t.Error("thinking that went back as it came was dropped")
	}
}

func (s *stage) long() {
	if got := len(strings.Fields(words(s.ask(s.call())))); got != 3000 {
		s.t.Errorf("%d words came", got)
	}
}

func (s *stage) refused() {
	if r := s.ask(s.call()); r.Stop != quire.StopRefusal {
		s.t.Errorf("it stops for %s", r.Stop)
	}
}

func (s *stage) cancel() {
	ctx, cancel := context.WithCancel(s.t.Context())
	defer cancel()
	var last error
	for d, err := range s.model.Call(ctx, s.call()) {
		if _, ok := d.(quire.BlockGrew); ok {
			cancel()
		}
		last = err
	}
	if !errors.Is(last, context.Canceled) {
		s.t.Errorf("the error is %v", last)
	}
}

// fail wants an error, with words before it or without, and one request.
func (s *stage) fail(kind quire.CallErrorKind, said bool) {
	deltas, err := collect(s.model.Call(s.t.Context(), s.call()))
	e, ok := errors.AsType[*quire.CallError](err)
	if !ok || e.Kind != kind {
		s.t.Errorf("the error is %v, want kind %s", err, kind)
	}
	isGrowth := func(d quire.Delta) bool { _, ok := d.(quire.BlockGrew); return ok }
	if slices.ContainsFunc(deltas, isGrowth) != said {
		s.t.Errorf("%d deltas came before the error", len(deltas))
	}
	if n := len(s.sim.Requests()); n > 1 {
		s.t.Errorf("%d requests were sent", n)
	}
}

// TestTogether holds that a model may be called from many places at once.
func TestTogether(t *testing.T) {
	counter, err := token.NewCounter()
	if err != nil {
		t.Fatal(err)
	}
	v := vendors()[0]
	perform(t, counter, v, play{script: "turn always\n say ${user}", run: func(s *stage) {
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				c := s.call()
				c.Messages[0].Blocks[0].Text = fmt.Sprint("word ", i)
				deltas, err := collect(s.model.Call(t.Context(), c))
				if err != nil {
					t.Error(err)
				}
				if r, err := wiretest.Fold(deltas); err != nil || words(r) != fmt.Sprint("word ", i) {
					t.Errorf("call %d is answered with %q, %v", i, words(r), err)
				}
			})
		}
		all.Wait()
	}})
}
