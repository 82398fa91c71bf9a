package arch

import "strings"

// An exception allows one place to break one rule.
type exception struct {
	rule   string
	where  string // path of the file, or of a folder with a slash at its end
	what   string // part of the finding, "" for any
	reason string
}

// exceptions lists them. Each must still be needed; a test holds that.
func exceptions() []exception {
	return []exception{}
}

func excepted(rule string, f finding) bool {
	for _, e := range exceptions() {
		if e.rule == rule && e.covers(f) {
			return true
		}
	}
	return false
}

func (e exception) covers(f finding) bool {
	file, _, _ := strings.Cut(f.where, ":")
	here := file == e.where || (strings.HasSuffix(e.where, "/") && strings.HasPrefix(file, e.where))
	return here && strings.Contains(f.what, e.what)
}
