package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"pgregory.net/rapid"

	"github.com/quire-agent/quire/internal/tool"
	"github.com/quire-agent/quire/internal/x/trust"
)

// playServer is the variable that makes this test binary a server over standard
// input and output.
const playServer = "QUIRE_TEST_MCP_SERVER"

// playsServer serves where it is asked to, and reports whether it was.
func playsServer() bool {
	how := os.Getenv(playServer)
	switch how {
	case "":
		return false
	case "mute":
		_, _ = io.Copy(io.Discard, os.Stdin)
	case "broken":
		fmt.Fprintln(os.Stderr, "no license here")
	default:
		_ = demo(how).Run(context.Background(), &sdk.StdioTransport{})
	}
	return true
}

// demo is a server with some tools, a page for each two of them.
func demo(name string) *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: name, Version: "v1"}, &sdk.ServerOptions{PageSize: 2})
	schema := json.RawMessage(`{"type":"object","properties":{"word":{"type":"string"}}}`)
	add := func(name string, annotations *sdk.ToolAnnotations, run sdk.ToolHandler) {
		s.AddTool(&sdk.Tool{Name: name, Description: "The tool " + name + ".", InputSchema: schema, Annotations: annotations}, run)
	}
	add("get_word", nil, func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return texts("got " + string(r.Params.Arguments)), nil
	})
	add("set_word", nil, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		r := texts("it failed")
		r.IsError = true
		return r, nil
	})
	add("draw", &sdk.ToolAnnotations{ReadOnlyHint: true}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		r := texts("here")
		r.Content = append(r.Content, &sdk.ImageContent{Data: picture(3, 2), MIMEType: "image/png"}, &sdk.ImageContent{Data: picture(1, 1), MIMEType: "image/png"}, &sdk.ImageContent{Data: []byte("x"), MIMEType: "image/png"}, &sdk.AudioContent{Data: []byte("abc"), MIMEType: "audio/wav"})
		return r, nil
	})
	add("grow", nil, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		s.RemoveTools("draw")
		add("find_new", nil, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return texts("new"), nil })
		return texts("grown"), nil
	})
	if name == "slow" {
		add("get_never", nil, func(ctx context.Context, _ *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
	}
	add("leave", nil, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		os.Exit(3)
		return nil, nil
	})
	for i := range 3 {
		s.AddResource(&sdk.Resource{URI: fmt.Sprintf("demo://%d", i), Name: fmt.Sprintf("r%d", i), MIMEType: "text/plain"}, func(_ context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: r.Params.URI, Text: "text of " + r.Params.URI}}}, nil
		})
	}
	return s
}

func texts(text string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}
}

func picture(width, height int) []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		return nil
	}
	return b.Bytes()
}

// local is a server over standard input and output.
func local(t *testing.T, name, how string) Server {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Server{Name: name, Scope: OfUser, Command: self, Env: []string{playServer + "=" + how}}
}

func connect(t *testing.T, o Options, servers ...Server) *Hub {
	t.Helper()
	if o.Auth == nil {
		o.Auth = func(string) (string, bool) { return "", false }
	}
	if o.Startup == 0 {
		o.Startup, o.Connect = time.Minute, time.Minute // a busy machine
	}
	h := Connect(t.Context(), servers, o)
	t.Cleanup(h.Close)
	return h
}

func names(list []tool.Tool) (out []string) {
	for _, one := range list {
		out = append(out, one.Spec().Name)
	}
	return out
}

