package page

import (
	"path"
	"strconv"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
)

// describeCommand describes a command line. It is a read, a search or a list if
// all of its commands are (or only look at what those print); otherwise a run.
func describeCommand(command string, windows bool) Description {
	run := Description{Action: quire.ActionRun, Target: command}
	if at := strings.Index(command, beginPatch); at >= 0 && strings.Contains(command[:at], "apply_patch") {
		return describePatch(command[at:])
	}
	var d Description
	for _, s := range split(command, windows) {
		next, counts := s.describe()
		if !counts {
			continue
		}
		if next.Action == quire.ActionNone || d.Action != quire.ActionNone && d.Action != next.Action {
			return run
		}
		d = merge(d, next)
	}
	if d.Action == quire.ActionNone {
		return run
	}
	if d.Target == "" {
		d.Target = command
	}
	return d
}

// merge joins two commands of the same action.
func merge(d, next Description) Description {
	if d.Action == quire.ActionNone {
		return next
	}
	d.Old = append(d.Old, next.Old...)
	if next.New != "" {
		d.New = strings.TrimPrefix(d.New+"\n"+next.New, "\n")
	}
	if d.Target == next.Target {
		d.Lines = around(d.Lines, next.Lines)
		return d
	}
	d.Lines = quire.Range{}
	d.Target = strings.TrimSpace(d.Target + " " + next.Target)
	return d
}

// around is the smallest range that holds both.
func around(a, b quire.Range) quire.Range {
	if a == (quire.Range{}) || b == (quire.Range{}) {
		return quire.Range{}
	}
	r := quire.Range{First: min(a.First, b.First), Last: max(a.Last, b.Last)}
	if a.Last == 0 || b.Last == 0 {
		r.Last = 0
	}
	return r
}

// describe returns what a simple command does, and whether it counts: changing
// the folder, printing a line or trimming what another command prints does not.
// ActionNone is a command that does anything else.
func (s simple) describe() (Description, bool) {
	words := s.unwrapped()
	if len(words) == 0 {
		return Description{}, s.out != ""
	}
	name := binary(words[0])
	if isShellBinary(name) && len(words) >= 3 && strings.HasPrefix(words[1], "-") && strings.Contains(words[1], "c") {
		return describeCommand(words[2], false), true
	}
	args := newArguments(name, words[1:])
	switch {
	case s.out != "" && s.out != "/dev/null":
		return s.written(name, args), true
	case s.piped && onlyShows(name, args):
		return Description{}, false
	case name == "tee":
		return Description{Action: quire.ActionWrite, Target: args.plain(0), New: s.here}, true
	}
	return described(name, args)
}

func isWrapper(word string) bool {
	switch word {
	case "sudo", "env", "command", "time", "nice", "nohup", "exec", "then", "do", "else", "{", "!":
		return true
	}
	return false
}

func isShellBinary(name string) bool {
	switch binary(name) {
	case "bash", "sh", "zsh", "dash":
		return true
	}
	return false
}

