package gateway

import (
	"hash/maphash"
	"sync"
	"time"

	"github.com/quire-agent/quire/internal/quire"
)

// hints say of the calls of a client whether any of them may be curated, so that a
// request whose session is warm goes up without being looked at first. A hint that
// is wrong costs an epoch, and nothing else. It is safe for concurrent use.
type hints struct {
	seed maphash.Seed
	mu   sync.Mutex // guards what follows
	list map[string]hint
}

// A hint is what is known of the sessions that a client calls by one name.
type hint struct {
	session quire.SessionNumber
	last    time.Time // of its last call
	head    uint64    // of model and tools
	curated bool      // one of its streams is curated
	look    bool      // one of its streams is curated or large, or there are several sessions
}

// mostHints is how many names are remembered at most.
const mostHints = 16_384

// warm is the time after a call in which nothing of any provider's cache has lapsed.
const warm = 4 * time.Minute

func hintKey(cred, label string) string { return cred + "\x00" + label }

// look reports whether a request has to be looked at before it goes up.
func (h *hints) look(x *exchange, head uint64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	one, ok := h.list[hintKey(x.cred, x.label)]
	return !ok || one.look || one.head != head || x.began.Sub(one.last) > warm
}

// note takes a call that was recorded. Sessions that a client has no name for are
// told apart by nothing but their words.
func (h *hints) note(cred, label string, n quire.SessionNumber, at time.Time, head uint64, look, curated bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.list == nil || len(h.list) >= mostHints {
		h.list = map[string]hint{}
	}
	key := hintKey(cred, label)
	was, known := h.list[key]
	look = look || known && was.look || known && label == "" && was.session != n
	curated = curated || known && was.curated
	h.list[key] = hint{session: n, last: at, head: head, look: look || curated, curated: curated}
}

// curated reports whether one of the sessions of that name is curated.
func (h *hints) curated(x *exchange) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.list[hintKey(x.cred, x.label)].curated
}

// hint notes a call in the hints.
func (w *writing) hint(line *Line) {
	m, _ := w.gateway.options.Prices.Model(w.view.call.Model)
	window := or(w.windows[w.view.call.Model], m.Window)
	large := window == 0 || near(line.Prompt, window)
	w.hints.note(w.x.cred, w.x.label, w.session.name.Number, w.x.began, w.x.head, large, w.stream.curated != nil)
}

// headOf is a sum of what a request says of its model and its tools.
func (h *hints) headOf(b *body) uint64 {
	var sum maphash.Hash
	sum.SetSeed(h.seed)
	for _, p := range b.places {
		if name := p.Name.Of(b.data); string(name) == `"model"` || string(name) == `"tools"` {
			_, _ = sum.Write(p.Value.Of(b.data))
		}
	}
	return sum.Sum64()
}
