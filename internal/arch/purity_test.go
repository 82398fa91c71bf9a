package arch

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
)

// pure lists the packages whose output depends on their input alone, so that a
// recorded run can be replayed from any point.
func pure() []string {
	return []string{"internal/schedule", "internal/assemble", "internal/page", "internal/shingle"}
}

// impureImports lists the packages of the standard library that bring in a clock,
// chance, files, a network, processes or a log.
func impureImports() []string {
	return []string{"os", "net", "syscall", "math/rand", "crypto/rand", "hash/maphash", "log", "io/ioutil", "database/sql", "testing", "plugin", "flag"}
}

// impureCalls lists functions of packages that are otherwise harmless.
func impureCalls() map[string][]string {
	return map[string][]string{
		"time": {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"},
		"fmt":  {"Print", "Printf", "Println", "Scan", "Scanf", "Scanln"},
	}
}

// checkPurity follows the imports of the pure packages through this module.
func checkPurity(t *tree) []finding {
	var found []finding
	for _, dir := range pure() {
		if t.find(dir) != nil {
			found = append(found, t.impurities(dir, dir, map[string]bool{})...)
		}
	}
	return found
}

// impurities looks at one package and at what it imports; way is how it was
// reached.
func (t *tree) impurities(dir, way string, seen map[string]bool) []finding {
	p := t.find(dir)
	if p == nil || seen[dir] {
		return nil
	}
	seen[dir] = true
	var found []finding
	for _, i := range imports(p.code) {
		if within(i.path, impureImports()...) {
			found = append(found, impure(t.at(i.spec), way, i.path))
		}
		if next := i.local(); next != "" {
			found = append(found, t.impurities(next, way+" → "+next, seen)...)
		}
	}
	for _, s := range p.code {
		eachCall(s, func(call *ast.SelectorExpr, pkg, name string) {
			if slices.Contains(impureCalls()[pkg], name) {
				found = append(found, impure(t.at(call), way, pkg+"."+name))
			}
		})
	}
	return found
}

func impure(where, way, what string) finding {
	return finding{where, fmt.Sprintf("%s must be pure but reaches %s: the same input must give the same output at any replay; hand the value in", way, what)}
}

// eachCall visits the uses of names of imported packages.
func eachCall(s source, visit func(at *ast.SelectorExpr, pkg, name string)) {
	ast.Inspect(s.ast, func(n ast.Node) bool {
		if at, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := at.X.(*ast.Ident); ok {
				if from := importOf(s, x.Name); from != "" {
					visit(at, from, at.Sel.Name)
				}
			}
		}
		return true
	})
}

// importOf is the path that a name stands for in a file, "" for none.
func importOf(s source, name string) string {
	for _, i := range imports([]source{s}) {
		last := i.path[strings.LastIndexByte(i.path, '/')+1:]
		if i.spec.Name != nil {
			last = i.spec.Name.Name
		}
		if last == name {
			return i.path
		}
	}
	return ""
}

// checkEdges holds that only the command reads the process: its environment, its
// arguments, its end.
func checkEdges(t *tree) []finding {
	reads := []string{"Getenv", "LookupEnv", "Environ", "ExpandEnv", "Expand", "UserHomeDir", "UserCacheDir", "UserConfigDir", "Args", "Exit", "Setenv", "Chdir"}
	var found []finding
	for _, p := range t.packages {
		if p.dir == "cmd/quire" {
			continue
		}
		for _, s := range p.code {
			eachCall(s, func(at *ast.SelectorExpr, pkg, name string) {
				if (pkg == "os" && slices.Contains(reads, name)) || pkg == "flag" || (pkg == "os/signal") {
					found = append(found, finding{t.at(at), fmt.Sprintf("%s.%s: only cmd/quire reads the environment, the flags and the signals, so that everything else can be tested with values", pkg, name)})
				}
			})
		}
	}
	return found
}
