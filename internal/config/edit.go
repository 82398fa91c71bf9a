package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// with returns the text of the document with one key set. Everything else stays
// as it is: order, indentation, line ends, byte order mark.
func (d *document) with(key string, value json.RawMessage) []byte {
	if m := d.find(key); m != nil {
		return splice(d.text, m.start, m.end, value)
	}
	quoted, err := json.Marshal(key)
	if err != nil {
		return d.text // unreachable: a string always encodes
	}
	pair := append(append(quoted, ": "...), value...)
	if d.text == nil {
		return []byte("{\n  " + string(pair) + "\n}\n")
	}
	if len(d.members) == 0 {
		end := d.open + bytes.IndexByte(d.text[d.open:], '}')
		return splice(d.text, d.open, end, []byte(d.eol()+"  "+string(pair)+d.eol()))
	}
	last := d.members[len(d.members)-1]
	return splice(d.text, last.end, last.end, []byte(","+d.separator()+string(pair)))
}

// separator is what stands before the last member, so that the next one looks
// like it: a line end with its indentation, or a blank on a one-line file.
func (d *document) separator() string {
	start := d.open
	if n := len(d.members); n > 1 {
		start = d.members[n-2].end
	}
	between := string(d.text[start:])
	between = strings.ReplaceAll(between[:strings.IndexByte(between, '"')], ",", "")
	if i := strings.LastIndexByte(between, '\n'); i >= 0 {
		return d.eol() + between[i+1:]
	}
	return " "
}

func (d *document) eol() string {
	if bytes.Contains(d.text, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

func splice(text []byte, start, end int, middle []byte) []byte {
	return bytes.Join([][]byte{text[:start], middle, text[end:]}, nil)
}

// writeFile replaces a file in one step: whoever reads it sees the old text or
// the new one, also after a crash. A new file has mode 0600, an existing one
// keeps its mode. A symbolic link is followed, not replaced. Two writers at once
// are not kept apart: the later one wins.
func writeFile(path string, text []byte) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("write settings: %w", err)
	}
	path, mode, err := target(path)
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".settings-*.json")
	if err != nil {
		return fmt.Errorf("write settings: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("write settings: %w", err), os.Remove(tmp.Name()))
		}
	}()
	if err := fill(tmp, text, mode); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

// target resolves a link and finds the mode that the file is to have.
func target(path string) (string, fs.FileMode, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return path, 0o600, nil
	}
	if err != nil {
		return "", 0, fmt.Errorf("write settings: %w", err)
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", 0, fmt.Errorf("write settings: %w", err)
	}
	return real, info.Mode().Perm(), nil
}

// fill writes, syncs and closes a file.
func fill(f *os.File, text []byte, mode fs.FileMode) error {
	_, err := f.Write(text)
	err = errors.Join(err, f.Chmod(mode), f.Sync())
	return errors.Join(err, f.Close())
}
