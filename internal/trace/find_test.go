package trace

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/quire-agent/quire/internal/quire"
)

// places lists what Find says of an agent, relative to the home folder; what
// exists is marked with a star.
func places(t *testing.T, home, goos string, vars map[string]string, agent quire.Agent) []string {
	t.Helper()
	var out []string
	for _, p := range Find(Env{Home: home, OS: goos, Getenv: func(name string) string { return vars[name] }}) {
		if p.Agent != agent {
			continue
		}
		name := p.Path
		if rel, err := filepath.Rel(home, p.Path); err == nil && home != "" && filepath.IsLocal(rel) {
			name = rel
		}
		if p.Exists {
			name += "*"
		}
		out = append(out, filepath.ToSlash(name))
	}
	return out
}

func TestFind(t *testing.T) {
	elsewhere := filepath.ToSlash(t.TempDir())
	for name, c := range map[string]struct {
		agent quire.Agent
		goos  string
		vars  map[string]string
		want  []string
	}{
		"claude":         {quire.AgentClaudeCode, "linux", nil, []string{".claude/projects*", ".config/claude/projects"}},
		"claude own":     {quire.AgentClaudeCode, "darwin", map[string]string{"CLAUDE_CONFIG_DIR": elsewhere}, []string{elsewhere + "/projects"}},
		"claude xdg":     {quire.AgentClaudeCode, "linux", map[string]string{"XDG_CONFIG_HOME": elsewhere}, []string{".claude/projects*", elsewhere + "/claude/projects"}},
		"codex":          {quire.AgentCodex, "linux", nil, []string{".codex/sessions", ".codex/archived_sessions*"}},
		"codex own":      {quire.AgentCodex, "linux", map[string]string{"CODEX_HOME": elsewhere}, []string{elsewhere + "/sessions", elsewhere + "/archived_sessions"}},
		"copilot":        {quire.AgentCopilot, "linux", nil, []string{".copilot/session-state", ".copilot/history-session-state"}},
		"copilot own":    {quire.AgentCopilot, "linux", map[string]string{"COPILOT_HOME": elsewhere, "XDG_STATE_HOME": "x"}, []string{elsewhere + "/session-state", elsewhere + "/history-session-state"}},
		"copilot xdg":    {quire.AgentCopilot, "linux", map[string]string{"XDG_STATE_HOME": elsewhere}, []string{".copilot/session-state", ".copilot/history-session-state", elsewhere + "/.copilot/session-state", elsewhere + "/.copilot/history-session-state"}},
		"opencode":       {quire.AgentOpenCode, "darwin", nil, []string{".local/share/opencode/opencode.db*", ".local/share/opencode/opencode-dev.db*", ".local/share/opencode/storage"}},
		"opencode own":   {quire.AgentOpenCode, "linux", map[string]string{"OPENCODE_DB": elsewhere + "/x.db", "XDG_DATA_HOME": elsewhere}, []string{elsewhere + "/x.db", elsewhere + "/opencode/opencode.db", elsewhere + "/opencode/storage"}},
		"opencode win":   {quire.AgentOpenCode, "windows", map[string]string{"LOCALAPPDATA": elsewhere, "APPDATA": elsewhere}, []string{".local/share/opencode/opencode.db*", ".local/share/opencode/opencode-dev.db*", ".local/share/opencode/storage", elsewhere + "/opencode/opencode.db", elsewhere + "/opencode/storage"}},
		"opencode posix": {quire.AgentOpenCode, "linux", map[string]string{"LOCALAPPDATA": elsewhere}, []string{".local/share/opencode/opencode.db*", ".local/share/opencode/opencode-dev.db*", ".local/share/opencode/storage"}},
	} {
		home := tree(t, ".claude/projects/p/s.jsonl", ".codex/archived_sessions/r.jsonl.zst",
			".local/share/opencode/opencode.db", ".local/share/opencode/opencode-dev.db", ".local/share/opencode/opencode.db-wal")
		if got := places(t, home, c.goos, c.vars, c.agent); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestFindWithoutHome(t *testing.T) {
	env := Env{Getenv: func(string) string { return "" }, OS: "linux"}
	if got := Find(env); len(got) != 0 {
		t.Errorf("without a home folder there is %v", got)
	}
}

// What Find names, Walk can list.
func TestFoundPlacesCanBeWalked(t *testing.T) {
	home := tree(t, ".claude/projects/p/s/subagents/agent-1.jsonl")
	var paths []string
	for _, p := range Find(Env{Home: home, Getenv: func(string) string { return "" }, OS: "linux"}) {
		if p.Exists {
			paths = append(paths, p.Path)
		}
	}
	found, faults := walked(t, home, paths...)
	if len(found) != 1 || len(faults) != 0 {
		t.Errorf("found %q, %v", found, faults)
	}
}
