package gemini_test

import (
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/model"
	"github.com/quire-agent/quire/internal/model/gemini"
	"github.com/quire-agent/quire/internal/model/modeltest"
	"github.com/quire-agent/quire/internal/model/retry"
	"github.com/quire-agent/quire/internal/quire"
	wire "github.com/quire-agent/quire/internal/wire/gemini"
)

func TestModel(t *testing.T) {
	modeltest.Suite{
		Protocol: modeltest.Protocol{
			Path: "/v1beta/models/%s:streamGenerateContent?alt=sse", NameInPath: true, KeyHeader: "X-Goog-Api-Key",
			Decode: wire.DecodeCall,
			Deltas: func() func(quire.Delta) ([]byte, error) { return new(wire.Encoder).Encode },
			Reply:  wire.EncodeReply, Error: wire.EncodeError, Broken: wire.EncodeStreamError,
			TooLong:    "The input token count (250000) exceeds the maximum number of tokens allowed (200000).",
			SignsCalls: true,
		},
		Base: "/v1beta",
		Open: func(e *model.Endpoint) modeltest.Caller { return gemini.New(e) },
		Retrying: func(m modeltest.Caller) modeltest.Caller {
			return retry.New(m, retry.Policy{First: time.Millisecond})
		},
	}.Run(t)
}
