package anthropic_test

import (
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/model"
	"github.com/quire-agent/quire/internal/model/anthropic"
	"github.com/quire-agent/quire/internal/model/modeltest"
	"github.com/quire-agent/quire/internal/model/retry"
	"github.com/quire-agent/quire/internal/quire"
	wire "github.com/quire-agent/quire/internal/wire/anthropic"
)

func suite() modeltest.Suite {
	return modeltest.Suite{
		Protocol: modeltest.Protocol{
			Path: "/v1/messages", KeyHeader: "X-Api-Key",
			Decode: wire.DecodeCall,
			Deltas: func() func(quire.Delta) ([]byte, error) { return new(wire.Encoder).Encode },
			Reply:  wire.EncodeReply, Error: wire.EncodeError, Broken: wire.EncodeStreamError,
			TooLong:  "prompt is too long: 250000 tokens > 200000 maximum",
			Filtered: "Output blocked by content filtering policy",
		},
		Open: func(e *model.Endpoint) modeltest.Caller { return anthropic.New(e) },
		Retrying: func(m modeltest.Caller) modeltest.Caller {
			return retry.New(m, retry.Policy{First: time.Millisecond})
		},
	}
}

func TestModel(t *testing.T) { suite().Run(t) }

// TestBaseWithVersion is the same with a base that already ends in the version.
func TestBaseWithVersion(t *testing.T) {
	s := suite()
	s.Base = "/v1"
	s.Run(t)
}

// TestDefaultOutput holds that a call always has the limit that the API demands,
// and room for it above what may be thought.
func TestDefaultOutput(t *testing.T) {
	for _, c := range []struct{ limit, thinking, want int }{{0, 0, 32000}, {0, 20000, 52000}, {100, 0, 100}} {
		body := modeltest.Sent(t, suite().Open, quire.Call{Model: "m", MaxOutput: c.limit, Thinking: quire.Thinking{Mode: "enabled", Budget: c.thinking}})
		sent, err := wire.DecodeCall(body)
		if err != nil {
			t.Fatal(err)
		}
		if sent.MaxOutput != c.want || !sent.Stream {
			t.Errorf("limit %d with %d of thinking is sent as %d, streaming %v", c.limit, c.thinking, sent.MaxOutput, sent.Stream)
		}
	}
}
