package config

import "strings"

// Nearest is the known key that a wrong name most likely meant: one that the
// name is a part of, otherwise the one with the fewest edits.
func Nearest(name string) string {
	best, least := "", int(^uint(0)>>1)
	for _, k := range Keys() {
		d := distance(strings.ToLower(name), k.Name)
		if partOf(name, k.Name) {
			d = 0
		}
		if d < least {
			best, least = k.Name, d
		}
	}
	return best
}

// partOf reports whether name is one of the dotted parts of key.
func partOf(name, key string) bool {
	return name != "" && (strings.HasPrefix(key, name+".") || strings.HasSuffix(key, "."+name))
}

// distance is the Levenshtein distance of two strings, in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			substitute := diagonal
			if a[i] != b[j] {
				substitute++
			}
			diagonal = row[j+1]
			row[j+1] = min(substitute, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
