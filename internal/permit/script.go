package permit

import (
	"bytes"
	"errors"
	"maps"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// The bounds of what is parsed. What is larger cannot be judged.
const (
	maxScript = 64 << 10 // bytes
	maxNested = 8        // shells in shells
	maxWords  = 4096     // of a simple command
)

var errTooLong = errors.New("the command is too long to be judged")

// A command is a simple command, with what it is given, wherever in a script it
// stands.
type command struct {
	name  word   // the last element of its first word
	args  []word // the words after it
	text  string // as the user reads it
	place place
	input input
}

// operands are the arguments that are no flags.
func (c command) operands() []word {
	args := c.args
	if skip, ok := globals[c.name.text]; ok {
		args = skip.after(args)
	}
	var list []word
	for i, w := range args {
		if w.known && w.text == "--" {
			return append(list, args[i+1:]...)
		}
		if !w.flag() {
			list = append(list, w)
		}
	}
	return list
}

// loose reports whether an argument is not known, so that it may be any flag.
func (c command) loose() bool {
	return slices.ContainsFunc(c.args, func(w word) bool { return !w.known })
}

// has reports whether a flag is given: -f also inside -rf and as its long name.
func (c command) hasFlag(flags ...string) bool {
	for _, w := range c.args {
		if w.known && w.text == "--" {
			return false
		}
		if slices.ContainsFunc(flags, func(f string) bool { return w.flag() && isFlag(w.text, f) }) {
			return true
		}
	}
	return false
}

func isFlag(text, flag string) bool {
	if name, _, _ := strings.Cut(text, "="); strings.HasPrefix(name, "--") {
		long := flag
		if !strings.HasPrefix(flag, "--") {
			long = longNames()[flag]
		}
		return name == long || len(name) > 3 && strings.HasPrefix(long, name) // programs take abbreviations
	}
	if strings.HasPrefix(flag, "--") {
		return shortOf(flag) != "" && isFlag(text, shortOf(flag))
	}
	return text == flag || (len(flag) == 2 && strings.Contains(text[1:], flag[1:]))
}

func shortOf(long string) string {
	for _, letter := range []string{"-r", "-f", "-i"} {
		if longNames()[letter] == long {
			return letter
		}
	}
	return ""
}

// longNames are the long spellings of the letters that rules are about.
func longNames() map[string]string {
	return map[string]string{"-r": "--recursive", "-R": "--recursive", "-f": "--force", "-i": "--in-place"}
}

// An input is what a command reads.
type input struct {
	kind inputKind
	text word // of a here-document or here-string
}

type inputKind uint8

const (
	inputNone inputKind = iota
	inputText
	inputFile
	inputPipe
)

// A script collects what a text for the shell does.
type script struct {
	values    values
	functions []string
	place     place
	depth     int
	commands  []command
	writes    []target // of redirections
	reads     []target
	unclear   []string // why parts cannot be judged
	alters    []string // variables that it sets and that change what commands do
}

// A target is a path that a redirection names.
type target struct {
	word  word
	place place
}

// parse reads a text for a shell. What it cannot read is in unclear.
func parse(text string, at place, depth int) *script {
	s := &script{place: at, depth: depth}
	if len(text) > maxScript || depth > maxNested {
		s.unclear = append(s.unclear, errTooLong.Error())
		return s
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		s.unclear = append(s.unclear, "it cannot be read as a shell command ("+strings.TrimPrefix(err.Error(), ":")+")")
		return s
	}
	s.values = fixedValues(file)
	syntax.Walk(file, func(n syntax.Node) bool {
		if f, ok := n.(*syntax.FuncDecl); ok && f.Name != nil {
			s.functions = append(s.functions, f.Name.Value)
		}
		return true
	})
	s.stmts(file.Stmts, input{})
	return s
}

// fixedValues finds the variables that are set once, at the top, to a fixed text.
func fixedValues(file *syntax.File) values {
	count := map[string]int{}
	tame := true
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Assign:
			if n.Name != nil {
				count[n.Name.Value]++
			}
		case *syntax.WordIter:
			count[n.Name.Value]++
		case *syntax.ParamExp:
			tame = tame && n.Exp == nil
		case *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.LetClause, *syntax.CStyleLoop:
			tame = false
		case *syntax.CallExpr:
			tame = tame && !setsVariables(n)
		}
		return true
	})
	if !tame || count["IFS"] > 0 {
		return values{}
	}
	known := values{}
	if count["HOME"] == 0 {
		known["HOME"] = "~"
	}
	for _, stmt := range file.Stmts {
		assignOnce(stmt, count, known)
	}
	if slices.ContainsFunc(slices.Collect(maps.Values(known)), sets) {
		return values{}
	}
	return known
}

