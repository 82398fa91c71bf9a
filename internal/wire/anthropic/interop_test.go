package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/wire/wiretest"
)

// A peer is a server of ours that the vendor's own client talks to.
type peer struct {
	call   quire.Call // what it was sent last
	answer http.HandlerFunc
}

func (p *peer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err == nil {
		p.call, err = DecodeCall(body)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	p.answer(w, r)
}

func serve(t *testing.T, answer http.HandlerFunc) (*peer, sdk.Client) {
	p := &peer{answer: answer}
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	return p, sdk.NewClient(option.WithBaseURL(server.URL), option.WithAPIKey("k"), option.WithMaxRetries(0))
}

func ownReply() quire.Reply {
	return quire.Reply{
		ID: "msg_1", Model: "claude-opus-5", Stop: quire.StopTool,
		Usage: quire.Usage{Input: 3, CacheRead: 100, CacheWrite: 20, CacheWrite1h: 5, Output: 7, Known: quire.KnownInput | quire.KnownCache | quire.KnownOutput},
		Blocks: []quire.Block{
			{Part: quire.Part{Kind: quire.PartThinking, Text: "Hm."}, Signature: "c2ln"},
			{Part: quire.Part{Kind: quire.PartText, Text: "Reading 日本."}},
			{Part: quire.Part{Kind: quire.PartToolCall, ToolUse: "toolu_1", Tool: "read", Text: `{"path":"a.go"}`}},
			{Part: quire.Part{Kind: quire.PartToolCall, ToolUse: "toolu_2", Tool: "list"}},
		},
	}
}

func request() sdk.MessageNewParams {
	return sdk.MessageNewParams{
		Model: "claude-opus-5", MaxTokens: 100,
		System: []sdk.TextBlockParam{{Text: "Be terse.", CacheControl: sdk.NewCacheControlEphemeralParam()}},
		Tools: []sdk.ToolUnionParam{{OfTool: &sdk.ToolParam{
			Name: "read", InputSchema: sdk.ToolInputSchemaParam{Properties: map[string]any{"path": map[string]any{"type": "string"}}},
		}}},
		Messages: []sdk.MessageParam{
			sdk.NewUserMessage(sdk.NewTextBlock("hi"), sdk.NewImageBlockBase64("image/png", "iVBORw==")),
			sdk.NewAssistantMessage(sdk.NewThinkingBlock("c2ln", "Hm."), sdk.NewToolUseBlock("toolu_1", map[string]any{"path": "a"}, "read")),
			sdk.NewUserMessage(sdk.NewToolResultBlock("toolu_1", "package a", true)),
		},
	}
}

func TestOfficialClient(t *testing.T) {
	p, client := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		body, err := EncodeReply(ownReply())
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body)
	})
	m, err := client.Messages.New(context.Background(), request())
	if err != nil {
		t.Fatal(err)
	}
	checkMessage(t, m)
	checkCall(t, p.call)
}

func checkCall(t *testing.T, c quire.Call) {
	t.Helper()
	if len(c.Tools) != 1 || c.Tools[0].Name != "read" || len(c.Tools[0].Schema) == 0 {
		t.Errorf("tools: %+v", c.Tools)
	}
	if len(c.System) != 1 || c.System[0].Text != "Be terse." || c.System[0].Cache != quire.MarkShort {
		t.Errorf("system: %+v", c.System)
	}
	if c.Model != "claude-opus-5" || c.MaxOutput != 100 || len(c.Messages) != 3 {
		t.Fatalf("call: %s", wiretest.DumpCall(c))
	}
	user, assistant, result := c.Messages[0].Blocks, c.Messages[1].Blocks, c.Messages[2].Blocks[0]
	if user[0].Kind != quire.PartUser || user[0].Text != "hi" || user[1].Data != "\x89PNG" {
		t.Errorf("user: %+v", user)
	}
	if assistant[0].Signature != "c2ln" || assistant[1].Text != `{"path":"a"}` || assistant[1].ToolUse != "toolu_1" {
		t.Errorf("assistant: %+v", assistant)
	}
	if text := wiretest.DumpCall(quire.Call{System: []quire.Block{result}}); result.ToolUse != "toolu_1" || !result.IsError || len(result.Content) != 1 || result.Content[0].Text != "package a" {
		t.Errorf("result: %s", text)
	}
}

// checkMessage holds what their types read against what ours say.
func checkMessage(t *testing.T, m *sdk.Message) {
	t.Helper()
	want := ownReply()
	if m.ID != want.ID || m.StopReason != sdk.StopReasonToolUse || len(m.Content) != len(want.Blocks) {
		t.Fatalf("message: %s", m.RawJSON())
	}
	if u := m.Usage; u.InputTokens != 3 || u.CacheReadInputTokens != 100 || u.CacheCreationInputTokens != 20 || u.CacheCreation.Ephemeral1hInputTokens != 5 || u.OutputTokens != 7 {
		t.Errorf("usage: %+v", u)
	}
	if b := m.Content[0]; b.Type != "thinking" || b.Thinking != "Hm." || b.Signature != "c2ln" {
		t.Errorf("thinking: %+v", b)
	}
	if b := m.Content[1]; b.Type != "text" || b.Text != "Reading 日本." {
		t.Errorf("text: %+v", b)
	}
	if b := m.Content[2]; b.Type != "tool_use" || b.ID != "toolu_1" || b.Name != "read" || string(b.Input) != `{"path":"a.go"}` {
		t.Errorf("call: %+v", b)
	}
	if b := m.Content[3]; b.ID != "toolu_2" || string(b.Input) != `{}` {
		t.Errorf("call without arguments: %s", b.Input)
	}
}

