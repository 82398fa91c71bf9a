package permit

import (
	"fmt"
	"slices"
	"strings"
)

// A Demand says whether what a rule matches has to be reviewed by somebody else than
// who did it. "" says nothing.
type Demand string

// The demands.
const (
	ReviewRequired Demand = "required"
	ReviewOptional Demand = "optional"
)

// UnmarshalText reads one of the two.
func (d *Demand) UnmarshalText(text []byte) error {
	*d = Demand(text)
	if *d != ReviewRequired && *d != ReviewOptional {
		return fmt.Errorf("review %q: want required or optional", text)
	}
	return nil
}

// Review reports whether what a request changes or runs has to be reviewed, and
// the rule that says so. Of one path or command the latest layer counts that says
// anything; in a layer required is stronger, and a layer that only tightens cannot
// say optional. What a command may change is not looked at, only its words. Whether
// the request is permitted is another question ([Policy.Judge]).
func (p *Policy) Review(r Request) (why string, required bool) {
	for _, path := range r.Writes {
		spellings, _ := (&judge{Policy: p}).resolve(word{text: path, known: true}, place{})
		if why := demanded(p.Layers, func(r Rule) bool { return matchPath(r.Write, spellings) }); why != "" {
			return why, true
		}
	}
	if r.Command == "" {
		return "", false
	}
	for _, c := range parse(r.Command, place{now: r.Dir}, 0).commands {
		if why := demanded(p.Layers, func(r Rule) bool { return matchCommand(r, c) != no }); why != "" {
			return why, true
		}
	}
	return "", false
}

// demanded is the rule that demands a review, "" for none.
func demanded(layers []Layer, matches func(Rule) bool) (why string) {
	for _, l := range layers {
		said := slices.DeleteFunc(slices.Clone(l.Rules), func(r Rule) bool { return r.Review == "" || !matches(r) })
		i := slices.IndexFunc(said, func(r Rule) bool { return r.Review == ReviewRequired })
		switch {
		case i >= 0:
			f := finding{rule: said[i], layer: l.Name, match: yes}
			why = strings.TrimSpace(f.reason())
		case len(said) > 0 && !l.Tighten:
			why = ""
		}
	}
	return why
}
