package model

import (
	"net"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/net/http/httpproxy"
)

// NewClient is the client that models send through. It keeps connections, and
// goes through the proxies that the environment names (HTTPS_PROXY, HTTP_PROXY,
// NO_PROXY, in either case). It follows no redirect, as a key belongs to one host.
func NewClient(env func(name string) (string, bool)) *http.Client {
	proxy := proxies(env).ProxyFunc()
	dialer := net.Dialer{Timeout: connectLimit, KeepAlive: 30 * time.Second}
	return &http.Client{
		Transport: &http.Transport{
			Proxy:               func(r *http.Request) (*url.URL, error) { return proxy(r.URL) },
			DialContext:         dialer.DialContext,
			ForceAttemptHTTP2:   true,
			TLSHandshakeTimeout: connectLimit,
			MaxIdleConnsPerHost: 8,
			IdleConnTimeout:     90 * time.Second,
			DisableCompression:  true, // a compressed stream comes in lumps
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// connectLimit is how long making a connection may take, and agreeing on TLS.
const connectLimit = 15 * time.Second

func proxies(env func(string) (string, bool)) *httpproxy.Config {
	either := func(names ...string) string {
		for _, name := range names {
			if text, ok := env(name); ok && text != "" {
				return text
			}
		}
		return ""
	}
	return &httpproxy.Config{
		HTTPSProxy: either("HTTPS_PROXY", "https_proxy"),
		HTTPProxy:  either("HTTP_PROXY", "http_proxy"),
		NoProxy:    either("NO_PROXY", "no_proxy"),
	}
}