func call(t *testing.T, list []tool.Tool, name, args string) tool.Result {
	t.Helper()
	i := slices.IndexFunc(list, func(o tool.Tool) bool { return o.Spec().Name == name })
	if i < 0 {
		t.Fatalf("no tool %s among %q", name, names(list))
	}
	r, err := list[i].Run(t.Context(), tool.Input{Args: json.RawMessage(args)})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// overHTTP is a server behind an address that wants a key.
func overHTTP(t *testing.T, name string) (Server, Options) {
	t.Helper()
	s := demo(name)
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Key") != "key made-up" {
			http.Error(w, "no key", http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	o := Options{Client: web.Client(), Auth: func(p string) (string, bool) { return "made-up", p == "demo" }}
	return Server{Name: name, Scope: OfProject, URL: web.URL, Headers: []string{"X-Key: key ${QUIRE_AUTH:demo}"}}, o
}

// failures.md B17: both transports, all pages of the lists, images, resources, list
// changes as messages. The list of tools stays the same, byte for byte.
func TestBothTransports(t *testing.T) {
	remote, o := overHTTP(t, "demo")
	for name, server := range map[string]Server{"stdio": local(t, "demo", "demo"), "http": remote} {
		t.Run(name, func(t *testing.T) {
			h := connect(t, o, server)
			tools := h.Tools()
			if got := names(tools); !slices.Equal(got, []string{"mcp__demo__draw", "mcp__demo__get_word", "mcp__demo__grow", "mcp__demo__leave", "mcp__demo__set_word", CallName, ReadName}) {
				t.Fatalf("%q, %+v", got, h.Report())
			}
			if got := call(t, tools, "mcp__demo__get_word", `{"word":"a"}`); got.Text != `got {"word":"a"}` || got.Error {
				t.Errorf("%+v", got)
			}
			if got := call(t, tools, "mcp__demo__set_word", ""); got.Text != "it failed" || !got.Error {
				t.Errorf("%+v", got)
			}
			got := call(t, tools, "mcp__demo__draw", "{}")
			if len(got.Images) != 2 || got.Images[0].Media.Width != 3 || got.Images[0].Data != string(picture(3, 2)) || !strings.Contains(got.Text, "here\nan image: image/png") || !strings.Contains(got.Text, "no image of a kind") || !strings.Contains(got.Text, "[sound, audio/wav, 3 bytes") {
				t.Errorf("%+v", got)
			}
			if got := call(t, tools, ReadName, `{"server":"demo"}`); strings.Count(got.Text, "demo://") != 3 {
				t.Errorf("%+v", got)
			}
			if got := call(t, tools, ReadName, `{"server":"demo","uri":"demo://1"}`); got.Text != "[resource demo://1]\ntext of demo://1" {
				t.Errorf("%+v", got)
			}
			testGrowth(t, h, tools)
		})
	}
}

// A server that never answers is given up after its time, which its entry may set.
func TestServerThatNeverAnswers(t *testing.T) {
	s := local(t, "slow", "slow")
	s.Timeout = 100 * time.Millisecond
	h := connect(t, Options{}, s)
	if got := call(t, h.Tools(), "mcp__slow__get_never", "{}"); !got.Error || !strings.Contains(got.Text, "did not answer in 100ms") {
		t.Errorf("%+v", got)
	}
	for entry, want := range map[string]time.Duration{`{"command": "x", "timeout": 1.5}`: 1500 * time.Millisecond, `{"command": "x", "timeout": -1}`: 0, `{"command": "x", "timeout": 1e300}`: 0, `{"command": "x"}`: 0} {
		list, err := parse([]byte(`{"mcpServers": {"a": ` + entry + `}}`))
		if err != nil || len(list) != 1 || list[0].Timeout != want {
			t.Errorf("%s: %+v, %v", entry, list, err)
		}
	}
}

func testGrowth(t *testing.T, h *Hub, tools []tool.Tool) {
	t.Helper()
	before := fmt.Sprint(names(tools))
	call(t, tools, "mcp__demo__grow", "{}")
	news := ""
	tick, limit := time.NewTicker(time.Millisecond), time.After(time.Minute)
	defer tick.Stop()
	for !strings.Contains(news, "find_new") || !strings.Contains(news, "draw is not there") {
		select {
		case <-tick.C:
			news += strings.Join(h.News(), "\n")
		case <-limit:
			t.Fatalf("the change was not told: %q", news)
		}
	}
	if fmt.Sprint(names(tools)) != before || fmt.Sprint(names(h.Tools())) != before {
		t.Error("the list changed")
	}
	if got := call(t, tools, CallName, `{"tool":"mcp__demo__find_new","arguments":{}}`); got.Text != "new" {
		t.Errorf("%+v", got)
	}
	if got := call(t, tools, CallName, `{"tool":"mcp__demo__none"}`); !got.Error || !strings.Contains(got.Text, "mcp__demo__find_new") {
		t.Errorf("%+v", got)
	}
	if got := call(t, tools, "mcp__demo__draw", "{}"); !got.Error {
		t.Errorf("a tool that is gone answers %+v", got)
	}
}

// A server that ends is started again by the next call.
func TestServerComesBack(t *testing.T) {
	h := connect(t, Options{}, local(t, "demo", "demo"))
	tools := h.Tools()
	if got := call(t, tools, "mcp__demo__leave", "{}"); !got.Error {
		t.Errorf("%+v", got)
	}
	for end := time.Now().Add(time.Minute); ; {
		got := call(t, tools, "mcp__demo__get_word", `{}`)
		if !got.Error {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%+v", got)
		}
	}
	if news := h.News(); news != nil {
		t.Errorf("the same list was told as news: %q", news)
	}
}

func TestReport(t *testing.T) {
	keyless := local(t, "keyless", "demo")
	keyless.Env = append(keyless.Env, "KEY=${QUIRE_AUTH:nobody}")
	remote, _ := overHTTP(t, "wrong")
	remote.Headers = nil
	h := connect(t, Options{Auth: func(string) (string, bool) { return "", false }},
		local(t, "a", "a"), local(t, "broken", "broken"), keyless, Server{Name: "off", Scope: OfProject, Skip: "it is disabled"},
		Server{Name: "none", Scope: OfUser, Command: filepath.Join(t.TempDir(), "none")}, remote)
	r := h.Report()
	if len(r.Connected) != 1 || r.Connected[0] != (Connected{OfUser, "a", 5}) || r.Tools != 5 || len(r.Skipped) != 1 || r.Skipped[0].Reason != "it is disabled" || len(r.Pending) != 0 {
		t.Errorf("%+v", r)
	}
	for i, want := range []string{"no license here", "no key for nobody", "none", ""} {
		if got := r.Failed[i]; !strings.Contains(got.Reason, want) {
			t.Errorf("%s failed: %s, want %q", got.Name, got.Reason, want)
		}
	}
	if got := call(t, h.Tools(), ReadName, `{"server":"broken"}`); !got.Error {
		t.Errorf("%+v", got)
	}
}

// A server that is late is pending, is told of nothing, and does not hold up the end.
func TestLateServer(t *testing.T) {
	h := connect(t, Options{Startup: time.Millisecond, Connect: time.Minute}, local(t, "mute", "mute"))
	if r := h.Report(); len(r.Pending) != 1 || len(h.Tools()) != 2 {
		t.Errorf("%+v", r)
	}
	if got := call(t, h.Tools(), ReadName, `{"server":"mute"}`); !strings.Contains(got.Text, "still being connected") {
		t.Errorf("%+v", got)
	}
	h.Close()
}

func TestNoServers(t *testing.T) {
	if h := connect(t, Options{}); len(h.Tools()) != 0 || h.News() != nil {
		t.Error("tools without a server")
	}
}

func TestConfig(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, ".mcp.json")
	store, err := trust.Open(filepath.Join(dir, "trust.json"))
	if err != nil {
		t.Fatal(err)
	}
	text := `{"mcpServers": {"b": {"command": "b", "args": ["x"], "env": {"Z": "1", "A": "2"}, "trusted": true}, "a": {"url": "https://example.com", "headers": {"K": "v"}}, "off": {"command": "c", "disabled": true},
		"old": {"type": "sse", "url": "https://example.com"}, "odd": {"url": "file:///x"}, "empty": {}}}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	user, err := Read(path, OfUser, store)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range user {
		got = append(got, fmt.Sprint(s.Name, " ", s.What(), " ", s.Env, s.Headers, " ", s.Skip))
	}
	want := []string{
		"a https://example.com [] [K: v] ", "b b x [A=2 Z=1] [] ", "empty  [] [] it has neither a command nor a url", "odd file:///x [] [] its url is no http address",
		"off c [] [] it is disabled", "old https://example.com [] [] the transport sse is of an old protocol and not supported; use streamable HTTP",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	project, err := Read(path, OfProject, store)
	if err != nil || !strings.Contains(project[1].Skip, "not trusted") {
		t.Errorf("a project trusts itself: %+v, %v", project, err)
	}
	if err := store.Grant(trust.Grant{Kind: TrustKind, Sum: project[1].Sum()}); err != nil {
		t.Fatal(err)
	}
	if project, err = Read(path, OfProject, store); err != nil || project[1].Skip != "" || project[0].Skip == "" {
		t.Errorf("%+v, %v", project, err)
	}
	merged := Merge(project[:2], user[:2])
	if len(merged) != 4 || merged[0].Skip == "" || merged[1].Skip != "" || merged[2].Skip != "" || merged[3].Skip != "a server of the project has the same name" {
		t.Errorf("%+v", merged)
	}
}

// failures.md B10: what a tool says of itself is not believed against its name.
func TestReadOnly(t *testing.T) {
	yes, no := true, false
	for _, c := range []struct {
		name string
		says *bool
		want bool
	}{
		{"get_issue", nil, true}, {"getIssue", nil, true}, {"issues", nil, false}, {"issues", &yes, true}, {"delete_issue", &yes, false}, {"deleteAndGet", nil, false},
		{"search", &no, false}, {"browser_click", &yes, false}, {"web-search", nil, true}, {"", nil, false},
	} {
		if got := ReadOnly(c.name, c.says); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		server, name := rapid.String().Draw(t, "server"), rapid.String().Draw(t, "name")
		got := toolName(server, name)
		if len(got) > maxName || strings.Trim(got, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" {
			t.Errorf("%q, %q: %q", server, name, got)
		}
	})
}

func FuzzConfig(f *testing.F) {
	for _, seed := range []string{"", "{}", `{"servers":{"a":{"command":"b","env":{"x":"${QUIRE_AUTH:y}"}}}}`, `{"mcpServers":{"a":null}}`, `{"mcpServers":{"":{"url":"http://","headers":{"${QUIRE_AUTH:":"}"}}}}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, err := parse([]byte(text))
		if err != nil {
			return
		}
		for _, s := range list {
			if s.Skip == "" && s.Command == "" && s.URL == "" {
				t.Errorf("%q gives %+v", text, s)
			}
			if _, missing := filled(s.Env, func(string) (string, bool) { return "${QUIRE_AUTH:z}", true }); missing != "" {
				t.Errorf("%q: no key for %q", text, missing)
			}
		}
	})
}
