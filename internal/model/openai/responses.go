package openai

import (
	"context"
	"encoding/json"
	"iter"
	"slices"

	"github.com/quire-agent/quire/internal/model"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/wire/responses"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

// A Responses calls the models of one endpoint over the Responses API.
type Responses struct{ endpoint *model.Endpoint }

// NewResponses is a model behind an endpoint.
func NewResponses(e *model.Endpoint) *Responses { return &Responses{e} }

// Call answers a call, as package model promises. Where the call does not say
// otherwise the provider keeps nothing of it, and hands its reasoning out
// encrypted, so that it can be sent back.
func (m *Responses) Call(ctx context.Context, c quire.Call) iter.Seq2[quire.Delta, error] {
	c.Stream = true
	c.Rest = withDefaults(c.Rest)
	body, err := responses.EncodeCall(c)
	if err != nil {
		return model.Unsendable(err)
	}
	codec := model.Codec{Stream: responses.DecodeStream, Reply: responses.DecodeReply, Error: responses.DecodeError}
	return m.endpoint.Send(ctx, model.Request{Path: "/responses", Header: bearer(m.endpoint.Key), Body: body}, codec)
}

func withDefaults(rest []quire.Field) []quire.Field {
	rest = slices.Clone(rest)
	for _, f := range [...]quire.Field{
		{Name: "store", Value: json.RawMessage("false")},
		{Name: "include", Value: json.RawMessage(`["reasoning.encrypted_content"]`)},
	} {
		if rawjson.Get(rest, f.Name) == nil {
			rest = append(rest, f)
		}
	}
	return rest
}