func TestOfficialClientStreams(t *testing.T) {
	want := ownReply()
	_, client := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		var e Encoder
		for _, d := range deltas(want) {
			out, err := e.Encode(d)
			if err != nil {
				t.Error(err)
			}
			_, _ = w.Write(out)
		}
	})
	stream := client.Messages.NewStreaming(context.Background(), request())
	var m sdk.Message
	for stream.Next() {
		if err := m.Accumulate(stream.Current()); err != nil {
			t.Fatal(err)
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	checkMessage(t, &m)
}

// deltas is a reply as a stream, its texts in two pieces.
func deltas(r quire.Reply) []quire.Delta {
	list := []quire.Delta{quire.ReplyBegun{ID: r.ID, Model: r.Model, Usage: r.Usage}}
	for i, b := range r.Blocks {
		begun := b
		begun.Text, begun.Signature = "", ""
		half := len(b.Text) / 4
		list = append(list, quire.BlockBegun{Index: i, Block: begun}, quire.BlockGrew{Index: i, Text: b.Text[:half]},
			quire.BlockGrew{Index: i, Text: b.Text[half:], Signature: b.Signature}, quire.BlockEnded{Index: i})
	}
	return append(list, quire.ReplyEnded{Stop: r.Stop, Usage: r.Usage})
}

func TestOfficialClientErrors(t *testing.T) {
	for _, kind := range []quire.CallErrorKind{quire.CallInvalid, quire.CallAuth, quire.CallRate, quire.CallOverloaded} {
		failed := &quire.CallError{Kind: kind, Message: "m", After: 2}
		_, client := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			status, body := EncodeError(failed)
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Retry-After", strconv.FormatFloat(failed.After, 'f', -1, 64))
			w.WriteHeader(status)
			_, _ = w.Write(body)
		})
		_, err := client.Messages.New(context.Background(), request())
		var theirs *sdk.Error
		if !errors.As(err, &theirs) {
			t.Fatalf("%s: %v", kind, err)
		}
		ours := DecodeError(theirs.StatusCode, theirs.Response.Header.Get("Retry-After"), []byte(theirs.RawJSON()))
		if ours.Kind != kind || ours.After != 2 {
			t.Errorf("%s came back as %+v", kind, ours)
		}
	}
}

// Our requests fit their types, and lose nothing there.
func TestOfficialTypesReadOurs(t *testing.T) {
	call := quire.Call{
		Model: "claude-opus-5", MaxOutput: 100,
		Thinking: quire.Thinking{Mode: "enabled", Budget: 50, Effort: "high"},
		Choice:   quire.Choice{Mode: "required"},
		Tools:    []quire.ToolSpec{{Name: "read", Description: "Reads.", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`), Cache: quire.MarkLong}},
		System:   []quire.Block{{Part: quire.Part{Kind: quire.PartSystem, Text: "Be terse."}, Cache: quire.MarkShort}},
		Messages: []quire.Message{
			{Role: quire.RoleUser, Blocks: []quire.Block{
				{Part: quire.Part{Kind: quire.PartUser, Text: "hi"}},
				{Part: quire.Part{Kind: quire.PartImage, Media: &quire.Media{Type: "image/png"}, Data: "\x89PNG"}},
				{Part: quire.Part{Kind: quire.PartDocument, Media: &quire.Media{Type: "application/pdf"}, Data: "%PDF"}},
			}},
			{Role: quire.RoleAssistant, Blocks: ownReply().Blocks},
			{Role: quire.RoleTool, Blocks: []quire.Block{{Part: quire.Part{Kind: quire.PartToolResult, ToolUse: "toolu_1"}, Content: []quire.Block{{Part: quire.Part{Kind: quire.PartMachine, Text: "package a"}}}}}},
			{Role: quire.RoleTool, Blocks: []quire.Block{{Part: quire.Part{Kind: quire.PartToolResult, ToolUse: "toolu_2", IsError: true}}}},
		},
	}
	ours, err := EncodeCall(call)
	if err != nil {
		t.Fatal(err)
	}
	var params sdk.MessageNewParams
	if err := json.Unmarshal(ours, &params); err != nil {
		t.Fatal(err)
	}
	theirs, err := json.Marshal(params)
	if err != nil {
		t.Fatal(err)
	}
	if err := wiretest.SameJSON(ours, theirs); err != nil {
		t.Error(err)
	}
}
