package gatewaytest

import (
	"bytes"
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/sim"
	"github.com/quire-agent/quire/internal/wire/anthropic"
	"github.com/quire-agent/quire/internal/wire/chat"
	"github.com/quire-agent/quire/internal/wire/gemini"
	"github.com/quire-agent/quire/internal/wire/responses"
	"github.com/quire-agent/quire/internal/wire/wiretest"
)

// A dialect is how a peer speaks an API.
type dialect struct {
	api    sim.API
	path   string // of a model's calls; of Gemini the beginning
	models []string
	count  string // path of the counting of tokens, "" for none
	rest   []quire.Field
	call   func(quire.Call) ([]byte, error)
	reply  func([]byte) (quire.Reply, error)
	stream func(io.Reader) iter.Seq2[quire.Delta, error]
	failed func(status int, after string, body []byte) *quire.CallError
}

func dialects() []dialect {
	raw := func(text string) json.RawMessage { return json.RawMessage(text) }
	return []dialect{
		{api: sim.Messages, path: "/v1/messages", models: []string{"claude-opus-5", "claude-sonnet-4-5"}, count: "/v1/messages/count_tokens",
			rest: []quire.Field{{Name: "metadata", Value: raw(`{"user_id":"u"}`)}},
			call: anthropic.EncodeCall, reply: anthropic.DecodeReply, stream: anthropic.DecodeStream, failed: anthropic.DecodeError},
		{api: sim.Chat, path: "/v1/chat/completions", models: []string{"gpt-5.5", "gpt-5.4"},
			call: chat.EncodeCall, reply: chat.DecodeReply, stream: chat.DecodeStream, failed: chat.DecodeError},
		{api: sim.Responses, path: "/v1/responses", models: []string{"gpt-6.2-sol", "gpt-5.5"},
			rest: []quire.Field{{Name: "store", Value: raw("false")}, {Name: "include", Value: raw(`["reasoning.encrypted_content"]`)}},
			call: responses.EncodeCall, reply: responses.DecodeReply, stream: responses.DecodeStream, failed: responses.DecodeError},
		{api: sim.Gemini, path: "/v1beta/models/", models: []string{"gemini-4-neon", "gemini-3.8-flash"},
			call: gemini.EncodeCall, reply: gemini.DecodeReply, stream: gemini.DecodeStream, failed: gemini.DecodeError},
	}
}

// request is a call as it goes over the wire.
func (d *dialect) request(c quire.Call, key, label string) (*http.Request, error) {
	c.Rest = append(c.Rest, d.rest...)
	if d.api == sim.Chat && c.Stream {
		c.Rest = append(c.Rest, quire.Field{Name: "stream_options", Value: json.RawMessage(`{"include_usage":true}`)})
	}
	body, err := d.call(c)
	if err != nil {
		return nil, err
	}
	return d.post(d.address(c), body, key, label)
}

func (d *dialect) post(path string, body []byte, key, label string) (*http.Request, error) {
	r, err := http.NewRequest(http.MethodPost, "http://127.0.0.1"+path, bytes.NewReader(body)) //nolint:noctx // its context comes where it is sent
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Claude-Code-Session-Id", label)
	switch d.api {
	case sim.Messages:
		r.Header.Set("X-Api-Key", key)
		r.Header.Set("Anthropic-Version", "2023-06-01")
	case sim.Gemini:
		r.Header.Set("X-Goog-Api-Key", key)
	default:
		r.Header.Set("Authorization", "Bearer "+key)
	}
	return r, nil
}

func (d *dialect) address(c quire.Call) string {
	if d.api != sim.Gemini {
		return d.path
	}
	if c.Stream {
		return d.path + c.Model + ":streamGenerateContent?alt=sse"
	}
	return d.path + c.Model + ":generateContent"
}

// understand reads an answer: of an error, what the client of the API makes of it.
func (d *dialect) understand(status int, header http.Header, body []byte) (quire.Reply, error) {
	if status != http.StatusOK {
		return quire.Reply{}, d.failed(status, header.Get("Retry-After"), body)
	}
	if !strings.HasPrefix(header.Get("Content-Type"), "text/event-stream") {
		return d.reply(body)
	}
	var deltas []quire.Delta
	for x, err := range d.stream(bytes.NewReader(body)) {
		if err != nil {
			return quire.Reply{}, err
		}
		deltas = append(deltas, x)
	}
	return wiretest.Fold(deltas)
}
