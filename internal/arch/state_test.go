package arch

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// checkState holds that a package has no state and no hidden start: no init, and
// no variable that can change after it was declared.
func checkState(t *tree) []finding {
	var found []finding
	for _, p := range t.packages {
		for _, s := range p.code {
			found = append(found, inits(t, s)...)
		}
		for _, v := range variables(p) {
			if why := v.fault(p); why != "" {
				found = append(found, finding{t.at(v.name), fmt.Sprintf("package variable %s %s: state belongs to a value that somebody owns", v.name.Name, why)})
			}
		}
	}
	return found
}

func inits(t *tree, s source) []finding {
	var found []finding
	for _, d := range s.ast.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
			found = append(found, finding{t.at(f), "init(): wiring is plain code in cmd/quire, where it can be read and tested"})
		}
	}
	return found
}

// A variable is a package-level one.
type variable struct {
	name     *ast.Ident
	value    ast.Expr // nil without one
	embedded bool
}

func variables(p *pkg) []variable {
	var list []variable
	for _, s := range p.code {
		for _, d := range s.ast.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.VAR {
				list = append(list, declared(g)...)
			}
		}
	}
	return list
}

func declared(g *ast.GenDecl) []variable {
	var list []variable
	for _, spec := range g.Specs {
		v, ok := spec.(*ast.ValueSpec)
		if !ok {
			continue
		}
		embedded := embeds(g.Doc) || embeds(v.Doc)
		for i, name := range v.Names {
			one := variable{name: name, embedded: embedded}
			if i < len(v.Values) {
				one.value = v.Values[i]
			}
			list = append(list, one)
		}
	}
	return list
}

func embeds(doc *ast.CommentGroup) bool {
	return doc != nil && slices.ContainsFunc(doc.List, func(c *ast.Comment) bool { return strings.HasPrefix(c.Text, "//go:embed ") })
}

// fault says what is wrong with a variable, "" for nothing.
func (v variable) fault(p *pkg) string {
	if v.name.Name == "_" || v.embedded {
		return ""
	}
	sentinel := strings.HasPrefix(strings.ToLower(v.name.Name), "err") && constructed(v.value, "errors.New", "fmt.Errorf")
	if v.name.IsExported() && !sentinel {
		return "is exported, so anyone can change it"
	}
	_, table := v.value.(*ast.CompositeLit)
	constant := constructed(v.value, "regexp.MustCompile", "strings.NewReplacer", "template.Must", "sync.OnceValue", "sync.OnceValues")
	if !sentinel && !table && !constant && !computed(p, v.value) {
		return "is neither a table, an embedded file, an error, a regular expression nor a value computed once"
	}
	if assigned(p, v.name.Name) {
		return "is changed after it was declared"
	}
	return ""
}

// constructed reports whether an expression is a call of one of the functions.
func constructed(e ast.Expr, functions ...string) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	x, ok := sel.X.(*ast.Ident)
	return ok && slices.Contains(functions, x.Name+"."+sel.Sel.Name)
}

// computed reports whether an expression calls a function of the package without
// arguments: a table that is worked out instead of written down.
func computed(p *pkg, e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok || len(call.Args) > 0 {
		return false
	}
	name, ok := call.Fun.(*ast.Ident)
	return ok && slices.ContainsFunc(p.code, func(s source) bool {
		return slices.ContainsFunc(s.ast.Decls, func(d ast.Decl) bool {
			f, ok := d.(*ast.FuncDecl)
			return ok && f.Recv == nil && f.Name.Name == name.Name
		})
	})
}

// assigned reports whether a function of the package changes the variable or
// takes its address. A function that declares the same name is not looked at.
func assigned(p *pkg, name string) bool {
	for _, s := range p.code {
		for _, d := range s.ast.Decls {
			f, ok := d.(*ast.FuncDecl)
			if ok && f.Body != nil && !declares(f, name) && changes(f.Body, name) {
				return true
			}
		}
	}
	return false
}

func changes(body ast.Node, name string) bool {
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			found = found || slices.ContainsFunc(n.Lhs, func(e ast.Expr) bool { return rootIs(e, name) })
		case *ast.IncDecStmt:
			found = found || rootIs(n.X, name)
		case *ast.UnaryExpr:
			found = found || (n.Op == token.AND && rootIs(n.X, name))
		case *ast.CallExpr:
			f, ok := n.Fun.(*ast.Ident)
			found = found || (ok && (f.Name == "delete" || f.Name == "clear" || f.Name == "copy") && rootIs(n.Args[0], name))
		}
		return !found
	})
	return found
}

// rootIs reports whether an expression starts at the variable: v, v.f, v[i], *v.
func rootIs(e ast.Expr, name string) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name == name
	case *ast.SelectorExpr:
		return rootIs(e.X, name)
	case *ast.IndexExpr:
		return rootIs(e.X, name)
	case *ast.SliceExpr:
		return rootIs(e.X, name)
	case *ast.StarExpr:
		return rootIs(e.X, name)
	case *ast.ParenExpr:
		return rootIs(e.X, name)
	}
	return false
}

// declares reports whether a function has a local of that name.
func declares(f *ast.FuncDecl, name string) bool {
	found := false
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			found = found || slices.ContainsFunc(n.Names, func(i *ast.Ident) bool { return i.Name == name })
		case *ast.ValueSpec:
			found = found || slices.ContainsFunc(n.Names, func(i *ast.Ident) bool { return i.Name == name })
		case *ast.AssignStmt:
			found = found || (n.Tok == token.DEFINE && slices.ContainsFunc(n.Lhs, func(e ast.Expr) bool { return rootIs(e, name) }))
		case *ast.RangeStmt:
			found = found || (n.Tok == token.DEFINE && n.Key != nil && (rootIs(n.Key, name) || (n.Value != nil && rootIs(n.Value, name))))
		}
		return !found
	})
	return found
}
