package gateway

import (
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// tokenHeader carries the token of the gateway. It never goes upstream.
const tokenHeader = "X-Quire-Token"

// A guard decides who may speak to the gateway.
type guard struct {
	token  string
	open   bool     // the listener is on loopback: relaying needs no token
	listen string   // host of the listener
	hosts  []string // further names under which the gateway is reached
}

// A visit is a request with what the guard found out about it.
type visit struct {
	path   string // without the token
	raw    string // the same as it was escaped
	proven bool   // it came with the token
	wrong  bool   // it came with another one in its path, which must not go upstream
}

// check judges a request. status 0 lets it pass.
func (g *guard) check(r *http.Request) (v visit, status int, why string) {
	v = g.visit(r)
	switch {
	case !g.knows(r.Host):
		return v, http.StatusForbidden, "this host name is not the gateway's; give it with --host"
	case !g.origin(r.Header.Get("Origin")):
		return v, http.StatusForbidden, "a page of another host may not speak to the gateway"
	case v.wrong, !v.proven && (!g.open || own(v.path)):
		return v, http.StatusUnauthorized, "the gateway's token is missing: give it as /t/TOKEN in front of the path, or in x-quire-token"
	case g.astray(r, &v):
		return v, http.StatusUnauthorized, "the gateway's token stands where it would go upstream: give it as /t/TOKEN in front of the path, or in x-quire-token"
	}
	return v, 0, ""
}

// astray reports whether the token stands in what goes upstream.
func (g *guard) astray(r *http.Request, v *visit) bool {
	places := []string{v.path, v.raw, r.URL.RawQuery}
	for _, name := range credentialHeaders() {
		places = append(places, r.Header.Values(name)...)
	}
	return g.token != "" && slices.ContainsFunc(places, func(s string) bool { return strings.Contains(s, g.token) })
}

// own reports whether a path is the gateway's and not a provider's.
func own(path string) bool { return path == "/quire" || strings.HasPrefix(path, "/quire/") }

func (g *guard) visit(r *http.Request) visit {
	v := visit{path: r.URL.Path, raw: r.URL.EscapedPath(), proven: g.is(r.Header.Get(tokenHeader))}
	if rest, ok := strings.CutPrefix(v.path, "/t/"); ok {
		token, rest, _ := strings.Cut(rest, "/")
		raw, ok := strings.CutPrefix(v.raw, "/t/"+token+"/")
		if !ok { // it was escaped in some way of its own
			raw = strings.TrimPrefix((&url.URL{Path: "/" + rest}).EscapedPath(), "/")
		}
		v = visit{path: "/" + rest, raw: "/" + raw, proven: g.is(token), wrong: !g.is(token)}
	}
	return v
}

// is compares in a time that tells nothing of the token.
func (g *guard) is(token string) bool {
	return g.token != "" && subtle.ConstantTimeCompare([]byte(token), []byte(g.token)) == 1
}

// knows reports whether a Host header names the gateway. A page of the browser can
// make any name point here, and then the header gives it away.
func (g *guard) knows(host string) bool {
	name := hostName(host)
	if loopback(name) {
		return true
	}
	for _, h := range append([]string{g.listen}, g.hosts...) {
		if strings.EqualFold(name, h) {
			return true
		}
	}
	_, err := netip.ParseAddr(name)
	return !g.open && err == nil
}

func (g *guard) origin(origin string) bool {
	u, err := url.Parse(origin)
	if origin == "" || err == nil && u.Scheme != "http" && u.Scheme != "https" && origin != "null" {
		return true // no page: a program, or one that lives in an application
	}
	return err == nil && u.Host != "" && g.knows(u.Host)
}

func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.Trim(host, "[]")
}

// loopback reports whether a host is this machine, seen from itself.
func loopback(name string) bool {
	if strings.EqualFold(name, "localhost") {
		return true
	}
	a, err := netip.ParseAddr(name)
	return err == nil && a.Unmap().IsLoopback()
}
