package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/gateway"
	"github.com/quire-agent/quire/internal/sim"
)

// A served is a `quire serve` that runs.
type served struct {
	t       *testing.T
	bench   *bench
	address string
	lines   *bufio.Scanner
	stop    func()
}

func startServe(t *testing.T, b *bench, upstream string, args ...string) *served {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	read, write := io.Pipe()
	ended := make(chan int, 1)
	for _, a := range gateway.APIs() {
		args = append(args, "--upstream", string(a)+"="+upstream)
	}
	go func() {
		var fault bytes.Buffer
		a := app{dir: b.dir, goos: "linux", build: builtFrom("v1", "0")}
		code := a.Run(ctx, append([]string{"serve", "--listen", "127.0.0.1:0", "--json"}, args...), strings.NewReader(""), write, &fault, newEnvironment(b.env))
		if got := fault.String(); got != "quire: interrupted\n" {
			t.Errorf("it says %s", got)
		}
		write.CloseWithError(io.EOF)
		ended <- code
	}()
	s := &served{t: t, bench: b, lines: bufio.NewScanner(read)}
	s.stop = func() {
		cancel()
		if code := <-ended; code != int(exitInterrupted) {
			t.Errorf("exit code %d", code)
		}
	}
	if !s.lines.Scan() {
		t.Fatal("it says nothing")
	}
	s.address = strings.TrimPrefix(s.lines.Text(), "quire serve listens on ")
	return s
}

// line is the next call's.
func (s *served) line() (l gateway.Line) {
	s.t.Helper()
	if !s.lines.Scan() {
		s.t.Fatal("no line came")
	}
	if err := json.Unmarshal(s.lines.Bytes(), &l); err != nil {
		s.t.Fatalf("%s: %v", s.lines.Text(), err)
	}
	return l
}

const portScript = `loop
turn
  when user contains port
  call read as c1 {"path": "app.conf"}
turn
  when answered c1
  say It listens on the usual one.
end`

