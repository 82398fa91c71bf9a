// Package trust keeps what the user trusts of what a project brings along: programs
// that would be started because a file of the project says so. Trust is given to
// an exact content, by its sum, and kept in the user's own folder, so that neither
// a project nor a change to it can give itself any.
package trust

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Grant is one thing that is trusted.
type Grant struct {
	Kind string `json:"kind"` // what it is: hook, mcp
	Sum  string `json:"sum"`
	Note string `json:"note"` // for people
}

// A Store is the file of grants. It is read once; a process that only asks never
// writes.
type Store struct {
	path   string
	grants []Grant
}

// Open reads a store. A file that is not there holds nothing.
func Open(path string) (*Store, error) {
	s := &Store{path: path}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &s.grants)
	}
	if err != nil {
		return nil, fmt.Errorf("read what is trusted: %s: %w", path, err)
	}
	return s, nil
}

// Sum is that of parts of a content; their borders count.
func Sum(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s,", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Has reports whether a sum is trusted.
func (s *Store) Has(kind, sum string) bool {
	return slices.ContainsFunc(s.grants, func(g Grant) bool { return g.Kind == kind && g.Sum == sum })
}

// Grant trusts something and writes the file, in one step.
func (s *Store) Grant(g Grant) error {
	if s.Has(g.Kind, g.Sum) {
		return nil
	}
	return s.write(append(slices.Clone(s.grants), g))
}

// Revoke takes the trust of a sum back, and reports whether there was any.
func (s *Store) Revoke(kind, sum string) (bool, error) {
	if !s.Has(kind, sum) {
		return false, nil
	}
	return true, s.write(slices.DeleteFunc(slices.Clone(s.grants), func(g Grant) bool { return g.Kind == kind && g.Sum == sum }))
}

func (s *Store) write(grants []Grant) error {
	slices.SortFunc(grants, func(a, b Grant) int { return strings.Compare(a.Kind+a.Note+a.Sum, b.Kind+b.Note+b.Sum) })
	text, err := json.MarshalIndent(grants, "", "  ")
	if err == nil {
		err = replace(s.path, append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write what is trusted: %w", err)
	}
	s.grants = grants
	return nil
}

func replace(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	temp := path + "." + rand.Text()[:8]
	if err := os.WriteFile(temp, text, 0o600); err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return nil
}
