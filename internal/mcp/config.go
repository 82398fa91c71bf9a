package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/quire-agent/quire/internal/x/trust"
)

// A Scope says whose a server is.
type Scope string

// The scopes.
const (
	OfUser    Scope = "user"
	OfProject Scope = "project"
)

// Disabled is why a server is skipped that its file switches off.
const Disabled = "it is disabled"

// TrustKind is the kind of what is trusted.
const TrustKind = "mcp"

// A Server is one that can be connected to: by a command, or by an address.
type Server struct {
	Name    string
	Scope   Scope
	Path    string // of the file that names it
	Command string
	Args    []string
	Env     []string // NAME=value, by name; values may hold ${QUIRE_AUTH:provider}
	URL     string
	Headers []string      // "Name: value", by name; the same
	Timeout time.Duration // of a call, 0 for the usual one
	Skip    string        // why it is not connected to, "" where it is
}

// Sum is what trust in a server is given to: all that would be started or reached.
func (s *Server) Sum() string {
	return trust.Sum(s.Path, s.Name, s.Command, strings.Join(s.Args, "\x00"), strings.Join(s.Env, "\x00"), s.URL, strings.Join(s.Headers, "\x00"))
}

// What is what would be started or reached, for people.
func (s *Server) What() string {
	if s.URL != "" {
		return s.URL
	}
	return strings.Join(append([]string{s.Command}, s.Args...), " ")
}

// file is the form of a file of servers. Others use the same, so what is not known
// in it is passed over.
type file struct {
	MCPServers map[string]entry `json:"mcpServers"`
	Servers    map[string]entry `json:"servers"`
}

type entry struct {
	Type        string            `json:"type"`
	Command     string            `json:"command"`
	Args        []string          `json:"args"`
	Env         map[string]string `json:"env"`
	URL         string            `json:"url"`
	HTTPHeaders map[string]string `json:"http_headers"`
	Headers     map[string]string `json:"headers"`
	Disabled    bool              `json:"disabled"`
	Timeout     float64           `json:"timeout"` // seconds
}

// Read reads the servers of a file, by name. A file that is not there has none. A
// project's server that is not trusted is skipped.
func Read(path string, scope Scope, trusted *trust.Store) ([]Server, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the servers: %w", err)
	}
	list, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("read the servers of %s: %w", path, err)
	}
	for i := range list {
		s := &list[i]
		s.Path, s.Scope = path, scope
		if s.Skip == "" && scope == OfProject && !trusted.Has(TrustKind, s.Sum()) {
			s.Skip = "it is not trusted: `quire mcp trust " + s.Name + "` shows it and trusts it"
		}
	}
	return list, nil
}

func parse(text []byte) (list []Server, err error) {
	var f file
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&f); err != nil {
		return nil, err
	}
	all := f.MCPServers
	if len(all) == 0 {
		all = f.Servers
	}
	for name, e := range all {
		list = append(list, e.server(name))
	}
	slices.SortFunc(list, func(a, b Server) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

func (e *entry) server(name string) Server {
	s := Server{Name: name, Command: e.Command, Args: e.Args, Env: pairs(e.Env, "="), URL: e.URL, Headers: append(pairs(e.HTTPHeaders, ": "), pairs(e.Headers, ": ")...)}
	if e.Timeout > 0 && e.Timeout <= longest.Seconds() {
		s.Timeout = time.Duration(e.Timeout * float64(time.Second))
	}
	switch {
	case e.Disabled:
		s.Skip = Disabled
	case strings.TrimSpace(name) == "":
		s.Skip = "it has no name"
	case e.Type == "sse":
		s.Skip = "the transport sse is of an old protocol and not supported; use streamable HTTP"
	case e.URL != "" && !strings.HasPrefix(e.URL, "https://") && !strings.HasPrefix(e.URL, "http://"):
		s.Skip = "its url is no http address"
	case e.URL == "" && e.Command == "":
		s.Skip = "it has neither a command nor a url"
	}
	return s
}

// pairs are the members of an object, by name.
func pairs(m map[string]string, between string) (list []string) {
	for name, value := range m {
		list = append(list, name+between+value)
	}
	slices.Sort(list)
	return list
}

// Merge joins the servers of a project and of the user, by name. Of two with one
// name the project's stands, unless it is skipped, and the user's is reported as
// shadowed.
func Merge(project, user []Server) []Server {
	list := slices.Clone(project)
	for _, u := range user {
		i := slices.IndexFunc(list, func(p Server) bool { return p.Name == u.Name && p.Skip == "" })
		if i >= 0 && u.Skip == "" {
			u.Skip = "a server of the project has the same name"
		}
		list = append(list, u)
	}
	slices.SortStableFunc(list, func(a, b Server) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// Auth finds the key of a provider.
type Auth func(provider string) (key string, ok bool)

const (
	authOpen  = "${QUIRE_AUTH:"
	authClose = "}"
)

// filled puts keys where values ask for them. missing is the first provider that
// has none.
func filled(list []string, auth Auth) (out []string, missing string) {
	for _, value := range list {
		for {
			before, rest, ok := strings.Cut(value, authOpen)
			if !ok {
				break
			}
			provider, after, ok := strings.Cut(rest, authClose)
			if !ok {
				break
			}
			key, found := auth(provider)
			if !found {
				return nil, provider
			}
			value = before + strings.ReplaceAll(key, authOpen, "") + after
		}
		out = append(out, value)
	}
	return out, ""
}
