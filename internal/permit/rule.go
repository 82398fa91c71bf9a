package permit

import (
	"path"
	"slices"
	"strings"

	"github.com/quire-agent/quire/internal/x/walk"
)

// A Rule gives a verdict on what it matches. One of Command, Write and Read is
// set.
//
// A command pattern is words: the first is the command by its last element, so
// that git also matches /usr/bin/git. Flags in it (-rf) must all be there, in
// any spelling and order: -rf matches -fr, -r -f and --recursive --force. The
// other words are globs and match the operands from the first on: "git push"
// matches git -C x push --force.
//
// Path patterns are globs from the project's folder ([walk.Match]) or, when they
// begin with a slash or **/, absolute ones.
type Rule struct {
	Command string  `json:"command,omitempty"`
	Write   string  `json:"write,omitempty"`
	Read    string  `json:"read,omitempty"`
	Verdict Verdict `json:"verdict"`
	Review  Demand  `json:"review,omitempty"` // of Command and Write
	Reason  string  `json:"reason,omitempty"`
}

// String is the pattern with what it is about.
func (r Rule) String() string {
	switch {
	case r.Command != "":
		return "command " + r.Command
	case r.Write != "":
		return "write " + r.Write
	}
	return "read " + r.Read
}

// A Layer is a set of rules that belong together. In a layer the strictest rule
// that matches counts; a later layer that matches takes the place of earlier
// ones. A layer that only tightens (a file of the project, which is not the
// user's own word) cannot make anything less strict.
type Layer struct {
	Name    string
	Tighten bool
	Rules   []Rule
}

// A match says how sure it is that a rule is about something.
type match uint8

const (
	no    match = iota
	maybe       // as far as it is known before it runs
	yes
)

// A finding is the rule that decides, and its verdict: what may be meant is not
// denied and not allowed, but asked about.
type finding struct {
	rule    Rule
	layer   string
	verdict Verdict
	match   match
}

func (f finding) ok() bool { return f.match > no }

func (f finding) reason() string {
	text := "the rule “" + f.rule.String() + "” (" + f.layer + ")"
	if f.match == maybe {
		text = "it may be what " + text + " is about"
	}
	if f.rule.Reason != "" {
		text += ": " + f.rule.Reason
	}
	return text
}

// find goes through the layers.
func find(layers []Layer, matches func(r Rule) match) finding {
	var found finding
	for _, l := range layers {
		f := l.strictest(matches)
		weaker := l.Tighten && (f.verdict == Allow || found.ok() && f.verdict <= found.verdict)
		if f.ok() && !weaker {
			found = f
		}
	}
	return found
}

func (l Layer) strictest(matches func(Rule) match) finding {
	var f finding
	for _, r := range l.Rules {
		m := matches(r)
		v := r.Verdict
		if m == maybe {
			v = min(v, Ask)
		}
		if m == no || (m == maybe && v == Allow) {
			continue
		}
		if !f.ok() || v > f.verdict {
			f = finding{r, l.Name, v, m}
		}
	}
	return f
}

// matchCommand reports whether a rule is about a simple command. Of a command
// whose name is not known no rule says anything.
func matchCommand(r Rule, c command) match {
	if pattern := strings.Fields(r.Command); len(pattern) > 0 && c.name.known && matchWord(path.Base(pattern[0]), c.name) == yes {
		flags, operands := splitPattern(pattern[1:])
		return min(matchFlags(flags, c), matchOperands(operands, c.operands()))
	}
	return no
}

func matchFlags(flags []string, c command) match {
	result := yes
	for _, f := range flags {
		switch {
		case c.hasFlag(f):
		case c.loose():
			result = maybe
		default:
			return no
		}
	}
	return result
}

func splitPattern(words []string) (flags, operands []string) {
	for _, w := range words {
		switch {
		case strings.HasPrefix(w, "--"):
			flags = append(flags, w)
		case strings.HasPrefix(w, "-") && len(w) > 1:
			for _, letter := range w[1:] {
				flags = append(flags, "-"+string(letter))
			}
		default:
			operands = append(operands, w)
		}
	}
	return flags, operands
}

// matchOperands matches from the first operand on. A word of which nothing is
// known may be any number of words.
func matchOperands(pattern []string, words []word) match {
	for i, p := range pattern {
		if p == "**" {
			return yes
		}
		if i >= len(words) {
			return no
		}
		if m := matchWord(p, words[i]); m != yes {
			return m
		}
	}
	return yes
}

func matchWord(pattern string, w word) match {
	switch {
	case pattern == "*" || w.known && pattern == w.text:
		return yes
	case !w.known:
		return maybe
	case strings.ContainsAny(pattern, `*?[{\`) && walk.Match(pattern, w.text):
		return yes
	}
	return no
}

// matchPath reports whether a pattern is about a path, in one of its spellings,
// or in small letters: on some systems both are the same file.
func matchPath(pattern string, spellings []string) bool {
	return pattern != "" && slices.ContainsFunc(spellings, func(s string) bool {
		s = strings.TrimPrefix(s, "/")
		p := strings.TrimPrefix(pattern, "/")
		return walk.Match(p, s) || walk.Match(p, strings.ToLower(s))
	})
}

// reaches reports whether what a pattern is about surely lies in a folder.
func reaches(pattern, folder string) bool {
	fixed, _, _ := strings.Cut(pattern, "*")
	fixed = strings.TrimSuffix(fixed, "/")
	return fixed != "" && (fixed == folder || strings.HasPrefix(fixed, folder+"/"))
}

// cleaned is a path without what does not change where it leads.
func cleaned(name string) string {
	if strings.HasPrefix(name, "~") {
		return strings.TrimSuffix(path.Clean(name), "/")
	}
	return path.Clean(name)
}

// fixedPart is the folder of a path up to its first wildcard.
func fixedPart(name string) string {
	at := strings.IndexAny(name, "*?[")
	if at < 0 {
		return name
	}
	return path.Dir(name[:at] + "x")
}
