package fs

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/quire-agent/quire/internal/tool"
	"github.com/quire-agent/quire/internal/undo"
)

//go:embed apply_patch.md
var patchPrompt string

type patchArgs struct {
	Patch string `json:"patch" jsonschema:"the whole patch"`
}

func (f *Files) patch() tool.Tool {
	return tool.New("apply_patch", patchPrompt, wantPatch, f.runPatch)
}

// wantPatch names every file of the patch. One that cannot be read changes
// nothing.
func wantPatch(a patchArgs) tool.Want {
	list, err := parsePatch(a.Patch)
	if err != nil {
		return tool.Want{}
	}
	var paths []string
	for _, s := range list {
		paths = append(paths, s.path)
		if s.move != "" {
			paths = append(paths, s.move)
		}
	}
	return writes(paths...)
}

func (f *Files) runPatch(ctx context.Context, a patchArgs) (tool.Result, error) {
	f.changing.Lock()
	defer f.changing.Unlock()
	list, err := parsePatch(a.Patch)
	if err != nil {
		return tool.Failed("%v. Nothing was changed.", err), nil
	}
	var changes []write
	var said []string
	for _, s := range list {
		w, line, failed := f.section(s)
		if failed != nil {
			return *failed, nil
		}
		changes, said = append(changes, w...), append(said, line)
	}
	if twice := repeated(changes); twice != "" {
		return tool.Failed("The patch names %s twice. Nothing was changed.", twice), nil
	}
	return f.finish(ctx, changes, tool.Result{Text: strings.Join(said, "\n")})
}

// repeated finds a file that two parts of a patch are about.
func repeated(changes []write) string {
	seen := map[string]bool{}
	for _, w := range changes {
		if seen[w.path] {
			return w.path
		}
		seen[w.path] = true
	}
	return ""
}

// finish commits and adds the effects to the result. What the file system
// refuses is for the model.
func (f *Files) finish(ctx context.Context, changes []write, r tool.Result) (tool.Result, error) {
	effects, err := f.commit(ctx, changes)
	var file *fs.PathError
	switch {
	case errors.As(err, &file):
		return tool.Failed("%v. Nothing was changed.", err), nil
	case err != nil:
		return tool.Result{}, err
	}
	r.Effects = effects
	return r, nil
}

// section works out what a part of a patch makes of its file.
func (f *Files) section(s section) ([]write, string, *tool.Result) {
	rel, failed := f.resolve(s.path)
	if failed != nil {
		return nil, "", failed
	}
	switch s.op {
	case "add":
		return f.addition(s, rel)
	case "delete":
		data, failed := f.current(rel, s.path)
		if failed != nil {
			return nil, "", failed
		}
		return []write{{path: rel}}, fmt.Sprintf("Deleted %s: %d lines.", s.path, len(splitLines(string(data)))), nil
	}
	return f.update(s, rel)
}

// current is a file as the model has seen it.
func (f *Files) current(rel, named string) ([]byte, *tool.Result) {
	data, failed := f.load(rel, named)
	if failed == nil {
		failed = f.stale(rel, named, data)
	}
	return data, failed
}

func (f *Files) addition(s section, rel string) ([]write, string, *tool.Result) {
	if state, _, err := f.tree.State(rel); err != nil || state.Kind != undo.None {
		r := tool.Failed("%s exists already: update it, or delete it first. Nothing was changed.", s.path)
		return nil, "", &r
	}
	var lines []string
	bare := false
	for _, h := range s.hunks {
		lines, bare = append(lines, h.put...), h.bare
	}
	text := strings.Join(lines, "\n")
	if len(lines) > 0 && !bare {
		text += "\n"
	}
	return []write{{path: rel, data: []byte(text)}}, fmt.Sprintf("Added %s: %d lines.", s.path, len(lines)), nil
}

func (f *Files) update(s section, rel string) ([]write, string, *tool.Result) {
	data, failed := f.current(rel, s.path)
	if failed != nil {
		return nil, "", failed
	}
	text, at, err := applyHunks(string(data), s.hunks)
	if err != nil {
		var misplaced *misplacedError
		hint := ""
		if errors.As(err, &misplaced) {
			hint = misplaced.hint
		}
		r := tool.Failed("%s: %v. Nothing was changed.%s", s.path, err, hint)
		return nil, "", &r
	}
	said := fmt.Sprintf("Updated %s at lines %s.", s.path, strings.Trim(fmt.Sprint(at), "[]"))
	if s.move == "" {
		return []write{{path: rel, data: []byte(text)}}, said, nil
	}
	to, failed := f.resolve(s.move)
	if failed != nil {
		return nil, "", failed
	}
	if state, _, err := f.tree.State(to); to != rel && (err != nil || state.Kind != undo.None) {
		r := tool.Failed("%s cannot be moved: %s exists already. Nothing was changed.", s.path, s.move)
		return nil, "", &r
	}
	if to == rel {
		return []write{{path: rel, data: []byte(text)}}, said, nil
	}
	info, err := f.fence.Root().Stat(rel)
	if err != nil {
		r := tool.Failed("%v. Nothing was changed.", err)
		return nil, "", &r
	}
	return []write{{path: to, data: []byte(text), perm: info.Mode().Perm()}, {path: rel}}, said + " It is now " + path.Clean(s.move) + ".", nil
}

