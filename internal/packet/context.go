package packet

import (
	"strings"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/route"
)

// A RefKind says what a reference is to.
type RefKind string

// The kinds of references.
const (
	RefFile     RefKind = "file"
	RefThread   RefKind = "thread"
	RefSummary  RefKind = "summary"
	RefArtifact RefKind = "artifact"
)

// Values are all kinds.
func (RefKind) Values() []string {
	return []string{string(RefFile), string(RefThread), string(RefSummary), string(RefArtifact)}
}

func (k RefKind) known() bool {
	switch k {
	case RefFile, RefThread, RefSummary, RefArtifact:
		return true
	}
	return false
}

// A ContextRef names something without holding it. Of a page the uri is page: and
// its name, as page:s8/p12#L10-L40, and to hold the reference is the right to read
// that page and no other. Uris that are not known are kept and shown, and never
// followed.
type ContextRef struct {
	Kind  RefKind `json:"kind"`
	URI   string  `json:"uri"`
	Label string  `json:"label,omitempty"`
}

// pageScheme begins the uri of a page.
const pageScheme = "page:"

// PageRef refers to a page.
func PageRef(kind RefKind, page quire.PageRef, label string) ContextRef {
	return ContextRef{Kind: kind, URI: pageScheme + page.String(), Label: label}
}

// Page is the page that is referred to; ok is false for other uris.
func (r ContextRef) Page() (page quire.PageRef, ok bool) {
	name, ok := strings.CutPrefix(r.URI, pageScheme)
	if !ok {
		return quire.PageRef{}, false
	}
	page, err := quire.ParsePageRef(name)
	return page, err == nil
}

// A TaskProgress says how far a task is.
type TaskProgress struct {
	Status         route.Status `json:"status"`
	Summary        string       `json:"summary,omitempty"`
	CurrentStep    string       `json:"currentStep,omitempty"`
	CompletedSteps []string     `json:"completedSteps,omitempty"`
	Percent        *float64     `json:"percent,omitempty"` // 0 to 100
}

// A BrainTaskContext is the Brain's own context: there is exactly one for a run,
// and its id is that of the run.
type BrainTaskContext struct {
	ID       string       `json:"id"`
	Layer    InBrain      `json:"layer"`
	Goal     string       `json:"goal"`
	Progress TaskProgress `json:"progress"`
	Children []string     `json:"childContextIds"`
	Refs     []ContextRef `json:"contextRefs"`
}

// An AgentTaskContext is the context of one job of one agent.
type AgentTaskContext struct {
	ID       string       `json:"id"`
	Parent   string       `json:"parentId"` // of the Brain
	Layer    InAgent      `json:"layer"`
	Role     route.Role   `json:"agentRole"`
	Goal     string       `json:"goal"`
	Progress TaskProgress `json:"progress"`
	Refs     []ContextRef `json:"contextRefs"`
}
