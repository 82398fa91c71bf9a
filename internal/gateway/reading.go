package gateway

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"slices"
	"strings"
	"sync"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/wire/gemini"
)

// A reader makes views of requests. Of a list of messages it decodes and hashes only
// the elements that it did not see in the last minutes, by whichever client; what it
// sees is a function of the bytes alone. It is safe for concurrent use.
type reader struct {
	seeds [2]maphash.Seed
	mu    sync.Mutex // guards what follows
	now   seen
	last  seen // before the last turn
}

// A seen is what was read, by the sums of its bytes.
type seen struct {
	elements map[readKey]*element
	runs     map[readKey]*canonicalRun
	heads    map[readKey]*head
	held     int // bytes that it stands for
}

// mostRead is how many bytes of requests a reader remembers the reading of at most.
// What is made of them takes about twice that.
const mostRead = 64 << 20

// A readKey stands for bytes: two sums with seeds of their own, which differ from
// process to process, and the length.
type readKey struct {
	a, b uint64
	n    int
}

// An element is one element of a list of messages, read by itself.
type element struct {
	message quire.Message
	leads   bool // in front of all others it is part of the system prompt
}

// A canonicalRun is the canonical form of elements that are one message.
type canonicalRun struct {
	message message // without what it is made of
	some    bool
}

// A head is what stands beside the list.
type head struct {
	call          quire.Call // without messages
	system, tools quire.Hash
}

func newReader() *reader {
	return &reader{seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}, now: newSeen(), last: newSeen()}
}

func newSeen() seen {
	return seen{elements: map[readKey]*element{}, runs: map[readKey]*canonicalRun{}, heads: map[readKey]*head{}}
}

// turn forgets what was not asked for since the last turn but one.
func (r *reader) turn() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last, r.now = r.now, newSeen()
}

// view is the view of a request.
func (r *reader) view(to route, b *body) (*view, error) {
	if t, ok := takeApart(to.api, b); ok {
		if v := r.compose(to, t); v != nil {
			return v, nil
		}
	}
	call, err := to.decode(b.data)
	if err != nil {
		return &view{call: call}, err
	}
	return newView(call), nil
}

// A taken is a request taken apart: the members beside the list, and its elements.
type taken struct {
	head []byte // an object that is not closed
	list [][]byte
}

// takeApart takes a request apart whose list is one, and not empty.
func takeApart(a API, b *body) (t taken, ok bool) {
	name := `"` + a.list() + `"`
	t.head = []byte{'{'}
	for _, p := range b.places {
		n := p.Name.Of(b.data)
		switch {
		case bytes.IndexByte(n, '\\') >= 0:
			return t, false // it may be any name
		case string(n) == name && t.list == nil:
			for _, e := range p.Elements {
				t.list = append(t.list, e.Of(b.data))
			}
		case string(n) == name:
			return t, false
		default:
			t.head = member(t.head, n, p.Value.Of(b.data))
		}
	}
	return t, len(t.list) > 0
}

func member(dst, name, value []byte) []byte {
	if len(dst) > 1 {
		dst = append(dst, ',')
	}
	return append(append(append(dst, name...), ':'), value...)
}

// list is the member that holds the messages.
func (a API) list() string {
	switch a {
	case Responses:
		return "input"
	case Gemini:
		return "contents"
	}
	return "messages"
}

// key is that of bytes, which are read in one of several ways.
func (r *reader) key(way string, raw []byte) readKey {
	k := readKey{n: len(raw)}
	for i, sum := range []*uint64{&k.a, &k.b} {
		var h maphash.Hash
		h.SetSeed(r.seeds[i])
		// A hash in memory does not fail.
		_, _ = h.WriteString(way)
		_, _ = h.Write(raw)
		*sum = h.Sum64()
	}
	return k
}

// compose makes a view of what is known of its elements; nil where they cannot be read
// one by one.
func (r *reader) compose(to route, t taken) *view {
	keys := make([]readKey, len(t.list))
	for i, raw := range t.list {
		keys[i] = r.key(string(to.api), raw)
	}
	list := r.elements(to.api, t.list, keys)
	if list == nil {
		return nil
	}
	lead := 0
	for lead < len(list) && list[lead].leads {
		lead++
	}
	h := r.head(to.api, t, lead)
	if h == nil {
		return nil
	}
	pieces := piecesOf(to.api, list, keys, lead)
	v := &view{call: h.call, offers: len(h.call.Tools) > 0, system: h.system, tools: h.tools}
	v.call.Model, v.call.Stream = or(to.model, v.call.Model), v.call.Stream || to.stream
	for i := range pieces {
		v.call.Messages, v.keys = append(v.call.Messages, pieces[i].message), append(v.keys, r.together(&pieces[i]))
	}
	v.messages = r.canonical(pieces)
	v.look()
	return v
}

// elements are those of a list; none where one of them cannot be read by itself.
func (r *reader) elements(a API, raws [][]byte, keys []readKey) []*element {
	list := r.known(keys)
	for i, raw := range raws {
		if list[i] != nil {
			continue
		}
		if list[i] = readElement(a, raw); list[i] == nil {
			return nil
		}
		r.keep(keys[i].n, func(s *seen) { s.elements[keys[i]] = list[i] })
	}
	return list
}

// known are the elements that were read before, nil for the others.
func (r *reader) known(keys []readKey) []*element {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := make([]*element, len(keys))
	for i, k := range keys {
		if list[i] = r.now.elements[k]; list[i] != nil {
			continue
		}
		if list[i] = r.last.elements[k]; list[i] != nil {
			r.now.elements[k] = list[i]
			r.now.held += k.n
		}
	}
	return list
}

