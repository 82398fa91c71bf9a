package permit

import (
	"path"
	"slices"
	"strings"
)

// A place is the folder that a command starts in, as far as it is known.
type place struct {
	now    string   // from the project's folder or absolute, "" for that folder
	before []string // where it would still be if a change of folder had failed
	lost   bool     // nobody knows
}

func (p place) same(q place) bool {
	return p.now == q.now && p.lost == q.lost && slices.Equal(p.before, q.before)
}

// enter follows a change of folder.
func (p place) enter(c command) place {
	to := c.operands()
	if c.name.text != "cd" || len(to) != 1 || !to[0].known || to[0].glob || to[0].text == "-" || to[0].text == "" || p.lost {
		p.lost = true
		return p
	}
	p.before = append(slices.Clone(p.before), p.now)
	p.now = p.join(p.now, to[0].text)
	p.lost = len(p.before) > 16
	return p
}

func (place) join(dir, name string) string {
	if dir == "" || absolute(name) {
		return name
	}
	return path.Join(dir, name)
}

// absolute reports whether a path does not depend on the folder.
func absolute(name string) bool {
	return strings.HasPrefix(name, "/") || strings.HasPrefix(name, "~") || len(name) > 2 && name[1] == ':' && (name[2] == '\\' || name[2] == '/')
}

// spellings are all the paths that a name may stand for, nil when nobody knows.
func (p place) spellings(name string) []string {
	if absolute(name) {
		return []string{name}
	}
	if p.lost {
		return nil
	}
	list := []string{p.join(p.now, name)}
	for _, b := range p.before {
		list = append(list, p.join(b, name))
	}
	return list
}
