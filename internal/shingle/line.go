package shingle

import "strings"

// LineHashes returns the hashes of the lines of text, in their order: each without
// its line number, with white space trimmed at both ends. Lines that are empty
// then are left out, equal lines give equal hashes and stay apart in the
// result. A part of a line has another hash than the line.
func LineHashes(text string) []uint64 {
	var out []uint64
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line[numbering(line, 0):])
		if line != "" {
			out = append(out, hashLine(line))
		}
	}
	return out
}

func hashLine(line string) uint64 {
	h := uint64(basis)
	for i := range len(line) {
		h = step(h, line[i])
	}
	return mix(h)
}
