package openai

import (
	"context"
	"iter"
	"net/http"

	"github.com/quire-agent/quire/internal/model"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/wire/chat"
)

// A Chat calls the models of one endpoint over Chat Completions.
type Chat struct {
	endpoint *model.Endpoint
	dialect  chat.Dialect
}

// NewChat is a model behind an endpoint that speaks a dialect. A name that is not
// in the table stands for the dialect that the address tells.
func NewChat(e *model.Endpoint, dialect string) *Chat {
	d, ok := chat.DialectNamed(dialect)
	if !ok {
		d = chat.DialectOf(e.Base)
	}
	return &Chat{e, d}
}

// Call answers a call, as package model promises. The call is put into the form
// of the dialect.
func (m *Chat) Call(ctx context.Context, c quire.Call) iter.Seq2[quire.Delta, error] {
	c.Stream = true
	body, err := chat.EncodeCall(m.dialect.Shape(c))
	if err != nil {
		return model.Unsendable(err)
	}
	codec := model.Codec{Stream: chat.DecodeStream, Reply: chat.DecodeReply, Error: chat.DecodeError}
	return m.endpoint.Send(ctx, model.Request{Path: "/chat/completions", Header: bearer(m.endpoint.Key), Body: body}, codec)
}

func bearer(key model.Key) http.Header {
	h := http.Header{}
	if !key.Empty() {
		h.Set("Authorization", "Bearer "+key.Reveal())
	}
	return h
}
