package page

import (
	"path"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
)

// A change is what a call does to a place of a file.
type change struct {
	path  string
	old   string // what must stand there; "" with whole or at line after
	new   string
	all   bool // everywhere where old stands
	whole bool // new is the file from now on
	after int  // new is put behind this line; -1 where the place is that of old
	undo  bool // the last change of the file is taken back
}

// changesOf lists what a call would do to files, as far as its arguments say it.
func changesOf(tool, args string) []change {
	c := newInvocation(tool, args)
	if patch, ok := c.patch(); ok {
		return patched(patch)
	}
	if verb, ok := c.editor(); ok {
		return c.edits(verb)
	}
	if command, ok := c.command(); ok {
		return printedTo(command, c.windows(command))
	}
	switch d := c.describe(); d.Action {
	case quire.ActionWrite:
		return []change{{path: c.path(), new: d.New, whole: true, after: -1}}
	case quire.ActionEdit:
		return c.replacements()
	}
	return nil
}

// edits are those of an editor tool with verbs.
func (c invocation) edits(verb string) []change {
	one := change{path: c.path(), new: c.args.str(newNames()...), after: -1}
	switch verb {
	case "create":
		one.whole = true
	case "undo_edit":
		one.undo = true
	case "insert":
		n, ok := c.args.number("insert_line", "insertLine")
		if !ok || n < 0 {
			return nil
		}
		one.after = n
	case "str_replace":
		return c.replacements()
	default:
		return nil
	}
	return []change{one}
}

// replacements pairs the replaced texts of an edit with what takes their place.
func (c invocation) replacements() []change {
	list, ok := c.args.get("edits", "changes", "replacements", "chunks")
	if !ok || list.kind != kindList {
		list = value{list: []value{c.args}}
	}
	var all []change
	for _, e := range list.list {
		old := e.str(oldNames()...)
		if old == "" {
			continue
		}
		every, _ := e.get("replace_all", "replaceAll", "expected_replacements")
		all = append(all, change{path: c.path(), old: old, new: e.str(newNames()...), all: every.text != "" && every.text != "false" && every.text != "1", after: -1})
	}
	return all
}

// printedTo are the files that a command line writes from here-documents, whole.
func printedTo(command string, windows bool) []change {
	if strings.Contains(command, ">>") {
		return nil // what stands before the added lines is not known
	}
	var all []change
	for _, s := range split(command, windows) {
		if d, counts := s.describe(); counts && d.Action == quire.ActionWrite && s.here != "" && d.New == s.here {
			all = append(all, change{path: d.Target, new: s.here, whole: true, after: -1})
		}
	}
	return all
}

// patched reads the hunks of a patch in the form of apply_patch.
func patched(patch string) []change {
	var r hunkReader
	for l := range strings.Lines(patch) {
		if l = strings.TrimRight(l, "\r\n"); l == endPatch {
			break
		}
		r.line(l)
	}
	r.end()
	return r.all
}

// A hunkReader collects the two sides of each hunk.
type hunkReader struct {
	path     string
	whole    bool
	old, new []string
	all      []change
}

func (r *hunkReader) line(l string) {
	switch {
	case strings.HasPrefix(l, "*** "):
		r.end()
		verb, name, _ := strings.Cut(l[4:], ": ")
		if verb == "Add File" || verb == "Update File" {
			r.path, r.whole = strings.TrimSpace(name), verb == "Add File"
		}
	case strings.HasPrefix(l, "@@"):
		r.end()
	case strings.HasPrefix(l, "+"):
		r.new = append(r.new, l[1:])
	case strings.HasPrefix(l, "-"):
		r.old = append(r.old, l[1:])
	default:
		l = strings.TrimPrefix(l, " ")
		r.old, r.new = append(r.old, l), append(r.new, l)
	}
}

// end closes a hunk. One that only adds lines says nowhere where.
func (r *hunkReader) end() {
	one := change{path: r.path, old: strings.Join(r.old, "\n"), new: strings.Join(r.new, "\n"), whole: r.whole, after: -1}
	if r.path != "" && (r.whole && len(r.new) > 0 || len(r.old) > 0) {
		if r.whole {
			one.old = ""
		}
		r.all = append(r.all, one)
	}
	r.old, r.new = nil, nil
}

// A file is named by its path from the root, with / between the names, or from
// the project's folder where that is not known.
func fileName(project, target string) string {
	name := strings.ReplaceAll(target, `\`, "/")
	if name == "" {
		return ""
	}
	if project != "" && name[0] != '/' && !strings.Contains(name, ":/") {
		name = strings.ReplaceAll(project, `\`, "/") + "/" + name
	}
	return path.Clean(name)
}

// restored lists the files and folders that a command line takes back from git;
// a folder ends in a slash.
func restored(project, command string, windows bool) []string {
	var names []string
	for _, s := range split(command, windows) {
		folder, words := gitWords(s.words)
		if len(words) < 2 {
			continue
		}
		if folder != "" {
			project = fileName(project, folder)
		}
		names = append(names, takenBack(project, words)...)
	}
	return names
}

// gitWords are the words of a call of git behind its name, and the folder that it
// is told to go to.
func gitWords(words []string) (folder string, rest []string) {
	if len(words) < 2 || binary(words[0]) != "git" {
		return "", nil
	}
	if words[1] == "-C" && len(words) > 3 {
		return words[2], words[3:]
	}
	return "", words[1:]
}

// sweeps reports whether a command line lets git take back changes of files that
// it does not name. What a file then shows says whether it was among them.
func sweeps(command string, windows bool) bool {
	for _, s := range split(command, windows) {
		_, words := gitWords(s.words)
		if len(words) == 0 {
			continue
		}
		args := newArguments("git", words[1:])
		switch words[0] {
		case "checkout", "switch":
			return true
		case "stash":
			if len(args.plains) == 0 || oneOf(args.plains[0], "push", "save") {
				return true
			}
		case "reset":
			if args.has("--hard") || args.has("--merge") || args.has("--keep") {
				return true
			}
		}
	}
	return false
}

func takenBack(project string, words []string) []string {
	args := newArguments("git", words[1:])
	if !oneOf(words[0], "checkout", "restore", "revert") || args.has("--staged") && !args.has("--worktree") {
		return nil
	}
	var names []string
	for _, w := range args.plains {
		name := fileName(project, w)
		names = append(names, name)
		if words[0] == "restore" || w == "." || oneOf("--", words...) {
			names = append(names, strings.TrimSuffix(name, "/")+"/")
		}
	}
	return names
}
