package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/quire-agent/quire/internal/x/trust"
)

// An Event is a moment at which hooks run.
type Event string

// The events.
const (
	SessionStart      Event = "SessionStart"
	UserPromptSubmit  Event = "UserPromptSubmit"
	PreToolUse        Event = "PreToolUse"
	PostToolUse       Event = "PostToolUse"
	PermissionRequest Event = "PermissionRequest"
	PreCompact        Event = "PreCompact"  // before an epoch
	PostCompact       Event = "PostCompact" // after one
	SubagentStart     Event = "SubagentStart"
	SubagentStop      Event = "SubagentStop"
	Stop              Event = "Stop"
	Notification      Event = "Notification"
	SessionEnd        Event = "SessionEnd"
)

// Events lists them, in the order in which a session meets them.
func Events() []Event {
	return []Event{SessionStart, UserPromptSubmit, PreToolUse, PermissionRequest, PostToolUse, PreCompact, PostCompact, SubagentStart, SubagentStop, Notification, Stop, SessionEnd}
}

// blocks reports whether an event can be blocked: those that are over cannot, and an
// epoch is not a hook's to refuse, because a prompt that does not fit is refused by
// the provider.
func (e Event) blocks() bool {
	return e != PreCompact && e != PostCompact && e != Notification && e != SessionEnd
}

// speaks reports whether plain text of a hook goes into the prompt.
func (e Event) speaks() bool {
	return e == SessionStart || e == SubagentStart || e == UserPromptSubmit
}

// matches reports whether hooks of an event have a matcher.
func (e Event) matches() bool { return e != UserPromptSubmit && e != Stop }

// The bounds of the time that a hook has.
const (
	usualTime = 600 * time.Second
	leastTime = time.Second
)

// A Handler is one hook.
type Handler struct {
	Event   Event
	Matcher string
	Command string
	Time    time.Duration
	Status  string // what is shown while it runs
	Source  Source
	Skip    string // why it is not run, "" where it is

	Untrusted bool // that is why
}

// A Source is the file that a hook is from.
type Source struct {
	Kind string `json:"kind"` // user or project
	Path string `json:"path"`
}

// The kinds of sources.
const (
	OfUser    = "user"
	OfProject = "project"
)

// TrustKind is the kind of what is trusted.
const TrustKind = "hook"

// Sum is what trust in a hook is given to. The same command in another file, for
// another event or matcher is another.
func (h *Handler) Sum() string {
	return trust.Sum(h.Source.Path, string(h.Event), h.Matcher, h.Command)
}

// accepts reports whether a handler is for an event and a value.
func (h *Handler) accepts(e Event, value string) bool {
	if h.Event != e {
		return false
	}
	if !e.matches() || h.Matcher == "" || h.Matcher == "*" {
		return true
	}
	re, err := regexp.Compile("^(?:" + h.Matcher + ")$")
	if err != nil {
		return h.Matcher == value
	}
	return re.MatchString(value)
}

// file is the form of hooks.json.
type file struct {
	Hooks map[Event][]group `json:"hooks"`
}

type group struct {
	Matcher string  `json:"matcher"`
	Hooks   []entry `json:"hooks"`
}

type entry struct {
	Type          string   `json:"type"`
	Command       string   `json:"command"`
	Windows       string   `json:"commandWindows"`
	WindowsToo    string   `json:"command_windows"`
	Timeout       *float64 `json:"timeout"` // seconds
	StatusMessage string   `json:"statusMessage"`
	Async         bool     `json:"async"`
	Enabled       *bool    `json:"enabled"`
	Trusted       *bool    `json:"trusted"`
}

// Read reads the hooks of a file, in the order of events and then of the file. A
// file that is not there has none. What is wrong with single ones is in their Skip;
// names of events that are not known are an error, because a hook that never
// runs protects nobody.
func Read(src Source, windows bool, trusted *trust.Store) ([]Handler, error) {
	text, err := os.ReadFile(src.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the hooks: %w", err)
	}
	list, err := parse(text, src, windows)
	if err != nil {
		return nil, fmt.Errorf("read the hooks of %s: %w", src.Path, err)
	}
	for i := range list {
		if h := &list[i]; h.Skip == "" && src.Kind == OfProject && !trusted.Has(TrustKind, h.Sum()) {
			h.Skip, h.Untrusted = "it is not trusted: `quire hooks trust` shows it and trusts it", true
		}
	}
	return list, nil
}

func parse(text []byte, src Source, windows bool) (list []Handler, err error) {
	var f file
	d := json.NewDecoder(bytes.NewReader(text))
	if err := d.Decode(&f); err != nil {
		return nil, err
	}
	var unknown []string
	for e := range f.Hooks {
		if !slices.Contains(Events(), e) {
			unknown = append(unknown, string(e))
		}
	}
	if len(unknown) > 0 {
		return nil, fmt.Errorf("%q is no event of hooks", slices.Min(unknown))
	}
	for _, e := range Events() {
		for _, g := range f.Hooks[e] {
			for _, one := range g.Hooks {
				list = append(list, one.handler(e, g.Matcher, src, windows))
			}
		}
	}
	return list, nil
}

func (e *entry) handler(event Event, matcher string, src Source, windows bool) Handler {
	h := Handler{Event: event, Matcher: matcher, Command: e.Command, Time: usualTime, Status: e.StatusMessage, Source: src}
	if own := e.Windows + e.WindowsToo; windows && own != "" {
		h.Command = own
	}
	if e.Timeout != nil {
		h.Time = max(min(time.Duration(*e.Timeout*float64(time.Second)), usualTime), leastTime)
	}
	switch {
	case e.Type != "" && e.Type != "command":
		h.Skip = fmt.Sprintf("hooks of type %q are not known", e.Type)
	case strings.TrimSpace(h.Command) == "":
		h.Skip = "it has no command"
	case e.Async:
		h.Skip = "it is async, which is not supported: a hook is waited for"
	case e.Enabled != nil && !*e.Enabled:
		h.Skip = "it is disabled"
	case src.Kind == OfUser && e.Trusted != nil && !*e.Trusted:
		h.Skip = "it is marked as not trusted"
	}
	return h
}
