package script

import (
	"errors"
	"strings"

	"github.com/quire-agent/quire/internal/x/rawjson"
)

var errPlaceholder = errors.New("no such placeholder")

// expand puts values in the places of ${name}. $${ becomes ${. It fails for a
// place that is not closed and for a name that has no value.
func expand(text string, value func(name string) (string, bool)) (string, error) {
	var b strings.Builder
	for {
		at := strings.Index(text, "${")
		if at < 0 {
			b.WriteString(text)
			return b.String(), nil
		}
		if at > 0 && text[at-1] == '$' {
			b.WriteString(text[:at-1])
			b.WriteString("${")
			text = text[at+2:]
			continue
		}
		b.WriteString(text[:at])
		name, rest, closed := strings.Cut(text[at+2:], "}")
		v, ok := value(name)
		if !closed || !ok {
			return "", errPlaceholder
		}
		b.WriteString(v)
		text = rest
	}
}

// placeholder reports whether a name stands for something.
func placeholder(name string) bool {
	switch name {
	case "call", "loop", "user", "result":
		return true
	}
	return len(name) == 1 && name[0] >= '1' && name[0] <= '9'
}

// quoted is a text as it stands inside a JSON string.
func quoted(text string) string {
	raw := rawjson.AppendText(nil, text)
	return string(raw[1 : len(raw)-1])
}
