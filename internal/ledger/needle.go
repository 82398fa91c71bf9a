package ledger

import (
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// needles are texts in lower case of which every match of an expression holds one:
// looking for them is much cheaper than the expression. There are none where the
// expression matches texts that have nothing in common. Characters that are another
// in capitals than in small letters, as the long s, are not provided for.
func needles(expression string) []string {
	re, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return nil
	}
	return needed(re.Simplify())
}

func needed(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		return []string{strings.ToLower(string(re.Rune))}
	case syntax.OpCharClass:
		return characters(re.Rune)
	case syntax.OpCapture, syntax.OpPlus:
		return needed(re.Sub[0])
	case syntax.OpConcat:
		return best(re.Sub)
	case syntax.OpAlternate:
		return every(re.Sub)
	}
	return nil
}

// characters are those of a class that has few: a class in which only the case of a
// letter is open has one.
func characters(ranges []rune) (all []string) {
	for i := 0; i < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			if all = append(all, strings.ToLower(string(r))); len(all) > 16 {
				return nil
			}
		}
	}
	return all
}

// every are the needles of all branches, none where a branch has none.
func every(branches []*syntax.Regexp) (all []string) {
	for _, b := range branches {
		found := needed(b)
		if found == nil {
			return nil
		}
		all = append(all, found...)
	}
	return all
}

// best are the needles of the part whose shortest needle is the longest.
func best(parts []*syntax.Regexp) (all []string) {
	most := 0
	for _, p := range parts {
		if found := needed(p); shortest(found) > most {
			all, most = found, shortest(found)
		}
	}
	return all
}

// shortest is the length of the shortest text in characters, 0 of none.
func shortest(texts []string) (n int) {
	for i, t := range texts {
		if m := utf8.RuneCountInString(t); i == 0 || m < n {
			n = m
		}
	}
	return n
}

// holdsAny reports whether a text in lower case has one of the needles. Without
// needles there is nothing to know it by, and it may.
func holdsAny(lower string, needles []string) bool {
	for _, n := range needles {
		if strings.Contains(lower, n) {
			return true
		}
	}
	return len(needles) == 0
}
