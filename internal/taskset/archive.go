package taskset

import "strings"

// A file is a part of a text that holds several.
type file struct {
	name string
	text string
	line int // its first, from 1
}

// split cuts a text at the lines that look like "-- NAME --" into what stands
// before the first of them and the files that they begin.
func split(text string) (head string, files []file) {
	line, at := 0, &strings.Builder{}
	ended := func() {
		if len(files) == 0 {
			head = at.String()
			return
		}
		files[len(files)-1].text = at.String()
	}
	for l := range strings.Lines(text) {
		line++
		name, ok := marker(l)
		if !ok {
			at.WriteString(l)
			continue
		}
		ended()
		at = &strings.Builder{}
		files = append(files, file{name: name, line: line + 1})
	}
	ended()
	return head, files
}

func marker(line string) (name string, ok bool) {
	line = strings.TrimRight(line, "\r\n")
	if len(line) < len("-- x --") || !strings.HasPrefix(line, "-- ") || !strings.HasSuffix(line, " --") {
		return "", false
	}
	name = strings.TrimSpace(line[3 : len(line)-3])
	return name, name != ""
}
