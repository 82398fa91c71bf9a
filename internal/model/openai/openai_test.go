package openai_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/model"
	"github.com/quire-agent/quire/internal/model/modeltest"
	"github.com/quire-agent/quire/internal/model/openai"
	"github.com/quire-agent/quire/internal/model/retry"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/wire/chat"
	"github.com/quire-agent/quire/internal/wire/responses"
)

func retrying(m modeltest.Caller) modeltest.Caller {
	return retry.New(m, retry.Policy{First: time.Millisecond})
}

func TestResponses(t *testing.T) {
	modeltest.Suite{
		Protocol: modeltest.Protocol{
			Path: "/v1/responses", KeyHeader: "Authorization", KeyPrefix: "Bearer ",
			Decode: responses.DecodeCall,
			Deltas: func() func(quire.Delta) ([]byte, error) { return new(responses.Encoder).Encode },
			Reply:  responses.EncodeReply, Error: responses.EncodeError, Broken: responses.EncodeStreamError,
			TooLong:  "Your input exceeds the context window of this model.",
			Filtered: "The content was filtered.",
		},
		Base:     "/v1",
		Open:     func(e *model.Endpoint) modeltest.Caller { return openai.NewResponses(e) },
		Retrying: retrying,
	}.Run(t)
}

// TestChat runs the suite in every dialect.
func TestChat(t *testing.T) {
	for _, d := range append(chat.Dialects(), chat.Dialect{Name: "plain", Thought: "reasoning_content"}) {
		t.Run(d.Name, func(t *testing.T) { chatSuite(d).Run(t) })
	}
}

func chatSuite(d chat.Dialect) modeltest.Suite {
	return modeltest.Suite{
		Protocol: modeltest.Protocol{
			Path: "/v1/chat/completions", KeyHeader: "Authorization", KeyPrefix: "Bearer ",
			Decode: chat.DecodeCall,
			Deltas: func() func(quire.Delta) ([]byte, error) { return (&chat.Encoder{Usage: true}).Encode },
			Reply:  chat.EncodeReply, Error: chat.EncodeError, Broken: chat.EncodeStreamError,
			TooLong:   "This model's maximum context length is 200000 tokens.",
			Filtered:  "The content was filtered.",
			NoThought: d.Thought == "", NoSigning: true,
		},
		Base:     "/v1",
		Open:     func(e *model.Endpoint) modeltest.Caller { return openai.NewChat(e, d.Name) },
		Retrying: retrying,
	}
}

// TestResponsesKeepsNothing holds that the provider is asked to keep nothing, and
// that a call may say otherwise.
func TestResponsesKeepsNothing(t *testing.T) {
	open := func(e *model.Endpoint) modeltest.Caller { return openai.NewResponses(e) }
	for stored, rest := range map[string][]quire.Field{
		"false": nil,
		"true":  {{Name: "store", Value: json.RawMessage("true")}},
	} {
		var sent struct {
			Store   json.RawMessage `json:"store"`
			Include []string        `json:"include"`
		}
		if err := json.Unmarshal(modeltest.Sent(t, open, quire.Call{Model: "m", Rest: rest}), &sent); err != nil {
			t.Fatal(err)
		}
		if string(sent.Store) != stored || len(sent.Include) != 1 || sent.Include[0] != "reasoning.encrypted_content" {
			t.Errorf("store %s is sent as %+v", stored, sent)
		}
	}
}
