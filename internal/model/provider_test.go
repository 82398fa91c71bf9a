package model

import (
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/wire/chat"
)

// TestTable holds that the table is what the rest of the program relies on.
func TestTable(t *testing.T) {
	prices := price.Default()
	names := map[string]bool{}
	for _, p := range Providers() {
		if names[p.Name] || strings.ContainsAny(p.Name, "/ =:") {
			t.Errorf("%q is twice in the table, or no name", p.Name)
		}
		names[p.Name] = true
		if p.Base != "" && checkBase(p.Base) != nil || strings.HasSuffix(p.Base, "/") {
			t.Errorf("%s: the base is %q", p.Name, p.Base)
		}
		if !p.Keyless && len(p.Vars) == 0 {
			t.Errorf("%s: no variable may hold the key", p.Name)
		}
		if m, ok := prices.Model(p.Default); p.Default != "" && (!ok || m.Provider != p.Prices) {
			t.Errorf("%s: its default model %s is not in the table of prices as one of %q", p.Name, p.Default, p.Prices)
		}
		if d := chat.DialectOf(p.Base); p.Dialect != "" && d.Name != p.Dialect {
			t.Errorf("%s: the address tells the dialect %s, the table %s", p.Name, d.Name, p.Dialect)
		}
	}
}

func TestSplit(t *testing.T) {
	for name, want := range map[string]string{
		"anthropic/claude-opus-5-5":   "anthropic claude-opus-5-5",
		"openrouter/qwen/qwen3-coder": "openrouter qwen/qwen3-coder",
		"ollama/llama3.2:3b":          "ollama llama3.2:3b",
		"glm":                         "glm glm-5.3",
		"ollama":                      "ollama ",
		"claude-opus-5-5":             "",
		"nobody/model":                "",
		"":                            "",
	} {
		p, id, err := Split(name)
		if got := p.Name + " " + id; err == nil && got != want || (err == nil) != (want != "") {
			t.Errorf("%q is %q, %v; want %q", name, got, err, want)
		}
	}
}

func TestBases(t *testing.T) {
	bases, err := ParseBases(" ollama=http://gpu.example:11434/v1/  https://proxy.example/a=b ")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"ollama": "http://gpu.example:11434/v1", "anthropic": "https://proxy.example/a=b"} {
		p, _ := Named(name)
		if got := bases.Put(p, true).Base; got != want {
			t.Errorf("%s is at %s, want %s", name, got, want)
		}
	}
	if p, _ := Named("anthropic"); bases.Put(p, false).Base != p.Base {
		t.Error("a provider that nobody asked for goes to the address of another")
	}
	for _, text := range []string{
		"nobody=http://a.example", "ollama=gpu.example", "ftp://a.example", "http://", "http://a.example?x=1",
		"http://a.example http://b.example", "ollama=http://a.example ollama=http://b.example",
	} {
		if got, err := ParseBases(text); err == nil {
			t.Errorf("%q is taken as %v", text, got)
		}
	}
}

func FuzzParseBases(f *testing.F) {
	f.Add("http://a.example")
	f.Add("ollama=http://a.example/v1 http://b.example")
	f.Add("a=b=c ://")
	f.Fuzz(func(t *testing.T, text string) {
		bases, err := ParseBases(text)
		if err != nil {
			return
		}
		for name, base := range bases {
			again, err := ParseBases(name + "=" + base)
			if name == "" {
				again, err = ParseBases(base)
			}
			if err != nil || again[name] != base {
				t.Errorf("%q: %q is not an address of its own: %v", text, base, err)
			}
		}
	})
}
