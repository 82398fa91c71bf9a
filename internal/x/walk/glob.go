package walk

import (
	"path"
	"strings"
)

// Match reports whether a pattern matches a whole path, both with slashes. In a
// pattern * is any run of characters without a slash, ? one of them, [a-z] one
// of a set ([!a-z] one that is not), {a,b} either, and ** as a whole segment any
// number of segments; at the end of a pattern at least one. A backslash takes
// the meaning from the next character. A pattern that is not well formed matches
// nothing.
func Match(pattern, name string) bool {
	for _, p := range expand(pattern, maxAlternatives) {
		if matchSegments(segments(p), strings.Split(name, "/")) {
			return true
		}
	}
	return false
}

// maxAlternatives bounds the patterns that braces stand for.
const maxAlternatives = 256

// expand replaces the first braces by each of their alternatives and goes on.
func expand(pattern string, room int) []string {
	open, close, commas := braces(pattern)
	if close < 0 || room <= 0 {
		return []string{pattern}
	}
	var list []string
	from := open + 1
	for _, to := range append(commas, close) {
		list = append(list, expand(pattern[:open]+pattern[from:to]+pattern[close+1:], room-len(list))...)
		if from = to + 1; len(list) >= room {
			break
		}
	}
	return list
}

// braces finds the first pair that belongs together and its own commas; close is
// -1 when there is none.
func braces(pattern string) (open, close int, commas []int) {
	depth := 0
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			i++
		case '{':
			if depth++; depth == 1 {
				open, commas = i, nil
			}
		case ',':
			if depth == 1 {
				commas = append(commas, i)
			}
		case '}':
			if depth--; depth == 0 {
				return open, i, commas
			}
			depth = max(depth, 0)
		}
	}
	return 0, -1, nil
}

// segments splits a pattern. Two ** in a row are one, and a last one stands for
// at least one segment.
func segments(pattern string) []string {
	var list []string
	for s := range strings.SplitSeq(strings.ReplaceAll(pattern, "[!", "[^"), "/") {
		if s == "**" && len(list) > 0 && list[len(list)-1] == "**" {
			continue
		}
		list = append(list, s)
	}
	if list[len(list)-1] == "**" {
		list = append(list, "*")
	}
	return list
}

// matchSegments matches one by one. On a mismatch the last ** takes one segment
// more; earlier ones need not be looked at again, since they took the least.
func matchSegments(pattern, name []string) bool {
	p, n, star, mark := 0, 0, -1, 0
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == "**":
			star, mark = p, n
			p++
		case p < len(pattern) && matchOne(pattern[p], name[n]):
			p++
			n++
		case star >= 0:
			mark++
			p, n = star+1, mark
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == "**" {
		p++
	}
	return p == len(pattern)
}

func matchOne(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}
