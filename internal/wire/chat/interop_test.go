package chat

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"

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

func serve(t *testing.T, answer http.HandlerFunc) (*peer, openai.Client) {
	p := &peer{answer: answer}
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	return p, openai.NewClient(option.WithUnsafeAllowHTTP(), option.WithBaseURL(server.URL), option.WithAPIKey("k"), option.WithMaxRetries(0))
}

// ownReply is an answer that was not read from this protocol.
func ownReply() quire.Reply {
	return quire.Reply{
		ID: "chatcmpl-1", Model: "gpt-6.2-sol", Stop: quire.StopTool,
		Usage: quire.Usage{Input: 3, CacheRead: 100, CacheWrite: 20, Output: 7, Reasoning: 2, Known: quire.KnownInput | quire.KnownCache | quire.KnownOutput},
		Blocks: []quire.Block{
			{Part: quire.Part{Kind: quire.PartText, Text: "Reading 日本."}, Plain: true},
			{Part: quire.Part{Kind: quire.PartToolCall, ToolUse: "call_1", Tool: "read", Text: `{"path":"a.go"}`}},
			{Part: quire.Part{Kind: quire.PartToolCall, ToolUse: "call_2", Tool: "list", Text: "{}"}},
		},
	}
}

// deltas is a reply as a stream, each text in two pieces.
func deltas(r quire.Reply) []quire.Delta {
	list := []quire.Delta{quire.ReplyBegun{ID: r.ID, Model: r.Model}}
	for i, b := range r.Blocks {
		text := b.Text
		b.Text = ""
		list = append(list, quire.BlockBegun{Index: i, Block: b},
			quire.BlockGrew{Index: i, Text: text[:1]}, quire.BlockGrew{Index: i, Text: text[1:]}, quire.BlockEnded{Index: i})
	}
	return append(list, quire.ReplyEnded{Stop: r.Stop, Usage: r.Usage})
}

func request() openai.ChatCompletionNewParams {
	text := openai.TextContentPart("What is this?")
	text.OfText.PromptCacheBreakpoint = openai.NewChatCompletionContentPartTextPromptCacheBreakpointParam()
	image := openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{URL: "data:image/png;base64,AAEC", Detail: "low"})
	called := openai.ChatCompletionAssistantMessageParam{ToolCalls: []openai.ChatCompletionMessageToolCallUnionParam{{
		OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{
			ID: "call_0", Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{Name: "read", Arguments: `{ "path": "a" }`},
		},
	}}}
	return openai.ChatCompletionNewParams{
		Model:               "gpt-6.2-sol",
		MaxCompletionTokens: openai.Int(100),
		ReasoningEffort:     "low",
		Tools: []openai.ChatCompletionToolUnionParam{
			openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{Name: "read", Parameters: shared.FunctionParameters{"type": "object"}}),
			openai.ChatCompletionCustomTool(openai.ChatCompletionCustomToolCustomParam{Name: "note"}),
		},
		Messages: []openai.ChatCompletionMessageParamUnion{
			openai.DeveloperMessage("Be terse."),
			openai.UserMessage([]openai.ChatCompletionContentPartUnionParam{text, image}),
			{OfAssistant: &called},
			openai.ToolMessage("package a", "call_0"),
		},
	}
}

