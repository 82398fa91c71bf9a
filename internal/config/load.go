package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
)

// Sources are the places where settings come from.
type Sources struct {
	Flags    []Flag                      // the flags that were given
	Env      func(string) (string, bool) // looks a variable up; an empty value counts as unset
	UserHome string                      // the user's home folder, "" when there is none
	Dir      string                      // working directory, absolute
}

// A Flag is a flag that was given on the command line.
type Flag struct {
	Key   string
	Value string
}

// A Layer is a place of settings. A higher one wins over a lower one.
type Layer uint8

// The layers, rising.
const (
	LayerDefault Layer = iota
	LayerUser
	LayerProject
	LayerEnv
	LayerFlag
)

var layerNames = [...]string{"default", "user", "project", "environment", "flag"}

// String names the layer.
func (l Layer) String() string { return layerNames[l] }

// MarshalText writes the name of the layer.
func (l Layer) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// An Origin says where a value came from.
type Origin struct {
	Layer Layer  `json:"layer"`
	Where string `json:"where,omitempty"` // file:line, variable or flag; "" for a default
}

// A Setting is a key with its value.
type Setting struct {
	Key    Key
	Value  string // canonical; paths are absolute
	Origin Origin
}

// Settings is one value for each key. It is not changed after [Load] and may be
// read concurrently.
type Settings struct {
	all     []Setting
	sources Sources
	home    string
	project string // path of the project's file, "" outside a repository
}

// Load reads all layers. Any error is an [*Error]: an unknown key, a value that
// is not allowed, a key that its file may not set, a file that cannot be read.
func Load(src Sources) (*Settings, error) {
	s := &Settings{sources: src}
	for _, k := range Keys() {
		s.all = append(s.all, Setting{Key: k, Value: k.Default})
	}
	if err := s.loadEnv(); err != nil {
		return nil, err
	}
	s.settleHome()
	if err := s.loadFiles(); err != nil {
		return nil, err
	}
	return s, s.loadFlags()
}

// settleHome comes before the files are read, because it says where they are.
func (s *Settings) settleHome() {
	home := s.find(string(Home))
	home.Value = s.absolute(home.Value, s.sources.Dir)
	s.home = home.Value
	s.project = projectFile(s.sources.Dir, s.userFile())
}

func (s *Settings) loadEnv() error {
	for _, k := range Keys() {
		text, ok := s.sources.Env(k.Env())
		if !ok || text == "" {
			continue
		}
		if err := s.put(k, text, Origin{LayerEnv, k.Env()}, s.sources.Dir); err != nil {
			return err
		}
	}
	return nil
}

func (s *Settings) loadFlags() error {
	for _, f := range s.sources.Flags {
		k, ok := Lookup(f.Key)
		if !ok {
			return &Error{Where: f.Key, What: "not a key"}
		}
		if err := s.put(k, f.Value, Origin{LayerFlag, "--" + k.Flag}, s.sources.Dir); err != nil {
			return err
		}
	}
	return nil
}

// put sets a value given as text, unless a higher layer has set it already.
func (s *Settings) put(k Key, text string, from Origin, base string) error {
	value, err := k.Parse(text)
	if err != nil {
		return &Error{Where: from.Where, What: err.Error(), Next: "it means: " + k.Help}
	}
	s.store(k, value, from, base)
	return nil
}

func (s *Settings) store(k Key, value string, from Origin, base string) {
	if k.Type == TypePath {
		value = s.absolute(value, base)
	}
	at := s.find(k.Name)
	if from.Layer >= at.Origin.Layer {
		*at = Setting{Key: k, Value: value, Origin: from}
	}
}

func (s *Settings) loadFiles() error {
	if s.home != "" {
		if err := s.loadFile(LayerUser, ReachUser, s.userFile()); err != nil {
			return err
		}
	}
	if s.project == "" {
		return nil
	}
	return s.loadFile(LayerProject, ReachProject, s.project)
}

func (s *Settings) loadFile(layer Layer, least Reach, path string) error {
	d, err := readDocument(path)
	if err != nil {
		return err
	}
	for _, m := range d.members {
		if m.key == "$schema" {
			continue
		}
		if err := s.loadMember(d, m, layer, least); err != nil {
			return err
		}
	}
	return nil
}

func (s *Settings) loadMember(d *document, m member, layer Layer, least Reach) error {
	where := place(d.path, m.line)
	k, err := known(where, m.key)
	if err != nil {
		return err
	}
	if k.Reach < least {
		return &Error{Where: where, What: s.refusal(k, layer), Next: s.instead(k)}
	}
	value, err := k.parseJSON(m.value)
	if err != nil {
		return &Error{Where: where, What: fmt.Sprintf("%s: %v", m.key, err), Next: "it means: " + k.Help}
	}
	s.store(k, value, Origin{layer, where}, filepath.Dir(d.path))
	return nil
}

// known finds a key, or says which one is nearest.
func known(where, name string) (Key, error) {
	k, ok := Lookup(name)
	if !ok {
		return Key{}, &Error{Where: where, What: fmt.Sprintf("unknown key %q", name),
			Next: fmt.Sprintf("the nearest known key is %q; `quire config list` shows all", Nearest(name))}
	}
	return k, nil
}

func (s *Settings) refusal(k Key, layer Layer) string {
	return fmt.Sprintf("%s may not be set by a %s's settings file", k.Name, layer)
}

func (s *Settings) instead(k Key) string {
	if k.Reach == ReachEnv {
		return "remove the line and set " + k.Env() + " instead"
	}
	return fmt.Sprintf("remove the line; the user sets it: `quire config set %s VALUE`", k.Name)
}

func (s *Settings) find(name string) *Setting {
	i := slices.IndexFunc(s.all, func(one Setting) bool { return one.Key.Name == name })
	if i < 0 {
		panic("config: " + name + " is not declared in Keys") // a constant of this package without its declaration
	}
	return &s.all[i]
}

// All returns every setting in the order of [Keys].
func (s *Settings) All() []Setting { return slices.Clone(s.all) }

// Get returns one setting by name. The error is an [*Error].
func (s *Settings) Get(name string) (Setting, error) {
	if _, err := known("settings", name); err != nil {
		return Setting{}, err
	}
	return *s.find(name), nil
}

// Bool is the value of a key.
func (s *Settings) Bool(k BoolKey) bool { return s.find(string(k)).Value == "true" }

// Text is the value of a key.
func (s *Settings) Text(k TextKey) string { return s.find(string(k)).Value }

// Path is the value of a key: absolute, or "" for none.
func (s *Settings) Path(k PathKey) string { return s.find(string(k)).Value }

// Name is the value of a key, "" for none.
func (s *Settings) Name(k NameKey) string { return s.find(string(k)).Value }

// Int is the value of a key.
func (s *Settings) Int(k IntKey) int {
	n, err := strconv.Atoi(s.find(string(k)).Value)
	if err != nil {
		panic("config: " + string(k) + " holds no number") // Parse lets none through
	}
	return n
}
