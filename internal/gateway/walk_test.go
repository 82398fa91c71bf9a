package gateway

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/wire/anthropic"
)

// An echo is an upstream that answers with a number, and with a tool call at every
// other one. It keeps what it was sent and what it said.
type echo struct {
	sent, said string
	n          int
	broken     bool // answer with an error
}

func (e *echo) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	e.sent = string(body)
	if e.broken {
		e.said = `{"type":"error","error":{"type":"overloaded_error","message":"no"}}`
		w.WriteHeader(529)
		_, _ = io.WriteString(w, e.said)
		return
	}
	out, err := anthropic.EncodeReply(quire.Reply{ID: fmt.Sprint("msg_", e.n), Model: "m", Blocks: e.blocks(), Stop: quire.StopEnd})
	if err != nil {
		panic(err)
	}
	e.said = string(out)
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(out)
}

func (e *echo) blocks() []quire.Block {
	list := []quire.Block{{Part: quire.Part{Kind: quire.PartText, Text: fmt.Sprint("answer ", e.n)}}}
	if e.n%2 == 0 {
		list = append(list, quire.Block{Part: quire.Part{Kind: quire.PartToolCall, Tool: "read", ToolUse: fmt.Sprint("c", e.n), Text: `{"n":` + fmt.Sprint(e.n) + `}`}})
	}
	return list
}

// A walker is a client that does what clients do. full is what it said and heard,
// view what it sends of it: the two differ in results that it cleared.
type walker struct {
	t    *rapid.T
	up   *echo
	w    *world
	full []quire.Message
	view []quire.Message
	n    int
}

func (k *walker) user() {
	k.n++
	text := fmt.Sprint("words ", k.n)
	m := quire.Message{Role: quire.RoleUser}
	if n := len(k.full); n > 0 {
		for _, b := range k.full[n-1].Blocks {
			if b.Kind == quire.PartToolCall {
				m.Blocks = append(m.Blocks, quire.Block{Part: quire.Part{Kind: quire.PartToolResult, ToolUse: b.ToolUse, Text: "a long result of call " + fmt.Sprint(k.n)}})
			}
		}
	}
	if len(m.Blocks) == 0 {
		m.Blocks = []quire.Block{{Part: quire.Part{Kind: quire.PartUser, Text: text}}}
	}
	k.full, k.view = append(k.full, m), append(k.view, m)
}

// back goes to an earlier place, behind an answer or to the beginning's message.
func (k *walker) back() {
	if len(k.full) < 3 {
		return
	}
	at := 2 * rapid.IntRange(1, (len(k.full)-1)/2).Draw(k.t, "to")
	k.full, k.view = slices.Clone(k.full[:at]), slices.Clone(k.view[:at])
}

// clearOne puts a placeholder in the place of a result.
func (k *walker) clearOne() {
	for i := range k.view {
		b := k.view[i].Blocks[0]
		if b.Kind == quire.PartToolResult && len(b.Text) > 5 && i < len(k.view)-2 {
			b.Text = "gone"
			k.view[i].Blocks = []quire.Block{b}
			return
		}
	}
}

// call sends the view. What comes must be what came without a gateway.
func (k *walker) call() {
	c := quire.Call{Model: "claude-sonnet-4-5", MaxOutput: 9, Messages: k.view, Tools: []quire.ToolSpec{{Name: "read", Schema: []byte(`{"type":"object"}`)}}}
	body, err := anthropic.EncodeCall(c)
	if err != nil {
		k.t.Fatal(err)
	}
	k.up.n++
	r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/v1/messages", strings.NewReader(string(body)))
	r.Header.Set("X-Api-Key", "k")
	rec := httptest.NewRecorder()
	k.w.g.ServeHTTP(rec, r)
	if k.up.sent != string(body) || rec.Body.String() != k.up.said {
		k.t.Fatalf("up went\n%s\nas\n%s\ndown came\n%s\nas\n%s", body, k.up.sent, k.up.said, rec.Body)
	}
	l := k.w.line()
	if k.up.broken {
		return
	}
	if l.Session != 1 || l.Note != "" || l.Odd != "" || l.Side {
		k.t.Fatalf("%+v", l)
	}
	answer := quire.Message{Role: quire.RoleAssistant, Blocks: k.up.blocks()}
	k.full, k.view = append(k.full, answer), append(k.view, answer)
	k.compare(l.Branch)
}

// compare holds the journal against the reference: what is in the context of the
// chain is what the client said and heard, cleared results in full; of a branch,
// the end of it.
func (k *walker) compare(chain string) {
	var want []string
	for _, m := range k.full {
		for _, b := range m.Blocks {
			want = append(want, b.Text)
		}
	}
	got := k.context(chain)
	if chain != "" && len(got) < len(want) {
		want = want[len(want)-len(got):]
	}
	if !slices.Equal(got, want) {
		k.t.Fatalf("chain %q holds\n%q\nwant\n%q", chain, got, want)
	}
}

// context replays the journal.
func (k *walker) context(chain string) []string {
	names, err := journal.List(k.w.pool.Home)
	if err != nil {
		k.t.Fatal(err)
	}
	type part struct {
		node int
		text string
	}
	var list []part
	for r, err := range journal.Read(names[0].Path) {
		if err != nil {
			k.t.Fatal(err)
		}
		switch r.Type {
		case quire.RecordPart:
			p, err := journal.Decode[quire.PartRecord](r)
			if err != nil {
				k.t.Fatal(err)
			}
			if p.Chain != chain || p.Part.Kind == quire.PartTools {
				continue
			}
			body, err := k.w.pool.Bodies.Body(k.w.t.Context(), p.Body)
			if err != nil {
				k.t.Fatal(err)
			}
			list = append(list, part{p.Node, string(body)})
		case quire.RecordRewind:
			w, err := journal.Decode[quire.RewindRecord](r)
			if err != nil {
				k.t.Fatal(err)
			}
			if w.Chain == chain {
				list = slices.DeleteFunc(list, func(p part) bool { return p.node > w.Keep })
			}
		}
	}
	var texts []string
	for _, p := range list {
		texts = append(texts, p.text)
	}
	return texts
}

// A client that goes on, goes back, clears, asks again and is refused, with the
// gateway restarted in between, is one session, and what is recorded is what it
// said and heard.
func TestRandomWalks(t *testing.T) {
	up := &echo{}
	address := serveHandler(t, up)
	prices := price.Default()
	rapid.Check(t, func(rt *rapid.T) {
		*up = echo{}
		pool := newPool(t)
		start := func() *world {
			return newWorld(t, pool, address, func(o *Options) { o.Prices, o.Limits.Settle = prices, time.Hour })
		}
		k := &walker{t: rt, up: up, w: start()}
		defer func() { k.w.stop() }()
		k.user()
		k.call()
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			switch rapid.IntRange(0, 7).Draw(rt, "step") {
			case 0, 1, 2:
				k.user()
				k.call()
			case 3:
				k.back()
				k.user()
				k.call()
			case 4:
				k.clearOne()
				k.user()
				k.call()
			case 5: // the same view once more
				k.full, k.view = k.full[:len(k.full)-1], k.view[:len(k.view)-1]
				k.call()
			case 6:
				k.user()
				k.up.broken = true
				k.call()
				k.up.broken = false
				k.call()
			case 7:
				k.w.stop()
				k.w = start()
			}
		}
	})
}
