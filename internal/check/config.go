package check

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"
)

// ConfigFile is where a project says how it is checked, from its folder.
const ConfigFile = ".quire/checks.json"

// The bounds of one check where nothing else is said.
const (
	usualTime   = 180 * time.Second
	usualOutput = 24_000
)

// A Strategy says which checks run.
type Strategy string

// The strategies.
const (
	Smart Strategy = "smart" // those that the kind of the patch asks for
	All   Strategy = "all"
)

// Config says how a project is checked. Its zero value is: by what the project's
// own files say, as the kind of the patch asks for.
type Config struct {
	Enabled  *bool           `json:"enabled,omitempty"` // nil: yes
	Strategy Strategy        `json:"strategy,omitempty"`
	Scripts  []string        `json:"scripts,omitempty"` // names of checks that run, in their order; none: all
	Custom   []Custom        `json:"checks,omitempty"`
	Policies map[Kind]Policy `json:"policies,omitempty"`
	Timeout  int             `json:"timeoutMs,omitempty"`      // of each check
	Output   int             `json:"maxOutputBytes,omitempty"` // of each stream of a check
}

// A Custom check is a command line of the project.
type Custom struct {
	Name    string  `json:"name"`
	Command string  `json:"command"`
	Dir     string  `json:"dir,omitempty"`
	Purpose Purpose `json:"purpose,omitempty"` // check, typecheck, lint or test; check without it
}

// A Policy says how patches of one kind are checked.
type Policy struct {
	Enabled *bool    `json:"enabled,omitempty"`
	Scripts []string `json:"scripts,omitempty"`
	Review  string   `json:"review,omitempty"` // required or optional
	Reason  string   `json:"reason,omitempty"`
}

// ReadConfig reads a project's file. Without one the configuration is the zero one.
func ReadConfig(project fs.FS) (Config, error) {
	text, err := fs.ReadFile(project, ConfigFile)
	if errors.Is(err, fs.ErrNotExist) {
		return Config{}, nil
	}
	if err == nil {
		var c Config
		if c, err = parseConfig(text); err == nil {
			return c, nil
		}
	}
	return Config{}, fmt.Errorf("read %s: %w", ConfigFile, err)
}

func parseConfig(text []byte) (c Config, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return c, err
	}
	return c, c.fault()
}

// fault says what is wrong with a configuration.
func (c *Config) fault() error {
	if c.Strategy != "" && c.Strategy != Smart && c.Strategy != All {
		return fmt.Errorf("strategy %q: want smart or all", c.Strategy)
	}
	if c.Timeout < 0 || c.Output < 0 {
		return errors.New("a bound below zero")
	}
	seen := map[string]bool{}
	for _, one := range c.Custom {
		switch {
		case one.Name == "" || one.Command == "":
			return errors.New("a check needs a name and a command")
		case seen[one.Name]:
			return fmt.Errorf("two checks are called %q", one.Name)
		case one.Dir != "" && !fs.ValidPath(one.Dir):
			return fmt.Errorf("check %q: %q is no folder of the project", one.Name, one.Dir)
		case one.Purpose != "" && !slices.Contains(purposes(), one.Purpose):
			return fmt.Errorf("check %q: purpose %q: want check, typecheck, lint or test", one.Name, one.Purpose)
		}
		seen[one.Name] = true
	}
	return c.policyFault()
}

func (c *Config) policyFault() error {
	known := []Kind{KindPackage, KindCI, KindDB, KindAuth, KindDocs, KindTests, KindFrontend, KindBackend, KindUnknown}
	var kinds []string
	for kind, p := range c.Policies {
		if !slices.Contains(known, kind) {
			kinds = append(kinds, fmt.Sprintf("%q is no kind of patch", kind))
		}
		if !slices.Contains([]string{"", "required", "optional"}, p.Review) {
			kinds = append(kinds, fmt.Sprintf("policy of %s: review %q: want required or optional", kind, p.Review))
		}
	}
	if len(kinds) > 0 {
		return errors.New(slices.Min(kinds))
	}
	return nil
}

// time is what each check has.
func (c *Config) time() time.Duration {
	if c.Timeout > 0 {
		return time.Duration(c.Timeout) * time.Millisecond
	}
	return usualTime
}

func (c *Config) output() int {
	if c.Output > 0 {
		return c.Output
	}
	return usualOutput
}

// on reports what a switch says; without one it is on.
func on(s *bool) bool { return s == nil || *s }

// Reviewed reports whether the project's policy for a kind of patch demands a
// review, and why.
func (c *Config) Reviewed(k Kind) (why string, required bool) {
	p, ok := c.Policies[k]
	if !ok || p.Review != "required" {
		return "", false
	}
	if p.Reason == "" {
		p.Reason = "the project's checks demand a review of " + string(k)
	}
	return p.Reason, true
}
