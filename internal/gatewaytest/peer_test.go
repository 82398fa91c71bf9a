package gatewaytest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/sim"
)

// The two ends of a peer.
const (
	through = iota // the gateway
	direct         // to a provider of its own
)

// A peer does each thing twice: through a gateway, and without.
type peer struct {
	t    failer
	api  *dialect
	ends [2]http.Handler
	up   *upstream       // behind the gateway
	key  string          // of its credential
	sent map[string]bool // texts that must be in the pool at the end
}

// A talk is one conversation, as each end has it: they differ in thinking and its
// signatures.
type talk struct {
	views   [2][]quire.Message
	pending []quire.Block // calls that want their results
	model   int
	tools   int // how many of them are declared
	system  string
	label   string // what the client calls the session
}

func (k *talk) clone() *talk {
	c := *k
	for i := range c.views {
		c.views[i] = slices.Clone(c.views[i])
	}
	c.pending = slices.Clone(c.pending)
	return &c
}

// each changes both views in the same way.
func (k *talk) each(change func([]quire.Message) []quire.Message) {
	for i := range k.views {
		k.views[i] = change(k.views[i])
	}
}

func (k *talk) add(m quire.Message) {
	k.each(func(v []quire.Message) []quire.Message { return append(v, m) })
}

// say adds words of the user, in front of which results of pending calls stand.
func (p *peer) say(k *talk, label int, results []string, extra ...quire.Block) {
	if len(k.pending) > 0 {
		k.add(p.results(k, results))
	}
	k.pending = nil
	if label < 0 {
		return
	}
	text := fmt.Sprintf("[u%d] please do step %d of the work", label, label)
	if label == 0 {
		text += ", zeroword" // what is searched for
	}
	p.sent[text] = true
	k.add(quire.Message{Role: quire.RoleUser, Blocks: append([]quire.Block{{Part: quire.Part{Kind: quire.PartUser, Text: text}}}, extra...)})
}

func (p *peer) results(k *talk, texts []string) quire.Message {
	m := quire.Message{Role: quire.RoleTool}
	for i, c := range k.pending {
		text := texts[i%len(texts)]
		p.sent[text] = true
		m.Blocks = append(m.Blocks, quire.Block{Part: quire.Part{Kind: quire.PartToolResult, ToolUse: c.ToolUse, Tool: c.Tool, Text: text}})
	}
	return m
}

