package eval

import (
	"github.com/quire-agent/quire/internal/recording"
	"path/filepath"
	"slices"
	"strings"
)

// A Group is a named part of a corpus: indexes into its sessions, rising.
type Group struct {
	Name     string
	Sessions []int
}

// endlessFolder is the folder of a corpus whose sessions are also replayed as
// one, and oneByOne the group that they form as single sessions.
const (
	endlessFolder = "endless"
	oneByOne      = "e50"
	benchFolder   = "bench"
	everything    = "all"
)

// Groups sorts the sessions of a corpus at root into its groups: one for each
// folder with sessions directly below root or below root/bench, "bench" for
// all below root/bench, "e50" for those of root/endless, and "all" for every
// session once: of two that share calls the one in root/endless counts,
// otherwise the first.
func Groups(root string, sessions []*recording.Session) []Group {
	byName := map[string][]int{}
	for i, s := range sessions {
		for _, g := range groupsOf(root, s.Path) {
			byName[g] = append(byName[g], i)
		}
	}
	byName[everything] = distinct(sessions, byName[oneByOne])
	var out []Group
	for name, list := range byName {
		out = append(out, Group{name, list})
	}
	slices.SortFunc(out, func(a, b Group) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func groupsOf(root, path string) []string {
	rel, err := filepath.Rel(root, path)
	if err != nil {
		return nil
	}
	parts := strings.Split(filepath.ToSlash(rel), "/")
	switch {
	case parts[0] == endlessFolder:
		return []string{oneByOne}
	case parts[0] == benchFolder && len(parts) > 2:
		return []string{benchFolder, parts[1]}
	case len(parts) > 1:
		return []string{parts[0]}
	default:
		return nil
	}
}

// distinct lists the sessions that share no call with one listed before,
// beginning with those of first.
func distinct(sessions []*recording.Session, first []int) []int {
	seen := map[string]bool{}
	var out []int
	list := slices.Clone(first)
	for i := range sessions {
		list = append(list, i)
	}
	for _, i := range list {
		calls := sessions[i].Calls
		if slices.ContainsFunc(calls, func(c recording.Call) bool { return seen[c.ID] }) || slices.Contains(out, i) {
			continue
		}
		for _, c := range calls {
			seen[c.ID] = true
		}
		out = append(out, i)
	}
	slices.Sort(out)
	return out
}
