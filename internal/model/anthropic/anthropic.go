package anthropic

import (
	"context"
	"iter"
	"net/http"
	"strings"

	"github.com/quire-agent/quire/internal/model"
	"github.com/quire-agent/quire/internal/quire"
	wire "github.com/quire-agent/quire/internal/wire/anthropic"
)

// version is the version of the API that is spoken.
const version = "2023-06-01"

// DefaultOutput is the limit of an answer in tokens where a call names none, as
// the API demands one; what the call may think comes on top. All models since
// Claude 4 can write as much.
const DefaultOutput = 32000

// A Model calls the models of one endpoint.
type Model struct{ endpoint *model.Endpoint }

// New is a model behind an endpoint. The base may end in /v1 or not.
func New(e *model.Endpoint) *Model { return &Model{e} }

// Call answers a call, as package model promises.
func (m *Model) Call(ctx context.Context, c quire.Call) iter.Seq2[quire.Delta, error] {
	c.Stream = true
	if c.MaxOutput == 0 {
		c.MaxOutput = DefaultOutput + c.Thinking.Budget
	}
	body, err := wire.EncodeCall(c)
	if err != nil {
		return model.Unsendable(err)
	}
	codec := model.Codec{Stream: wire.DecodeStream, Reply: wire.DecodeReply, Error: wire.DecodeError}
	return m.endpoint.Send(ctx, model.Request{Path: m.path(), Header: m.header(), Body: body}, codec)
}

func (m *Model) path() string {
	if strings.HasSuffix(m.endpoint.Base, "/v1") {
		return "/messages"
	}
	return "/v1/messages"
}

func (m *Model) header() http.Header {
	h := http.Header{}
	h.Set("Anthropic-Version", version)
	if key := m.endpoint.Key; !key.Empty() {
		h.Set("X-Api-Key", key.Reveal())
	}
	return h
}
