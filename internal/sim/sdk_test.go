package sim_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	anthropic "github.com/anthropics/anthropic-sdk-go/v2"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/openai/openai-go/v3"
	openaioption "github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"
	"google.golang.org/genai"

	"github.com/quire-agent/quire/internal/sim"
)

// readAndAnswer is a conversation with one tool: the model reads a file and says
// what stands there.
const readAndAnswer = `
turn
  when tool read
  when user contains port
  think The port stands in the configuration.
  say I will look.
  call read as toolu_1 {"path": "app.conf"}
turn
  when answered toolu_1
  when result matches port (\d+)
  think There it is.
  say It listens on ${1}.
turn
  when user contains thanks
  say You are welcome.
`

// prose is a prompt that is long enough for every cache.
func prose() string { return strings.Repeat("You are terse, precise and kind. ", 800) }

func ask(client anthropic.Client, p anthropic.MessageNewParams) (*anthropic.Message, error) {
	stream := client.Messages.NewStreaming(context.Background(), p)
	var m anthropic.Message
	for stream.Next() {
		if err := m.Accumulate(stream.Current()); err != nil {
			return nil, err
		}
	}
	return &m, stream.Err()
}

func TestAnthropicClient(t *testing.T) {
	s, server := serve(t, sim.Options{Script: parsed(t, readAndAnswer)})
	client := anthropic.NewClient(anthropicoption.WithBaseURL(server.URL), anthropicoption.WithAPIKey("k"), anthropicoption.WithMaxRetries(0))
	p := anthropic.MessageNewParams{
		Model: "claude-opus-5-5", MaxTokens: 2000, Thinking: anthropic.ThinkingConfigParamOfEnabled(1024),
		System: []anthropic.TextBlockParam{{Text: prose(), CacheControl: anthropic.NewCacheControlEphemeralParam()}},
		Tools: []anthropic.ToolUnionParam{anthropic.ToolUnionParamOfTool(anthropic.ToolInputSchemaParam{
			Properties: map[string]any{"path": map[string]any{"type": "string"}},
		}, "read")},
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("Which port is it?"))},
	}
	first, err := ask(client, p)
	if err != nil {
		t.Fatal(err)
	}
	if first.StopReason != anthropic.StopReasonToolUse || len(first.Content) != 3 || first.Content[0].Signature == "" {
		t.Fatalf("answer: %s", first.RawJSON())
	}
	if u := first.Usage; u.CacheCreationInputTokens < 1000 || u.CacheReadInputTokens != 0 || u.OutputTokens == 0 {
		t.Errorf("usage of the first call: %+v", u)
	}
	p.Messages = append(p.Messages, first.ToParam(), anthropic.NewUserMessage(anthropic.NewToolResultBlock("toolu_1", "host a\nport 8080", false)))
	second, err := ask(client, p)
	if err != nil {
		t.Fatal(err)
	}
	if got := second.Content[1].Text; got != "It listens on 8080." {
		t.Errorf("answer: %q", got)
	}
	if u := second.Usage; u.CacheReadInputTokens != first.Usage.CacheCreationInputTokens {
		t.Errorf("usage of the second call: %+v, the first wrote %d", u, first.Usage.CacheCreationInputTokens)
	}
	p.Messages = append(p.Messages, second.ToParam(), anthropic.NewUserMessage(anthropic.NewTextBlock("thanks")))
	third, err := client.Messages.New(context.Background(), p)
	if err != nil || third.Content[0].Text != "You are welcome." {
		t.Errorf("%v, %v", third, err)
	}
	p.Messages[0] = anthropic.NewUserMessage(anthropic.NewTextBlock("Which port was it?"))
	_, err = client.Messages.New(context.Background(), p)
	var refused *anthropic.Error
	if !errors.As(err, &refused) || refused.StatusCode != 400 || !strings.Contains(refused.Error(), "bound to a different conversation") {
		t.Errorf("a changed prefix: %v", err)
	}
	if list := s.Requests(); len(list) != 4 || list[1].Turn != 8 || list[3].Refused == "" || list[3].Status != 400 {
		t.Errorf("record: %d requests, line %d, then %q, %d", len(list), list[1].Turn, list[3].Refused, list[3].Status)
	}
}

