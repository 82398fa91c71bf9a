package gateway

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// A mirror is an upstream that keeps what came and answers what it is told.
type mirror struct {
	status int
	header http.Header
	pieces []string
	asked  []*http.Request
	bodies []string
}

func (m *mirror) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	m.asked, m.bodies = append(m.asked, r), append(m.bodies, string(body))
	for name, list := range m.header {
		w.Header()[name] = list
	}
	w.WriteHeader(m.status)
	for _, p := range m.pieces {
		_, _ = io.WriteString(w, p)
		_ = http.NewResponseController(w).Flush()
	}
}

func serveMirror(t testing.TB, m *mirror) string {
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	return server.URL
}

const (
	messagesCall   = `{"model":"claude-sonnet-4-5","max_tokens":100, "messages":[{"role":"user","content":"Which port?"}],"unknown_member":{"b":1,"a":[1.50e1]},"tools":[{"name":"read","input_schema":{"type":"object"},"odd":true}]}`
	messagesReply  = `{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":"8080"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":30,"output_tokens":3},"unheard_of":[1]}`
	messagesStream = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"claude-sonnet-4-5\",\"content\":[],\"stop_reason\":null,\"stop_sequence\":null,\"usage\":{\"input_tokens\":30,\"output_tokens\":1}}}\n\n" +
		"event: ping\ndata: {\"type\": \"ping\"}\n\n" +
		"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n" +
		"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"8080\"}}\n\n" +
		"event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n" +
		"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":3}}\n\n" +
		"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
	chatCall        = `{"model":"gpt-5.4","messages":[{"role":"user","content":"Which port?"}],"search_parameters":{"mode":"auto"},"tools":[{"type":"function","function":{"name":"read","parameters":{}}}]}`
	chatReply       = `{"id":"c1","object":"chat.completion","created":1,"model":"gpt-5.4","choices":[{"index":0,"message":{"role":"assistant","content":"8080","odd":1},"finish_reason":"stop"}],"usage":{"prompt_tokens":30,"completion_tokens":3,"total_tokens":33}}`
	chatStream      = "data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"gpt-5.4\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"80\"},\"finish_reason\":null}]}\n\ndata: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"gpt-5.4\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"80\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
	responsesCall   = `{"model":"gpt-5.4","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"Which port?"}]}],"store":false,"client_metadata":{"x":"y"},"tools":[{"type":"function","name":"read","parameters":{}}]}`
	responsesReply  = `{"id":"resp_1","object":"response","created_at":1,"status":"completed","model":"gpt-5.4","output":[{"type":"message","id":"msg_1","status":"completed","role":"assistant","content":[{"type":"output_text","text":"8080","annotations":[]}]}],"usage":{"input_tokens":30,"input_tokens_details":{"cached_tokens":0},"output_tokens":3,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":33}}`
	responsesStream = "event: response.created\ndata: {\"type\":\"response.created\",\"sequence_number\":0,\"response\":{\"id\":\"resp_1\",\"object\":\"response\",\"status\":\"in_progress\",\"model\":\"gpt-5.4\",\"output\":[]}}\n\nevent: response.completed\ndata: {\"type\":\"response.completed\",\"sequence_number\":1,\"response\":" + responsesReply + "}\n\n"
	geminiCall      = `{"contents":[{"role":"user","parts":[{"text":"Which port?"}]}],"tools":[{"functionDeclarations":[{"name":"read"}]}],"odd":1}`
	geminiReply     = `{"candidates":[{"content":{"role":"model","parts":[{"text":"8080"}]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":30,"candidatesTokenCount":3,"totalTokenCount":33},"responseId":"r1"}`
	geminiPath      = "/v1beta/models/gemini-4-neon:generateContent"
	geminiStreaming = "/v1beta/models/gemini-4-neon:streamGenerateContent"
)

