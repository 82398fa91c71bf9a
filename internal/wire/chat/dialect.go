package chat

import (
	"net/url"
	"slices"
	"strings"
)

// A Dialect says what a family of servers wants of a request. The zero Dialect
// is that of a server of which nothing is known.
type Dialect struct {
	Name  string
	Hosts []string // of base URLs: a domain with all below it, or a port as ":8000" on this machine

	Limit     string    // the member that bounds the answer
	Developer bool      // the system prompt is a message of the developer
	OneSystem bool      // all of the system prompt must be one text
	Asks      Asks      // how thinking is asked for
	Thought   string    // the member in which thinking is sent back, "": not at all
	Marks     string    // the member that marks what to cache, "": there are none
	Images    bool      // results of tools may hold images
	Keyed     bool      // a key that groups calls with a common beginning is taken
	AutoOnly  bool      // tool_choice can be auto only
	Refuses   []string  // members of a request that make it fail
	Adds      []Literal // members that a request should have
}

// A Literal is a member with a value that is always the same.
type Literal struct{ Name, Value string }

// Asks says how thinking is asked for.
type Asks uint8

// The ways to ask for thinking.
const (
	AsksEffort   Asks = iota // reasoning_effort
	AsksMode                 // thinking: {type}, and reasoning_effort beside it
	AsksSwitch               // enable_thinking and thinking_budget
	AsksRouter               // reasoning: {effort, max_tokens, enabled}
	AsksTemplate             // chat_template_kwargs: {enable_thinking}, and reasoning_effort beside it
)

// Dialects is the table, in the order in which it is looked through. It follows
// the pages of the vendors as of November 2026; where these are silent, what
// clients found out. Names of hosts are the vendors', ports the defaults of
// servers that people run themselves.
func Dialects() []Dialect {
	usage := []string{"stream_options"}
	own := []string{"prompt_cache_key", "prompt_cache_options", "prompt_cache_retention", "store", "verbosity"}
	return []Dialect{
		{Name: "openai", Hosts: []string{"api.openai.com", "openai.azure.com"}, Limit: limitName, Developer: true, Marks: "prompt_cache_breakpoint", Keyed: true},
		{Name: "deepseek", Hosts: []string{"api.deepseek.com"}, Limit: oldLimitName, Asks: AsksMode, Thought: thoughtName, Refuses: own},
		{Name: "qwen", Hosts: []string{"aliyuncs.com"}, Limit: oldLimitName, Asks: AsksSwitch, Thought: thoughtName, Marks: "cache_control", Refuses: own},
		{Name: "kimi", Hosts: []string{"moonshot.ai", "moonshot.cn", "kimi.com"}, Limit: oldLimitName, Asks: AsksMode, Thought: thoughtName, Images: true, Keyed: true, Refuses: own[1:]},
		{
			Name: "glm", Hosts: []string{"bigmodel.cn", "z.ai"}, Limit: oldLimitName, Asks: AsksMode, Thought: thoughtName, AutoOnly: true,
			Refuses: slices.Concat(own, usage, []string{"parallel_tool_calls"}), Adds: []Literal{{"tool_stream", "true"}},
		},
		{Name: "mistral", Hosts: []string{"api.mistral.ai"}, Limit: oldLimitName, Thought: partForm, Keyed: true, Refuses: slices.Concat(own[1:], usage)},
		{Name: "openrouter", Hosts: []string{"openrouter.ai"}, Limit: oldLimitName, Asks: AsksRouter, Thought: reasonName, Marks: "cache_control", Images: true, Keyed: true},
		{Name: "grok", Hosts: []string{"api.x.ai"}, Limit: limitName, Refuses: own},
		{Name: "ollama", Hosts: []string{"ollama.com", ":11434"}, Limit: oldLimitName, Thought: reasonName, Refuses: own},
		{Name: "llama.cpp", Hosts: []string{":8080"}, Limit: oldLimitName, OneSystem: true, Asks: AsksTemplate, Thought: thoughtName, Refuses: own},
		{Name: "vllm", Hosts: []string{":8000"}, Limit: oldLimitName, Asks: AsksTemplate, Thought: reasonName, Refuses: own},
	}
}

// DialectNamed is the dialect of that name, and whether there is one.
func DialectNamed(name string) (Dialect, bool) {
	list := Dialects()
	if i := slices.IndexFunc(list, func(d Dialect) bool { return d.Name == name }); i >= 0 {
		return list[i], true
	}
	return Dialect{}, false
}

// DialectOf is the dialect of the server at a base URL. Of a server that is not
// known it is one that most understand.
func DialectOf(base string) Dialect {
	u, err := url.Parse(base)
	if err == nil {
		for _, d := range Dialects() {
			if slices.ContainsFunc(d.Hosts, func(h string) bool { return hostIs(u, h) }) {
				return d
			}
		}
	}
	return Dialect{Name: "plain", Limit: oldLimitName, Thought: thoughtName}
}

func hostIs(u *url.URL, host string) bool {
	name := strings.ToLower(u.Hostname())
	if port, ok := strings.CutPrefix(host, ":"); ok {
		return u.Port() == port && slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, name)
	}
	return name == host || strings.HasSuffix(name, "."+host)
}
