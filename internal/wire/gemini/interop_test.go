package gemini

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"google.golang.org/genai"

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
	w.Header().Set("Content-Type", "application/json")
	p.answer(w, r)
}

func serve(t *testing.T, answer http.HandlerFunc) (*peer, *genai.Client) {
	p := &peer{answer: answer}
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	client, err := genai.NewClient(context.Background(), &genai.ClientConfig{
		APIKey: "k", Backend: genai.BackendGeminiAPI, HTTPClient: server.Client(), HTTPOptions: genai.HTTPOptions{BaseURL: server.URL},
	})
	if err != nil {
		t.Fatal(err)
	}
	return p, client
}

func ownReply() quire.Reply {
	return quire.Reply{
		ID: "r1", Model: "gemini-4-neon", Stop: quire.StopTool,
		Usage: quire.Usage{Input: 3, CacheRead: 100, Output: 7, Reasoning: 2, Known: quire.KnownInput | quire.KnownCache | quire.KnownOutput},
		Blocks: []quire.Block{
			{Part: quire.Part{Kind: quire.PartThinking, Text: "Hm."}},
			{Part: quire.Part{Kind: quire.PartText, Text: "Reading 日本."}},
			{Part: quire.Part{Kind: quire.PartToolCall, ToolUse: "call_1", Tool: "read", Text: `{"path":"a.go"}`}, Signature: "c2ln"},
			{Part: quire.Part{Kind: quire.PartToolCall, ToolUse: "#2", Tool: "list", Text: `{}`}},
		},
	}
}

func contents() []*genai.Content {
	return []*genai.Content{
		{Role: "user", Parts: []*genai.Part{{Text: "hi"}, {InlineData: &genai.Blob{MIMEType: "image/png", Data: []byte("\x89PNG")}}}},
		{Role: "model", Parts: []*genai.Part{
			{Text: "Hm.", Thought: true},
			{FunctionCall: &genai.FunctionCall{Name: "read", Args: map[string]any{"path": "a"}}, ThoughtSignature: []byte("sig")},
		}},
		{Role: "user", Parts: []*genai.Part{{FunctionResponse: &genai.FunctionResponse{Name: "read", Response: map[string]any{"error": "none"}}}}},
	}
}

func config() *genai.GenerateContentConfig {
	return &genai.GenerateContentConfig{
		SystemInstruction: &genai.Content{Parts: []*genai.Part{{Text: "Be terse."}}},
		MaxOutputTokens:   100, ThinkingConfig: &genai.ThinkingConfig{ThinkingLevel: genai.ThinkingLevelHigh},
		Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "read", ParametersJsonSchema: json.RawMessage(`{"type":"object"}`)}}}},
	}
}

func TestOfficialClient(t *testing.T) {
	p, client := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		body, err := EncodeReply(ownReply())
		if err != nil {
			t.Error(err)
		}
		_, _ = w.Write(body)
	})
	got, err := client.Models.GenerateContent(context.Background(), "gemini-4-neon", contents(), config())
	if err != nil {
		t.Fatal(err)
	}
	checkAnswer(t, []*genai.GenerateContentResponse{got})
	checkCall(t, p.call)
}

func checkCall(t *testing.T, c quire.Call) {
	t.Helper()
	if len(c.Tools) != 1 || c.Tools[0].Name != "read" || string(c.Tools[0].Schema) != `{"type":"object"}` {
		t.Errorf("tools: %+v", c.Tools)
	}
	if len(c.System) != 1 || c.System[0].Text != "Be terse." || c.MaxOutput != 100 || c.Thinking.Effort != "high" || len(c.Messages) != 3 {
		t.Fatalf("call: %s", wiretest.DumpCall(c))
	}
	user, model, result := c.Messages[0].Blocks, c.Messages[1].Blocks, c.Messages[2].Blocks[0]
	if user[0].Kind != quire.PartUser || user[0].Text != "hi" || user[1].Data != "\x89PNG" {
		t.Errorf("user: %+v", user)
	}
	if model[0].Kind != quire.PartThinking || model[1].Text != `{"path":"a"}` || model[1].Signature != "c2ln" || model[1].ToolUse == "" {
		t.Errorf("model: %+v", model)
	}
	if result.ToolUse != model[1].ToolUse || result.Text != "none" || !result.IsError {
		t.Errorf("result: %+v", result)
	}
}