// setsVariables reports whether a command may set variables by their name.
func setsVariables(c *syntax.CallExpr) bool {
	if len(c.Args) == 0 {
		return false
	}
	return sets(c.Args[0].Lit())
}

func sets(name string) bool {
	return slices.Contains([]string{"read", "printf", "mapfile", "readarray", "getopts", "eval", "source", ".", "unset", "command", "builtin", "exec"}, name)
}

func assignOnce(stmt *syntax.Stmt, count map[string]int, known values) {
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) > 0 || stmt.Background {
		return
	}
	for _, a := range call.Assigns {
		if a.Name == nil || a.Value == nil || a.Index != nil || a.Append || count[a.Name.Value] != 1 {
			continue
		}
		if w := known.target(a.Value); w.known {
			known[a.Name.Value] = w.text
		}
	}
}

func (s *script) stmts(list []*syntax.Stmt, in input) {
	for _, stmt := range list {
		s.stmt(stmt, in)
	}
}

// stmt takes a statement in; in is what it reads unless it says otherwise.
func (s *script) stmt(stmt *syntax.Stmt, in input) {
	if stmt == nil {
		return
	}
	for _, r := range stmt.Redirs {
		in = s.redirect(r, in)
	}
	if stmt.Cmd != nil {
		s.command(stmt, stmt.Cmd, in)
	}
}

func (s *script) redirect(r *syntax.Redirect, in input) input {
	s.inside(r.Word)
	s.inside(r.Hdoc)
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		return input{inputText, s.values.document(r.Hdoc)}
	case syntax.WordHdoc:
		return input{inputText, s.values.target(r.Word)}
	case syntax.RdrIn:
		s.reads = append(s.reads, target{s.values.target(r.Word), s.place})
		return input{kind: inputFile}
	case syntax.DplIn:
		return in
	case syntax.DplOut:
		if w := s.values.target(r.Word); w.known && isDescriptor(w.text) {
			return in
		}
	}
	s.writes = append(s.writes, target{s.values.target(r.Word), s.place})
	return in
}

func isDescriptor(text string) bool {
	return text == "-" || strings.Trim(text, "0123456789-") == ""
}

// command goes into a command of any kind.
func (s *script) command(stmt *syntax.Stmt, c syntax.Command, in input) {
	switch c := c.(type) {
	case *syntax.CallExpr:
		s.call(c, in)
	case *syntax.BinaryCmd:
		s.binary(c, in)
	case *syntax.Subshell:
		s.apart(func() { s.stmts(c.Stmts, in) })
	case *syntax.Block:
		s.stmts(c.Stmts, in)
	case *syntax.TimeClause:
		s.stmt(c.Stmt, in)
	case *syntax.CoprocClause:
		s.apart(func() { s.stmt(c.Stmt, in) })
	case *syntax.IfClause:
		s.conditional(c, in)
	default:
		s.compound(c, in)
	}
}

func (s *script) binary(c *syntax.BinaryCmd, in input) {
	if c.Op != syntax.Pipe && c.Op != syntax.PipeAll {
		s.stmt(c.X, in)
		s.stmt(c.Y, in)
		return
	}
	s.apart(func() { s.stmt(c.X, in) })
	s.apart(func() { s.stmt(c.Y, input{kind: inputPipe}) })
}

func (s *script) conditional(c *syntax.IfClause, in input) {
	for ; c != nil; c = c.Else {
		s.stmts(c.Cond, in)
		s.stmts(c.Then, in)
	}
}

