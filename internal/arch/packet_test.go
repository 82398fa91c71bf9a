package arch

import (
	"go/ast"
	"slices"
)

// The package of what crosses between a Brain and its agents, and that of the Brain.
const (
	packetDir = "internal/packet"
	brainDir  = "internal/brain"
)

// checkPackets holds who makes packets: those that go down only the Brain, those that
// come up only package packet, of what an agent answered. Whoever could make one
// besides could send what nobody decided.
func checkPackets(t *tree) []finding {
	var found []finding
	for _, p := range t.packages {
		if p.dir == packetDir {
			continue
		}
		for _, s := range p.code {
			eachCall(s, func(sel *ast.SelectorExpr, pkg, name string) {
				if pkg == module+"/"+packetDir && p.dir != brainDir && slices.Contains([]string{"Down", "Up", "Normalise", "Broken"}, name) {
					found = append(found, finding{t.at(sel), "packet." + name + ": only " + brainDir + " takes packets across"})
				}
			})
			found = append(found, t.packetLiterals(p, s)...)
		}
	}
	return found
}

// packetLiterals are packets that are written down as values.
func (t *tree) packetLiterals(p *pkg, s source) []finding {
	var found []finding
	ast.Inspect(s.ast, func(n ast.Node) bool {
		lit, ok := n.(*ast.CompositeLit)
		if !ok {
			return true
		}
		sel, ok := lit.Type.(*ast.SelectorExpr)
		if !ok || !isIdent(sel.X, "packet") {
			return true
		}
		switch name := sel.Sel.Name; {
		case name == "Handoff" && p.dir != brainDir:
			found = append(found, finding{t.at(lit), "packet.Handoff: only " + brainDir + " makes packets that go down"})
		case name == "Result" && len(lit.Elts) > 0:
			found = append(found, finding{t.at(lit), "packet.Result: results are made by packet.Normalise of what an agent answered"})
		}
		return true
	})
	return found
}
