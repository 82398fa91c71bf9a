package secret

import "strings"

const (
	blockBegin = "-----BEGIN "
	blockEnd   = "-----END "
	blockLabel = 64  // longest label with its dashes
	blockGap   = 256 // longest stretch without key text within a block
)

// keyBlock finds a private key in the text form of RFC 7468, PGP and SSH, from
// its first dash to its last. Line ends may be escaped or spaces, as in JSON and
// in commands, and lines may be numbered as in what tools print of files. A block
// without an end, or with another one within, is found as far as it reads like a
// key.
func keyBlock(text string, at, _ int) (from, to int) {
	body := label(text, at+len(blockBegin))
	if body < 0 {
		return 0, 0
	}
	i, last := body, body
	for i < len(text) && i-last < blockGap {
		switch {
		case strings.HasPrefix(text[i:], blockEnd):
			if end := label(text, i+len(blockEnd)); end >= 0 {
				return at, end
			}
			return at, last
		case strings.HasPrefix(text[i:], "----"):
			return at, last
		case text[i] == '\n':
			i += 1 + lineNumber(text[i+1:])
		case blockByte(text[i]):
			i++
			last = i
		case strings.IndexByte(" \t\r\\\"',:;()[]#*>|", text[i]) >= 0:
			i++
		case strings.HasPrefix(text[i:], arrow): // of a line number whose line end is escaped
			i += len(arrow)
		default:
			return at, last
		}
	}
	return at, last
}

// arrow stands behind the line numbers of agents that read files.
const arrow = "→"

// longestNumber bounds the spaces before a line number and the digits of it.
const longestNumber = 8

// lineNumber is the length of the number that a tool has put before a line, with
// what sets it off: "     2→", "12\t", "12: ", "12:". It is 0 where there is none.
func lineNumber(text string) int {
	first := skip(text, 0, " \t", longestNumber)
	end := skip(text, first, "0123456789", longestNumber)
	rest := text[end:]
	switch {
	case end == first:
		return 0
	case strings.HasPrefix(rest, arrow):
		return end + len(arrow)
	case strings.HasPrefix(rest, "\t"):
		return end + 1
	case strings.HasPrefix(rest, ":"):
		return skip(text, end+1, " ", 1)
	}
	return 0
}

// label is the end of a label of a private key with its dashes; -1 if it is none.
func label(text string, at int) int {
	line := text[min(at, len(text)):min(at+blockLabel, len(text))]
	name, _, ok := strings.Cut(line, "-----")
	if !ok || !strings.Contains(name, "PRIVATE KEY") || strings.ContainsAny(name, "\r\n") {
		return -1
	}
	return at + len(name) + len("-----")
}

func blockByte(b byte) bool {
	return wordly(b) || b == '+' || b == '/' || b == '=' || b == '-' || b == '.'
}

// tornAddress finds a password in an address that is cut short before its host.
// The port of a host stands there too, but is a number.
func tornAddress(text string, at, length int) (from, to int) {
	i := at + length
	for ; i < len(text) && i-at < 512 && (wordly(text[i]) || strings.IndexByte("-.%+~!$&*", text[i]) >= 0); i++ {
	}
	if i == len(text) || text[i] != ':' {
		return 0, 0
	}
	from = i + 1
	for to = from; to < len(text) && to-from < 512 && strings.IndexByte(" \t\r\n/@\"'<>\\`", text[to]) < 0 && !ends(text, to); to++ {
	}
	if !ends(text, to) || strings.Trim(text[from:to], "0123456789") == "" || !worth(text[from:to]) {
		return 0, 0
	}
	return from, to
}
