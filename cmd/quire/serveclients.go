package main

import (
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/quire-agent/quire/internal/gateway"
)

// A client is an agent whose settings are known. In them $G stands for the address
// of the gateway.
type client struct {
	name     string
	settings string
	vendors  string // settings beside these where upstream is the vendor's own
}

// clients are in the order of the help. Each keeps its own provider where it has
// one, because what a client knows of a model (window, tools, betas) hangs on that.
func clients() []client {
	return []client{
		{name: "claude-code", settings: `# environment; an API key or a login stays as it is
export ANTHROPIC_BASE_URL=$G
# with an address of its own the client would send all tool schemas at once
export ENABLE_TOOL_SEARCH=true
`, vendors: `# and would take a smaller window; upstream is the vendor itself, so nothing is lost
export _CLAUDE_CODE_ASSUME_FIRST_PARTY_BASE_URL=1
`},
		{name: "codex", settings: `# ~/.codex/config.toml, above the first table; the provider stays the built-in one,
# which tries a WebSocket first and falls back at once
openai_base_url = "$G/v1"
`},
		{name: "opencode", settings: `// ~/.config/opencode/opencode.json; keys stay where they are
{"provider": {
  "anthropic": {"options": {"baseURL": "$G/v1"}},
  "openai": {"options": {"baseURL": "$G/v1"}},
  "google": {"options": {"baseURL": "$G/v1beta"}}
}}
`},
		{name: "pi", settings: `// ~/.pi/agent/models.json; the models stay the built-in ones
{"providers": {
  "anthropic": {"baseUrl": "$G"},
  "openai": {"baseUrl": "$G/v1"}
}}
`},
		{name: "continue", settings: `# config.yaml, in each model
apiBase: $G/v1/
`},
		{name: "grok-cli", settings: `# environment; the gateway wants --upstream chat=https://api.x.ai/v1
export GROK_BASE_URL=$G/v1
`},
		{name: "copilot-cli", settings: `# environment; for models with a key of your own
export COPILOT_PROVIDER_TYPE=anthropic
export COPILOT_PROVIDER_BASE_URL=$G
# or, for models of OpenAI
# export COPILOT_PROVIDER_TYPE=openai
# export COPILOT_PROVIDER_BASE_URL=$G/v1
`},
		{name: "crush", settings: `// ~/.config/crush/crush.json; the models stay the built-in ones
{"providers": {
  "anthropic": {"base_url": "$G"},
  "openai": {"base_url": "$G/v1"}
}}
`},
		{name: "gemini-cli", settings: `# environment; for a key of your own (GEMINI_API_KEY)
export GOOGLE_GEMINI_BASE_URL=$G
`},
		{name: "goose", settings: `# environment; the provider stays the one that is configured
export ANTHROPIC_HOST=$G
export OPENAI_HOST=$G
`},
		{name: "aider", settings: `# environment
export ANTHROPIC_API_BASE=$G
export OPENAI_API_BASE=$G/v1
`},
	}
}

func clientNames() (names []string) {
	for _, c := range clients() {
		names = append(names, c.name)
	}
	return names
}

// showClient prints the settings of a client for the gateway of the other flags.
func (r *serveRun) showClient() error {
	at := slices.IndexFunc(clients(), func(c client) bool { return c.name == r.client })
	if at < 0 {
		return unusable(fmt.Errorf("no settings are known for %q", r.client), "the clients are "+strings.Join(clientNames(), ", ")+"; another one wants the address as its base URL")
	}
	upstreams, err := upstreamsOf(r.upstreams)
	if err != nil {
		return err
	}
	address, err := r.address()
	if err != nil {
		return err
	}
	c := clients()[at]
	text := c.settings
	if upstreams[gateway.Messages] == "" {
		text += c.vendors
	}
	fmt.Fprint(r.out, strings.ReplaceAll(text, "$G", address))
	return nil
}

// address is where clients reach the gateway. Off loopback the token stands in it.
func (r *serveRun) address() (string, error) {
	host, port, err := net.SplitHostPort(r.listen)
	if err != nil {
		return "", unusable(fmt.Errorf("--listen: %w", err), "give an address with its port: --listen "+defaultListen)
	}
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return "http://" + r.listen, nil
	}
	if len(r.hosts) > 0 {
		host = r.hosts[0]
	}
	return "http://" + net.JoinHostPort(host, port) + "/t/TOKEN", nil
}
