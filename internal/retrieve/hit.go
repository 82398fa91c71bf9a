package retrieve

import (
	"fmt"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
)

// A HitKind says what was found.
type HitKind string

// The kinds of hits.
const (
	HitPage      HitKind = "page"
	HitDocument  HitKind = "document"  // a section of a document
	HitNote      HitKind = "note"      // a memory note
	HitKnowledge HitKind = "knowledge" // an entry of knowledge
	HitCard      HitKind = "card"      // a card of a turn or task
	HitSkill     HitKind = "skill"
)

// A Hit is something that was found.
type Hit struct {
	Carrier string          `json:"carrier"`
	Kind    HitKind         `json:"kind"`
	Name    string          `json:"name"`             // by which it is read: s7/p412, a path
	Ref     quire.PageRef   `json:"-"`                // of a page
	Source  string          `json:"source"`           // where it is from, for people and models
	Scope   quire.Scope     `json:"scope"`            // how far it reaches
	Marks   []string        `json:"marks,omitempty"`  // what is to be known before it is trusted
	Copies  []string        `json:"copies,omitempty"` // names of others that say the same
	Lines   []Line          `json:"lines,omitempty"`  // what matches, rising
	Total   int             `json:"total"`            // lines that it has
	Tokens  int             `json:"tokens"`           // of all of it
	Shown   int             `json:"shown"`            // tokens of Lines
	Score   float64         `json:"score"`
	Why     []Reason        `json:"why,omitempty"`     // in the order in which it was made up
	Outcome quire.Outcome   `json:"outcome,omitempty"` // of a page, like the next two
	Class   quire.Class     `json:"class,omitempty"`
	PageIs  quire.PageKind  `json:"page_kind,omitempty"`
	Copied  []quire.PageRef `json:"-"` // the pages of Copies

	exact bool    // what the query is about by name
	says  float64 // the share of what the query says that it says in one place, 0 to 1
}

// A Line is a line of what was found, 1-based.
type Line struct {
	Number int    `json:"line"`
	Text   string `json:"text"` // without its end; a long one shortened, which it says
	Hit    bool   `json:"hit"`  // it matches, the others are around it
}

// A Reason is a part of a score: what a term adds, or by what a rule multiplies;
// a rule that does neither decides before the score does.
type Reason struct {
	What   string  `json:"what"`
	Adds   float64 `json:"adds,omitempty"`
	Factor float64 `json:"factor,omitempty"`
}

// String is the reason as people read it.
func (r Reason) String() string {
	switch {
	case r.Factor != 0:
		return fmt.Sprintf("%s ×%.2f", r.What, r.Factor)
	case r.Adds == 0:
		return r.What
	}
	return fmt.Sprintf("%s +%.2f", r.What, r.Adds)
}

// sourceOf says where a page is from.
func sourceOf(r *quire.Row) string {
	var b strings.Builder
	fmt.Fprintf(&b, "session %v, call %d", r.Session, r.Call)
	switch {
	case r.Target != "" && r.Tool != "":
		fmt.Fprintf(&b, ", %s `%s`", r.Tool, r.Target)
	case r.Tool != "":
		b.WriteString(", " + r.Tool)
	default:
		b.WriteString(", " + r.Kind.String())
	}
	if r.By > 0 {
		fmt.Fprintf(&b, ", superseded by %v", r.By)
	}
	return b.String()
}

// marksOf lists what is to be known of a page before it is trusted.
func marksOf(r *quire.Row) (marks []string) {
	switch r.Outcome {
	case quire.OutcomeError:
		marks = append(marks, "failed")
	case quire.OutcomeReverted:
		marks = append(marks, "reverted later")
	case quire.OutcomeAbandoned:
		marks = append(marks, "abandoned: the user went back to before it")
	}
	if len(r.Stale) > 0 {
		marks = append(marks, "lines changed since: "+rangesText(r.Stale))
	}
	return marks
}

func rangesText(ranges []quire.Range) string {
	const shown = 5
	var parts []string
	for i, r := range ranges {
		if i == shown {
			parts = append(parts, fmt.Sprintf("and %d more", len(ranges)-shown))
			break
		}
		parts = append(parts, fmt.Sprintf("%d–%d", r.First, r.Last))
	}
	return strings.Join(parts, ", ")
}
