package sim

import (
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/wire/anthropic"
	"github.com/quire-agent/quire/internal/wire/chat"
	"github.com/quire-agent/quire/internal/wire/gemini"
	"github.com/quire-agent/quire/internal/wire/responses"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

// An API is a protocol of a vendor.
type API string

// The APIs.
const (
	Messages  API = "messages"  // of Anthropic
	Chat      API = "chat"      // Chat Completions of OpenAI
	Responses API = "responses" // of OpenAI
	Gemini    API = "gemini"    // generateContent of Google
)

// An encoder turns the deltas of one answer into events. It is an interface
// because each API has its own.
type encoder interface {
	Encode(quire.Delta) ([]byte, error)
}

func (a API) decode(body []byte) (quire.Call, error) {
	switch a {
	case Messages:
		return anthropic.DecodeCall(body)
	case Chat:
		return chat.DecodeCall(body)
	case Responses:
		return responses.DecodeCall(body)
	}
	return gemini.DecodeCall(body)
}

func (a API) encode(r quire.Reply) ([]byte, error) {
	switch a {
	case Messages:
		return anthropic.EncodeReply(r)
	case Chat:
		return chat.EncodeReply(r)
	case Responses:
		return responses.EncodeReply(r)
	}
	return gemini.EncodeReply(r)
}

func (a API) encoder(c quire.Call) encoder {
	switch a {
	case Messages:
		return &anthropic.Encoder{}
	case Chat:
		options := rawjson.Members(rawjson.Get(c.Rest, "stream_options"))
		return &chat.Encoder{Usage: string(rawjson.Get(options, "include_usage")) == "true"}
	case Responses:
		return &responses.Encoder{}
	}
	return &gemini.Encoder{}
}

// id begins the ids of answers.
func (a API) id() string {
	switch a {
	case Messages:
		return "msg_"
	case Chat:
		return "chatcmpl-"
	case Responses:
		return "resp_"
	}
	return "sim-"
}

// stock is the model whose rules hold for one that no table knows, and the window
// of models for which none is known.
func (a API) stock() (model string, window int) {
	switch a {
	case Messages:
		return "claude-opus-5", 200_000
	case Gemini:
		return "gemini-4-neon", 1_048_576
	}
	return "gpt-6.2-sol", 400_000
}

// maxBody is the largest request in bytes. Sources: the vendors' pages on limits
// of requests; OpenAI states it for images.
func (a API) maxBody() int {
	switch a {
	case Messages:
		return 32 << 20
	case Gemini:
		return 20 << 20
	}
	return 50 << 20
}
