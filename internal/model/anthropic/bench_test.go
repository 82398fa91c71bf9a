package anthropic_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/quire-agent/quire/internal/model"
	"github.com/quire-agent/quire/internal/model/anthropic"
	"github.com/quire-agent/quire/internal/model/limit"
	"github.com/quire-agent/quire/internal/model/retry"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/script"
	wire "github.com/quire-agent/quire/internal/wire/anthropic"
)

// BenchmarkCall measures a call with an answer of 200 pieces over a connection on
// this machine, and what a bare client needs for the same bytes. What the model
// adds is bounded by the design: 10 ms.
func BenchmarkCall(b *testing.B) {
	answer, err := encoded()
	if err != nil {
		b.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // a broken call fails in the client
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(answer)
	}))
	defer server.Close()
	client := model.NewClient(func(string) (string, bool) { return "", false })
	defer client.CloseIdleConnections()
	c := longCall()
	b.Run("bare", func(b *testing.B) { bare(b, client, server.URL, c) })
	b.Run("model", func(b *testing.B) {
		m := retry.New(limit.New(anthropic.New(&model.Endpoint{Base: server.URL, Client: client}), 4), retry.Policy{})
		for b.Loop() {
			for _, err := range m.Call(b.Context(), c) {
				if err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}

// longCall is a call with 400 messages, about 200 KB.
func longCall() quire.Call {
	c := quire.Call{Model: "m", MaxOutput: 100}
	for i := range 400 {
		role, kind := quire.RoleUser, quire.PartUser
		if i%2 == 1 {
			role, kind = quire.RoleAssistant, quire.PartText
		}
		text := string(bytes.Repeat([]byte("a line of words. "), 30))
		c.Messages = append(c.Messages, quire.Message{Role: role, Blocks: []quire.Block{{Part: quire.Part{Kind: kind, Text: text}}}})
	}
	return c
}

func encoded() ([]byte, error) {
	text := string(bytes.Repeat([]byte("word "), 400))
	r := quire.Reply{ID: "r", Model: "m", Stop: quire.StopEnd, Blocks: []quire.Block{{Part: quire.Part{Kind: quire.PartText, Text: text}}}}
	var out []byte
	var e wire.Encoder
	for _, d := range script.Deltas(r, 10) {
		b, err := e.Encode(d)
		if err != nil {
			return nil, err
		}
		out = append(out, b...)
	}
	return out, nil
}

func bare(b *testing.B, client *http.Client, url string, c quire.Call) {
	body, err := wire.EncodeCall(c)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		resp, err := client.Post(url+"/v1/messages", "application/json", bytes.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			b.Fatal(err)
		}
		_ = resp.Body.Close() // read to its end
	}
}