// binary is the name of a program without its folder and, on Windows, its
// extension.
func binary(word string) string {
	word = strings.ToLower(strings.ReplaceAll(word, `\`, "/"))
	return strings.TrimSuffix(path.Base(word), ".exe")
}

// written describes a command whose output goes to a file: a write if it prints
// text that stands in the command line.
func (s simple) written(name string, args arguments) Description {
	d := Description{Action: quire.ActionWrite, Target: s.out}
	switch name {
	case "cat":
		d.New = s.here
		if s.here == "" && len(args.plains) > 0 {
			return Description{}
		}
	case "echo", "printf":
		d.New = strings.Join(args.plains, " ")
	default:
		return Description{}
	}
	return d
}

// onlyShows reports whether a command at the end of a pipe only picks from what
// it is given.
func onlyShows(name string, args arguments) bool {
	switch name {
	case "head", "tail", "sort", "uniq", "wc", "nl", "cut", "tr", "less", "more", "column", "cat", "select-object", "format-table", "out-string", "measure-object":
		return true
	case "sed":
		return !args.has("-i")
	case "grep", "rg", "egrep", "select-string", "findstr", "awk", "jq":
		return true
	}
	return false
}

// described describes a command by its name and its arguments.
func described(name string, args arguments) (Description, bool) {
	switch name {
	case "cd", "pushd", "popd", "set", "export", "echo", "printf", "true", ":", "set-location", "pwd", "fi", "done", "}", "source":
		return Description{}, false
	case "cat", "nl", "bat", "less", "more", "type", "gc", "get-content", "head", "tail", "tac", "xxd", "strings":
		return read(name, args), true
	case "sed":
		return sed(args), true
	case "rg", "grep", "egrep", "fgrep", "ag", "ack", "zgrep", "findstr", "select-string", "sls":
		return search(args), true
	case "git":
		return git(args), true
	case "ls", "tree", "find", "fd", "dir", "get-childitem", "gci", "eza":
		return list(name, args), true
	}
	return Description{}, true
}

func read(name string, args arguments) Description {
	d := Description{Action: quire.ActionRead, Target: strings.Join(args.plains, " ")}
	if d.Target == "" {
		d.Target = args.value("-path", "-literalpath")
	}
	if d.Target == "" {
		return Description{}
	}
	switch name {
	case "head":
		d.Lines = quire.Range{First: 1, Last: args.count(10, "-n", "--lines")}
	case "tail":
		if from, ok := strings.CutPrefix(args.value("-n", "--lines"), "+"); ok {
			first, _ := strconv.Atoi(from)
			d.Lines = span(first, 0)
		}
	case "get-content", "gc":
		if n := args.count(0, "-totalcount", "-head", "-first"); n > 0 {
			d.Lines = quire.Range{First: 1, Last: n}
		}
	}
	return d
}

// sed reads with -n and a range of lines; with -i it edits.
func sed(args arguments) Description {
	if args.has("-i") {
		return Description{Action: quire.ActionEdit, Target: strings.Join(args.after(1), " ")}
	}
	script, files := args.value("-e"), args.plains
	if script == "" && len(files) > 0 {
		script, files = files[0], files[1:]
	}
	lines, ok := printed(script)
	if !ok || len(files) == 0 {
		return Description{}
	}
	return Description{Action: quire.ActionRead, Target: strings.Join(files, " "), Lines: lines}
}

// printed reads a script that only prints lines: "10,20p", "5p", "10,$p", and
// several of them.
func printed(script string) (quire.Range, bool) {
	var all quire.Range
	for i, part := range strings.FieldsFunc(script, func(r rune) bool { return r == ';' || r == '\n' }) {
		address, ok := strings.CutSuffix(strings.TrimSpace(part), "p")
		if !ok {
			return quire.Range{}, false
		}
		from, to, isRange := strings.Cut(address, ",")
		first, err := strconv.Atoi(strings.TrimSpace(from))
		if err != nil {
			return quire.Range{}, address == ""
		}
		last, err := strconv.Atoi(strings.TrimSpace(to))
		if !isRange {
			last = first
		} else if err != nil {
			last = 0 // "$" or a pattern
		}
		r := quire.Range{First: max(first, 1), Last: last}
		if i > 0 {
			r = around(all, r)
		}
		all = r
	}
	return all, all != quire.Range{}
}

func search(args arguments) Description {
	pattern, where := args.value("-e", "--regexp", "-pattern"), args.plains
	if pattern == "" && len(where) > 0 {
		pattern, where = where[0], where[1:]
	}
	if pattern == "" && args.has("--files") {
		return Description{Action: quire.ActionList, Target: strings.Join(where, " ")}
	}
	if args.has("--files") {
		return Description{Action: quire.ActionList, Target: strings.TrimSpace(strings.Join(append([]string{pattern}, where...), " "))}
	}
	if p := args.value("-path"); p != "" {
		where = append(where, p)
	}
	return Description{Action: quire.ActionSearch, Target: inPath(pattern, strings.Join(where, " "))}
}

// git describes the commands of git that only look into files.
func git(args arguments) Description {
	rest := arguments{plains: args.after(1), flags: args.flags}
	switch args.plain(0) {
	case "grep":
		return search(rest)
	case "ls-files":
		return Description{Action: quire.ActionList, Target: strings.Join(rest.plains, " ")}
	}
	return Description{}
}

func list(name string, args arguments) Description {
	if name == "find" && (args.has("-exec") || args.has("-delete") || args.has("-execdir")) {
		return Description{}
	}
	target := strings.Join(args.plains, " ")
	if name == "find" {
		target = inPath(args.value("-name", "-iname", "-path", "-regex"), args.plain(0))
	}
	if target == "" {
		target = "."
	}
	return Description{Action: quire.ActionList, Target: target}
}

// arguments are the words after the name of a program.
type arguments struct {
	plains []string
	flags  []string // with their values as words of their own where they have any
}

// newArguments tells the flags of a program and their values from its other
// words.
func newArguments(name string, words []string) arguments {
	var a arguments
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case w == "--":
			a.plains = append(a.plains, words[i+1:]...)
			return a
		case len(w) > 1 && w[0] == '-':
			a.flags = append(a.flags, w)
			if takesValue(name, w) && i+1 < len(words) {
				i++
				a.flags = append(a.flags, words[i])
			}
		case w != "": // the empty word is the suffix that BSD's sed -i takes
			a.plains = append(a.plains, w)
		}
	}
	return a
}

// takesValue reports whether a flag of a program is followed by its value.
func takesValue(name, flag string) bool {
	switch name {
	case "head", "tail":
		return oneOf(flag, "-n", "-c", "--lines", "--bytes")
	case "rg", "grep", "egrep", "fgrep", "ag", "ack", "zgrep", "git":
		return oneOf(flag, "-e", "-A", "-B", "-C", "-m", "-g", "-t", "-T", "-f", "--glob", "--iglob", "--type", "--type-not", "--max-count",
			"--regexp", "--context", "--after-context", "--before-context", "--include", "--exclude", "--exclude-dir", "--max-depth", "--sort")
	case "sed":
		return oneOf(flag, "-e", "-f", "--expression")
	case "find":
		return !oneOf(flag, "-print", "-print0", "-not", "-o", "-a", "-delete", "-empty", "-ls", "-prune", "-L", "-H")
	case "tree":
		return oneOf(flag, "-L", "-I", "-P")
	case "fd":
		return oneOf(flag, "-e", "-t", "-d", "-E", "--type", "--extension", "--max-depth")
	case "get-content", "gc", "select-string", "sls", "get-childitem", "gci":
		return !oneOf(strings.ToLower(flag), "-raw", "-recurse", "-force", "-file", "-directory", "-name", "-simplematch", "-casesensitive", "-list", "-quiet")
	}
	return false
}

func oneOf(s string, names ...string) bool {
	for _, name := range names {
		if s == name {
			return true
		}
	}
	return false
}

// plain is the i-th word that is no flag, or "".
func (a arguments) plain(i int) string {
	if i < len(a.plains) {
		return a.plains[i]
	}
	return ""
}

// after are the words that are no flags from the i-th on.
func (a arguments) after(i int) []string { return a.plains[min(i, len(a.plains)):] }

func (a arguments) has(flag string) bool {
	for _, f := range a.flags {
		if f == flag || flag == "-i" && strings.HasPrefix(f, "-i") {
			return true
		}
	}
	return false
}

// value is the value of the first flag of these names, "" if there is none.
func (a arguments) value(names ...string) string {
	for i, f := range a.flags {
		for _, name := range names {
			if strings.EqualFold(f, name) && i+1 < len(a.flags) {
				return a.flags[i+1]
			}
			if v, ok := strings.CutPrefix(f, name+"="); ok {
				return v
			}
		}
	}
	return ""
}

// count is the number behind a flag, also one written as "-20".
func (a arguments) count(otherwise int, names ...string) int {
	if n, err := strconv.Atoi(a.value(names...)); err == nil && n > 0 {
		return n
	}
	for _, f := range a.flags {
		if n, err := strconv.Atoi(strings.TrimLeft(f, "-n")); err == nil && n > 0 {
			return n
		}
	}
	return otherwise
}
