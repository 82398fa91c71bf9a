package role

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/quire-agent/quire/internal/route"
)

//go:embed data
var data embed.FS

// Tools says what an agent of a role may do when it supports another one. The
// primary may do what the run may.
type Tools string

// What a role may do.
const (
	ToolsNone  Tools = "none"
	ToolsRead  Tools = "read"
	ToolsWrite Tools = "write" // in a worktree of its own, where the plan says that it writes; otherwise it reads
)

// A Role is who does a kind of work.
type Role struct {
	Name           route.Role `json:"name"`
	Label          string     `json:"label"`
	Line           string     `json:"line"` // what it owns, as the router reads it
	Identity       string     `json:"identity"`
	Responsibility string     `json:"responsibility"`
	Capabilities   []string   `json:"capabilities"`
	Boundaries     []string   `json:"boundaries"`
	Output         string     `json:"output"` // what its result is
	Rules          []string   `json:"rules"`
	Tools          Tools      `json:"tools"`
	Routed         bool       `json:"routed"`      // the router can choose it
	Support        bool       `json:"support"`     // it can work for another role
	Dispatch       bool       `json:"dispatch"`    // the primary can call it while it works
	Attachments    string     `json:"attachments"` // resident: it gets what the user attached in full; handle: it is told where it is
}

// A Set is the roles that there are, in the order of their names, the router first.
type Set []Role

// Default are the built-in roles.
func Default() (Set, error) {
	sub, err := fs.Sub(data, "data")
	if err != nil {
		return nil, fmt.Errorf("the built-in roles: %w", err)
	}
	return Set(nil).With(sub)
}

// With are the roles with those of a folder: one that is there already is replaced.
// A folder that is not there holds none.
func (s Set) With(dir fs.FS) (Set, error) {
	entries, err := fs.ReadDir(dir, ".")
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read roles: %w", err)
	}
	out := slices.Clone(s)
	for _, e := range entries {
		if e.IsDir() || path.Ext(e.Name()) != ".json" {
			continue
		}
		r, err := read(dir, e.Name())
		if err != nil {
			return nil, fmt.Errorf("role %s: %w", e.Name(), err)
		}
		out = append(slices.DeleteFunc(out, func(o Role) bool { return o.Name == r.Name }), r)
	}
	slices.SortFunc(out, func(a, b Role) int { return strings.Compare(string(a.Name), string(b.Name)) })
	return out, nil
}

func read(dir fs.FS, name string) (Role, error) {
	text, err := fs.ReadFile(dir, name)
	if err != nil {
		return Role{}, err
	}
	return Parse(text)
}

// Parse reads a role. The error says which member is wrong.
func Parse(text []byte) (Role, error) {
	var r Role
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return Role{}, err
	}
	return r, r.check()
}

// Reserved are names that no role may have: they stand for what is not built.
func Reserved() []route.Role { return []route.Role{"imageMaker", "pet"} }

func (r *Role) check() error {
	switch {
	case !plain(string(r.Name)):
		return fmt.Errorf("the name %q: want letters, digits and -", r.Name)
	case slices.Contains(Reserved(), r.Name):
		return fmt.Errorf("the name %s is reserved", r.Name)
	case r.Identity == "" || r.Line == "":
		return errors.New("identity and line must not be empty")
	case r.Tools != ToolsNone && r.Tools != ToolsRead && r.Tools != ToolsWrite:
		return fmt.Errorf("tools is %q: want none, read or write", r.Tools)
	case r.Attachments != "" && r.Attachments != "resident" && r.Attachments != "handle":
		return fmt.Errorf("attachments is %q: want resident or handle", r.Attachments)
	}
	return nil
}

func plain(name string) bool {
	return name != "" && strings.IndexFunc(name, func(c rune) bool {
		return c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
	}) < 0
}

// Role is the one of a name; ok is false where there is none.
func (s Set) Role(name route.Role) (r Role, ok bool) {
	i := slices.IndexFunc(s, func(r Role) bool { return r.Name == name })
	if i < 0 {
		return Role{}, false
	}
	return s[i], true
}

// isolation stands in every profile.
const isolation = "You work in one isolated task context. Use what you were given and what you find in the project; there is nothing else to ask for."

// Profile is the text that makes an agent one of this role.
func (r *Role) Profile() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Your role: %s. %s\nResponsible for: %s\n", r.Name, r.Identity, r.Responsibility)
	list(&b, "You can", r.Capabilities)
	list(&b, "Out of bounds", r.Boundaries)
	fmt.Fprintf(&b, "Your result: %s\n%s\n", r.Output, isolation)
	for _, rule := range r.Rules {
		b.WriteString("- " + rule + "\n")
	}
	return b.String()
}

func list(b *strings.Builder, head string, items []string) {
	if len(items) > 0 {
		fmt.Fprintf(b, "%s: %s.\n", head, strings.Join(items, "; "))
	}
}
