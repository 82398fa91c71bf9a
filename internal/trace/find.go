package trace

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/quire-agent/quire/internal/quire"
)

// An Env is what the default places of logs depend on.
type Env struct {
	Home   string                   // the user's home folder; "" when unknown
	Getenv func(name string) string // "" for a variable that is not set
	OS     string                   // as runtime.GOOS names it
}

// A Place is where an agent keeps logs unless it is told otherwise.
type Place struct {
	Agent  quire.Agent
	Path   string // a folder, or for OpenCode also a database file
	Exists bool
}

// Find lists the places where the known agents keep their logs, by agent and
// then in the order in which the agents look. An agent's own variable replaces
// its default places. Each path is listed once; nothing below it is looked at.
func Find(env Env) []Place {
	var places []Place
	add := func(agent quire.Agent, paths []string) {
		for _, path := range paths {
			known := slices.ContainsFunc(places, func(p Place) bool { return p.Path == path })
			if !known {
				_, err := os.Stat(path)
				places = append(places, Place{Agent: agent, Path: path, Exists: err == nil})
			}
		}
	}
	add(quire.AgentClaudeCode, env.claude())
	add(quire.AgentCodex, env.codex())
	add(quire.AgentCopilot, env.copilot())
	add(quire.AgentOpenCode, env.opencode())
	return places
}

// claude: the transcripts of subagents lie below their session's and are found
// with it.
func (e Env) claude() []string {
	bases := firstOf(e.variable("CLAUDE_CONFIG_DIR"),
		append(e.home(".claude"), e.xdg("XDG_CONFIG_HOME", ".config", "claude")...))
	return below(bases, "projects")
}

func (e Env) codex() []string {
	bases := firstOf(e.variable("CODEX_HOME"), e.home(".codex"))
	return below(bases, "sessions", "archived_sessions")
}

// copilot: releases before the variable kept their state in XDG_STATE_HOME and
// move it when they are next started.
func (e Env) copilot() []string {
	bases := e.home(".copilot")
	for _, dir := range e.variable("XDG_STATE_HOME") {
		bases = append(bases, filepath.Join(dir, ".copilot"))
	}
	return below(firstOf(e.variable("COPILOT_HOME"), bases), "session-state", "history-session-state")
}

// opencode uses the XDG folders on all systems. The database of a release
// channel has the channel in its name.
func (e Env) opencode() []string {
	bases := e.xdg("XDG_DATA_HOME", ".local/share", "opencode")
	if e.OS == "windows" {
		for _, dir := range slices.Concat(e.variable("LOCALAPPDATA"), e.variable("APPDATA")) {
			bases = append(bases, filepath.Join(dir, "opencode"))
		}
	}
	paths := e.variable("OPENCODE_DB")
	for _, base := range bases {
		paths = append(paths, filepath.Join(base, "opencode.db"))
		paths = append(paths, channels(base)...)
		paths = append(paths, filepath.Join(base, "storage"))
	}
	return paths
}

// channels are the databases of the other release channels in a folder.
func channels(base string) []string {
	entries, _ := os.ReadDir(base) // a folder that cannot be read holds none
	var paths []string
	for _, entry := range entries {
		if ok, _ := filepath.Match("opencode-*.db", entry.Name()); ok { // the pattern is valid
			paths = append(paths, filepath.Join(base, entry.Name()))
		}
	}
	return paths
}

// variable is the path in a variable, if it is set.
func (e Env) variable(name string) []string {
	if path := e.Getenv(name); path != "" {
		return []string{path}
	}
	return nil
}

// home is a path below the home folder, if that is known.
func (e Env) home(path string) []string {
	if e.Home == "" {
		return nil
	}
	return []string{filepath.Join(e.Home, filepath.FromSlash(path))}
}

// xdg is a folder below a base folder of the XDG specification.
func (e Env) xdg(variable, fallback, name string) []string {
	bases := firstOf(e.variable(variable), e.home(fallback))
	return below(bases, name)
}

// firstOf is the first list that is not empty.
func firstOf(lists ...[]string) []string {
	for _, list := range lists {
		if len(list) > 0 {
			return list
		}
	}
	return nil
}

func below(bases []string, names ...string) []string {
	var paths []string
	for _, base := range bases {
		for _, name := range names {
			paths = append(paths, filepath.Join(base, name))
		}
	}
	return paths
}
