package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/quire-agent/quire/internal/quire"
)

// newSpec makes the declaration of a tool. The schema allows no other members
// than the fields of A and requires those without omitempty or omitzero.
func newSpec[A any](name, prompt string) quire.ToolSpec {
	schema, err := jsonschema.For[A](nil)
	if err != nil {
		panic(fmt.Sprintf("schema of tool %s: %v", name, err))
	}
	text, err := json.Marshal(schema)
	if err != nil {
		panic(fmt.Sprintf("schema of tool %s: %v", name, err))
	}
	return quire.ToolSpec{Name: name, Description: strings.TrimSpace(prompt), Schema: text}
}

// decode reads arguments strictly. No arguments at all are an empty object.
func decode[A any](raw json.RawMessage) (A, error) {
	var args A
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = json.RawMessage("{}")
	}
	if err := required[A](raw); err != nil {
		return args, err
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&args); err != nil {
		return args, plain(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return args, errors.New("there is more after the object")
	}
	return args, nil
}

// required reports a member that must be there and is not.
func required[A any](raw json.RawMessage) error {
	var given map[string]json.RawMessage
	if err := json.Unmarshal(raw, &given); err != nil {
		return plain(err)
	}
	schema, err := jsonschema.For[A](nil)
	if err != nil {
		return err
	}
	for _, name := range schema.Required {
		if _, ok := given[name]; !ok {
			return fmt.Errorf("%q is missing", name)
		}
	}
	return nil
}

// plain says a JSON error without the names of our types.
func plain(err error) error {
	var typ *json.UnmarshalTypeError
	if errors.As(err, &typ) {
		if typ.Field == "" {
			return fmt.Errorf("they are not an object but a JSON %s", typ.Value)
		}
		return fmt.Errorf("%q is a JSON %s, want another type", typ.Field, typ.Value)
	}
	return errors.New(strings.TrimPrefix(err.Error(), "json: "))
}
