package config

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The names of keys. Their types say what a key holds, so that asking for the
// wrong type does not compile.
type (
	BoolKey string // true or false
	IntKey  string // a whole number
	TextKey string // one of a few words
	PathKey string // a file or folder; "" is none
	NameKey string // words that mean something to their reader; "" is none
)

// The keys.
const (
	Home      PathKey = "home"
	UTC       BoolKey = "utc"
	Color     TextKey = "color"
	Prices    PathKey = "prices"
	AuditDays IntKey  = "audit.days"
	Budget    IntKey  = "budget"
	Model     NameKey = "model"
	ModelURL  NameKey = "model.url"
	Brain     NameKey = "brain"
	BrainMode TextKey = "brain.mode"
	Dispatch  BoolKey = "brain.dispatch"
	Hooks     BoolKey = "hooks"

	EmbedURL   NameKey = "embed.url"
	EmbedModel NameKey = "embed.model"
)

// A Reach says from where a key may be set, besides by flag. Each reach includes
// the ones before it.
type Reach uint8

// The reaches.
const (
	ReachEnv     Reach = iota // by the environment only
	ReachUser                 // also by the user's file
	ReachProject              // also by a project's file
)

// A Type is the type of a key's value, in the words of JSON schema.
type Type string

// The types.
const (
	TypeBool Type = "boolean"
	TypeInt  Type = "integer"
	TypeText Type = "string"
	TypePath Type = "path" // a string in JSON
	TypeName Type = "name" // a string in JSON
)

// A Key declares one setting.
type Key struct {
	Name    string
	Type    Type
	Default string // in the form that [Key.Parse] returns
	Help    string // one sentence without its full stop
	Reach   Reach
	Flag    string   // the flag that sets it on the commands that read it, "" when none does
	Words   []string // of TypeText: the values allowed
	Min     int      // of TypeInt: the least value allowed
}

// Keys returns every key, in the order in which they are shown.
func Keys() []Key {
	return []Key{
		{Name: string(Home), Type: TypePath, Default: "~/.quire", Reach: ReachEnv,
			Help: "folder of the user's settings and of everything Quire keeps"},
		{Name: string(UTC), Type: TypeBool, Default: "false", Reach: ReachProject, Flag: "utc",
			Help: "show times and days in UTC instead of the local zone"},
		{Name: string(Color), Type: TypeText, Default: "auto", Reach: ReachProject, Flag: "color",
			Words: []string{"auto", "always", "never"},
			Help:  "colour on the terminal: auto (when it is one and NO_COLOR is not set), always or never"},
		{Name: string(Prices), Type: TypePath, Reach: ReachUser, Flag: "prices",
			Help: "file of prices that override the built-in table"},
		{Name: string(AuditDays), Type: TypeInt, Default: "30", Reach: ReachProject, Flag: "days", Min: 1,
			Help: "how many days back quire audit looks when it searches for logs itself"},
		{Name: string(Budget), Type: TypeInt, Default: "0", Reach: ReachProject, Flag: "budget",
			Help: "tokens a context policy may keep in the prompt; 0 means 80000, or 40000 for endless"},
		{Name: string(Model), Type: TypeName, Reach: ReachUser, Flag: "model",
			Help: "model that does the work: PROVIDER/MODEL of quire models"},
		{Name: string(ModelURL), Type: TypeName, Reach: ReachUser, Flag: "base-url",
			Help: "address of the model's provider, or a list of PROVIDER=URL"},
		{Name: string(Brain), Type: TypeName, Default: "brain", Reach: ReachUser, Flag: "brain",
			Help: "brain that plans and gives each role its models: one of quire brain list"},
		{Name: string(BrainMode), Type: TypeText, Default: "auto", Reach: ReachUser, Flag: "mode",
			Words: []string{"auto", "radical"},
			Help:  "how freely the brain works: auto (few workers, one fix) or radical"},
		{Name: string(Dispatch), Type: TypeBool, Default: "true", Reach: ReachUser,
			Help: "let the primary of a team ask more specialists while it works"},
		{Name: string(Hooks), Type: TypeBool, Default: "true", Reach: ReachUser, Flag: "hooks",
			Help: "run the commands of hooks.json at the moments of a session"},
		{Name: string(EmbedURL), Type: TypeName, Reach: ReachUser,
			Help: "address of an embeddings API, up to /v1: pages are also found by meaning"},
		{Name: string(EmbedModel), Type: TypeName, Reach: ReachUser,
			Help: "model that is asked there"},
	}
}

// Lookup finds a key by its name.
func Lookup(name string) (Key, bool) {
	keys := Keys()
	i := slices.IndexFunc(keys, func(k Key) bool { return k.Name == name })
	if i < 0 {
		return Key{}, false
	}
	return keys[i], true
}

// Env is the name of the variable that sets the key.
func (k Key) Env() string {
	return "QUIRE_" + strings.ToUpper(strings.ReplaceAll(k.Name, ".", "_"))
}

// Parse checks a value written as text (a flag, a variable, an argument) and
// returns it in its one canonical form. The error says what is allowed.
func (k Key) Parse(text string) (string, error) {
	switch k.Type {
	case TypeBool:
		return k.parseBool(text)
	case TypeInt:
		return k.parseInt(text)
	case TypeText:
		if !slices.Contains(k.Words, text) {
			return "", fmt.Errorf("%q is not one of %s", text, strings.Join(k.Words, ", "))
		}
	case TypePath:
		if strings.ContainsRune(text, 0) {
			return "", fmt.Errorf("%q is not a path: it holds a NUL", text)
		}
	}
	return text, nil
}

func (k Key) parseBool(text string) (string, error) {
	v, err := strconv.ParseBool(text)
	if err != nil {
		return "", fmt.Errorf("%q is neither true nor false", text)
	}
	return strconv.FormatBool(v), nil
}

func (k Key) parseInt(text string) (string, error) {
	v, err := strconv.Atoi(text)
	if err != nil {
		return "", fmt.Errorf("%q is not a whole number", text)
	}
	if v < k.Min {
		return "", fmt.Errorf("%d is less than %d", v, k.Min)
	}
	return strconv.Itoa(v), nil
}

// parseJSON checks a value of a settings file. Unlike [Key.Parse] it demands the
// JSON type of the key.
func (k Key) parseJSON(raw json.RawMessage) (string, error) {
	quoted := raw[0] == '"'
	boolean := string(raw) == "true" || string(raw) == "false"
	if quoted != (k.jsonType() == TypeText) || boolean != (k.Type == TypeBool) {
		return "", fmt.Errorf("%s does not have the type %s", shorten(string(raw)), k.jsonType())
	}
	text := string(raw)
	if quoted {
		if err := json.Unmarshal(raw, &text); err != nil {
			return "", fmt.Errorf("read the string: %w", err)
		}
	}
	return k.Parse(text)
}

// JSON is the value, given in canonical form, as a settings file holds it.
func (k Key) JSON(text string) json.RawMessage {
	if k.Type == TypeBool || k.Type == TypeInt {
		return json.RawMessage(text)
	}
	quoted, err := json.Marshal(text)
	if err != nil {
		return nil // unreachable: a string always encodes
	}
	return quoted
}

func (k Key) jsonType() Type {
	if k.Type == TypePath || k.Type == TypeName {
		return TypeText
	}
	return k.Type
}

// shorten keeps an error on one line whatever a file holds.
func shorten(text string) string {
	const most = 40
	line, _, cut := strings.Cut(text, "\n")
	runes := []rune(line)
	if len(runes) > most {
		return string(runes[:most]) + "…"
	}
	if cut {
		return line + "…"
	}
	return line
}
