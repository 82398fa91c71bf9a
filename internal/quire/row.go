package quire

import "time"

// A Row is a page in the page table: the page with everything that the pool
// knows of it besides its body. All of it is derived from the journal and the
// bodies, and can be rebuilt from them.
type Row struct {
	Page
	ID      string        `json:"id"` // ULID; for machines, never shown
	Session SessionNumber `json:"session"`
	At      time.Time     `json:"at,omitzero"`
	Args    Hash          `json:"args,omitzero"`    // body of a tool call's arguments, as they were
	Version Hash          `json:"version,omitzero"` // of a file page: the whole file as it then was, where known
	Tasks   []string      `json:"tasks,omitempty"`

	LastRef int     `json:"last_ref"` // last call that referred to it; its admission counts
	Refs    int     `json:"refs"`     // calls that referred to it
	Heat    float64 `json:"heat"`     // at LastRef: Σ 2^(−calls since/12) over references, at most one a call

	Pin     Pin          `json:"pin,omitzero"`
	Dropped Principal    `json:"dropped_by,omitempty"`    // who wants it out of the prompt, "" for nobody; a pin takes it back
	Replace []PageNumber `json:"supersedes,omitempty"`    // older pages that this one takes the place of
	By      PageNumber   `json:"superseded_by,omitempty"` // the page that took its place, 0 for none
	From    []PageRef    `json:"derived_from,omitempty"`
	Answers PageNumber   `json:"answers,omitempty"` // the page whose question it answers
	Stale   []Range      `json:"stale,omitempty"`   // lines that a later edit made stale, rising
	Outcome Outcome      `json:"outcome"`

	Owner Principal   `json:"owner"`
	ACL   []Principal `json:"acl,omitempty"` // who else may read it; empty: the owner only
	Scope Scope       `json:"scope"`
}

// Ref names the page from anywhere.
func (r *Row) Ref() PageRef { return PageRef{Session: r.Session, Page: r.Number} }

// A Pin keeps a page in the prompt.
type Pin struct {
	By    Principal `json:"by"`             // "" when it is not pinned
	Until int       `json:"until,omitzero"` // last call for which it holds, 0: until it is taken off
}

// An Outcome says what became of what a page records.
type Outcome string

// The outcomes.
const (
	OutcomeUnknown   Outcome = "unknown"
	OutcomeOK        Outcome = "ok"
	OutcomeError     Outcome = "error"
	OutcomeReverted  Outcome = "reverted"  // a later edit restored what was there before
	OutcomeAbandoned Outcome = "abandoned" // the user went back to before it
)

// A Principal is who owns or may read a page: user:NAME or team:NAME.
type Principal string

// A Scope is how far a page reaches.
type Scope string

// The scopes, from the narrowest to the widest. Promotion goes one way.
const (
	ScopeSession Scope = "session"
	ScopeProject Scope = "project"
	ScopeUser    Scope = "user"
	ScopeTeam    Scope = "team"
)

// A Reader is who asks and what may be seen: every look into the page table and
// every search is made as one.
type Reader struct {
	Who     Principal
	Teams   []Principal
	Project string // pages of scope project are seen from this project
	Session SessionNumber

	// Space, when not nil, is the address space: nothing outside it is found,
	// whoever asks. References in it name their sessions. Scopes belong to it
	// too: what reaches as far as one of them is in it, whatever its page.
	Space  []PageRef
	Scopes []Scope
}

// Sees reports whether the reader may see a page of a session of that project:
// it is the owner's own or its ACL names them, and it is in the address space.
func (a *Reader) Sees(r *Row, project string) bool {
	return a.allowed(r) && a.reaches(r, project) && a.inSpace(r)
}

func (a *Reader) allowed(r *Row) bool {
	if r.Owner == a.Who {
		return true
	}
	for _, p := range r.ACL {
		if p == a.Who {
			return true
		}
		for _, t := range a.Teams {
			if p == t {
				return true
			}
		}
	}
	return false
}

// reaches: the owner sees all of their own; others what was promoted to where
// they stand.
func (a *Reader) reaches(r *Row, project string) bool {
	switch {
	case r.Owner == a.Who:
		return true
	case r.Scope == ScopeProject:
		return project != "" && project == a.Project
	default:
		return r.Scope == ScopeTeam
	}
}

func (a *Reader) spans(s Scope) bool {
	for _, scope := range a.Scopes {
		if scope == s {
			return true
		}
	}
	return false
}

func (a *Reader) inSpace(r *Row) bool {
	if a.Space == nil || a.spans(r.Scope) {
		return true
	}
	for _, ref := range a.Space {
		if ref.Session == r.Session && ref.Page == r.Number {
			return true
		}
	}
	return false
}
