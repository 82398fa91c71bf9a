package gemini

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

// otherNames are how members begin that are read here and have a second spelling. A
// body without any of them has one spelling for all that matters.
var otherNames = [...]string{
	`"system_`, `"function_`, `"tool_config`, `"generation_`, `"inline_`, `"file_`, `"mime_`, `"thought_s`, `"thinking_`,
	`"max_output_`, `"allowed_function_`, `"parameters_json_`, `"partial_args`, `"will_continue`,
}

// spelled is a request with the names of members in the spelling that the API answers
// in. It takes those of its interface definition too, with underscores. What users
// name (arguments, responses, schemas, labels) stays, and so does a name where the
// other spelling is there too. Other bodies are returned as they are.
func spelled(b []byte) []byte {
	for _, name := range otherNames {
		if bytes.Contains(b, []byte(name)) && json.Valid(b) {
			return respelled(b)
		}
	}
	return b
}

// placeNames lists members, in their first spelling, whose values hold members that
// the API names.
var placeNames = [...]string{
	"contents", "parts", "systemInstruction", "tools", "functionDeclarations", "toolConfig", "functionCallingConfig",
	"generationConfig", "thinkingConfig", "inlineData", "fileData", "functionCall", "functionResponse",
}

func respelled(raw json.RawMessage) json.RawMessage {
	switch {
	case rawjson.IsArray(raw):
		list := rawjson.Elements(raw)
		for i := range list {
			list[i] = respelled(list[i])
		}
		return rawjson.Array(list)
	case rawjson.IsObject(raw):
		fields := rawjson.Members(raw)
		out := make([]quire.Field, len(fields))
		for i, f := range fields {
			if name := humped(f.Name); rawjson.Get(fields, name) == nil {
				f.Name = name
			}
			if slices.Contains(placeNames[:], f.Name) {
				f.Value = respelled(f.Value)
			}
			out[i] = f
		}
		return objectOf(out)
	}
	return raw
}

// humped is a name without underscores: the letters behind them are capitals.
func humped(name string) string {
	head, rest, found := strings.Cut(name, "_")
	for found && rest != "" {
		head += strings.ToUpper(rest[:1])
		var next string
		next, rest, found = strings.Cut(rest[1:], "_")
		head += next
	}
	return head
}