func TestAnthropicModelsAndCounts(t *testing.T) {
	_, server := serve(t, sim.Options{})
	client := anthropic.NewClient(anthropicoption.WithBaseURL(server.URL), anthropicoption.WithAPIKey("k"), anthropicoption.WithMaxRetries(0))
	list, err := client.Models.List(context.Background(), anthropic.ModelListParams{})
	if err != nil || len(list.Data) < 5 || !strings.HasPrefix(list.Data[0].ID, "claude-") {
		t.Fatalf("models: %+v, %v", list, err)
	}
	n, err := client.Messages.CountTokens(context.Background(), anthropic.MessageCountTokensParams{
		Model: "claude-opus-5", Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(prose()))},
	})
	if err != nil || n.InputTokens < 3000 || n.InputTokens > 20000 {
		t.Errorf("count: %+v, %v", n, err)
	}
}

func openaiClient(url string) openai.Client {
	return openai.NewClient(openaioption.WithUnsafeAllowHTTP(), openaioption.WithBaseURL(url+"/v1"), openaioption.WithAPIKey("k"), openaioption.WithMaxRetries(0))
}

func TestChatClient(t *testing.T) {
	_, server := serve(t, sim.Options{Script: parsed(t, readAndAnswer)})
	client := openaiClient(server.URL)
	p := openai.ChatCompletionNewParams{
		Model:         "gpt-5.4",
		StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)},
		Tools:         []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{Name: "read", Parameters: shared.FunctionParameters{"type": "object"}})},
		Messages:      []openai.ChatCompletionMessageParamUnion{openai.SystemMessage(prose()), openai.UserMessage("Which port is it?")},
	}
	stream := client.Chat.Completions.NewStreaming(context.Background(), p)
	var first openai.ChatCompletionAccumulator
	for stream.Next() {
		first.AddChunk(stream.Current())
	}
	if err := stream.Err(); err != nil || len(first.Choices) != 1 {
		t.Fatalf("%+v, %v", first, err)
	}
	m := first.Choices[0].Message
	if m.Content != "I will look." || len(m.ToolCalls) != 1 || m.ToolCalls[0].Function.Arguments != `{"path": "app.conf"}` || first.Usage.CompletionTokens == 0 {
		t.Fatalf("answer: %+v, usage %+v", m, first.Usage)
	}
	p.Messages = append(p.Messages, m.ToParam(), openai.ToolMessage("port 8080", m.ToolCalls[0].ID))
	p.StreamOptions = openai.ChatCompletionStreamOptionsParam{}
	second, err := client.Chat.Completions.New(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	if got := second.Choices[0].Message.Content; got != "It listens on 8080." {
		t.Errorf("answer: %q", got)
	}
	if u := second.Usage; u.PromptTokensDetails.CachedTokens < 1024 || u.PromptTokensDetails.CachedTokens%128 != 0 {
		t.Errorf("usage: %+v", u)
	}
	p.Messages = p.Messages[:3]
	_, err = client.Chat.Completions.New(context.Background(), p)
	var refused *openai.Error
	if !errors.As(err, &refused) || refused.StatusCode != 400 || !strings.Contains(refused.Message, "did not have response messages: toolu_1") {
		t.Errorf("a call without its result: %v", err)
	}
	models, err := client.Models.List(context.Background())
	if err != nil || len(models.Data) < 5 {
		t.Errorf("models: %v, %v", models, err)
	}
}

