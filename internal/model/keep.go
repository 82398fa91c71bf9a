package model

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Keep writes a provider's key to its file, which only the user can read, in place
// of one that is there, and returns the path of it. Errors are of the type
// [*KeyError] where the text is no key.
func (k Keys) Keep(p Provider, text string) (path string, err error) {
	key, err := Check(p, text)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(k.Dir, 0o700); err != nil {
		return "", fmt.Errorf("keep the key of %s: %w", p.Name, err)
	}
	f, err := os.CreateTemp(k.Dir, ".key-*") // of mode 0600
	if err != nil {
		return "", fmt.Errorf("keep the key of %s: %w", p.Name, err)
	}
	path = filepath.Join(k.Dir, p.Name)
	_, err = f.WriteString(key.text + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return "", errors.Join(fmt.Errorf("keep the key of %s: %w", p.Name, err), os.Remove(f.Name()))
	}
	return path, nil
}

// Check is the key that a text holds. It must hold one and nothing else.
func Check(p Provider, text string) (Key, error) {
	key := NewKey(text, "what was given")
	if key.Empty() {
		return Key{}, &KeyError{Provider: p.Name, Message: "the key is empty", Next: "give it on standard input"}
	}
	return whole(key, p)
}

// Drop removes the file with a provider's key. there is false where it was not
// there.
func (k Keys) Drop(p Provider) (there bool, err error) {
	err = os.Remove(filepath.Join(k.Dir, p.Name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("remove the key of %s: %w", p.Name, err)
	}
	return true, nil
}