// keep remembers something that stands for so many bytes.
func (r *reader) keep(n int, put func(*seen)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.now.held += n; r.now.held > mostRead/2 {
		r.last, r.now = r.now, newSeen()
		r.now.held = n
	}
	put(&r.now)
}

// readElement reads an element by itself, nil where that cannot be done. What stands
// alone in front can be part of the system prompt, and behind another one is none. Its
// bytes are copied, so that it holds nothing of the request.
func readElement(a API, raw []byte) *element {
	alone, err := a.decodeCall(listOf(a, raw))
	if err != nil {
		return nil
	}
	if len(alone.Messages) == 1 && len(alone.System) == 0 {
		m := alone.Messages[0]
		if carriedTools(m) != nil {
			return nil
		}
		return &element{message: m}
	}
	behind, err := a.decodeCall(listOf(a, []byte(`{"role":"user","content":"."}`), raw))
	if err != nil || len(alone.Messages) > 0 || len(behind.Messages) != 2 {
		return nil
	}
	return &element{message: behind.Messages[1], leads: true}
}

// listOf is a request with nothing but a list of messages.
func listOf(a API, elements ...[]byte) []byte {
	return closed(a, []byte{'{'}, elements)
}

// closed is an object with a list of messages behind all other members.
func closed(a API, object []byte, elements [][]byte) []byte {
	if len(elements) == 0 {
		return append(object, '}')
	}
	list := append(append([]byte{'['}, bytes.Join(elements, []byte{','})...), ']')
	return append(member(object, []byte(`"`+a.list()+`"`), list), '}')
}

// head is what stands beside the list, with the elements that lead it.
func (r *reader) head(a API, t taken, lead int) *head {
	raw := closed(a, t.head, t.list[:lead])
	k := r.key("head "+string(a), raw)
	r.mu.Lock()
	h := r.now.heads[k]
	if h == nil {
		h = r.last.heads[k]
	}
	r.mu.Unlock()
	if h == nil {
		call, err := a.decodeCall(raw)
		if err != nil || len(call.Messages) > 0 {
			return nil
		}
		h = &head{call: call, system: systemOf(call.System), tools: toolsOf(call.Tools).end()}
	}
	r.keep(0, func(s *seen) {
		if s.heads[k] == nil {
			s.heads[k] = h
			s.held += k.n
		}
	})
	return h
}

// A piece is a message of a call with the keys of the elements that it is made of.
type piece struct {
	message quire.Message
	keys    []readKey
}

// piecesOf are the messages of a list behind what leads it.
func piecesOf(a API, list []*element, keys []readKey, lead int) (out []piece) {
	for i := lead; i < len(list); i++ {
		m := list[i].message
		if n := len(out); a == Responses && n > 0 && m.Role == quire.RoleAssistant && out[n-1].message.Role == m.Role {
			p := &out[n-1]
			p.message.Blocks = append(slices.Clip(p.message.Blocks), m.Blocks...)
			p.keys = keys[i-len(p.keys) : i+1]
			continue
		}
		out = append(out, piece{m, keys[i : i+1]})
	}
	if a == Gemini {
		name(out)
	}
	return out
}

// name names the calls and results that have no id, as they stand in all of the list.
func name(pieces []piece) {
	messages := make([]quire.Message, len(pieces))
	for i := range pieces {
		m := &pieces[i].message
		m.Blocks = slices.Clone(m.Blocks)
		for k := range m.Blocks {
			if b := &m.Blocks[k]; strings.HasPrefix(b.ToolUse, "#") {
				b.ToolUse = ""
			}
		}
		messages[i] = *m
	}
	gemini.NameCalls(messages)
}

// canonical is the messages as they are identified. [canonical] says how they are put
// together.
func (r *reader) canonical(pieces []piece) (out []message) {
	for i := 0; i < len(pieces); i++ {
		p, first := pieces[i], i
		for p.message.Role == quire.RoleAssistant && i+1 < len(pieces) && pieces[i+1].message.Role == p.message.Role {
			i++
			p.message.Blocks = append(slices.Clip(p.message.Blocks), pieces[i].message.Blocks...)
			p.keys = append(slices.Clip(p.keys), pieces[i].keys...)
		}
		if c := r.run(p); c.some {
			one := c.message
			one.Message, one.first, one.end = p.message, first, i+1
			out = append(out, one)
		}
	}
	return out
}

// text is the key as a key of a map of texts.
func (k readKey) text() string {
	return string(k.append(make([]byte, 0, 24)))
}

func (k readKey) append(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, k.a)
	dst = binary.LittleEndian.AppendUint64(dst, k.b)
	return binary.LittleEndian.AppendUint64(dst, uint64(k.n))
}

// together is the key of a message of several elements. The names of its calls and
// results are in it, as they depend on what stands in front.
func (r *reader) together(p *piece) readKey {
	raw := make([]byte, 0, 100)
	for _, k := range p.keys {
		raw = k.append(raw)
	}
	for i := range p.message.Blocks {
		raw = append(append(raw, useOf(&p.message.Blocks[i])...), 0)
	}
	return r.key("together", raw)
}

// run is the canonical form of one message.
func (r *reader) run(p piece) *canonicalRun {
	k := r.together(&p)
	r.mu.Lock()
	c := r.now.runs[k]
	if c == nil {
		if c = r.last.runs[k]; c != nil {
			r.now.runs[k] = c
		}
	}
	r.mu.Unlock()
	if c != nil {
		return c
	}
	m, some := canonicalOf(p.message)
	m.Message = quire.Message{}
	c = &canonicalRun{m, some}
	const size = 300 // about
	r.keep(size, func(s *seen) { s.runs[k] = c })
	return c
}
