package gateway

import (
	"net/http"
	"strings"
)

// credential names who asks without telling it: a keyed hash of what proves it to
// the provider.
func (g *Gateway) credential(r *http.Request) string {
	var all strings.Builder
	for _, name := range []string{"Authorization", "X-Api-Key", "X-Goog-Api-Key"} {
		all.WriteString(r.Header.Get(name) + "\x00")
	}
	all.WriteString(r.URL.Query().Get("key"))
	return keyed(g.options.Secret, "credential\x00"+all.String())[:32]
}

// labelOf is what a client calls its session, as far as headers say it. It breaks
// ties between sessions with the same messages, and is a name for nothing else.
func labelOf(h http.Header) string {
	for _, name := range []string{"X-Claude-Code-Session-Id", "Thread-Id", "Session-Id", "X-Session-Id", "X-Session-Affinity"} {
		if v := h.Get(name); v != "" && len(v) <= 200 {
			return v
		}
	}
	return ""
}
