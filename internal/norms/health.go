package norms

import (
	"regexp"
	"slices"
	"strings"
)

// Unmatched are the pages that none of the heads matched, where there are at least
// some number of them and each knew the page: norms that cost tokens and were
// never about a task. Red ones are not among them.
func Unmatched(pages []Page, heads []Head, least int) (list []Page) {
	for _, p := range pages {
		known, matched := 0, false
		for _, h := range heads {
			i := slices.IndexFunc(h.Seen, func(c Choice) bool { return c.Hash == p.short() })
			if i >= 0 {
				known++
				matched = matched || h.Seen[i].Matched
			}
		}
		if known >= least && !matched && !p.Red {
			list = append(list, p)
		}
	}
	return list
}

// A Gone is a path that a page names and that is not there.
type Gone struct {
	Page Page
	Path string
}

// mention is a path in code marks: with a slash or a file ending in it.
var mention = regexp.MustCompile("`([A-Za-z0-9_.@-]+(?:/[A-Za-z0-9_.@-]+)*/?)`")

// MissingPaths are the paths that pages name and that do not exist. exists is asked with
// the folder of the page's file and the path.
func MissingPaths(pages []Page, exists func(dir, path string) bool) (list []Gone) {
	for _, p := range pages {
		for _, m := range mention.FindAllStringSubmatch(p.Text, -1) {
			path := m[1]
			gone := Gone{p, path}
			if pathLike(path) && !exists(p.Dir, path) && !slices.ContainsFunc(list, func(g Gone) bool { return g.Path == path && g.Page.File == p.File }) {
				list = append(list, gone)
			}
		}
	}
	return list
}

// pathLike reports whether a word in code marks is meant as a path: addresses,
// modules, versions and options are none.
func pathLike(word string) bool {
	first, _, slashed := strings.Cut(word, "/")
	switch {
	case strings.HasPrefix(word, "-") || strings.HasPrefix(word, "@") || strings.Contains(word, "..."):
		return false
	case slashed:
		return first != "" && !strings.Contains(strings.TrimPrefix(first, "."), ".") || first == "." || first == ".."
	}
	return slices.ContainsFunc([]string{".md", ".go", ".json", ".yaml", ".yml", ".toml", ".sh", ".py", ".ts", ".js", ".rs", ".java", ".mod", ".txt"}, func(end string) bool {
		return strings.HasSuffix(word, end) && len(word) > len(end)
	})
}
