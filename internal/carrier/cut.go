package carrier

// A Section is a part of a text under one heading.
type Section struct {
	Titles []string // the headings above it and its own, the outermost first
	First  int      // number of its first line
	Text   string   // its heading included
}

// Sections cuts Markdown at its headings, outside of fenced code. A section with
// nothing but its heading is part of the next one; blank ones are left out.
func Sections(text string) []Section {
	var out []Section
	for _, s := range sections(text) {
		out = append(out, Section{s.titles, s.first, s.text})
	}
	return out
}

// FrontMatter reads the keys of one word at the beginning of a file, between two
// lines of ---, each value in one line. Nested keys are not read.
func FrontMatter(text string) map[string]string { return frontMatter(text) }
