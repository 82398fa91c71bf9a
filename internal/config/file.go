package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"unicode/utf8"
)

// byteOrderMark is what some Windows editors put before UTF-8. It is kept where
// it stands and otherwise ignored.
const byteOrderMark = "\ufeff"

// maxFile bounds a settings file in bytes; a larger one is a mistake.
const maxFile = 1 << 20

// A document is a settings file as text, with the places of its members.
type document struct {
	path    string
	text    []byte
	members []member
	open    int // offset behind the opening brace
}

// A member is one key of the file with its value.
type member struct {
	key        string
	value      json.RawMessage
	line       int // of the key, from 1
	start, end int // of the value, in bytes
}

// readDocument reads a settings file. A file that does not exist is an empty
// document without text.
func readDocument(path string) (*document, error) {
	text, err := readFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &document{path: path}, nil
	}
	if err != nil {
		return nil, &Error{Where: path, What: err.Error(), Next: "make it a readable file, or remove it"}
	}
	return parseDocument(path, text)
}

func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read settings: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("%d bytes are too many for settings (at most %d)", info.Size(), maxFile)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read settings: %w", err)
	}
	return text, nil
}

// parseDocument finds the members of a settings file. It checks the form only:
// one JSON object in UTF-8, no key twice.
func parseDocument(path string, text []byte) (*document, error) {
	d := &document{path: path, text: text}
	if !utf8.Valid(text) {
		return nil, d.fail(0, "not UTF-8", "save it as UTF-8")
	}
	skip := 0
	if bytes.HasPrefix(text, []byte(byteOrderMark)) {
		skip = len(byteOrderMark)
	}
	if err := d.checkSyntax(skip); err != nil {
		return nil, err
	}
	return d, d.readMembers(skip)
}

func (d *document) checkSyntax(skip int) error {
	var whole json.RawMessage
	err := json.Unmarshal(d.text[skip:], &whole)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		next := "the file is one JSON object, for example {\"utc\": true}"
		if bytes.Contains(d.text, []byte(`\`)) {
			next += `; in JSON a backslash is written twice: "C:\\prices.json"`
		}
		return d.fail(skip+int(syntax.Offset), "not valid JSON: "+syntax.Error(), next)
	}
	if err != nil {
		return d.fail(0, err.Error(), "")
	}
	if whole[0] != '{' {
		return d.fail(0, "not a JSON object", "write the settings between { and }")
	}
	return nil
}

// readMembers relies on checkSyntax: the decoder cannot fail on valid JSON.
func (d *document) readMembers(skip int) error {
	dec := json.NewDecoder(bytes.NewReader(d.text[skip:]))
	if _, err := dec.Token(); err != nil {
		return d.fail(0, err.Error(), "")
	}
	d.open = skip + int(dec.InputOffset())
	for dec.More() {
		var m member
		if err := d.readMember(dec, skip, &m); err != nil {
			return d.fail(0, err.Error(), "")
		}
		if twice := d.find(m.key); twice != nil {
			return &Error{Where: place(d.path, m.line), What: fmt.Sprintf("%q is set twice, first in line %d", m.key, twice.line),
				Next: "remove one of the two"}
		}
		d.members = append(d.members, m)
	}
	return nil
}

func (d *document) readMember(dec *json.Decoder, skip int, m *member) error {
	key, err := dec.Token()
	if err != nil {
		return fmt.Errorf("read key: %w", err)
	}
	m.key, _ = key.(string)
	m.line = d.line(skip + int(dec.InputOffset()))
	if err := dec.Decode(&m.value); err != nil {
		return fmt.Errorf("read value of %q: %w", m.key, err)
	}
	m.end = skip + int(dec.InputOffset())
	m.start = m.end - len(m.value)
	return nil
}

func (d *document) find(key string) *member {
	for i := range d.members {
		if d.members[i].key == key {
			return &d.members[i]
		}
	}
	return nil
}

// line is the line of a byte offset, from 1.
func (d *document) line(offset int) int {
	return 1 + bytes.Count(d.text[:min(offset, len(d.text))], []byte("\n"))
}

func (d *document) fail(offset int, what, next string) error {
	return &Error{Where: place(d.path, d.line(offset)), What: what, Next: next}
}

func place(path string, line int) string { return fmt.Sprintf("%s:%d", path, line) }