// A tool session of two calls passes on each API, each call accepted by the strict
// simulator; the gateway tells of it while it runs, and afterwards it is in the pool.
func TestServe(t *testing.T) {
	upstream := provider(t, portScript, sim.Options{Counter: newCounter(t)})
	b := newBench(t)
	s := startServe(t, b, upstream)
	for i, c := range []struct{ path, first, second string }{
		{"/v1/messages",
			`{"model":"claude-opus-5","max_tokens":99,"stream":true,"tools":[{"name":"read","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"Which port, messages?"}]}`,
			`{"model":"claude-opus-5","max_tokens":99,"tools":[{"name":"read","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"Which port, messages?"},{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"read","input":{"path":"app.conf"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"messages listens on 8001"}]}]}`},
		{"/v1/chat/completions",
			`{"model":"gpt-5.4","stream":true,"tools":[{"type":"function","function":{"name":"read","parameters":{"type":"object"}}}],"messages":[{"role":"user","content":"Which port, chat?"}]}`,
			`{"model":"gpt-5.4","tools":[{"type":"function","function":{"name":"read","parameters":{"type":"object"}}}],"messages":[{"role":"user","content":"Which port, chat?"},{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":"{\"path\":\"app.conf\"}"}}]},{"role":"tool","tool_call_id":"c1","content":"chat listens on 8002"}]}`},
		{"/v1/responses",
			`{"model":"gpt-5.4","stream":true,"store":false,"tools":[{"type":"function","name":"read","parameters":{"type":"object"}}],"input":[{"role":"user","content":"Which port, responses?"}]}`,
			`{"model":"gpt-5.4","store":false,"tools":[{"type":"function","name":"read","parameters":{"type":"object"}}],"input":[{"role":"user","content":"Which port, responses?"},{"type":"function_call","call_id":"c1","name":"read","arguments":"{\"path\":\"app.conf\"}"},{"type":"function_call_output","call_id":"c1","output":"responses listens on 8003"}]}`},
	} {
		for n, call := range []string{c.first, c.second} {
			if status, got := simPost(t, s.address+c.path, call, "Authorization", "Bearer k"); status != 200 {
				t.Fatalf("%s: %d %s", c.path, status, got)
			}
			l := s.line()
			if int(l.Session) != i+1 || l.Odd != "" || l.Note != "" || l.Prompt == 0 || !l.Priced {
				t.Errorf("%s, call %d: %+v", c.path, n, l)
			}
			if want := []string{"first call", "too short to be cached"}[n]; l.Cold != want {
				t.Errorf("%s, call %d is cold: %q", c.path, n, l.Cold)
			}
		}
	}
	if got := b.run(t, "status"); got.code != 0 || !strings.Contains(got.out, ": 6 calls, 0 under way") || !strings.Contains(got.out, "\ns3 ") {
		t.Errorf("%+v", got)
	}
	s.stop()
	if got := b.run(t, "status"); got.code != int(exitUnusable) || !strings.Contains(got.err, "no gateway runs here") {
		t.Errorf("%+v", got)
	}
	for _, want := range []string{"messages listens on 8001", "chat listens on 8002", "responses listens on 8003"} {
		if got := b.run(t, "recall", want); !strings.Contains(got.out, want) {
			t.Errorf("%q is not recalled: %+v", want, got)
		}
	}
	if got := b.run(t, "doctor"); got.code != 0 {
		t.Errorf("%+v", got)
	}
	for call, want := range map[string]string{
		`{"name":"recall","arguments":{"query":"8002"}}`:    "chat listens on 8002",
		`{"name":"show","arguments":{"page":"s3/p3"}}`:      "responses listens on 8003",
		`{"name":"show","arguments":{"page":"s3/p99"}}`:     "there is no page s3/p99",
		`{"name":"recall","arguments":{"query":"--limit"}}`: "Nothing was found",
	} {
		if got := askMCP(t, b, call); !strings.Contains(got, want) {
			t.Errorf("%s gives %s", call, got)
		}
	}
}

// askMCP calls a tool of `quire mcp` and is the line of the answer.
func askMCP(t *testing.T, b *bench, call string) string {
	t.Helper()
	read, out := io.Pipe()
	in, write := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		a := app{dir: b.dir, goos: "linux", build: builtFrom("v1", "0")}
		code := a.Run(t.Context(), []string{"mcp"}, in, out, io.Discard, newEnvironment(b.env))
		out.CloseWithError(io.EOF)
		ended <- code
	}()
	lines := bufio.NewScanner(read)
	said := ""
	for _, m := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":` + call + `}`,
	} {
		if _, err := io.WriteString(write, m+"\n"); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(m, `"id"`) && lines.Scan() {
			said = lines.Text()
		}
	}
	write.Close()
	if code := <-ended; code != 0 {
		t.Errorf("exit code %d", code)
	}
	return said
}

func TestCallLine(t *testing.T) {
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for want, l := range map[string]gateway.Line{
		"12:00:00  s3  m  in 0  cached 0  out 0  $0.0000  cold: first call  1s":                 {At: at, Session: 3, Model: "m", Status: 200, Priced: true, Cold: "first call", Took: time.Second},
		"12:00:00  side  m  in 5  cached 0  out 0  $?  1s":                                      {At: at, Side: true, Model: "m", Status: 200, Prompt: 5, Took: time.Second},
		"12:00:00  -  m  status 529  cut off  overloaded  3 calls were not recorded  0s":        {At: at, Model: "m", Status: 529, Cut: true, Error: "overloaded", Lost: 3},
		"12:00:00  s1/branch-1  m  in 0  cached 0  out 0  $?  the client cleared 2 results  0s": {At: at, Session: 1, Branch: "branch-1", Model: "m", Status: 200, Cleared: 2},
	} {
		if got := callLine(l, time.UTC); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
