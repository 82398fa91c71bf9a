package page

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/quire-agent/quire/internal/quire"
)

// A Description says what a tool call is about.
type Description struct {
	Action quire.Action
	// Target is the path, command, pattern or address: one line of valid UTF-8,
	// at most 200 bytes. A path is as the call has it. A search is "pattern in
	// path". Where a call names several paths they are all there, space between
	// them.
	Target string
	// Lines are those that a read asks for; the zero Range is the whole file,
	// and a Last of 0 beside a First the rest of it.
	Lines quire.Range
	// Old are the texts that an edit replaces, as the call quotes them: one for
	// each hunk that has any.
	Old []string
	// New is what a write or an edit puts into the file, the hunks one after
	// the other.
	New string
}

// maxTarget bounds Target in bytes.
const maxTarget = 200

// Describe says what a call of a tool does. The arguments are JSON, complete or
// not, or the raw input of a tool that takes text. Names of tools that are known
// decide first; a tool that is not known is described by the shape of its
// arguments. A command of a shell that only reads, searches or lists is
// described as that, and one that writes a file from a here-document as a write.
func Describe(tool, args string) Description {
	c := newInvocation(tool, args)
	d := c.describe()
	d.Target = line(d.Target)
	return d
}

// An invocation is a tool call as it is looked at.
type invocation struct {
	name string // of the tool, in lower case, without the name of its server
	args value
	raw  string
}

func newInvocation(tool, args string) invocation {
	name := strings.ToLower(tool)
	for _, sep := range []string{"__", ".", "/", ":"} {
		if i := strings.LastIndex(name, sep); i >= 0 && i+len(sep) < len(name) {
			name = name[i+len(sep):]
		}
	}
	c := invocation{name: strings.NewReplacer("-", "", "_", "", " ", "").Replace(name), raw: args}
	if v := parseJSON(args); v.kind == kindObject {
		c.args = v
	}
	return c
}

// describe tries what is surest first.
func (c invocation) describe() Description {
	if patch, ok := c.patch(); ok {
		return describePatch(patch)
	}
	if command, ok := c.editor(); ok {
		return c.edited(command)
	}
	if command, ok := c.command(); ok {
		return describeCommand(command, c.windows(command))
	}
	action, known := actionOf(c.name)
	if !known {
		action = c.shape()
	}
	return c.as(action)
}

// patch finds a patch in the form of apply_patch, as raw input, in a field or
// as an argument of a command.
func (c invocation) patch() (string, bool) {
	for _, s := range []string{c.args.str("input", "patch", "patchText", "patch_text", "diff"), c.raw} {
		if strings.HasPrefix(strings.TrimSpace(s), beginPatch) {
			return s, true
		}
	}
	return "", false
}

// editor finds the verb of an editor tool, whose field "command" is no shell
// command.
func (c invocation) editor() (string, bool) {
	switch verb := c.args.str("command"); verb {
	case "view", "create", "str_replace", "insert", "undo_edit", "delete", "rename":
		return verb, c.path() != ""
	}
	return "", false
}

func (c invocation) edited(verb string) Description {
	switch verb {
	case "view":
		return c.as(quire.ActionRead)
	case "create":
		return c.as(quire.ActionWrite)
	}
	return c.as(quire.ActionEdit)
}

// command finds the command line of a shell tool: a string, or the words.
func (c invocation) command() (string, bool) {
	v, ok := c.args.get("command", "cmd", "script", "commandline", "command_line")
	switch {
	case ok && v.kind == kindText:
		return v.text, v.text != ""
	case ok && v.kind == kindList:
		return joinWords(v.texts()), len(v.list) > 0
	case c.args.kind == kindNone && isShell(c.name):
		return c.raw, strings.TrimSpace(c.raw) != "" && !strings.HasPrefix(strings.TrimSpace(c.raw), "{")
	}
	return "", false
}

func isShell(name string) bool {
	action, ok := actionOf(name)
	return ok && action == quire.ActionRun
}

// windows reports whether a command line is for a shell of Windows, where a
// backslash is part of a path.
func (c invocation) windows(command string) bool {
	if strings.Contains(c.name, "powershell") || strings.Contains(c.name, "pwsh") {
		return true
	}
	for i := 0; i+2 < len(command); i++ {
		if command[i+1] == ':' && command[i+2] == '\\' && letter(command[i]) {
			return true
		}
	}
	first, _, _ := strings.Cut(strings.TrimSpace(command), " ")
	verb, _, isCmdlet := strings.Cut(first, "-")
	return isCmdlet && (verb == "Get" || verb == "Select" || verb == "Set" || verb == "Test")
}

func letter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }

