package wiretest

import (
	"strconv"

	"github.com/quire-agent/quire/internal/x/rawjson"
)

// A Grammar makes JSON at random that looks like what a dialect has: members and
// texts are taken from its words, so that known members meet values of every
// form. Choose is where chance comes from: a number from 0 up to below n.
type Grammar struct {
	Words  []string
	Choose func(n int) int
}

// Object is an object that nests at most as deep as depth says.
func (g Grammar) Object(depth int) []byte {
	out := []byte("{")
	seen := map[string]bool{}
	for range g.Choose(6) {
		name := g.word()
		if seen[name] {
			continue
		}
		if seen[name] = true; len(seen) > 1 {
			out = append(out, ',')
		}
		out = append(append(out, rawjson.AppendText(nil, name)...), ':')
		out = append(out, g.value(depth-1)...)
	}
	return append(out, '}')
}

func (g Grammar) array(depth int) []byte {
	out := []byte("[")
	for i := range g.Choose(4) {
		if i > 0 {
			out = append(out, " , "...)
		}
		out = append(out, g.value(depth-1)...)
	}
	return append(out, ']')
}

func (g Grammar) value(depth int) []byte {
	kinds := 5
	if depth <= 0 {
		kinds = 3
	}
	switch g.Choose(kinds) {
	case 0:
		return rawjson.AppendText(nil, g.word())
	case 1:
		literals := []string{"null", "true", "false", "0", "-0", "1.0", "1e3", `""`, `"\ud800"`, `"aGk="`, `"\u00e9"`}
		return []byte(literals[g.Choose(len(literals))])
	case 2:
		return strconv.AppendInt(nil, int64(g.Choose(3000)), 10)
	case 3:
		return g.array(depth)
	default:
		return g.Object(depth)
	}
}

func (g Grammar) word() string { return g.Words[g.Choose(len(g.Words))] }