// call is the view of one end as a request.
func (p *peer) call(k *talk, end int, stream bool) quire.Call {
	c := quire.Call{Model: p.api.models[k.model], MaxOutput: 4000, Stream: stream, Messages: k.views[end]}
	c.System = []quire.Block{{Part: quire.Part{Kind: quire.PartSystem, Text: k.system}}}
	for _, name := range toolNames()[:k.tools] {
		c.Tools = append(c.Tools, quire.ToolSpec{Name: name, Description: "It is the tool " + name + ".", Schema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"},"path":{"type":"string"}}}`)})
	}
	switch p.api.api {
	case sim.Messages:
		c.Thinking = quire.Thinking{Mode: "enabled", Budget: 1024}
		c.System[0].Cache = quire.MarkShort
		c.Messages = marked(c.Messages)
	case sim.Gemini:
		c.Thinking = quire.Thinking{Rest: []quire.Field{{Name: "includeThoughts", Value: json.RawMessage("true")}}}
	}
	return c
}

// marked puts a cache mark on the last block, as clients of Messages do.
func marked(list []quire.Message) []quire.Message {
	list = slices.Clone(list)
	last := &list[len(list)-1]
	last.Blocks = slices.Clone(last.Blocks)
	last.Blocks[len(last.Blocks)-1].Cache = quire.MarkShort
	return list
}

// A leaver is a client that leaves when it has seen so many bytes.
type leaver struct {
	*httptest.ResponseRecorder
	left  int
	leave context.CancelFunc
}

// Write counts.
func (l *leaver) Write(b []byte) (int, error) {
	if l.left -= len(b); l.left <= 0 {
		l.leave()
	}
	return l.ResponseRecorder.Write(b)
}

// A heard is what came back.
type heard struct {
	reply quire.Reply
	err   error
	code  int
	body  string
}

// send sends a call to one end; leave is after how many bytes the client leaves, 0
// for never.
func (p *peer) send(k *talk, end int, stream bool, leave int) heard {
	r, err := p.api.request(p.call(k, end, stream), p.key, k.label)
	if err != nil {
		p.t.Fatalf("encode: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	w := &leaver{httptest.NewRecorder(), leave, cancel}
	if leave == 0 {
		w.left = 1 << 40
	}
	serve(p.ends[end], w, r.WithContext(ctx))
	h := heard{code: w.Code, body: w.Body.String()}
	h.reply, h.err = p.api.understand(w.Code, w.Header(), w.Body.Bytes())
	return h
}

// answerOf is what a handler answers.
func answerOf(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	serve(h, w, r)
	return w
}

// serve lets a handler answer that may break its connection.
func serve(h http.Handler, w http.ResponseWriter, r *http.Request) {
	defer func() {
		if x := recover(); x != nil && x != http.ErrAbortHandler {
			panic(x)
		}
	}()
	h.ServeHTTP(w, r)
}

// A mishap is what goes wrong with a request before it is made again.
type mishap struct {
	fault fault // of upstream
	leave int   // the client leaves behind so many bytes
	twice bool  // the client asks twice, though it was answered
}

func (m mishap) any() bool { return m != mishap{} }

// ask sends a talk to both ends and takes the answer up. What it hears must be the
// same, whatever happened before.
func (p *peer) ask(k *talk, stream bool, m mishap) {
	p.t.Helper()
	p.happen(k, stream, m)
	p.agree(k, p.send(k, through, stream, 0), p.send(k, direct, stream, 0))
}

// happen lets the mishap happen. Without the gateway the same money is spent.
func (p *peer) happen(k *talk, stream bool, m mishap) {
	if !m.any() {
		return
	}
	if m.fault.status != 0 || m.fault.cut != 0 {
		p.up.fail(m.fault)
	}
	h := p.send(k, through, stream, m.leave)
	switch {
	case m.fault.status != 0:
		if h.err == nil || h.code != m.fault.status {
			p.t.Fatalf("upstream failed with %d, the client got %d %s", m.fault.status, h.code, h.body)
		}
		return
	case m.twice && h.err != nil:
		p.t.Fatalf("the first of two: %v\n%s", h.err, h.body)
	}
	p.up.take()
	p.send(k, direct, stream, 0)
}

// agree compares two answers and takes each up at its end.
func (p *peer) agree(k *talk, a, b heard) {
	p.t.Helper()
	if b.err != nil {
		p.t.Fatalf("without the gateway: %d %v\n%s", b.code, b.err, b.body)
	}
	if a.err != nil {
		p.t.Fatalf("through the gateway: %d %v\n%s\nupstream got\n%s", a.code, a.err, a.body, p.up.last())
	}
	if x, y := essence(a.reply), essence(b.reply); x != y {
		p.t.Fatalf("through the gateway came\n%s\nand without\n%s\nupstream got\n%s", x, y, p.up.last())
	}
	k.pending = nil
	for i, h := range []heard{a, b} {
		k.views[i] = append(k.views[i], quire.Message{Role: quire.RoleAssistant, Blocks: h.reply.Blocks})
	}
	for _, x := range a.reply.Blocks {
		p.note(k, x)
	}
}

// note keeps in mind what the pool must hold.
func (p *peer) note(k *talk, b quire.Block) {
	switch b.Kind {
	case quire.PartText:
		p.sent[b.Text] = true
	case quire.PartToolCall:
		p.sent[b.Text] = true
		k.pending = append(k.pending, b)
	}
}

// essence is an answer as its client acts on it.
func essence(r quire.Reply) string {
	var b strings.Builder
	for _, x := range r.Blocks {
		switch x.Kind {
		case quire.PartText:
			fmt.Fprintf(&b, "says %s\n", x.Text)
		case quire.PartToolCall:
			fmt.Fprintf(&b, "calls %s as %s %s\n", x.Tool, x.ToolUse, compact(x.Text))
		case quire.PartThinking:
		default:
			fmt.Fprintf(&b, "holds %v\n", x.Kind)
		}
	}
	return b.String() + string(r.Stop)
}

func compact(text string) string {
	var b bytes.Buffer
	if json.Compact(&b, []byte(text)) != nil {
		return text
	}
	return b.String()
}

// picture is an image of its own for each number.
func picture(n int) quire.Block {
	img := image.NewGray(image.Rect(0, 0, 40+n, 30))
	img.Pix[0] = byte(n)
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err)
	}
	return quire.Block{Part: quire.Part{Kind: quire.PartImage, Media: &quire.Media{Type: "image/png", Bytes: b.Len()}, Data: b.String()}}
}