// joinWords makes a command line of words, as a shell would read it.
func joinWords(words []string) string {
	if n := len(words); n >= 3 && isShellBinary(words[0]) && strings.HasPrefix(words[n-2], "-") {
		return words[n-1] // bash -lc "…"
	}
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = w
		if w == "" || strings.ContainsAny(w, " \t\n'\"\\$`&|;<>()*?#") {
			quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

// path is the file or folder that a call names.
func (c invocation) path() string {
	return c.args.str("file_path", "filePath", "path", "filename", "file", "notebook_path", "target_file", "targetFile",
		"absolute_path", "relative_path", "file_name", "fileName", "uri", "dir_path", "directory", "dir", "folder",
		"target_directory", "relative_workspace_path")
}

// as describes a call of which the action is known.
func (c invocation) as(a quire.Action) Description {
	d := Description{Action: a}
	switch a {
	case quire.ActionRead:
		d.Target, d.Lines = c.path(), c.lines()
	case quire.ActionWrite:
		d.Target, d.New = c.path(), c.args.str(newNames()...)
	case quire.ActionEdit:
		d.Target = c.path()
		d.Old, d.New = c.hunks()
	case quire.ActionSearch:
		d.Target = inPath(c.args.str("pattern", "query", "regex", "search_term", "searchTerm", "q", "text", "search"), c.path())
	case quire.ActionList:
		d.Target = inPath(c.args.str("pattern", "glob", "glob_pattern", "globPattern"), c.path())
	case quire.ActionFetch:
		d.Target = c.args.str("url", "uri", "query", "q", "search_query")
	case quire.ActionTask:
		d.Target = c.args.str("description", "task", "prompt", "message", "instructions", "name")
	case quire.ActionPlan:
		d.Target = c.args.str("subject", "explanation", "title", "plan", "taskId")
	default:
		d.Target = c.anything()
	}
	if d.Target == "" {
		d.Target = c.anything()
	}
	return d
}

// anything is a target for a call that says nothing that is understood: its
// first short text.
func (c invocation) anything() string {
	for _, f := range c.args.fields {
		if f.value.kind == kindText && f.value.text != "" {
			return f.value.text
		}
	}
	if c.args.kind == kindNone {
		return c.raw
	}
	return ""
}

func inPath(pattern, path string) string {
	switch {
	case pattern == "":
		return path
	case path == "":
		return pattern
	}
	return pattern + " in " + path
}

func oldNames() []string {
	return []string{"old_string", "old_str", "oldString", "oldText", "old_text", "old", "search", "original_text", "find"}
}

func newNames() []string {
	return []string{"content", "file_text", "contents", "new_string", "new_str", "newString", "newText", "new_text", "new",
		"new_source", "replace", "replacement", "code_edit", "insert_text", "text", "data"}
}

// hunks are the replaced and the written texts of an edit.
func (c invocation) hunks() (old []string, written string) {
	list, ok := c.args.get("edits", "changes", "replacements", "chunks")
	if !ok || list.kind != kindList {
		list = value{list: []value{c.args}}
	}
	var added []string
	for _, e := range list.list {
		if s := e.str(oldNames()...); s != "" {
			old = append(old, s)
		}
		if s := e.str(newNames()...); s != "" {
			added = append(added, s)
		}
	}
	return old, strings.Join(added, "\n")
}

// readLimit is how many lines the reading tools of Claude Code and OpenCode
// give when only the first is named.
const readLimit = 2000

// lines are those that a read asks for.
func (c invocation) lines() quire.Range {
	if v, ok := c.args.get("view_range", "viewRange", "range", "line_range"); ok && len(v.list) == 2 {
		first, _ := v.list[0].whole()
		last, _ := v.list[1].whole()
		return span(first, last)
	}
	if first, ok := c.args.number("start_line", "startLine", "line_start", "start_line_one_indexed", "from_line"); ok {
		last, _ := c.args.number("end_line", "endLine", "line_end", "end_line_one_indexed_inclusive", "to_line")
		return span(first, last)
	}
	offset, begins := c.args.number("offset")
	limit, ends := c.args.number("limit")
	if !begins && !ends {
		return quire.Range{}
	}
	if _, fromZero := c.args.get("filePath"); fromZero {
		offset++ // OpenCode counts from 0
	}
	if limit <= 0 {
		limit = readLimit
	}
	offset = max(offset, 1)
	return span(offset, offset+limit-1)
}

// span is a range of lines; what lies outside of a file is left out.
func span(first, last int) quire.Range {
	if first < 1 {
		first = 1
	}
	if last < 0 {
		last = 0
	}
	if first == 1 && last == 0 {
		return quire.Range{}
	}
	if last != 0 && last < first {
		last = first
	}
	return quire.Range{First: first, Last: last}
}

// line makes one line of at most maxTarget bytes out of any text.
func line(s string) string {
	if len(s) > 4*maxTarget {
		s = s[:4*maxTarget]
	}
	s = strings.ToValidUTF8(s, "\ufffd")
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	if len(s) <= maxTarget {
		return s
	}
	cut := maxTarget - len("…")
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}
