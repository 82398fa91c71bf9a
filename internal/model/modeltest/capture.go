package modeltest

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/model"
	"github.com/quire-agent/quire/internal/quire"
)

// A capture keeps the body of a request and answers nothing.
type capture struct{ body []byte }

// RoundTrip keeps the body.
func (c *capture) RoundTrip(r *http.Request) (*http.Response, error) {
	var err error
	c.body, err = io.ReadAll(r.Body)
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(""))}, err
}

// Sent is the body that a model sends for a call.
func Sent(t *testing.T, open func(*model.Endpoint) Caller, c quire.Call) []byte {
	t.Helper()
	var sent capture
	m := open(&model.Endpoint{Base: "http://provider.invalid", Client: &http.Client{Transport: &sent}})
	if _, err := collect(m.Call(t.Context(), c)); err == nil {
		t.Error("nothing is taken for an answer")
	}
	return sent.body
}
