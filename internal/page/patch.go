package page

import (
	"strings"

	"github.com/quire-agent/quire/internal/quire"
)

const (
	beginPatch = "*** Begin Patch"
	endPatch   = "*** End Patch"
)

// describePatch reads a patch in the form of apply_patch: sections of "*** Add
// File:", "*** Update File:" (with hunks of lines that begin with a space, a
// minus or a plus, separated by lines that begin with @@), "*** Delete File:"
// and "*** Move to:". Old holds, for each hunk, its context and its removed
// lines, which is what must stand in the file.
func describePatch(patch string) Description {
	p := patchReader{Description: Description{Action: quire.ActionWrite}}
	for l := range strings.Lines(patch) {
		if l = strings.TrimRight(l, "\r\n"); l == endPatch {
			break
		}
		p.line(l)
	}
	p.endHunk()
	p.Target = strings.Join(p.paths, " ")
	p.New = p.added.String()
	return p.Description
}

type patchReader struct {
	Description
	paths  []string
	hunk   []string // context and removed lines
	adding bool     // the section is a new file
	added  strings.Builder
}

func (p *patchReader) line(l string) {
	switch {
	case strings.HasPrefix(l, "*** "):
		p.section(strings.TrimPrefix(l, "*** "))
	case strings.HasPrefix(l, "@@"):
		p.endHunk()
	case strings.HasPrefix(l, "+"):
		p.add(l[1:])
	case strings.HasPrefix(l, "-"):
		p.hunk = append(p.hunk, l[1:])
	case p.adding || len(p.paths) == 0:
	default:
		p.hunk = append(p.hunk, strings.TrimPrefix(l, " "))
	}
}

func (p *patchReader) add(l string) {
	if p.added.Len() > 0 {
		p.added.WriteByte('\n')
	}
	p.added.WriteString(l)
}

// section begins a file.
func (p *patchReader) section(head string) {
	p.endHunk()
	verb, path, ok := strings.Cut(head, ": ")
	if !ok {
		return
	}
	p.adding = verb == "Add File"
	if verb == "Update File" || verb == "Delete File" {
		p.Action = quire.ActionEdit
	}
	if p.adding || p.Action == quire.ActionEdit && verb != "Move to" {
		p.paths = append(p.paths, strings.TrimSpace(path))
	}
}

func (p *patchReader) endHunk() {
	if len(p.hunk) > 0 {
		p.Old = append(p.Old, strings.Join(p.hunk, "\n"))
	}
	p.hunk = nil
}
