package gateway

import (
	"net/http"
	"slices"
	"strings"
)

// credential names who asks without telling it: a keyed hash of what proves it to
// the provider.
func (g *Gateway) credential(r *http.Request) string {
	var all strings.Builder
	for _, name := range credentialHeaders() {
		all.WriteString(r.Header.Get(name) + "\x00")
	}
	all.WriteString(r.URL.Query().Get("key"))
	return keyed(g.options.Secret, "credential\x00"+all.String())[:32]
}

// credentialHeaders are those in which clients prove who they are to a provider.
func credentialHeaders() []string { return []string{"Authorization", "X-Api-Key", "X-Goog-Api-Key"} }

// secretsOf are the texts of a request that nobody else may see.
func secretsOf(r *http.Request) []string {
	list := []string{r.URL.Query().Get("key"), r.Header.Get(tokenHeader)}
	for _, name := range credentialHeaders() {
		for _, v := range r.Header.Values(name) {
			if _, key, ok := strings.Cut(v, " "); ok {
				list = append(list, key)
			}
			list = append(list, v)
		}
	}
	const shortest = 8 // what is shorter stands in texts by chance
	return slices.DeleteFunc(list, func(s string) bool { return len(s) < shortest })
}

// hide takes out of what a provider said the keys that it repeats, and what looks
// like one.
func (e *exchange) hide(text string) string {
	for _, s := range e.secrets {
		text = strings.ReplaceAll(text, s, "[key]")
	}
	if key := e.gateway.options.Keys[e.api]; key != "" {
		text = strings.ReplaceAll(text, key, "[key]")
	}
	return e.gateway.options.Pool.Mask(text)
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
