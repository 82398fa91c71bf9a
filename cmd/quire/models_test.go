package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/config"
	"github.com/quire-agent/quire/internal/script"
	"github.com/quire-agent/quire/internal/sim"
	"github.com/quire-agent/quire/internal/token"
)

// A bench is a place to run model commands in: a home, variables, a keyring.
type bench struct {
	dir, home string
	env       []string
	ring      map[string]string
}

func newBench(t *testing.T, env ...string) *bench {
	b := &bench{dir: t.TempDir(), home: t.TempDir()}
	b.env = append([]string{"HOME=" + b.home, "USERPROFILE=" + b.home, "DBUS_SESSION_BUS_ADDRESS=unix:made-up"}, env...)
	return b
}

func (b *bench) run(t *testing.T, args ...string) answer {
	t.Helper()
	var out, errOut bytes.Buffer
	a := app{dir: b.dir, goos: "linux", build: builtFrom("v1", "0")}
	a.keyring = func(_ context.Context, account string) (string, error) { return b.ring[account], nil }
	code := a.Run(t.Context(), args, strings.NewReader(""), &out, &errOut, newEnvironment(b.env))
	return answer{code, out.String(), errOut.String()}
}

// key writes a key to its file in the home.
func (b *bench) key(t *testing.T, provider, text string, mode os.FileMode) {
	t.Helper()
	dir := filepath.Join(b.home, ".quire", "keys")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, provider)
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(name, mode); err != nil {
		t.Fatal(err)
	}
}

func newCounter(t *testing.T) *token.Counter {
	t.Helper()
	counter, err := token.NewCounter()
	if err != nil {
		t.Fatal(err)
	}
	return counter
}

// provider starts a simulator that plays a script.
func provider(t *testing.T, text string, o sim.Options) string {
	t.Helper()
	var err error
	if o.Script, err = script.Parse(text); err != nil {
		t.Fatal(err)
	}
	s, err := sim.New(o)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s)
	t.Cleanup(func() {
		s.Close()
		server.Close()
	})
	return server.URL
}

func TestModelsList(t *testing.T) {
	b := newBench(t, "ANTHROPIC_API_KEY=made-up-of-env", "QUIRE_MODEL=deepseek/deepseek-v4.1-flash", "QUIRE_MODEL_URL=https://me:made-up-password@proxy.example/v1 kimi=http://kimi.example")
	b.key(t, "openai", "made-up-of-file\n", 0o600)
	b.ring = map[string]string{"gemini": "made-up-of-ring"}
	got := b.run(t, "models", "--json")
	var list []listedModel
	if err := json.Unmarshal([]byte(got.out), &list); err != nil {
		t.Fatalf("%v: %+v", err, got)
	}
	states := map[string]string{}
	bases := map[string]string{}
	for _, m := range list {
		states[m.Provider] = m.Key + " " + m.From
		bases[m.Provider] = m.Base
		if m.Provider == "anthropic" && (m.Window != 1000000 || m.Prices == nil || m.Prices.Input <= 0 || m.Prices.Output <= m.Prices.Input) {
			t.Errorf("anthropic is listed as %+v", m)
		}
		if m.Chosen != (m.Provider == "deepseek") || m.Chosen && m.Model != "deepseek-v4.1-flash" {
			t.Errorf("%s is chosen: %v, with %s", m.Provider, m.Chosen, m.Model)
		}
	}
	for name, want := range map[string]string{
		"anthropic": "ready ANTHROPIC_API_KEY", "openai": "ready " + filepath.Join(b.home, ".quire", "keys", "openai"),
		"gemini": "ready the keyring", "mistral": "missing ", "ollama": "none ",
	} {
		if states[name] != want {
			t.Errorf("the key of %s is %q, want %q", name, states[name], want)
		}
	}
	if !strings.HasSuffix(bases["deepseek"], "@proxy.example/v1") || bases["kimi"] != "http://kimi.example" || bases["openai"] != "https://api.openai.com/v1" {
		t.Errorf("the addresses are %v", bases)
	}
	if text := b.run(t, "models"); strings.Contains(got.out+text.out, "made-up-") || !strings.Contains(text.out, "deepseek-v4.1-flash (chosen)") {
		t.Errorf("a secret is shown, or the choice is not: %s", text.out)
	}
}

