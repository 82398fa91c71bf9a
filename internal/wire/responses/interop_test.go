package responses

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"

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
		ID: "resp_1", Model: "gpt-6.2-sol", Stop: quire.StopTool,
		Usage: quire.Usage{Input: 3, CacheRead: 100, CacheWrite: 20, Output: 7, Reasoning: 2, Known: quire.KnownInput | quire.KnownCache | quire.KnownOutput},
		Blocks: []quire.Block{
			{Part: quire.Part{Kind: quire.PartThinking, Text: "Hm."}, Signature: "ZW5j"},
			{Part: quire.Part{Kind: quire.PartText, Text: "Reading 日本."}},
			{Part: quire.Part{Kind: quire.PartText, Text: "And more."}},
			{Part: quire.Part{Kind: quire.PartToolCall, ToolUse: "call_1", Tool: "read", Text: `{"path":"a.go"}`}},
			{Part: quire.Part{Kind: quire.PartToolCall, ToolUse: "call_2", Tool: "patch", Text: "+x"}, Rest: []quire.Field{{Name: "type", Value: json.RawMessage(`"custom_tool_call"`)}}},
		},
	}
}

// deltas is a reply as a stream, each text in two pieces.
func deltas(r quire.Reply) []quire.Delta {
	list := []quire.Delta{quire.ReplyBegun{ID: r.ID, Model: r.Model}}
	for i, b := range r.Blocks {
		text, signature := b.Text, b.Signature
		b.Text, b.Signature = "", ""
		list = append(list, quire.BlockBegun{Index: i, Block: b},
			quire.BlockGrew{Index: i, Text: text[:1]}, quire.BlockGrew{Index: i, Text: text[1:], Signature: signature}, quire.BlockEnded{Index: i})
	}
	return append(list, quire.ReplyEnded{Stop: r.Stop, Usage: r.Usage})
}

func request() responses.ResponseNewParams {
	called := responses.ResponseInputItemParamOfFunctionCall(`{ "path": "a" }`, "call_0", "read")
	result := responses.ResponseInputItemParamOfFunctionCallOutput("package a")
	result.OfFunctionCallOutput.CallID = openai.String("call_0")
	return responses.ResponseNewParams{
		Model:           "gpt-6.2-sol",
		MaxOutputTokens: openai.Int(100),
		Instructions:    openai.String("Be terse."),
		Reasoning:       responses.ReasoningParam{Effort: "low"},
		Store:           openai.Bool(false),
		Tools: []responses.ToolUnionParam{
			{OfFunction: &responses.FunctionToolParam{Name: "read", Parameters: map[string]any{"type": "object"}, Strict: openai.Bool(false)}},
		},
		Input: responses.ResponseNewParamsInputUnion{OfInputItemList: responses.ResponseInputParam{
			responses.ResponseInputItemParamOfMessage("hi", "user"),
			responses.ResponseInputItemParamOfReasoning("rs_0", []responses.ResponseReasoningItemSummaryParam{{Text: "Hm."}}),
			called,
			result,
			responses.ResponseInputItemParamOfCompaction("b2xk"),
		}},
	}
}

func checkRequest(t *testing.T, c quire.Call) {
	t.Helper()
	want := `call model="gpt-6.2-sol" max=100
thinking effort="low"
tool name="read" schema({"type":"object"}) rest(strict:false)
system text="Be terse." plain
message role="user"
  user text="hi" plain
message role="assistant"
  thinking text="Hm." rest(id:"rs_0")
  tool call tool="read" use="call_0" text="{ \"path\": \"a\" }"
message role="tool"
  tool result use="call_0" text="package a"
message role="assistant"
  machine opaque({"encrypted_content":"b2xk","type":"compaction"})
`
	c.Rest, c.Stream = nil, false
	if got := wiretest.DumpCall(c); got != want {
		t.Errorf("the client's request is\n%swant\n%s", got, want)
	}
}

