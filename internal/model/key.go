package model

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// A Key is a provider's key. However it is printed it does not show itself.
type Key struct {
	text string
	From string // where it was found, in words; "" of no key
}

// NewKey is a key that was found somewhere. White space around it is left out.
func NewKey(text, from string) Key { return Key{strings.TrimSpace(text), from} }

// Empty reports whether there is no key.
func (k Key) Empty() bool { return k.text == "" }

// Reveal is the key itself, for the header of a request and for nothing else.
func (k Key) Reveal() string { return k.text }

// Hide takes the key out of a text.
func (k Key) Hide(text string) string {
	if k.Empty() {
		return text
	}
	return strings.ReplaceAll(text, k.text, "[key]")
}

// Format says where the key is from, whatever the verb.
func (k Key) Format(s fmt.State, _ rune) {
	from := "no key"
	if !k.Empty() {
		from = "key from " + k.From
	}
	_, _ = io.WriteString(s, from)
}

// Keys finds keys: in the environment, then in a file of the user's, then in the
// keyring of the system.
type Keys struct {
	Env  func(name string) (string, bool)
	Dir  string                                                     // a file for each provider, named like it; "": none
	Ring func(ctx context.Context, provider string) (string, error) // "" when it holds none; nil: there is no keyring
}

// A KeyError says why there is no key to use.
type KeyError struct {
	Provider string
	Missing  bool // there is none; otherwise there is one that must not be used
	Message  string
	Next     string // what to do, a sentence without its full stop
}

// Error says what is wrong.
func (e *KeyError) Error() string { return e.Message }

// Find finds the key of a provider. Where one may do without, an empty key is no
// error. Errors are of the type [*KeyError].
func (k Keys) Find(ctx context.Context, p Provider) (Key, error) {
	for _, name := range p.Vars {
		if text, ok := k.Env(name); ok && strings.TrimSpace(text) != "" {
			return whole(NewKey(text, name), p)
		}
	}
	key, err := k.file(p)
	if err != nil {
		return Key{}, err
	}
	if !key.Empty() {
		return whole(key, p)
	}
	if key, err = k.ring(ctx, p); !key.Empty() {
		return whole(key, p)
	}
	if p.Keyless {
		return Key{}, nil
	}
	return Key{}, k.missing(p, err)
}

// whole refuses what cannot be a key, like a file of several lines.
func whole(key Key, p Provider) (Key, error) {
	notKey := func(r rune) bool { return r <= ' ' || r > '~' }
	if strings.ContainsFunc(key.text, notKey) {
		return Key{}, &KeyError{Provider: p.Name, Message: "what " + key.From + " holds is no key: it has blanks, line ends or other letters than a key", Next: "put the key there and nothing else"}
	}
	return key, nil
}

func (k Keys) ring(ctx context.Context, p Provider) (Key, error) {
	if k.Ring == nil {
		return Key{}, nil
	}
	text, err := k.Ring(ctx, p.Name)
	return NewKey(text, "the keyring"), err
}

// missing says that there is no key. why is what the keyring had to say.
func (k Keys) missing(p Provider, why error) error {
	e := &KeyError{Provider: p.Name, Missing: true, Message: "no key for " + p.Name}
	if why != nil {
		e.Message += " (the keyring: " + why.Error() + ")"
	}
	var ways []string
	if len(p.Vars) > 0 {
		ways = append(ways, "set "+p.Vars[0])
	}
	if k.Dir != "" {
		ways = append(ways, "put it into the file "+filepath.Join(k.Dir, p.Name)+" that only you can read")
	}
	e.Next = strings.Join(append(ways, "keep it in the keyring, as service quire and account "+p.Name), ", or ")
	return e
}

// maxKey bounds a file with a key in bytes.
const maxKey = 8 << 10

func (k Keys) file(p Provider) (Key, error) {
	if k.Dir == "" {
		return Key{}, nil
	}
	name := filepath.Join(k.Dir, p.Name)
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return Key{}, nil
	}
	if err != nil {
		return Key{}, &KeyError{Provider: p.Name, Message: "read the key: " + err.Error(), Next: "make it a file that you can read"}
	}
	defer f.Close() // only read
	if err := private(f, name, p); err != nil {
		return Key{}, err
	}
	text, err := io.ReadAll(io.LimitReader(f, maxKey))
	if err != nil {
		return Key{}, &KeyError{Provider: p.Name, Message: "read the key: " + err.Error(), Next: "make it a file that you can read"}
	}
	return NewKey(string(text), name), nil
}

// private refuses a file that others can read or write. Windows keeps its rules
// elsewhere than in the mode.
func private(f *os.File, name string, p Provider) error {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return &KeyError{Provider: p.Name, Message: name + " is no file with a key", Next: "make it a file that holds the key and nothing else"}
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return &KeyError{
			Provider: p.Name, Message: fmt.Sprintf("others can read the key in %s (mode %04o)", name, info.Mode().Perm()),
			Next: "`chmod 600 " + name + "` makes it yours alone; get a new key if somebody may have read it",
		}
	}
	return nil
}
