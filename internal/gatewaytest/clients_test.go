package gatewaytest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/quire-agent/quire/internal/sim"
)

// A client is a real one, with the API that it is to speak. $G in its files stands
// for the address that it is given, $N for the folder of its installation.
type client struct {
	name    string
	folder  string // of the cache, where it is installed
	program string // the package that is installed, with its version
	api     sim.API
	files   map[string]string // written into its home
	env     []string
	first   []string // command that begins a session; $P is the prompt
	again   []string // command that goes on with the last one, nil where there is none
	tool    string   // the tool that runs a command
	args    string   // its arguments, $C is the command
	title   bool     // it asks a small model for a title
}

const (
	claudeProgram   = "@anthropic-ai/claude-code@2.1.332"
	codexProgram    = "@openai/codex@0.171.0"
	opencodeProgram = "opencode-ai@1.18.33"
	piProgram       = "@mariozechner/pi-coding-agent@0.73.1"
	continueProgram = "@continuedev/cli@1.5.47"
	grokProgram     = "@vibe-kit/grok-cli@0.0.34"
)

// clients are those that can be installed, each on each API that it speaks.
func clients() []client {
	list := []client{claude(), codex(), grok()}
	list = append(list, opencode("anthropic/claude-sonnet-4-5", sim.Messages), opencode("openai/gpt-5.5", sim.Responses), opencode("mock/gpt-5.5", sim.Chat))
	list = append(list, pi("messages", sim.Messages, "claude-sonnet-4-5"), pi("responses", sim.Responses, "gpt-5.5"), pi("chat", sim.Chat, "gpt-5.5"))
	return append(list, continuing("anthropic", "claude-sonnet-4-5", sim.Messages), continuing("openai", "gpt-5.5", sim.Responses), continuing("openai", "deepseek-chat", sim.Chat))
}

func claude() client {
	command := func(more ...string) []string {
		return append(append([]string{"$N/claude", "-p", "--dangerously-skip-permissions", "--output-format", "text", "--model", "claude-sonnet-4-5"}, more...), "$P")
	}
	return client{
		name: "claude-code", folder: "claude-code", program: claudeProgram, api: sim.Messages,
		env:   []string{"ANTHROPIC_BASE_URL=$G", "ANTHROPIC_API_KEY=dummy", "IS_SANDBOX=1", "DISABLE_TELEMETRY=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"},
		first: command(), again: command("-c"),
		tool: "Bash", args: `{"command": "$C", "description": "Take a step"}`,
	}
}

func codex() client {
	command := func(more ...string) []string {
		list := append([]string{"$N/codex", "exec"}, more...)
		return append(list, "--disable", "plugins", "--disable", "apps", "-c", "check_for_update_on_startup=false", "--dangerously-bypass-approvals-and-sandbox", "--skip-git-repo-check", "$P")
	}
	return client{
		name: "codex", folder: "codex", program: codexProgram, api: sim.Responses,
		env: []string{"MOCK_KEY=dummy"},
		files: map[string]string{".codex/config.toml": `model = "gpt-5.5"
model_provider = "mock"
[model_providers.mock]
name = "mock"
base_url = "$G/v1"
env_key = "MOCK_KEY"
wire_api = "responses"
[analytics]
enabled = false
`},
		first: command(), again: command("resume", "--last"),
		tool: "exec_command", args: `{"cmd": "$C"}`,
	}
}

func opencode(model string, api sim.API) client {
	command := func(more ...string) []string {
		return append(append([]string{"$N/opencode", "run", "--model", model}, more...), "$P")
	}
	return client{
		name: "opencode", folder: "opencode", program: opencodeProgram, api: api,
		env: []string{"OPENCODE_PURE=1", "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1"},
		files: map[string]string{".config/opencode/opencode.json": `{"autoupdate":false,"share":"disabled","permission":"allow","provider":{
 "anthropic":{"options":{"baseURL":"$G/v1","apiKey":"dummy"}},
 "openai":{"options":{"baseURL":"$G/v1","apiKey":"dummy"}},
 "mock":{"npm":"@ai-sdk/openai-compatible","name":"mock","options":{"baseURL":"$G/v1","apiKey":"dummy"},
  "models":{"gpt-5.5":{"name":"mock","limit":{"context":200000,"output":8192}}}}}}
`},
		first: command("--title", "t"), again: command("-c"), title: true,
		tool: "bash", args: `{"command": "$C", "description": "Take a step"}`,
	}
}

func pi(name string, api sim.API, model string) client {
	kind := map[sim.API]string{sim.Messages: "anthropic-messages", sim.Responses: "openai-responses", sim.Chat: "openai-completions"}[api]
	base := "$G/v1"
	if api == sim.Messages {
		base = "$G"
	}
	command := func(more ...string) []string {
		return append(append([]string{"$N/pi", "-p", "--provider", "mock-" + name, "--model", model}, more...), "$P")
	}
	return client{
		name: "pi", folder: "pi", program: piProgram, api: api,
		env: []string{"PI_OFFLINE=1", "PI_TELEMETRY=0", "PI_SKIP_VERSION_CHECK=1"},
		files: map[string]string{".pi/agent/models.json": fmt.Sprintf(`{"providers": {"mock-%s": {"baseUrl": "%s", "api": "%s", "apiKey": "dummy", "models": [
 {"id": "%s", "name": "%s", "reasoning": false, "input": ["text"], "contextWindow": 200000, "maxTokens": 8192, "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}}]}}}
`, name, base, kind, model, model)},
		first: command(), again: command("-c"),
		tool: "bash", args: `{"command": "$C"}`,
	}
}

func continuing(provider, model string, api sim.API) client {
	command := func(more ...string) []string {
		return append(append([]string{"$N/cn", "--config", "$H/config.yaml", "--auto"}, more...), "-p", "$P")
	}
	return client{
		name: "continue", folder: "continue", program: continueProgram, api: api,
		env: []string{"CONTINUE_TELEMETRY_ENABLED=0"},
		files: map[string]string{"config.yaml": fmt.Sprintf(`name: test
version: 1.0.0
schema: v1
models:
  - name: test
    provider: %s
    model: %s
    apiKey: dummy
    apiBase: $G/v1/
    roles: [chat]
`, provider, model)},
		first: command(), again: command("--resume"),
		tool: "Bash", args: `{"command": "$C"}`,
	}
}

func grok() client {
	return client{
		name: "grok-cli", folder: "grok", program: grokProgram, api: sim.Chat,
		env:   []string{"GROK_API_KEY=dummy", "GROK_BASE_URL=$G/v1", "GROK_MODEL=grok-4.7"},
		first: []string{"$N/grok", "-p", "$P"},
		tool:  "bash", args: `{"command": "$C"}`,
	}
}

// id names a client with its API.
func (c *client) id() string { return c.name + " " + string(c.api) }

// A seat is a home and a project for one client.
type seat struct {
	*client
	cache   string // the folder of the installations
	home    string
	project string
	address string
}

// fill puts the places of a seat into a text.
func (s *seat) fill(text, prompt string) string {
	bin := filepath.Join(s.cache, s.folder, "node_modules", ".bin")
	return strings.NewReplacer("$G", s.address, "$N", bin, "$H", s.home, "$P", prompt).Replace(text)
}

// settle writes the files of the client.
func (s *seat) settle() error {
	for name, text := range s.files {
		path := filepath.Join(s.home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(s.fill(text, "")), 0o600); err != nil {
			return err
		}
	}
	return nil
}
