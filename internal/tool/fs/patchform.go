package fs

import (
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
)

// A section is what a patch does to one file.
type section struct {
	op     string // add, update, delete
	path   string
	move   string // the new path, "" for none
	hunks  []hunk
	binary bool
}

// A hunk is one change of a file.
type hunk struct {
	anchors []string // lines that stand above it, outermost first
	start   int      // line that it begins at by its own account, 0 for none
	old     []string // lines that must stand there
	put     []string // lines in their place
	kept    []int    // of each line of put the one of old that it is, -1 for a new one
	end     bool     // it is at the end of the file
	bare    bool     // the file ends without a line feed after it
	mark    byte     // of the last line read
}

const beginPatch, endPatch = "*** Begin Patch", "*** End Patch"

// parsePatch reads a patch of either form. The error says what is wrong in which
// line.
func parsePatch(text string) ([]section, error) {
	lines := splitLines(strings.TrimSpace(text) + "\n")
	for i, l := range lines {
		if strings.TrimSpace(l) == beginPatch {
			return parseSections(lines[i+1:], i+2)
		}
	}
	return parseUnified(lines)
}

// A patchReader reads the form with *** lines.
type patchReader struct {
	list []section
	line int
}

func (p *patchReader) fault(format string, args ...any) error {
	return fmt.Errorf("line %d of the patch: %s", p.line, fmt.Sprintf(format, args...))
}

func parseSections(lines []string, first int) ([]section, error) {
	p := &patchReader{line: first - 1}
	ended := false
	for _, l := range lines {
		p.line++
		if ended = strings.TrimSpace(l) == endPatch; ended {
			break
		}
		if err := p.read(l); err != nil {
			return nil, err
		}
	}
	if !ended {
		return nil, p.fault("%q is missing at the end", endPatch)
	}
	return checked(p.list)
}

func (p *patchReader) read(l string) error {
	if header, ok := strings.CutPrefix(l, "*** "); ok {
		return p.header(strings.TrimRight(header, " \t"))
	}
	if len(p.list) == 0 {
		if strings.TrimSpace(l) == "" {
			return nil
		}
		return p.fault("want *** Add File:, *** Update File: or *** Delete File:, got %q", l)
	}
	s := &p.list[len(p.list)-1]
	switch s.op {
	case "add":
		return p.added(s, l)
	case "update":
		return p.updated(s, l)
	}
	if strings.TrimSpace(l) != "" {
		return p.fault("a file that is deleted has no lines, got %q", l)
	}
	return nil
}

func (p *patchReader) header(h string) error {
	verb, name, _ := strings.Cut(h, ":")
	name = strings.TrimSpace(name)
	if verb == "End of File" {
		return p.atEnd()
	}
	if name == "" {
		return p.fault("*** %s: names no file", verb)
	}
	switch verb {
	case "Add File":
		p.list = append(p.list, section{op: "add", path: name, hunks: []hunk{{}}})
	case "Update File":
		p.list = append(p.list, section{op: "update", path: name})
	case "Delete File":
		p.list = append(p.list, section{op: "delete", path: name})
	case "Move to":
		if len(p.list) == 0 || p.list[len(p.list)-1].op != "update" {
			return p.fault("*** Move to: stands below *** Update File: only")
		}
		p.list[len(p.list)-1].move = name
	default:
		return p.fault("*** %s is not known", verb)
	}
	return nil
}

func (p *patchReader) atEnd() error {
	if len(p.list) == 0 || len(p.list[len(p.list)-1].hunks) == 0 {
		return p.fault("*** End of File stands below a hunk only")
	}
	s := &p.list[len(p.list)-1]
	s.hunks[len(s.hunks)-1].end = true
	return nil
}

func (p *patchReader) added(s *section, l string) error {
	text, ok := strings.CutPrefix(l, "+")
	if !ok {
		return p.fault("a line of a new file begins with +, got %q", l)
	}
	s.hunks[0].put = append(s.hunks[0].put, text)
	return nil
}