func checkRequest(t *testing.T, c quire.Call) {
	t.Helper()
	want := `call model="gpt-6.2-sol" max=100
thinking effort="low"
tool name="read" schema({"type":"object"})
tool name="note" type="custom"
system text="Be terse." plain rest(role:"developer")
message role="user"
  user text="What is this?" cache="short" rest(prompt_cache_breakpoint:{"mode":"explicit"})
  image media="image/png/3" data="\x00\x01\x02" rest(image_url:{"detail":"low"})
message role="assistant"
  tool call tool="read" use="call_0" text="{ \"path\": \"a\" }"
message role="tool"
  tool result use="call_0" text="package a"
`
	c.Rest, c.Stream = nil, false
	if got := wiretest.DumpCall(c); got != want {
		t.Errorf("the client's request is\n%swant\n%s", got, want)
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
	got, err := client.Chat.Completions.New(t.Context(), request())
	if err != nil {
		t.Fatal(err)
	}
	checkRequest(t, p.call)
	checkCompletion(t, got)
	if n := got.Usage.PromptTokensDetails.CacheWriteTokens; n != 20 {
		t.Errorf("the client read %d tokens written to the cache", n)
	}
}

func checkCompletion(t *testing.T, got *openai.ChatCompletion) {
	t.Helper()
	if got.ID != "chatcmpl-1" || got.Model != "gpt-6.2-sol" || len(got.Choices) != 1 {
		t.Fatalf("the client read %+v", got)
	}
	choice := got.Choices[0]
	calls := choice.Message.ToolCalls
	if choice.FinishReason != "tool_calls" || choice.Message.Content != "Reading 日本." || len(calls) != 2 {
		t.Fatalf("the client read %+v", choice)
	}
	if calls[0].ID != "call_1" || calls[0].Function.Name != "read" || calls[0].Function.Arguments != `{"path":"a.go"}` || calls[1].Function.Arguments != "{}" {
		t.Errorf("the client read the calls %+v", calls)
	}
	u := got.Usage
	if u.PromptTokens != 123 || u.PromptTokensDetails.CachedTokens != 100 || u.CompletionTokens != 7 || u.CompletionTokensDetails.ReasoningTokens != 2 {
		t.Errorf("the client read the usage %+v", u)
	}
}

func TestOfficialClientStreams(t *testing.T) {
	p, client := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(encodeStream(t, &Encoder{Usage: true}, deltas(ownReply())))
	})
	stream := client.Chat.Completions.NewStreaming(t.Context(), request())
	var all openai.ChatCompletionAccumulator
	for stream.Next() {
		if !all.AddChunk(stream.Current()) {
			t.Errorf("the client refuses %s", stream.Current().RawJSON())
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	checkRequest(t, p.call)
	checkCompletion(t, &all.ChatCompletion)
}

func TestOfficialClientErrors(t *testing.T) {
	_, client := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		status, body := EncodeError(&quire.CallError{Kind: quire.CallTooLong, Message: "too long"})
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write(body)
	})
	_, err := client.Chat.Completions.New(t.Context(), request())
	var e *openai.Error
	if !errors.As(err, &e) || e.StatusCode != 400 || e.Code != "context_length_exceeded" || e.Message != "too long" {
		t.Errorf("the client read %+v, %v", e, err)
	}
}

func TestOfficialClientStreamErrors(t *testing.T) {
	_, client := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(encodeStream(t, new(Encoder), deltas(ownReply())[:2]))
		_, _ = w.Write(EncodeStreamError(&quire.CallError{Kind: quire.CallOverloaded, Message: "busy"}))
	})
	stream := client.Chat.Completions.NewStreaming(t.Context(), request())
	for stream.Next() {
		continue
	}
	if stream.Err() == nil {
		t.Error("the client did not see the error")
	}
}

// TestOfficialTypes holds that the vendor's types read our requests and write
// the same again.
func TestOfficialTypes(t *testing.T) {
	text := func(kind quire.PartKind, text string) quire.Block {
		return quire.Block{Part: quire.Part{Kind: kind, Text: text}, Plain: true}
	}
	marked := text(quire.PartUser, "And?")
	marked.Cache = quire.MarkShort
	out, err := EncodeCall(quire.Call{
		Model: "m", MaxOutput: 5, Stream: true,
		Tools:  []quire.ToolSpec{{Name: "read", Description: "Reads.", Schema: json.RawMessage(`{"type":"object"}`)}},
		Choice: quire.Choice{Mode: "required"},
		System: []quire.Block{text(quire.PartSystem, "Be terse.")},
		Messages: []quire.Message{
			{Role: quire.RoleUser, Blocks: []quire.Block{text(quire.PartUser, "Hi")}},
			{Role: quire.RoleAssistant, Blocks: []quire.Block{
				text(quire.PartText, "Ok."),
				{Part: quire.Part{Kind: quire.PartToolCall, ToolUse: "c", Tool: "read", Text: "{}"}},
			}},
			{Role: quire.RoleUser, Blocks: []quire.Block{
				{Part: quire.Part{Kind: quire.PartToolResult, ToolUse: "c", Text: "x"}},
				marked,
				{Part: quire.Part{Kind: quire.PartImage, Media: &quire.Media{Type: "image/png"}, Data: "\x00"}},
			}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	var params openai.ChatCompletionNewParams
	if err := json.Unmarshal(out, &params); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	if len(params.Messages) != 5 || params.Messages[3].OfTool == nil || params.Messages[2].OfAssistant == nil {
		t.Fatalf("the types read %+v", params.Messages)
	}
	again, err := json.Marshal(params)
	if err != nil {
		t.Fatal(err)
	}
	checkTyped(t, out, again)
}

// checkTyped compares a request with what the vendor's types made of it. They
// have no member for stream, which their client adds.
func checkTyped(t *testing.T, out, again []byte) {
	t.Helper()
	c, err := DecodeCall(again)
	if err != nil {
		t.Fatal(err)
	}
	c.Stream = true
	back, err := EncodeCall(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := wiretest.SameJSON(out, back); err != nil {
		t.Error(err)
	}
}
