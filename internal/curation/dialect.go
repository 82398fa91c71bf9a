package curation

import (
	"encoding/json"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/wire/anthropic"
	"github.com/quire-agent/quire/internal/wire/chat"
	"github.com/quire-agent/quire/internal/wire/gemini"
	"github.com/quire-agent/quire/internal/wire/responses"
	"github.com/quire-agent/quire/internal/x/rawjson"
	"github.com/quire-agent/quire/internal/x/sse"
)

// A Decoder reads the events of an answer that streams. [anthropic.Decoder] says
// what it promises.
type Decoder interface {
	Decode(e sse.Event) ([]quire.Delta, error)
	End() ([]quire.Delta, error)
}

// An Encoder writes them.
type Encoder interface {
	Encode(d quire.Delta) ([]byte, error)
}

// A Dialect is an API as curation needs it.
type Dialect struct {
	list     string // the member that holds the messages
	limit    []string
	joins    bool   // results and words behind them are one message
	marks    bool   // blocks carry cache marks that are ours to set
	flows    bool   // texts that follow each other are one
	context  bool   // how a result is written depends on the call that it answers
	unsigned string // stands in the place of the signature of a call that had none, "" where calls want none

	decodeCall  func([]byte) (quire.Call, error)
	encodeCall  func(quire.Call) ([]byte, error)
	decodeReply func([]byte) (quire.Reply, error)
	encodeReply func(quire.Reply) ([]byte, error)
	streamError func(*quire.CallError) []byte
	decoder     func() Decoder
	encoder     func() Encoder
}

// Messages is that of Anthropic.
func Messages() *Dialect {
	return &Dialect{
		list: "messages", limit: []string{"max_tokens"}, joins: true, marks: true,
		decodeCall: anthropic.DecodeCall, encodeCall: anthropic.EncodeCall, decodeReply: anthropic.DecodeReply, encodeReply: anthropic.EncodeReply,
		streamError: anthropic.EncodeStreamError,
		decoder:     func() Decoder { return new(anthropic.Decoder) }, encoder: func() Encoder { return new(anthropic.Encoder) },
	}
}

// Chat is Chat Completions.
func Chat() *Dialect {
	return &Dialect{
		list: "messages", limit: []string{"max_completion_tokens", "max_tokens"}, context: true, flows: true,
		decodeCall: chat.DecodeCall, encodeCall: chat.EncodeCall, decodeReply: chat.DecodeReply, encodeReply: chat.EncodeReply,
		streamError: chat.EncodeStreamError,
		decoder:     func() Decoder { return new(chat.Decoder) }, encoder: func() Encoder { return new(chat.Encoder) },
	}
}

// Responses is that of OpenAI.
func Responses() *Dialect {
	return &Dialect{
		list: "input", limit: []string{"max_output_tokens"}, context: true,
		decodeCall: responses.DecodeCall, encodeCall: responses.EncodeCall, decodeReply: responses.DecodeReply, encodeReply: responses.EncodeReply,
		streamError: responses.EncodeStreamError,
		decoder:     func() Decoder { return new(responses.Decoder) }, encoder: func() Encoder { return new(responses.Encoder) },
	}
}

// Gemini is generateContent of Google. What it takes in the place of a signature is
// what its page on thought signatures names for calls that its model did not make.
func Gemini() *Dialect {
	return &Dialect{
		list: "contents", joins: true, flows: true, unsigned: "skip_thought_signature_validator",
		decodeCall: gemini.DecodeCall, encodeCall: gemini.EncodeCall, decodeReply: gemini.DecodeReply, encodeReply: gemini.EncodeReply,
		streamError: gemini.EncodeStreamError,
		decoder:     func() Decoder { return new(gemini.Decoder) }, encoder: func() Encoder { return new(gemini.Encoder) },
	}
}

// elements is the list of messages of a call that holds nothing else.
func (d *Dialect) elements(messages []quire.Message) ([]json.RawMessage, error) {
	body, err := d.encodeCall(quire.Call{Messages: messages})
	if err != nil {
		return nil, err
	}
	return rawjson.Elements(rawjson.Get(rawjson.Members(body), d.list)), nil
}
