package model

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// An API is a protocol that a provider speaks.
type API string

// The protocols.
const (
	Messages  API = "messages"  // of Anthropic
	Responses API = "responses" // of OpenAI
	Chat      API = "chat"      // Chat Completions: of OpenAI, and of most others in a dialect of their own
	Gemini    API = "gemini"    // generateContent of Google
)

// A Provider is where models are called.
type Provider struct {
	Name    string // in front of the names of its models, as in anthropic/claude-opus-5-5
	API     API
	Base    string   // address that the paths of the protocol are put behind; "": one must be given
	Dialect string   // of Chat, by its name in the table of wire/chat; "": found by the address
	Vars    []string // environment variables that may hold the key; the first that is set counts
	Keyless bool     // works without a key, as servers on this machine do
	Default string   // model that is called where none is named, "": none
	Prices  string   // its name in the table of prices, "": it is not there
}

// Providers is the table, in the order in which it is shown. Addresses and names
// of variables are those of the vendors' own pages, ports the defaults of servers
// that people run themselves; as of November 2026.
func Providers() []Provider {
	return []Provider{
		{Name: "anthropic", API: Messages, Base: "https://api.anthropic.com", Vars: []string{"ANTHROPIC_API_KEY"}, Default: "claude-opus-5-5", Prices: "anthropic"},
		{Name: "openai", API: Responses, Base: "https://api.openai.com/v1", Vars: []string{"OPENAI_API_KEY"}, Default: "gpt-6.2-sol", Prices: "openai"},
		{Name: "openai-chat", API: Chat, Base: "https://api.openai.com/v1", Dialect: "openai", Vars: []string{"OPENAI_API_KEY"}, Default: "gpt-6.2-sol", Prices: "openai"},
		{Name: "gemini", API: Gemini, Base: "https://generativelanguage.googleapis.com/v1beta", Vars: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}, Default: "gemini-4-hydrogen", Prices: "google"},
		{Name: "deepseek", API: Chat, Base: "https://api.deepseek.com", Dialect: "deepseek", Vars: []string{"DEEPSEEK_API_KEY"}, Default: "deepseek-v4-pro", Prices: "deepseek"},
		{Name: "qwen", API: Chat, Base: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", Dialect: "qwen", Vars: []string{"DASHSCOPE_API_KEY"}, Default: "qwen3.8-max", Prices: "alibaba"},
		{Name: "kimi", API: Chat, Base: "https://api.moonshot.ai/v1", Dialect: "kimi", Vars: []string{"MOONSHOT_API_KEY"}, Default: "kimi-k3.1-pro", Prices: "moonshot"},
		{Name: "glm", API: Chat, Base: "https://api.z.ai/api/paas/v4", Dialect: "glm", Vars: []string{"ZAI_API_KEY", "ZHIPUAI_API_KEY"}, Default: "glm-5.3", Prices: "zhipu"},
		{Name: "grok", API: Chat, Base: "https://api.x.ai/v1", Dialect: "grok", Vars: []string{"XAI_API_KEY"}, Default: "grok-4.7", Prices: "xai"},
		{Name: "mistral", API: Chat, Base: "https://api.mistral.ai/v1", Dialect: "mistral", Vars: []string{"MISTRAL_API_KEY"}},
		{Name: "openrouter", API: Chat, Base: "https://openrouter.ai/api/v1", Dialect: "openrouter", Vars: []string{"OPENROUTER_API_KEY"}},
		{Name: "ollama", API: Chat, Base: "http://localhost:11434/v1", Dialect: "ollama", Vars: []string{"OLLAMA_API_KEY"}, Keyless: true},
		{Name: "llama.cpp", API: Chat, Base: "http://localhost:8080/v1", Dialect: "llama.cpp", Vars: []string{"LLAMA_API_KEY"}, Keyless: true},
		{Name: "vllm", API: Chat, Base: "http://localhost:8000/v1", Dialect: "vllm", Vars: []string{"VLLM_API_KEY"}, Keyless: true},
		{Name: "chat", API: Chat, Keyless: true},
	}
}

// Named is the provider of that name, and whether there is one.
func Named(name string) (Provider, bool) {
	list := Providers()
	if i := slices.IndexFunc(list, func(p Provider) bool { return p.Name == name }); i >= 0 {
		return list[i], true
	}
	return Provider{}, false
}

// Split takes a name like openrouter/qwen/qwen3-coder apart: the provider is in
// front of the first slash, the rest is the model's name there. A provider's name
// alone means its default model, which is "" where it has none.
func Split(name string) (Provider, string, error) {
	first, id, _ := strings.Cut(name, "/")
	p, ok := Named(first)
	if !ok {
		return Provider{}, "", fmt.Errorf("%q does not begin with a provider: models are named like anthropic/claude-opus-5-5", name)
	}
	if id == "" {
		id = p.Default
	}
	return p, id, nil
}

// Bases are addresses that replace those of the table, by the provider's name.
// The one under "" is for the provider that is asked for.
type Bases map[string]string

// ParseBases reads a list of [PROVIDER=]URL, parted by blanks.
func ParseBases(text string) (Bases, error) {
	bases := Bases{}
	for _, word := range strings.Fields(text) {
		name, base, ok := strings.Cut(word, "=")
		if !ok || strings.Contains(name, ":") { // an = inside of an address
			name, base = "", word
		}
		if _, known := Named(name); name != "" && !known {
			return nil, fmt.Errorf("%q is no provider", name)
		}
		if err := checkBase(base); err != nil {
			return nil, err
		}
		if _, twice := bases[name]; twice {
			return nil, fmt.Errorf("two addresses for one provider: %q", text)
		}
		bases[name] = strings.TrimRight(base, "/")
	}
	return bases, nil
}

func checkBase(base string) error {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || u.RawQuery != "" || u.Fragment != "" {
		return fmt.Errorf("%q is no address of the form http://host/path", base)
	}
	return nil
}

// Put is the provider with the address that the bases have for it. The one under
// "" counts only for a provider that was asked for by name: no other may get its
// key by mistake.
func (b Bases) Put(p Provider, named bool) Provider {
	base, ok := b[p.Name]
	if !ok && named {
		base, ok = b[""]
	}
	if ok {
		p.Base = base
	}
	return p
}