func (p *patchReader) updated(s *section, l string) error {
	if header, ok := strings.CutPrefix(l, "@@"); ok {
		p.anchor(s, strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(header), "@@")))
		return nil
	}
	if len(s.hunks) == 0 {
		s.hunks = append(s.hunks, hunk{})
	}
	if !s.hunks[len(s.hunks)-1].add(l) {
		return p.fault("a line of a hunk begins with a space, - or +, got %q", l)
	}
	return nil
}

// anchor begins a hunk. Several in a row lead to one hunk, from the outside in.
func (p *patchReader) anchor(s *section, text string) {
	start := 0
	if strings.HasPrefix(text, "-") {
		start, text = rangeOf(text)
	}
	if n := len(s.hunks); n == 0 || len(s.hunks[n-1].old)+len(s.hunks[n-1].put) > 0 {
		s.hunks = append(s.hunks, hunk{start: start})
	}
	if h := &s.hunks[len(s.hunks)-1]; text != "" {
		h.anchors = append(h.anchors, text)
	}
}

// add takes a line into a hunk.
func (h *hunk) add(l string) bool {
	mark := byte(' ')
	if l != "" {
		mark, l = l[0], l[1:]
	}
	switch mark {
	case ' ':
		h.old, h.put, h.kept = append(h.old, l), append(h.put, l), append(h.kept, len(h.old))
	case '-':
		h.old = append(h.old, l)
	case '+':
		h.put, h.kept = append(h.put, l), append(h.kept, -1)
	default:
		return false
	}
	h.mark = mark
	return true
}

// rangeOf reads the line in "-10,5 +12,6 @@ text". The text is a line above the
// hunk, but not surely in the file as it is now, so it is no anchor. What is no
// range is an anchor.
func rangeOf(header string) (start int, anchor string) {
	numbers, _, _ := strings.Cut(header, "@@")
	first, _, _ := strings.Cut(strings.TrimPrefix(strings.Fields(numbers + " x")[0], "-"), ",")
	start, err := strconv.Atoi(first)
	if err != nil || start < 0 {
		return 0, header
	}
	return start, ""
}

// counts reads how many lines a hunk of a unified diff says it has.
func counts(header string) (old, put int, ok bool) {
	parts := strings.Fields(header)
	if len(parts) < 3 || !strings.HasPrefix(parts[1], "-") || !strings.HasPrefix(parts[2], "+") {
		return 0, 0, false
	}
	old, first := length(parts[1][1:])
	put, second := length(parts[2][1:])
	return old, put, first && second
}

func length(text string) (int, bool) {
	_, n, ok := strings.Cut(text, ",")
	if !ok {
		return 1, text != ""
	}
	count, err := strconv.Atoi(n)
	return count, err == nil && count >= 0
}

// parseUnified reads a unified diff, plain or as git writes it.
func parseUnified(lines []string) ([]section, error) {
	u := &unifiedReader{}
	for i, l := range lines {
		u.line = i + 1
		if err := u.read(l); err != nil {
			return nil, err
		}
	}
	if u.open() {
		return nil, u.fault("the last hunk has fewer lines than its @@ line says")
	}
	return checked(u.list)
}

// A unifiedReader reads a unified diff. In a hunk old and put count down the
// lines that are still to come, so that a removed line "-- x" is no header.
type unifiedReader struct {
	patchReader
	old, put int
	from     string
	git      bool
}

func (u *unifiedReader) open() bool { return u.old > 0 || u.put > 0 }

func (u *unifiedReader) current() *section {
	if len(u.list) == 0 {
		return nil
	}
	return &u.list[len(u.list)-1]
}