func TestModelsRefusesOpenKeys(t *testing.T) {
	b := newBench(t)
	b.key(t, "openai", "made-up-key", 0o644)
	if got := b.run(t, "models"); !strings.Contains(got.out, "chmod 600") || strings.Contains(got.out, "made-up-key") {
		t.Errorf("listed: %s", got.out)
	}
	if got := b.run(t, "models", "test", "openai"); got.code != 1 || !strings.Contains(got.out, "refused key") {
		t.Errorf("tested: %+v", got)
	}
}

// TestModelsTest holds how what may be wrong with a model is told.
func TestModelsTest(t *testing.T) {
	const fails = "turn always\n fail "
	counter := newCounter(t)
	for _, c := range []struct {
		name, model, script string
		options             sim.Options
		result              string
		code                int
	}{
		{"answers", "anthropic/claude-opus-5-5", "turn always\n say ready", sim.Options{}, "ok", 0},
		{"key", "anthropic", "turn\n say no", sim.Options{Key: "another"}, "auth", 1},
		{"missing", "mistral/m", "turn\n say no", sim.Options{}, "missing key", 1},
		{"credit", "anthropic", fails + "403", sim.Options{}, "not permitted", 1},
		{"rate", "anthropic", fails + "429 after 60", sim.Options{}, "rate", 1},
		{"region", "anthropic", fails + "403 This is not available in your country.", sim.Options{}, "region", 1},
		{"overload", "anthropic", fails + "529", sim.Options{}, "provider", 1},
		{"no such model", "anthropic/nothing", fails + "404", sim.Options{}, "no such model", 1},
		{"cut", "anthropic", "turn always\n say ready\n cut 30", sim.Options{}, "network", 1},
		{"garbage", "anthropic", "turn always\n say ready\n garbage 30", sim.Options{}, "invalid response", 1},
		{"no provider", "nobody/m", "turn\n say no", sim.Options{}, "invalid request", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, "ANTHROPIC_API_KEY=made-up-key")
			c.options.Counter = counter
			url := provider(t, c.script, c.options)
			got := b.run(t, "models", "test", c.model, "--base-url", url, "--json")
			var tried []triedModel
			if err := json.Unmarshal([]byte(got.out), &tried); err != nil || len(tried) != 1 {
				t.Fatalf("%v: %+v", err, got)
			}
			if tried[0].Result != c.result || got.code != c.code {
				t.Errorf("%+v with code %d, want %s", tried[0], got.code, c.result)
			}
			if strings.Contains(got.out+got.err, "made-up-key") {
				t.Errorf("the key is shown: %+v", got)
			}
		})
	}
}

func TestModelsTestWithoutNames(t *testing.T) {
	b := newBench(t)
	if got := b.run(t, "models", "test"); got.code != 2 || got.out != "" {
		t.Errorf("with nothing to try: %+v", got)
	}
	url := provider(t, "turn always\n say ready", sim.Options{Counter: newCounter(t)})
	b.env = append(b.env, "ANTHROPIC_API_KEY=made-up-key", "OPENAI_API_KEY=made-up-key", "QUIRE_MODEL=gemini/gemini-4-hydrogen", "GEMINI_API_KEY=made-up-key",
		"QUIRE_MODEL_URL=anthropic="+url+" openai="+url+"/v1 openai-chat="+url+"/v1 "+url+"/v1beta")
	got := b.run(t, "models", "test")
	if got.code != 0 || strings.Count(got.out, " ok ") != 4 {
		t.Errorf("all that have a key: %+v", got)
	}
}

// TestOpenModel holds that what runs use tries again, and that a script needs no
// provider.
func TestOpenModel(t *testing.T) {
	b := newBench(t, "ANTHROPIC_API_KEY=made-up-key")
	if err := os.WriteFile(filepath.Join(b.dir, "play.script"), []byte("turn\n say ready"), 0o600); err != nil {
		t.Fatal(err)
	}
	url := provider(t, "turn\n fail 529 after 0.001\nturn\n say ready", sim.Options{Counter: newCounter(t)})
	for _, name := range []string{"anthropic", "script/play.script"} {
		inv := &invocation{app: app{dir: b.dir, goos: "linux"}, env: newEnvironment(b.env)}
		s, err := config.Load(config.Sources{Env: newEnvironment(append(b.env, "QUIRE_MODEL="+name, "QUIRE_MODEL_URL="+url)).lookup, UserHome: b.home, Dir: b.dir})
		if err != nil {
			t.Fatal(err)
		}
		m, err := inv.openModel(t.Context(), s, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := answers(t.Context(), m); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := b.run(t, "models", "test", "script/none"); got.code != 1 {
		t.Errorf("a script that is not there: %+v", got)
	}
}
