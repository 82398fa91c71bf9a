package shingle

import "strings"

// pathByte reports whether c may stand in a path or URL. White space, quotes,
// brackets, commas, semicolons, bars and everything outside ASCII may not: they
// end a run, so that a path inside JSON or Markdown is found, and a paragraph
// without spaces is not one.
func pathByte(c byte) bool { return kinds[c]&run != 0 }

// pathEnd returns the end of the run of path characters at offset i.
func pathEnd(text string, i int) int {
	for i < len(text) && pathByte(text[i]) {
		i++
	}
	return i
}

// isPath reports whether a run of path characters looks like a path or URL:
//
//   - it holds "://", or
//   - it begins like a Windows path (C:\, C:/, \\server), or
//   - it has two or more slashes, each in front of a letter, a digit, _ or a
//     dot and not behind a slash or colon, or
//   - it has one such slash, and begins with it, with . or with ~, or has a dot
//     between two letters or digits (dir/name.ext).
func isPath(run string) bool {
	if strings.IndexByte(run, '/') < 0 {
		return windowsPath(run)
	}
	n := slashes(run)
	switch {
	case n >= 2, strings.Contains(run, "://"), windowsPath(run):
		return true
	case n == 1:
		return strings.IndexByte("/.~", run[0]) >= 0 || dotted(run)
	}
	return false
}

func windowsPath(run string) bool {
	if len(run) < 3 {
		return false
	}
	if run[0] == '\\' && run[1] == '\\' {
		return kinds[run[2]]&word != 0
	}
	letter := run[0] | 0x20
	return 'a' <= letter && letter <= 'z' && run[1] == ':' && (run[2] == '\\' || run[2] == '/')
}

func slashes(run string) (n int) {
	for i := 0; i+1 < len(run); i++ {
		if run[i] != '/' || kinds[run[i+1]]&word == 0 && run[i+1] != '.' {
			continue
		}
		if i == 0 || run[i-1] != '/' && run[i-1] != ':' {
			n++
		}
	}
	return n
}

func dotted(run string) bool {
	for i := 1; i+1 < len(run); i++ {
		if run[i] == '.' && kinds[run[i-1]]&word != 0 && kinds[run[i+1]]&word != 0 {
			return true
		}
	}
	return false
}
