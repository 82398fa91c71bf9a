package config

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// schema is the part of JSON schema (draft 2020-12) that the settings need.
type schema struct {
	Schema     string              `json:"$schema"`
	Title      string              `json:"title"`
	Type       string              `json:"type"`
	Properties map[string]property `json:"properties"`
	Additional bool                `json:"additionalProperties"`
}

type property struct {
	Type        Type            `json:"type"`
	Description string          `json:"description"`
	Default     json.RawMessage `json:"default,omitempty"`
	Enum        []string        `json:"enum,omitempty"`
	Minimum     *int            `json:"minimum,omitempty"`
}

// Schema is the JSON schema of a settings file, indented, with a line end. It
// describes the user's file; which keys a project's file may set stands in the
// descriptions. The bytes depend on [Keys] alone.
func Schema() ([]byte, error) {
	s := schema{
		Schema:     "https://json-schema.org/draft/2020-12/schema",
		Title:      "Settings of Quire (settings.json)",
		Type:       "object",
		Properties: map[string]property{"$schema": {Type: TypeText, Description: "where this schema is; for editors"}},
	}
	for _, k := range Keys() {
		if k.Reach >= ReachUser {
			s.Properties[k.Name] = k.property()
		}
	}
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode settings schema: %w", err)
	}
	return append(text, '\n'), nil
}

func (k Key) property() property {
	p := property{Type: k.jsonType(), Description: k.description(), Enum: k.Words}
	if k.Default != "" {
		p.Default = k.JSON(k.Default)
	}
	if k.Type == TypeInt {
		p.Minimum = &k.Min
	}
	return p
}

func (k Key) description() string {
	text := k.Help + ". Environment: " + k.Env()
	if k.Flag != "" {
		text += ". Flag: " + "--" + k.Flag
	}
	return text + ". A project may set it: " + strconv.FormatBool(k.Reach == ReachProject)
}
