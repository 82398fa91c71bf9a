package sim_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/sim"
	"github.com/quire-agent/quire/internal/wire/anthropic"
)

// A clock is set by hand.
type clock struct{ now time.Time }

func (c *clock) time() time.Time { return c.now }

// rules is the embedded table with a file of rules over it.
func rules(t *testing.T, text string) *price.Table {
	t.Helper()
	table, err := price.Default().Merge(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// said is the reply to a request of the Messages API.
func said(t *testing.T, s http.Handler, c quire.Call) quire.Reply {
	t.Helper()
	body, err := anthropic.EncodeCall(c)
	if err != nil {
		t.Fatal(err)
	}
	w := post(s, "/v1/messages", string(body))
	if w.Code != 200 {
		t.Fatalf("%d: %s", w.Code, w.Body)
	}
	r, err := anthropic.DecodeReply(w.Body.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func text(kind quire.PartKind, s string) quire.Block {
	return quire.Block{Part: quire.Part{Kind: kind, Text: s}}
}

// long is a call whose system prompt is marked, of some thousand tokens.
func long(mark quire.Mark) quire.Call {
	system := text(quire.PartSystem, prose())
	system.Cache = mark
	return quire.Call{Model: "claude-opus-5", MaxOutput: 100, System: []quire.Block{system}, Messages: []quire.Message{
		{Role: quire.RoleUser, Blocks: []quire.Block{text(quire.PartUser, "hello")}},
	}}
}

// The lifetime of an entry is that of the rules: by the file here, one second.
func TestLifetimes(t *testing.T) {
	c := &clock{noon()}
	s := make(t, sim.Options{Now: c.time, Prices: rules(t, `{"rules":[{"name":"anthropic-512","match":"breakpoint","minimum":512,"breakpoints":4,"look_back":20,"ttl":"1s","long_ttl":"4s","charges_writes":true,"guaranteed":true,"margin":"200ms"}]}`)})
	first := said(t, s, long(quire.MarkShort)).Usage
	if first.CacheWrite < 2000 || first.CacheRead != 0 || first.CacheWrite1h != 0 || first.Input == 0 {
		t.Fatalf("the first: %+v", first)
	}
	for _, step := range []struct {
		after time.Duration
		mark  quire.Mark
		read  bool
	}{
		{900 * time.Millisecond, quire.MarkShort, true},
		{1000 * time.Millisecond, quire.MarkShort, true},
		{1100 * time.Millisecond, quire.MarkShort, false},
		{1100 * time.Millisecond, quire.MarkLong, false},
		{3 * time.Second, quire.MarkLong, true},
	} {
		c.now = c.now.Add(step.after)
		u := said(t, s, long(step.mark)).Usage
		if (u.CacheRead == first.CacheWrite) != step.read || u.Prompt() != first.Prompt() || (u.CacheWrite1h > 0) != (step.mark == quire.MarkLong && !step.read) {
			t.Errorf("after %v: %+v", step.after, u)
		}
	}
	if list := s.Requests(); list[3].Lapsed == 0 || list[2].Lapsed != 0 {
		t.Errorf("lapsed: %d and %d", list[2].Lapsed, list[3].Lapsed)
	}
}

// A cache belongs to a credential and a model, and its key holds the choice of
// tools and thinking behind the system prompt.
func TestCacheKeys(t *testing.T) {
	s := make(t, sim.Options{})
	c := long(quire.MarkShort)
	c.Messages[0].Blocks[0].Cache = quire.MarkShort
	first := said(t, s, c).Usage
	for name, change := range map[string]func(*quire.Call){
		"another model": func(c *quire.Call) { c.Model = "claude-opus-4-8" },
		"another tool": func(c *quire.Call) {
			c.Tools = []quire.ToolSpec{{Name: "a", Schema: json.RawMessage(`{"type":"object"}`)}}
		},
		"another system": func(c *quire.Call) { c.System = append([]quire.Block{text(quire.PartSystem, "x")}, c.System...) },
	} {
		other := c
		if change(&other); said(t, s, other).Usage.CacheRead != 0 {
			t.Errorf("%s reads the cache", name)
		}
	}
	thinking := c
	thinking.Thinking = quire.Thinking{Mode: "adaptive"}
	if u := said(t, s, thinking).Usage; u.CacheRead == 0 || u.CacheRead >= first.CacheWrite {
		t.Errorf("with thinking, of %d written: %+v", first.CacheWrite, u)
	}
	if u := said(t, s, c).Usage; u.CacheRead != first.CacheWrite {
		t.Errorf("again: %+v", u)
	}
}

// What a client may write in another way is the same prompt.
func TestSameBytes(t *testing.T) {
	s := make(t, sim.Options{})
	forms := []string{
		`{"model":"claude-opus-5","max_tokens":9,"messages":[{"role":"user","content":%s}],"cache_control":{"type":"ephemeral"}}`,
		`{"messages":[{"content":[{"text":%s,"type":"text","cache_control":{"type":"ephemeral","ttl":"5m"}}],"role":"user"}],"max_tokens":10,"model":"claude-opus-5"}`,
	}
	quoted, _ := json.Marshal(prose())
	for i, form := range forms {
		w := post(s, "/v1/messages", fmt.Sprintf(form, quoted))
		r, err := anthropic.DecodeReply(w.Body.Bytes())
		if err != nil {
			t.Fatalf("%v: %s", err, w.Body)
		}
		if read := r.Usage.CacheRead > 0; read != (i > 0) {
			t.Errorf("form %d: %+v", i, r.Usage)
		}
	}
}

// An answer ends at the limit of its call.
func TestLimitOfAnswers(t *testing.T) {
	s := make(t, sim.Options{Script: parsed(t, "turn 2 times\n words 500\n call read {}\nturn\n say a\n call read {\"p\":\"long enough to be many more tokens than there is room for in an answer that ends after twenty of them\"}")})
	c := long(quire.MarkNone)
	r := said(t, s, c)
	if r.Stop != quire.StopLength || r.Usage.Output > 100 || r.Usage.Output < 90 || len(r.Blocks) != 1 || !strings.HasPrefix(r.Blocks[0].Text, "word1 word2 ") {
		t.Errorf("%s, %d tokens, %d blocks", r.Stop, r.Usage.Output, len(r.Blocks))
	}
	c.MaxOutput = 100_000
	if r := said(t, s, c); r.Stop != quire.StopTool || len(r.Blocks) != 2 {
		t.Errorf("%s, %d blocks", r.Stop, len(r.Blocks))
	}
	c.MaxOutput = 20
	if r := said(t, s, c); r.Stop != quire.StopLength || len(r.Blocks) != 1 {
		t.Errorf("%s, %d blocks", r.Stop, len(r.Blocks))
	}
}

func BenchmarkRequest(b *testing.B) {
	s := make(b, sim.Options{})
	c := long(quire.MarkShort)
	for i := range 200 {
		role, kind := quire.RoleAssistant, quire.PartText
		if i%2 == 1 {
			role, kind = quire.RoleUser, quire.PartUser
		}
		c.Messages = append(c.Messages, quire.Message{Role: role, Blocks: []quire.Block{text(kind, fmt.Sprintf("message %d: %s", i, prose()[:1200]))}})
	}
	body, err := anthropic.EncodeCall(c)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if w := post(s, "/v1/messages", string(body)); w.Code != 200 {
			b.Fatal(w.Body)
		}
	}
}