// applyHunks changes a text by the hunks of a patch, in their order, and says at
// which lines of the result they stand.
func applyHunks(text string, hunks []hunk) (string, []int, error) {
	doc := newDocument(text)
	var at []int
	from := 0
	for i, h := range hunks {
		where, err := doc.find(h, from)
		if err != nil {
			return "", nil, fmt.Errorf("hunk %d of %d: %w", i+1, len(hunks), err)
		}
		doc.replace(where, h)
		if from = where + len(h.put); from >= len(doc.lines) {
			doc.finish(h)
		}
		at = append(at, where+1)
	}
	return doc.text(), at, nil
}

// A document is a text as lines, with what is needed to put it together again.
type document struct {
	lines []string
	end   string // of a line
	bare  bool   // the last line has none
}

func newDocument(text string) *document {
	d := &document{end: "\n", bare: text != "" && !strings.HasSuffix(text, "\n")}
	if strings.Contains(text, "\r\n") && strings.Count(text, "\r\n") == strings.Count(text, "\n") {
		d.end = "\r\n"
		text = strings.ReplaceAll(text, "\r\n", "\n")
	}
	if text != "" {
		d.lines = strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	}
	return d
}

// replace puts a hunk in its place. Lines that it keeps stay as they are, also
// where they differ from the hunk in spaces at their end.
func (d *document) replace(where int, h hunk) {
	put := slices.Clone(h.put)
	for i, from := range h.kept {
		if from >= 0 {
			put[i] = d.lines[where+from]
		}
	}
	d.lines = slices.Replace(d.lines, where, where+len(h.old), put...)
}

// finish takes over from a hunk that reaches the end how the last line ends.
func (d *document) finish(h hunk) {
	last := len(h.put) - 1
	kept := len(h.old) > 0 && last >= 0 && h.kept[last] == len(h.old)-1
	d.bare = h.bare || d.bare && kept
}

// A misplacedError says that a hunk has no place, and what looks like it.
type misplacedError struct{ why, hint string }

// Error says why.
func (e *misplacedError) Error() string { return e.why }

func (d *document) text() string {
	if len(d.lines) == 0 {
		return ""
	}
	text := strings.Join(d.lines, d.end)
	if !d.bare {
		text += d.end
	}
	return text
}

// find gives the place of a hunk at or after a line. It must be the only one;
// among several the one decides that the hunk's own line number names, moved by
// what earlier hunks added and took away as little as possible.
func (d *document) find(h hunk, from int) (int, error) {
	for _, a := range h.anchors {
		at := slices.IndexFunc(d.lines[from:], func(l string) bool { return strings.Contains(l, a) })
		if at < 0 {
			return 0, fmt.Errorf("there is no line with %q after line %d", a, from)
		}
		from += at
		if len(h.old) == 0 || strings.TrimSpace(h.old[0]) != strings.TrimSpace(d.lines[from]) {
			from++
		}
	}
	if len(h.old) == 0 {
		return d.insertion(h, from), nil
	}
	for _, same := range []func(a, b string) bool{exactly, butTrailing} {
		switch places := d.matches(h, from, same); {
		case len(places) == 1 || len(places) > 1 && len(h.anchors) > 0:
			return places[0], nil
		case len(places) > 1 && h.start > 0:
			return closest(places, h.start-1), nil
		case len(places) > 1:
			return 0, fmt.Errorf("its lines are found %d times, first at lines %d and %d: add lines around them, or an @@ line", len(places), places[0]+1, places[1]+1)
		}
	}
	return 0, &misplacedError{fmt.Sprintf("its lines are not in the file after line %d", from), nearest(strings.Join(d.lines, "\n"), strings.Join(h.old, "\n"))}
}

func exactly(a, b string) bool { return a == b }

func butTrailing(a, b string) bool {
	return strings.TrimRight(a, " \t\r") == strings.TrimRight(b, " \t\r")
}

// insertion is the place of a hunk that only adds: below its anchor, after the
// line it names, or at the end.
func (d *document) insertion(h hunk, from int) int {
	switch {
	case len(h.anchors) > 0:
		return from
	case h.start > 0:
		return min(max(h.start, from), len(d.lines))
	case h.end || len(d.lines) > 0:
		return len(d.lines)
	}
	return 0
}

// matches lists where the old lines of a hunk stand.
func (d *document) matches(h hunk, from int, same func(a, b string) bool) []int {
	var list []int
	for i := from; i+len(h.old) <= len(d.lines); i++ {
		if h.end && i+len(h.old) != len(d.lines) {
			continue
		}
		if slices.EqualFunc(d.lines[i:i+len(h.old)], h.old, same) {
			list = append(list, i)
		}
	}
	return list
}

func closest(places []int, line int) int {
	return slices.MinFunc(places, func(a, b int) int { return max(a-line, line-a) - max(b-line, line-b) })
}
