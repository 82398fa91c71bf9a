package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/script"
)

// startSim runs `quire sim` until the test ends, and is its address.
func startSim(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	read, write := io.Pipe()
	ended := make(chan int, 1)
	a := app{dir: t.TempDir(), goos: "linux", build: builtFrom("v1", "0")}
	go func() {
		var fault bytes.Buffer
		code := a.Run(ctx, append([]string{"sim", "--listen", "127.0.0.1:0"}, args...), strings.NewReader(""), write, &fault, newEnvironment(nil))
		write.CloseWithError(io.EOF)
		ended <- code
	}()
	t.Cleanup(func() {
		cancel()
		if code := <-ended; code != int(exitInterrupted) {
			t.Errorf("exit code %d", code)
		}
	})
	line, err := bufio.NewReader(read).ReadString('\n')
	address, ok := strings.CutPrefix(strings.TrimSpace(line), "quire sim listens on ")
	if err != nil || !ok {
		t.Fatalf("it says %q, %v", line, err)
	}
	return address
}

func simPost(t *testing.T, url, body string, header ...string) (int, string) {
	t.Helper()
	r, err := http.NewRequest("POST", url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Api-Key", "k")
	r.Header.Set("Anthropic-Version", "2023-06-01")
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	got, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(got)
}

// fileOf is a file of a test with a text.
func fileOf(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const simHello = `{"model":"claude-opus-5","max_tokens":99,"messages":[{"role":"user","content":"hello there"}]}`

func TestSim(t *testing.T) {
	url := startSim(t)
	if status, got := simPost(t, url+"/v1/messages", simHello); status != 200 || !strings.Contains(got, `"text":"hello there"`) {
		t.Errorf("%d %s", status, got)
	}
	if status, got := simPost(t, url+"/v1/messages", "{}"); status != 400 || !strings.Contains(got, "model: Field required") {
		t.Errorf("%d %s", status, got)
	}
	answer, err := http.Get(url + "/sim/requests")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if list, err := io.ReadAll(answer.Body); err != nil || !bytes.Contains(list, []byte(`"refused": "model: Field required"`)) {
		t.Errorf("%s, %v", list, err)
	}
}

// The example of the help is one that works.
func TestSimExample(t *testing.T) {
	cmd := (&invocation{}).simCommand()
	_, text, _ := strings.Cut(cmd.Long, "with demo.script as\n")
	text, _, _ = strings.Cut(text, "\nand then")
	if _, err := script.Parse(text); err != nil {
		t.Fatal(err)
	}
	url := startSim(t, "--script", fileOf(t, "demo.script", text))
	body := strings.Replace(simHello, "hello there", "Which port?", 1)
	if status, got := simPost(t, url+"/v1/messages", body); status != 200 || !strings.Contains(got, `"id":"c1"`) {
		t.Errorf("%d %s", status, got)
	}
	if status, got := simPost(t, url+"/v1/messages", simHello); status != 529 || !strings.Contains(got, "Overloaded") {
		t.Errorf("%d %s", status, got)
	}
}

// A file of rules shortens the window.
func TestSimRules(t *testing.T) {
	rules := fileOf(t, "rules.json", `{"models":[{"id":"claude-opus-5","window":30}]}`)
	url := startSim(t, "--rules", rules, "--key", "k")
	if status, got := simPost(t, url+"/v1/messages", simHello); status != 400 || !strings.Contains(got, "> 30 maximum") {
		t.Errorf("%d %s", status, got)
	}
}

func TestSimRefuses(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--script", "nowhere"}, "next: name a file: --script FILE"},
		{[]string{"--script", fileOf(t, "bad.script", "turn\nshout")}, `bad.script: line 2: "shout" is no word of the language`},
		{[]string{"--rules", fileOf(t, "bad.json", "{")}, "bad.json"},
		{[]string{"--listen", "nowhere:port"}, "next: give another address"},
		{[]string{"now"}, "quire sim wants no argument"},
	} {
		var fault bytes.Buffer
		a := app{dir: t.TempDir(), goos: "linux", build: builtFrom("v1", "0")}
		code := a.Run(t.Context(), append([]string{"sim"}, c.args...), strings.NewReader(""), io.Discard, &fault, newEnvironment(nil))
		if code != int(exitUnusable) || !strings.Contains(fault.String(), c.want) {
			t.Errorf("%v: %d, %s", c.args, code, &fault)
		}
	}
}
