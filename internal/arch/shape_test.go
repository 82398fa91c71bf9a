package arch

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
)

// The size budgets.
const (
	maxFunction  = 120  // lines, from the line of func to the closing brace
	maxFile      = 1000 // lines
	maxInterface = 6    // methods
)

// checkBudgets holds the sizes, in tests too.
func checkBudgets(t *tree) []finding {
	var found []finding
	for _, p := range t.packages {
		for _, s := range p.all() {
			if s.lines > maxFile {
				found = append(found, finding{s.path, fmt.Sprintf("%d lines, at most %d: a file is read in one sitting; split it by what it does", s.lines, maxFile)})
			}
			found = append(found, t.largeNodes(s)...)
		}
	}
	return found
}

func (t *tree) largeNodes(s source) []finding {
	var found []finding
	ast.Inspect(s.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if lines := t.height(n); lines > maxFunction {
				found = append(found, finding{t.at(n), fmt.Sprintf("function %s has %d lines, at most %d: it is several functions", n.Name.Name, lines, maxFunction)})
			}
		case *ast.InterfaceType:
			if methods := len(n.Methods.List); methods > maxInterface {
				found = append(found, finding{t.at(n), fmt.Sprintf("interface of %d methods, at most %d: ask for the role that is needed", methods, maxInterface)})
			}
		}
		return true
	})
	return found
}

func (t *tree) height(n ast.Node) int {
	return t.fset.Position(n.End()).Line - t.fset.Position(n.Pos()).Line + 1
}

// checkDocs holds that every package says what it is.
func checkDocs(t *tree) []finding {
	var found []finding
	for _, p := range t.packages {
		if !slices.ContainsFunc(p.code, documented) {
			found = append(found, finding{p.dir, "no package doc comment: a newcomer reads it first"})
		}
	}
	return found
}

func documented(s source) bool {
	if s.ast.Doc == nil {
		return false
	}
	start := "Package " + s.ast.Name.Name + " "
	if s.ast.Name.Name == "main" {
		start = "Quire "
	}
	return strings.HasPrefix(s.ast.Doc.Text(), start)
}

// checkNames holds that a package is named for what it provides.
func checkNames(t *tree) []finding {
	empty := []string{"util", "utils", "common", "base", "helper", "helpers", "manager", "types", "misc", "shared"}
	var found []finding
	for _, p := range t.packages {
		for _, s := range p.code {
			if name := s.ast.Name.Name; slices.Contains(empty, name) {
				found = append(found, finding{s.path, "package " + name + " says nothing: name it for what it provides"})
			}
		}
	}
	return found
}

// checkUntyped holds that values have types: map[string]any hides what is in it.
func checkUntyped(t *tree) []finding {
	var found []finding
	for _, p := range t.packages {
		for _, s := range p.code {
			ast.Inspect(s.ast, func(n ast.Node) bool {
				if m, ok := n.(*ast.MapType); ok && isIdent(m.Key, "string") && isAny(m.Value) {
					found = append(found, finding{t.at(m), "map[string]any: give the value a type, or keep it as json.RawMessage until somebody owns it"})
				}
				return true
			})
		}
	}
	return found
}

func isAny(e ast.Expr) bool {
	empty, ok := e.(*ast.InterfaceType)
	return isIdent(e, "any") || (ok && len(empty.Methods.List) == 0)
}

func isIdent(e ast.Expr, name string) bool {
	i, ok := e.(*ast.Ident)
	return ok && i.Name == name
}

// checkReaders holds that each key of the configuration is read by the command:
// a setting that does nothing is a lie.
func checkReaders(t *tree) []finding {
	declared, used := t.find("internal/config"), t.find("cmd/quire")
	if declared == nil || used == nil {
		return nil
	}
	read := map[string]bool{}
	for _, s := range used.code {
		eachCall(s, func(_ *ast.SelectorExpr, pkg, name string) {
			read[name] = read[name] || pkg == module+"/internal/config"
		})
	}
	var found []finding
	for _, key := range keyConstants(declared) {
		if !read[key.Name] {
			found = append(found, finding{t.at(key), "nothing in cmd/quire reads the key config." + key.Name + ": a setting without a reader does nothing"})
		}
	}
	return found
}

// keyConstants lists the constants whose type ends in Key.
func keyConstants(p *pkg) []*ast.Ident {
	var list []*ast.Ident
	for _, s := range p.code {
		ast.Inspect(s.ast, func(n ast.Node) bool {
			if v, ok := n.(*ast.ValueSpec); ok {
				if typ, ok := v.Type.(*ast.Ident); ok && strings.HasSuffix(typ.Name, "Key") {
					list = append(list, v.Names...)
				}
			}
			return true
		})
	}
	return list
}
