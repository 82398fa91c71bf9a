package retrieve

import (
	"strings"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/term"
)

// maxDefinitions bounds what one page defines, so that generated code does not
// drown the field.
const maxDefinitions = 512

// definitions lists the names that a source text defines, each once, in order:
// what stands behind a word that in some language begins a definition. It is a
// guess made of single lines, for ranking only.
func definitions(class quire.Class, text string) (names []string) {
	if class != quire.ClassSource && class != quire.ClassDiff {
		return nil
	}
	seen := map[string]bool{}
	for line := range strings.SplitSeq(text, "\n") {
		name := defined(line)
		if name == "" || seen[name] {
			continue
		}
		seen[name] = true
		if names = append(names, name); len(names) == maxDefinitions {
			break
		}
	}
	return names
}

// defined is the name that a line defines, "" for none.
func defined(line string) string {
	line = strings.TrimLeft(line, " \t0123456789:→|+-")
	for range 4 { // export default async function
		word, rest, ok := strings.Cut(line, " ")
		switch {
		case !ok:
			return ""
		case definer(word):
			return nameIn(rest)
		case !modifier(word):
			return ""
		}
		line = strings.TrimLeft(rest, " ")
	}
	return ""
}

func definer(word string) bool {
	switch word {
	case "func", "def", "class", "struct", "enum", "trait", "interface", "type", "fn", "function", "function*",
		"module", "mod", "macro_rules!", "object", "protocol", "fun", "sub", "record", "const", "let", "var", "val", "static", "#define":
		return true
	}
	return false
}

func modifier(word string) bool {
	switch word {
	case "export", "default", "async", "pub", "pub(crate)", "public", "private", "protected", "internal", "abstract",
		"final", "sealed", "static", "override", "unsafe", "open", "data", "declare":
		return true
	}
	return false
}

// nameIn is the identifier at the beginning of a text, behind a Go receiver.
func nameIn(text string) string {
	text = strings.TrimLeft(text, " ")
	if strings.HasPrefix(text, "(") {
		_, text, _ = strings.Cut(text, ")")
		text = strings.TrimLeft(text, " ")
	}
	name := text[:term.WordEnd(text, 0)]
	if len(name) < 3 {
		return ""
	}
	return name
}
