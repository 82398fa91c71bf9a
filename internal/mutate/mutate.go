package mutate

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
)

// A Mutant is one change of one decision.
type Mutant struct {
	File     string // name, without a folder
	Line     int
	Function string
	Was      string // the expression or condition, on one line
	Becomes  string
}

// String is the mutant as it is reported.
func (m Mutant) String() string {
	return fmt.Sprintf("%s:%d: %s: %s", m.File, m.Line, m.Function, m.Change())
}

// Change is what changes, without the place.
func (m Mutant) Change() string { return m.Was + " → " + m.Becomes }

// A Source is a Go file with its mutants.
type Source struct {
	Mutants []Mutant // in the order of the file

	text  string
	fset  *token.FileSet
	name  string
	where string // name of the function that is looked at
	edits []edit
	first int // number of the first mutant
}

// An edit inserts text at an offset. Of those at one offset the earlier ones come
// first.
type edit struct {
	at   int
	text string
}

// Read finds the mutants of a file: each comparison with its bound moved or its
// sense turned, each "and" as an "or" and the other way round, and each condition
// that only guards a return, continue or break as if it never held. They are
// numbered from first on.
func Read(name, text string, first int) (*Source, error) {
	s := &Source{text: text, fset: token.NewFileSet(), name: name, first: first}
	file, err := parser.ParseFile(s.fset, name, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("mutate: %w", err)
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
			s.where = f.Name.Name
			s.walk(f.Body)
		}
	}
	return s, nil
}

// Instrument is the file with all its mutants in it: mutant(n) turns on the one
// of number n. It must be declared in the package.
func (s *Source) Instrument() string {
	slices.SortStableFunc(s.edits, func(a, b edit) int { return a.at - b.at })
	var out strings.Builder
	from := 0
	for _, e := range s.edits {
		out.WriteString(s.text[from:e.at])
		out.WriteString(e.text)
		from = e.at
	}
	return out.String() + s.text[from:]
}

// walk enters the mutants below a node. What an outer one puts before its
// expression is entered before that of the inner ones, and what it puts behind is
// entered after theirs.
func (s *Source) walk(body ast.Node) {
	var behind [][]edit
	ast.Inspect(body, func(n ast.Node) bool {
		if n == nil {
			last := len(behind) - 1
			s.edits = append(s.edits, behind[last]...)
			behind = behind[:last]
			return true
		}
		behind = append(behind, s.mutate(n))
		return true
	})
}

// mutate enters what a mutant of a node puts before, and returns what it puts
// behind.
func (s *Source) mutate(n ast.Node) []edit {
	switch n := n.(type) {
	case *ast.IfStmt:
		if guards(n) {
			on := s.enter(n.Cond, s.line(n.Cond), "false")
			return s.around(n.Cond, "!"+on+" && (", ")")
		}
	case *ast.BinaryExpr:
		return s.binary(n)
	}
	return nil
}

// flips are the operators that stand for each other.
func flips() map[token.Token]token.Token {
	return map[token.Token]token.Token{
		token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
		token.EQL: token.NEQ, token.NEQ: token.EQL, token.LAND: token.LOR, token.LOR: token.LAND,
	}
}

func (s *Source) binary(n *ast.BinaryExpr) []edit {
	to, ok := flips()[n.Op]
	if !ok {
		return nil
	}
	x, y := s.line(n.X), s.line(n.Y)
	on := s.enter(n, s.line(n), x+" "+to.String()+" "+y)
	switch n.Op {
	case token.EQL, token.NEQ:
		return s.around(n, "((", ") != "+on+")")
	case token.LSS, token.GTR:
		return s.around(n, "(", " || "+on+" && ("+x+") == ("+y+"))")
	case token.LEQ, token.GEQ:
		return s.around(n, "(", " && !("+on+" && ("+x+") == ("+y+")))")
	}
	// x or y is not (not x and not y), and the other way round.
	return append(s.around(n.X, "((((", ") != "+on+")"), s.around(n.Y, "((", ") != "+on+")) != "+on+")")...)
}

// guards reports whether all that a condition does is to leave.
func guards(n *ast.IfStmt) bool {
	if n.Else != nil || len(n.Body.List) == 0 {
		return false
	}
	switch n.Body.List[len(n.Body.List)-1].(type) {
	case *ast.ReturnStmt, *ast.BranchStmt:
		return true
	default:
		return false
	}
}

// enter adds a mutant and returns the expression that tells whether it is on.
func (s *Source) enter(n ast.Node, was, becomes string) string {
	s.Mutants = append(s.Mutants, Mutant{File: s.name, Line: s.fset.Position(n.Pos()).Line, Function: s.where, Was: was, Becomes: becomes})
	return fmt.Sprintf("mutant(%d)", s.first+len(s.Mutants)-1)
}

// around enters what stands before a node and returns what stands behind it.
func (s *Source) around(n ast.Node, before, behind string) []edit {
	s.edits = append(s.edits, edit{s.offset(n.Pos()), before})
	return []edit{{s.offset(n.End()), behind}}
}

func (s *Source) offset(p token.Pos) int { return s.fset.Position(p).Offset }

// line is the text of a node on one line.
func (s *Source) line(n ast.Node) string {
	return strings.Join(strings.Fields(s.text[s.offset(n.Pos()):s.offset(n.End())]), " ")
}
