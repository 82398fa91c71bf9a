package quire

// A Rendition is the form in which a page stands in the prompt.
type Rendition string

// The renditions, from the highest to the lowest.
const (
	RenditionFull    Rendition = "full"
	RenditionExcerpt Rendition = "excerpt" // chosen parts, line numbers kept
	RenditionCard    Rendition = "card"    // a structured line
	RenditionHandle  Rendition = "handle"  // what it was and how to read it back
	RenditionAbsent  Rendition = "absent"
)

// Resident reports whether a page in this form holds content of its own.
func (r Rendition) Resident() bool { return r == RenditionFull || r == RenditionExcerpt }