func checkResponse(t *testing.T, got *responses.Response) {
	t.Helper()
	if got.ID != "resp_1" || got.Status != "completed" || len(got.Output) != 4 {
		t.Fatalf("the client read %s", got.RawJSON())
	}
	reasoning, message, call, custom := got.Output[0].AsReasoning(), got.Output[1].AsMessage(), got.Output[2].AsFunctionCall(), got.Output[3].AsCustomToolCall()
	if reasoning.ID == "" || reasoning.EncryptedContent != "ZW5j" || len(reasoning.Summary) != 1 || reasoning.Summary[0].Text != "Hm." {
		t.Errorf("the client read the reasoning %s", reasoning.RawJSON())
	}
	if message.ID == "" || message.Status != "completed" || len(message.Content) != 2 || message.Content[0].Text != "Reading 日本." {
		t.Errorf("the client read the message %s", message.RawJSON())
	}
	if call.CallID != "call_1" || call.Name != "read" || call.Arguments != `{"path":"a.go"}` || call.ID == "" {
		t.Errorf("the client read the call %s", call.RawJSON())
	}
	if custom.CallID != "call_2" || custom.Name != "patch" || custom.Input != "+x" {
		t.Errorf("the client read the call %s", custom.RawJSON())
	}
	u := got.Usage
	if u.InputTokens != 123 || u.InputTokensDetails.CachedTokens != 100 || u.InputTokensDetails.CacheWriteTokens != 20 || u.OutputTokens != 7 || u.OutputTokensDetails.ReasoningTokens != 2 {
		t.Errorf("the client read the usage %s", u.RawJSON())
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
	got, err := client.Responses.New(t.Context(), request())
	if err != nil {
		t.Fatal(err)
	}
	checkRequest(t, p.call)
	checkResponse(t, got)
}

func TestOfficialClientStreams(t *testing.T) {
	p, client := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(encodeStream(t, new(Encoder), deltas(ownReply())))
	})
	stream := client.Responses.NewStreaming(t.Context(), request())
	var names []string
	var text strings.Builder
	var last responses.Response
	for stream.Next() {
		event := stream.Current()
		if event.SequenceNumber != int64(len(names)) {
			t.Errorf("event %d has number %d", len(names), event.SequenceNumber)
		}
		names = append(names, event.Type)
		switch event.Type {
		case "response.output_text.delta":
			text.WriteString(event.Delta)
		case "response.completed":
			last = event.Response
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	checkRequest(t, p.call)
	checkResponse(t, &last)
	if text.String() != "Reading 日本.And more." {
		t.Errorf("the client read the text %q", text.String())
	}
	checkNames(t, names)
}

func checkNames(t *testing.T, names []string) {
	t.Helper()
	want := `response.created response.in_progress
response.output_item.added response.reasoning_summary_part.added response.reasoning_summary_text.delta response.reasoning_summary_text.delta
response.reasoning_summary_text.done response.reasoning_summary_part.done response.output_item.done
response.output_item.added response.content_part.added response.output_text.delta response.output_text.delta response.output_text.done response.content_part.done
response.content_part.added response.output_text.delta response.output_text.delta response.output_text.done response.content_part.done response.output_item.done
response.output_item.added response.function_call_arguments.delta response.function_call_arguments.delta response.function_call_arguments.done response.output_item.done
response.output_item.added response.custom_tool_call_input.delta response.custom_tool_call_input.delta response.custom_tool_call_input.done response.output_item.done
response.completed`
	if got := strings.Join(names, " "); got != strings.ReplaceAll(want, "\n", " ") {
		t.Errorf("the events are\n%s\nwant\n%s", got, want)
	}
}

func TestOfficialClientErrors(t *testing.T) {
	_, client := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		status, body := EncodeError(&quire.CallError{Kind: quire.CallRate, Message: "slow down"})
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write(body)
	})
	_, err := client.Responses.New(t.Context(), request())
	var e *openai.Error
	if !errors.As(err, &e) || e.StatusCode != 429 || e.Code != "rate_limit_exceeded" || e.Message != "slow down" {
		t.Errorf("the client read %+v, %v", e, err)
	}
}

func TestOfficialClientStreamErrors(t *testing.T) {
	_, client := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(EncodeStreamError(&quire.CallError{Kind: quire.CallOverloaded, Message: "busy"}))
	})
	stream := client.Responses.NewStreaming(t.Context(), request())
	seen := false
	for stream.Next() {
		seen = seen || stream.Current().Type == "error" && stream.Current().Message == "busy"
	}
	if !seen && stream.Err() == nil {
		t.Error("the client did not see the error")
	}
}

// TestOfficialTypes holds that the vendor's types read our requests, and that
// nothing is lost of what they write again.
func TestOfficialTypes(t *testing.T) {
	for _, in := range []string{seeds()[4], seeds()[8]} {
		c, err := DecodeCall([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		c.Rest = nil
		out, err := EncodeCall(c)
		if err != nil {
			t.Fatal(err)
		}
		var params responses.ResponseNewParams
		if err := json.Unmarshal(out, &params); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		items := params.Input.OfInputItemList
		if len(c.Messages) == 1 {
			continue
		}
		if len(items) != 6 || items[0].OfReasoning == nil || items[1].OfMessage == nil || items[2].OfFunctionCall == nil {
			t.Errorf("the types read the first items of %s as %+v", out, items)
		}
		if items[3].OfCustomToolCall == nil || items[4].OfFunctionCallOutput == nil || items[5].OfCustomToolCallOutput == nil {
			t.Errorf("the types read the last items of %s as %+v", out, items)
		}
	}
}