// Whatever passes, passes byte for byte, up and down, and is understood beside it.
func TestBytesPass(t *testing.T) {
	for _, c := range []struct{ name, path, call, kind, reply string }{
		{"messages", "/v1/messages?beta=true&odd=;", messagesCall, "application/json", messagesReply},
		{"messages stream", "/v1/messages", strings.Replace(messagesCall, `{"model`, `{"stream":true,"model`, 1), "text/event-stream; charset=utf-8", messagesStream},
		{"chat", "/v1/chat/completions", chatCall, "application/json", chatReply},
		{"chat stream", "/chat/completions", strings.Replace(chatCall, `{"model`, `{"stream":true,"model`, 1), "text/event-stream", chatStream},
		{"responses", "/v1/responses", responsesCall, "application/json", responsesReply},
		{"responses stream", "/v1/responses", strings.Replace(responsesCall, `{"model`, `{"stream":true,"model`, 1), "text/event-stream", responsesStream},
		{"gemini", geminiPath + "?key=abc", geminiCall, "application/json", geminiReply},
		{"gemini events", geminiStreaming + "?alt=sse", geminiCall, "text/event-stream", "data: " + geminiReply + "\n\n"},
		{"gemini array", geminiStreaming, geminiCall, "application/json", "[" + geminiReply + "\n]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			half := len(c.reply) / 2
			m := &mirror{status: 200, header: http.Header{"Content-Type": {c.kind}, "X-Odd": {"1", "2"}}, pieces: []string{c.reply[:half], c.reply[half:]}}
			w := newWorld(t, newPool(t), serveMirror(t, m), nil)
			answer, got := post(t, w.url+c.path, c.call, "Anthropic-Beta", "one,two", "X-Unknown", "yes", "Accept-Encoding", "gzip, br", tokenHeader, "secret")
			if string(got) != c.reply || answer.StatusCode != 200 || !slices.Equal(answer.Header["X-Odd"], []string{"1", "2"}) {
				t.Errorf("down came %d %s", answer.StatusCode, got)
			}
			up := m.asked[0]
			if m.bodies[0] != c.call || up.URL.RequestURI() != c.path || up.Header.Get("Anthropic-Beta") != "one,two" || up.Header.Get("X-Unknown") != "yes" || up.Header.Get("X-Api-Key") != "k" {
				t.Errorf("up went %s %v\n%s", up.URL.RequestURI(), up.Header, m.bodies[0])
			}
			if up.Header.Get(tokenHeader) != "" || up.Header.Get("Accept-Encoding") != "identity" || up.Header.Get("X-Forwarded-For") != "" || up.ContentLength != int64(len(c.call)) {
				t.Errorf("up went %v, %d bytes", up.Header, up.ContentLength)
			}
			l := w.line()
			if l.Odd != "" || l.Error != "" || l.Note != "" || l.Session != 1 || l.Cut || l.Model == "" {
				t.Errorf("%+v", l)
			}
			if !strings.Contains(c.name, "chat stream") && (l.Usage.Prompt() != 30 || l.Usage.Output != 3) {
				t.Errorf("usage %+v", l.Usage)
			}
		})
	}
}

// What is no model call passes too, whatever its method.
func TestOtherRequestsPass(t *testing.T) {
	m := &mirror{status: 418, pieces: []string{"short"}}
	w := newWorld(t, newPool(t), serveMirror(t, m)+"/prefix/v1", nil)
	for _, c := range []struct{ method, path, want string }{
		{"HEAD", "/", "/prefix/v1/"}, {"HEAD", "/api/hello", "/prefix/v1/api/hello"}, {"GET", "/v1/models?limit=1000", "/prefix/v1/models?limit=1000"},
		{"PATCH", "/v1/odd%2Fpath", "/prefix/v1/odd%2Fpath"}, {"DELETE", "/v1/responses/r1", "/prefix/v1/responses/r1"},
		{"GET", "/t/" + Token(w.g.options.Secret) + "/v1/models", "/prefix/v1/models"},
	} {
		r, err := http.NewRequestWithContext(t.Context(), c.method, w.url+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		up := m.asked[len(m.asked)-1]
		if answer.StatusCode != 418 || up.Method != c.method || up.URL.RequestURI() != c.want {
			t.Errorf("%s %s: %d, up went %s %s", c.method, c.path, answer.StatusCode, up.Method, up.URL.RequestURI())
		}
	}
	if s := w.g.Status(); s.Requests != 6 || s.Totals.Calls != 0 {
		t.Errorf("%+v", s)
	}
}

// Errors of the provider pass with their headers, and are counted; no session is
// begun for them.
func TestErrorsPass(t *testing.T) {
	for _, status := range []int{400, 401, 413, 429, 500, 503, 529} {
		body := `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"r"}`
		m := &mirror{status: status, header: http.Header{"Retry-After": {"7"}, "Content-Type": {"application/json"}}, pieces: []string{body}}
		w := newWorld(t, newPool(t), serveMirror(t, m), nil)
		answer, got := post(t, w.url+"/v1/messages", messagesCall)
		if answer.StatusCode != status || string(got) != body || answer.Header.Get("Retry-After") != "7" {
			t.Errorf("%d came down as %d %s", status, answer.StatusCode, got)
		}
		if l := w.line(); l.Status != status || l.Error == "" || l.Session != 0 {
			t.Errorf("%+v", l)
		}
		if len(m.asked) != 1 {
			t.Errorf("it was asked %d times", len(m.asked))
		}
	}
}

// A WebSocket is refused in the way on which clients fall back to HTTP at once.
//
// design.md G12
func TestNoWebSocket(t *testing.T) {
	m := &mirror{status: 200}
	w := newWorld(t, newPool(t), serveMirror(t, m), nil)
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, w.url+"/v1/responses", nil)
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", "websocket")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != 426 || len(m.asked) != 0 {
		t.Errorf("%d, upstream was asked %d times", answer.StatusCode, len(m.asked))
	}
}

// The answer comes down as it arrives: the first piece before upstream makes the
// second.
func TestPiecesComeAtOnce(t *testing.T) {
	go1 := make(chan struct{})
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, messagesStream[:40])
		_ = http.NewResponseController(w).Flush()
		<-go1
		_, _ = io.WriteString(w, messagesStream[40:])
	}))
	defer upstream.Close()
	w := newWorld(t, newPool(t), upstream.URL, nil)
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url+"/v1/messages", bytes.NewReader([]byte(messagesCall)))
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	first := make([]byte, 40)
	if _, err := io.ReadFull(answer.Body, first); err != nil || string(first) != messagesStream[:40] {
		t.Fatalf("%q, %v", first, err)
	}
	close(go1)
	rest, err := io.ReadAll(answer.Body)
	if err != nil || string(rest) != messagesStream[40:] {
		t.Errorf("%q, %v", rest, err)
	}
}