func (u *unifiedReader) read(l string) error {
	if strings.HasPrefix(l, `\`) {
		if s := u.current(); s != nil && len(s.hunks) > 0 {
			h := &s.hunks[len(s.hunks)-1]
			h.bare = h.bare || h.mark != '-'
		}
		return nil
	}
	if u.open() {
		return u.hunkLine(l)
	}
	switch {
	case strings.HasPrefix(l, "diff --git "):
		u.git = true
		u.list = append(u.list, section{op: "update"})
	case strings.HasPrefix(l, "--- "):
		u.from = u.name(l[4:])
	case strings.HasPrefix(l, "+++ "):
		return u.target(u.name(l[4:]))
	case strings.HasPrefix(l, "@@"):
		return u.hunk(l)
	default:
		u.extended(l)
	}
	return nil
}

// name is the path of a --- or +++ line, "" for none.
func (u *unifiedReader) name(text string) string {
	text, _, _ = strings.Cut(text, "\t")
	text = strings.TrimSpace(text)
	if unquoted, err := strconv.Unquote(text); err == nil {
		text = unquoted
	}
	if text == "/dev/null" {
		return ""
	}
	if rest, ok := strings.CutPrefix(text, "a/"); ok {
		return rest
	}
	if rest, ok := strings.CutPrefix(text, "b/"); ok {
		return rest
	}
	return text
}

func (u *unifiedReader) target(to string) error {
	s := u.current()
	if s == nil || !u.git || s.path != "" && s.move == "" && s.path != u.from {
		u.list = append(u.list, section{op: "update"})
		s = u.current()
	}
	switch {
	case u.from == "" && to == "":
		return u.fault("the diff names no file")
	case u.from == "":
		s.op, s.path = "add", to
	case to == "":
		s.op, s.path = "delete", u.from
	default:
		s.path = u.from
		if path.Clean(to) != path.Clean(u.from) {
			s.move = to
		}
	}
	return nil
}

// extended reads the header lines of git.
func (u *unifiedReader) extended(l string) {
	s := u.current()
	if s == nil || !u.git {
		return
	}
	if from, ok := strings.CutPrefix(l, "rename from "); ok {
		s.path = from
	}
	if to, ok := strings.CutPrefix(l, "rename to "); ok {
		s.move = to
	}
	s.binary = s.binary || strings.HasPrefix(l, "GIT binary patch") || strings.HasPrefix(l, "Binary files ")
}

func (u *unifiedReader) hunk(l string) error {
	s := u.current()
	old, put, ok := counts(l)
	if s == nil || s.path == "" {
		return u.fault("a hunk without --- and +++ lines before it")
	}
	if !ok {
		return u.fault("%q is not the head of a hunk: want @@ -line,count +line,count @@", l)
	}
	start, _ := rangeOf(strings.TrimSpace(strings.TrimPrefix(l, "@@")))
	s.hunks = append(s.hunks, hunk{start: start})
	u.old, u.put = old, put
	return nil
}

func (u *unifiedReader) hunkLine(l string) error {
	s := u.current()
	if !s.hunks[len(s.hunks)-1].add(l) {
		return u.fault("a line of a hunk begins with a space, - or +, got %q", l)
	}
	if l == "" || l[0] != '+' {
		u.old--
	}
	if l == "" || l[0] != '-' {
		u.put--
	}
	if u.old < 0 || u.put < 0 {
		return u.fault("the hunk has more lines than its @@ line says")
	}
	return nil
}

// checked looks at what no single line shows.
func checked(list []section) ([]section, error) {
	if len(list) == 0 {
		return nil, errors.New("the patch names no file: begin with *** Begin Patch, or give a unified diff")
	}
	seen := map[string]bool{}
	for _, s := range list {
		switch {
		case s.binary:
			return nil, errors.New("binary patches cannot be applied")
		case s.path == "":
			return nil, errors.New("a part of the patch names no file")
		case seen[path.Clean(s.path)]:
			return nil, fmt.Errorf("%s is in the patch twice: put its hunks together", s.path)
		case s.op == "update" && len(s.hunks) == 0 && s.move == "":
			return nil, fmt.Errorf("%s: there is nothing to change", s.path)
		}
		seen[path.Clean(s.path)] = true
	}
	return list, nil
}
