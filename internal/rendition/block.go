package rendition

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"strings"
)

// maxBlock is the length in lines of the longest block that indentation alone makes
// one: what is longer is cut into the blocks inside it.
const maxBlock = 40

// starts are the units in which declarations or blocks of a source file begin: of Go
// as its parser says, where it can be parsed; of other languages, and of pieces of
// Go, by indentation.
func (s *sheet) starts() []int {
	if path.Ext(s.src.Page.Target) == ".go" {
		if at := s.declarations(); at != nil {
			return at
		}
	}
	return s.indented(s.parents())
}

// declarations are those of a Go file with their comments.
func (s *sheet) declarations() (at []int) {
	var text strings.Builder
	for i := range s.units {
		text.WriteString(bare(s.units[i].text))
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", text.String(), parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	for _, d := range file.Decls {
		if i := s.first(set.PositionFor(declared(d), false).Line); i < len(s.units) {
			at = append(at, i)
		}
	}
	return at
}

// declared is where a declaration begins with its comment.
func declared(d ast.Decl) token.Pos {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Doc != nil {
			return d.Doc.Pos()
		}
	case *ast.GenDecl:
		if d.Doc != nil {
			return d.Doc.Pos()
		}
	}
	return d.Pos()
}

// parents are, of each unit, the nearest one before it that is indented less, -1
// for none. Blank lines and closing brackets open nothing.
func (s *sheet) parents() []int {
	out := make([]int, len(s.units))
	var open []int
	for i := range s.units {
		body := bare(s.units[i].text)
		out[i] = -1
		if strings.TrimSpace(body) == "" || !s.units[i].opens {
			if len(open) > 0 {
				out[i] = open[len(open)-1]
			}
			continue
		}
		for len(open) > 0 && indent(s.units[open[len(open)-1]].text) >= indent(body) {
			open = open[:len(open)-1]
		}
		if len(open) > 0 {
			out[i] = open[len(open)-1]
		}
		if !closing(body) {
			open = append(open, i)
		}
	}
	return out
}

func closing(body string) bool {
	return strings.Trim(body, " \t\r\n)]};,") == "" || strings.TrimSpace(body) == "end"
}

// indent is the width of the white space before a line, four for a tab.
func indent(line string) (width int) {
	for _, c := range []byte(bare(line)) {
		switch c {
		case ' ':
			width++
		case '\t':
			width += 4
		default:
			return width
		}
	}
	return width
}

// indented are the outermost blocks that are no longer than maxBlock, each with the
// line that opens it.
func (s *sheet) indented(parents []int) (at []int) {
	ends := make([]int, len(parents))
	for i := len(parents) - 1; i >= 0; i-- {
		ends[i] = max(ends[i], i+1)
		if p := parents[i]; p >= 0 {
			ends[p] = max(ends[p], ends[i])
		}
	}
	for i := 0; i < len(parents); {
		if ends[i] == i+1 || ends[i]-i > maxBlock {
			i++
			continue
		}
		at = append(at, i)
		i = ends[i]
	}
	return at
}