func TestResponsesClient(t *testing.T) {
	_, server := serve(t, sim.Options{Script: parsed(t, readAndAnswer)})
	client := openaiClient(server.URL)
	p := responses.ResponseNewParams{
		Model: "gpt-6.2-sol", Instructions: openai.String(prose()), Store: openai.Bool(false),
		Include: []responses.ResponseIncludable{"reasoning.encrypted_content"},
		Tools:   []responses.ToolUnionParam{{OfFunction: &responses.FunctionToolParam{Name: "read", Parameters: map[string]any{"type": "object"}, Strict: openai.Bool(false)}}},
		Input:   responses.ResponseNewParamsInputUnion{OfInputItemList: responses.ResponseInputParam{responses.ResponseInputItemParamOfMessage("Which port is it?", "user")}},
	}
	stream := client.Responses.NewStreaming(context.Background(), p)
	var first responses.Response
	for stream.Next() {
		if e := stream.Current(); e.Type == "response.completed" {
			first = e.Response
		}
	}
	if err := stream.Err(); err != nil || len(first.Output) != 3 || first.Output[0].EncryptedContent == "" {
		t.Fatalf("%s, %v", first.RawJSON(), err)
	}
	input := p.Input.OfInputItemList
	for _, item := range first.Output {
		input = append(input, asInput(t, item.RawJSON()))
	}
	result := responses.ResponseInputItemParamOfFunctionCallOutput("port 8080")
	result.OfFunctionCallOutput.CallID = openai.String("toolu_1")
	p.Input.OfInputItemList = append(input, result)
	second, err := client.Responses.New(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	if got := second.OutputText(); got != "It listens on 8080." {
		t.Errorf("answer: %q", got)
	}
	if u := second.Usage; u.InputTokensDetails.CachedTokens < 1024 {
		t.Errorf("usage: %+v", u)
	}
	p.Input.OfInputItemList = input
	_, err = client.Responses.New(context.Background(), p)
	var refused *openai.Error
	if !errors.As(err, &refused) || refused.StatusCode != 400 || !strings.Contains(refused.Message, "No tool output found for function call toolu_1") {
		t.Errorf("a call without its output: %v", err)
	}
}

// asInput is an item of an answer as one of a request.
func asInput(t *testing.T, raw string) (item responses.ResponseInputItemUnionParam) {
	t.Helper()
	if err := json.Unmarshal([]byte(raw), &item); err != nil {
		t.Fatal(err)
	}
	return item
}

func TestGeminiClient(t *testing.T) {
	_, server := serve(t, sim.Options{Script: parsed(t, readAndAnswer)})
	client, err := genai.NewClient(context.Background(), &genai.ClientConfig{
		APIKey: "k", Backend: genai.BackendGeminiAPI, HTTPClient: server.Client(), HTTPOptions: genai.HTTPOptions{BaseURL: server.URL},
	})
	if err != nil {
		t.Fatal(err)
	}
	config := &genai.GenerateContentConfig{
		SystemInstruction: genai.NewContentFromText(prose(), genai.RoleUser),
		ThinkingConfig:    &genai.ThinkingConfig{IncludeThoughts: true},
		Tools:             []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "read", ParametersJsonSchema: json.RawMessage(`{"type":"object"}`)}}}},
	}
	contents := []*genai.Content{genai.NewContentFromText("Which port is it?", genai.RoleUser)}
	answer := &genai.Content{Role: genai.RoleModel}
	for chunk, err := range client.Models.GenerateContentStream(context.Background(), "gemini-4-neon", contents, config) {
		if err != nil {
			t.Fatal(err)
		}
		answer.Parts = append(answer.Parts, chunk.Candidates[0].Content.Parts...)
	}
	call := answer.Parts[len(answer.Parts)-1]
	if call.FunctionCall == nil || call.FunctionCall.Args["path"] != "app.conf" || len(call.ThoughtSignature) == 0 || !answer.Parts[0].Thought {
		t.Fatalf("answer: %+v", answer.Parts)
	}
	result := genai.NewPartFromFunctionResponse("read", map[string]any{"output": "port 8080"})
	result.FunctionResponse.ID = call.FunctionCall.ID
	contents = append(contents, answer, &genai.Content{Role: genai.RoleUser, Parts: []*genai.Part{result}})
	second, err := client.Models.GenerateContent(context.Background(), "gemini-4-neon", contents, config)
	if err != nil {
		t.Fatal(err)
	}
	if second.Text() != "It listens on 8080." || second.UsageMetadata.CachedContentTokenCount < 1024 {
		t.Errorf("%q, usage %+v", second.Text(), second.UsageMetadata)
	}
	call.ThoughtSignature = nil
	_, err = client.Models.GenerateContent(context.Background(), "gemini-4-neon", contents, config)
	var refused genai.APIError
	if !errors.As(err, &refused) || refused.Code != http.StatusBadRequest || !strings.Contains(refused.Message, "missing a thought_signature") {
		t.Errorf("without its signature: %v", err)
	}
}
