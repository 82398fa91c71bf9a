package walk

import (
	"path"
	"strings"
)

// An ignore is the content of one .gitignore file.
type ignore struct {
	dir      string // that it stands in, "." for the root
	patterns []ignorePattern
}

type ignorePattern struct {
	segments []string
	again    bool // begins with !: what matches is not ignored after all
	folder   bool // ends with a slash: matches folders only
}

// parseIgnore reads a .gitignore file as git does.
func parseIgnore(dir, text string) ignore {
	ig := ignore{dir: dir}
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		if p, ok := parseIgnoreLine(strings.TrimRight(line, "\r\n")); ok {
			ig.patterns = append(ig.patterns, p)
		}
	}
	return ig
}

func parseIgnoreLine(line string) (ignorePattern, bool) {
	var p ignorePattern
	if strings.HasPrefix(line, "#") {
		return p, false
	}
	for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
		line = line[:len(line)-1]
	}
	line, p.again = strings.CutPrefix(line, "!")
	line, p.folder = strings.CutSuffix(line, "/")
	if line == "" {
		return p, false
	}
	rest, anchored := strings.CutPrefix(line, "/")
	if !anchored && !strings.Contains(rest, "/") {
		rest = "**/" + rest
	}
	p.segments = segments(rest)
	return p, true
}

// decides reports what the file says about a path below its folder: the last
// pattern that matches counts.
func (ig ignore) decides(name string, folder bool) (ignored, matched bool) {
	if ig.dir != "." {
		name = strings.TrimPrefix(name, ig.dir+"/")
	}
	parts := strings.Split(name, "/")
	for i := len(ig.patterns) - 1; i >= 0; i-- {
		p := ig.patterns[i]
		if (folder || !p.folder) && matchSegments(p.segments, parts) {
			return !p.again, true
		}
	}
	return false, false
}

// ignored asks the files from the nearest folder outwards.
func ignored(files []ignore, name string, folder bool) bool {
	if path.Base(name) == ".git" {
		return true
	}
	for i := len(files) - 1; i >= 0; i-- {
		if yes, matched := files[i].decides(name, folder); matched {
			return yes
		}
	}
	return false
}