// compound takes in loops, functions and the other clauses. They may run more
// than once or later, so a change of the folder in them leaves it unknown.
func (s *script) compound(c syntax.Command, in input) {
	before := s.place
	switch c := c.(type) {
	case *syntax.WhileClause:
		s.stmts(c.Cond, in)
		s.stmts(c.Do, in)
	case *syntax.ForClause:
		s.insideNode(c.Loop)
		s.stmts(c.Do, in)
	case *syntax.CaseClause:
		s.inside(c.Word)
		for _, item := range c.Items {
			for _, p := range item.Patterns {
				s.inside(p)
			}
			s.stmts(item.Stmts, in)
		}
	case *syntax.FuncDecl:
		s.stmt(c.Body, input{kind: inputPipe})
	case *syntax.DeclClause:
		s.assigns(c.Args)
	default:
		s.insideNode(c)
	}
	if !s.place.same(before) {
		s.place.lost = true
	}
}

// apart takes in what runs in a shell of its own: a change of the folder in it
// ends with it.
func (s *script) apart(do func()) {
	before := s.place
	do()
	s.place = before
}

// inside takes in the substitutions in a word.
func (s *script) inside(w *syntax.Word) {
	if w != nil {
		s.insideNode(w)
	}
}

func (s *script) insideNode(n syntax.Node) {
	if n == nil {
		return
	}
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			s.apart(func() { s.stmts(n.Stmts, input{kind: inputPipe}) })
			return false
		case *syntax.ProcSubst:
			s.apart(func() { s.stmts(n.Stmts, input{kind: inputPipe}) })
			return false
		}
		return true
	})
}

// assigns takes in the values of variables and, for those that decide what other
// commands do, their names.
func (s *script) assigns(list []*syntax.Assign) {
	for _, a := range list {
		s.insideNode(a)
		if a.Name != nil {
			s.setting(a.Name.Value, s.values.target(a.Value).text)
		}
	}
}

// call takes in a simple command.
func (s *script) call(c *syntax.CallExpr, in input) {
	s.assigns(c.Assigns)
	for _, w := range c.Args {
		s.inside(w)
	}
	if len(c.Args) == 0 {
		return
	}
	var all []word
	for _, w := range c.Args {
		all = append(all, s.values.read(w)...)
	}
	if len(all) == 0 {
		s.unclear = append(s.unclear, "the command's name is empty")
		return
	}
	s.simple(all, printed(c), in)
}

// simple adds a simple command and, if it hands its words on to others, those.
func (s *script) simple(all []word, text string, in input) {
	if len(all) == 0 {
		return
	}
	if len(all) > maxWords {
		s.unclear = append(s.unclear, errTooLong.Error())
		return
	}
	name := all[0]
	if name.known {
		name.text = strings.TrimSuffix(path.Base(strings.ReplaceAll(name.text, `\`, "/")), ".exe")
	}
	if name.known && slices.Contains(s.functions, name.text) {
		return // its body is judged where it stands
	}
	c := command{name: name, args: all[1:], text: text, place: s.place, input: in}
	if name.known && s.unwrap(c) {
		return
	}
	s.commands = append(s.commands, c)
	if name.known && (name.text == "cd" || name.text == "pushd" || name.text == "popd") {
		s.place = s.place.enter(c)
	}
}

// nest judges a text that another shell is given.
func (s *script) nest(text word, c command) {
	if !text.known {
		s.unclear = append(s.unclear, "“"+clip(c.text)+"” runs a text that is not known before it runs")
		return
	}
	inner := parse(text.text, c.place, s.depth+1)
	s.commands = append(s.commands, inner.commands...)
	s.writes = append(s.writes, inner.writes...)
	s.reads = append(s.reads, inner.reads...)
	s.unclear = append(s.unclear, inner.unclear...)
	s.alters = append(s.alters, inner.alters...)
}

// printed is a command on one line.
func printed(n syntax.Node) string {
	var b bytes.Buffer
	if err := syntax.NewPrinter(syntax.SingleLine(true)).Print(&b, n); err != nil {
		return ""
	}
	return strings.TrimSpace(b.String())
}

// clip shortens a text for a reason.
func clip(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > 120 {
		return string(runes[:117]) + "…"
	}
	return text
}
