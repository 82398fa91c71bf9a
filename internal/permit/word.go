package permit

import (
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// A word of a command, as far as it can be known before it runs.
type word struct {
	text  string // "" when it is not known
	known bool
	glob  bool // it may become any number of names
}

func words(list ...string) []word {
	out := make([]word, len(list))
	for i, text := range list {
		out[i] = word{text: text, known: true}
	}
	return out
}

// flag reports whether a word is an option. What is not known may be one.
func (w word) flag() bool { return w.known && len(w.text) > 1 && w.text[0] == '-' }

// values are the variables of a script whose value is known: HOME, which stands
// for itself as a tilde, and those that are set once, to a fixed text, before
// they are used.
type values map[string]string

// read evaluates a word as the shell would. A word may become several, by braces
// or by a variable that is not quoted.
func (v values) read(w *syntax.Word) []word {
	if w == nil || !v.fixed(w) {
		return []word{{}}
	}
	fields, err := expand.Fields(v.config(), w)
	if err != nil {
		return []word{{}}
	}
	glob := hasGlob(w)
	out := make([]word, len(fields))
	for i, f := range fields {
		out[i] = word{text: f, known: true, glob: glob}
	}
	return out
}

// target evaluates a word that does not split: what a redirection names.
func (v values) target(w *syntax.Word) word {
	if w == nil || !v.fixed(w) {
		return word{}
	}
	text, err := expand.Literal(v.config(), w)
	return word{text: text, known: err == nil, glob: hasGlob(w)}
}

// document evaluates the text of a here-document.
func (v values) document(w *syntax.Word) word {
	if w == nil || !v.fixed(w) {
		return word{}
	}
	text, err := expand.Document(v.config(), w)
	return word{text: text, known: err == nil}
}

// fixed reports whether nothing in a word depends on what happens at run time.
func (v values) fixed(w *syntax.Word) bool {
	fixed, braces := true, 0
	syntax.Walk(w, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.ParamExp:
			fixed = fixed && v.plain(n)
		case *syntax.CmdSubst, *syntax.ProcSubst, *syntax.ArithmExp, *syntax.ExtGlob:
			fixed = false
		case *syntax.Lit:
			braces += strings.Count(n.Value, "{")
			fixed = fixed && !(strings.Contains(n.Value, "{") && strings.Contains(n.Value, ".."))
		}
		return fixed
	})
	return fixed && braces <= 3
}

// plain reports whether an expansion is just the value of a known variable.
func (v values) plain(p *syntax.ParamExp) bool {
	if p.Param == nil || p.Excl || p.Length || p.Width || p.IsSet || p.Index != nil || p.Slice != nil || p.Repl != nil || p.Exp != nil || p.Names != 0 || len(p.Modifiers) > 0 || p.NestedParam != nil || p.Flags != nil {
		return false
	}
	_, ok := v[p.Param.Value]
	return ok
}

func hasGlob(w *syntax.Word) bool {
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(p.Value, "*?[") {
				return true
			}
		case *syntax.ParamExp:
			return true // its value may hold one
		}
	}
	return false
}

// config is for an expansion that looks at nothing outside. A home folder stays
// a tilde.
func (v values) config() *expand.Config {
	return &expand.Config{NoUnset: true, Env: expand.FuncEnviron(func(name string) string {
		if user, ok := strings.CutPrefix(name, "HOME "); ok {
			return "~" + user
		}
		if value, ok := v[name]; ok || name != "HOME" {
			return value
		}
		return "~"
	})}
}
