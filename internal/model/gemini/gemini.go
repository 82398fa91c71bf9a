package gemini

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strings"

	"github.com/quire-agent/quire/internal/model"
	"github.com/quire-agent/quire/internal/quire"
	wire "github.com/quire-agent/quire/internal/wire/gemini"
)

// A Model calls the models of one endpoint.
type Model struct{ endpoint *model.Endpoint }

// New is a model behind an endpoint whose base ends in the version of the API.
func New(e *model.Endpoint) *Model { return &Model{e} }

// Call answers a call, as package model promises.
func (m *Model) Call(ctx context.Context, c quire.Call) iter.Seq2[quire.Delta, error] {
	body, err := wire.EncodeCall(c)
	if err != nil {
		return model.Unsendable(err)
	}
	codec := model.Codec{Stream: wire.DecodeStream, Reply: wire.DecodeReply, Error: wire.DecodeError}
	return m.endpoint.Send(ctx, model.Request{Path: path(c.Model), Header: m.header(), Body: body}, codec)
}

// path names the model; tuned ones have a collection of their own in front.
func path(name string) string {
	collection, id, ok := strings.Cut(name, "/")
	if !ok {
		collection, id = "models", name
	}
	return "/" + collection + "/" + url.PathEscape(id) + ":streamGenerateContent?alt=sse"
}

func (m *Model) header() http.Header {
	h := http.Header{}
	if key := m.endpoint.Key; !key.Empty() {
		h.Set("X-Goog-Api-Key", key.Reveal())
	}
	return h
}