// checkAnswer holds what their types read against what ours say.
func checkAnswer(t *testing.T, chunks []*genai.GenerateContentResponse) {
	t.Helper()
	var thought, text strings.Builder
	var calls []*genai.Part
	for _, c := range chunks {
		for _, p := range c.Candidates[0].Content.Parts {
			switch {
			case p.FunctionCall != nil:
				calls = append(calls, p)
			case p.Thought:
				thought.WriteString(p.Text)
			default:
				text.WriteString(p.Text)
			}
		}
	}
	if thought.String() != "Hm." || text.String() != "Reading 日本." || len(calls) != 2 {
		t.Fatalf("%q, %q, %d calls", thought.String(), text.String(), len(calls))
	}
	if c := calls[0]; c.FunctionCall.ID != "call_1" || c.FunctionCall.Name != "read" || c.FunctionCall.Args["path"] != "a.go" || string(c.ThoughtSignature) != "sig" {
		t.Errorf("call: %+v", c.FunctionCall)
	}
	if c := calls[1].FunctionCall; c.ID != "" || c.Name != "list" {
		t.Errorf("call without an id: %+v", c)
	}
	last := chunks[len(chunks)-1]
	if u := last.UsageMetadata; u.PromptTokenCount != 103 || u.CachedContentTokenCount != 100 || u.CandidatesTokenCount != 5 || u.ThoughtsTokenCount != 2 || u.TotalTokenCount != 110 {
		t.Errorf("usage: %+v", u)
	}
	if last.Candidates[0].FinishReason != genai.FinishReasonStop || last.ResponseID != "r1" || last.ModelVersion != "gemini-4-neon" {
		t.Errorf("end: %+v", last)
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
	var chunks []*genai.GenerateContentResponse
	for chunk, err := range client.Models.GenerateContentStream(context.Background(), "gemini-4-neon", contents(), config()) {
		if err != nil {
			t.Fatal(err)
		}
		chunks = append(chunks, chunk)
	}
	checkAnswer(t, chunks)
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
	for _, kind := range []quire.CallErrorKind{quire.CallInvalid, quire.CallAuth, quire.CallNotFound} {
		_, client := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			status, body := EncodeError(&quire.CallError{Kind: kind, Message: "m"})
			w.WriteHeader(status)
			_, _ = w.Write(body)
		})
		_, err := client.Models.GenerateContent(context.Background(), "gemini-4-neon", contents(), config())
		var theirs genai.APIError
		if !errors.As(err, &theirs) {
			t.Fatalf("%s: %v", kind, err)
		}
		if !strings.HasSuffix(theirs.Message, "m") || theirs.Status == "" || theirs.Code < 400 {
			t.Errorf("%s came back as %+v", kind, theirs)
		}
	}
}

// Our contents fit their types, and lose nothing there.
func TestOfficialTypesReadOurs(t *testing.T) {
	call := quire.Call{Messages: []quire.Message{
		{Role: quire.RoleUser, Blocks: []quire.Block{
			{Part: quire.Part{Kind: quire.PartUser, Text: "hi"}},
			{Part: quire.Part{Kind: quire.PartDocument, Media: &quire.Media{Type: "application/pdf"}, Data: "%PDF"}},
			{Part: quire.Part{Kind: quire.PartDocument, Media: &quire.Media{Type: "video/mp4"}, Text: "https://example.com/v"}},
		}},
		{Role: quire.RoleAssistant, Blocks: ownReply().Blocks[:3]},
		{Role: quire.RoleTool, Blocks: []quire.Block{{Part: quire.Part{Kind: quire.PartToolResult, Tool: "read", ToolUse: "call_1", Text: "package a"}}}},
	}}
	ours, err := EncodeCall(call)
	if err != nil {
		t.Fatal(err)
	}
	var params struct {
		Contents []*genai.Content `json:"contents"`
	}
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
