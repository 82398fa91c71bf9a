package permit

import (
	"slices"
	"strings"
)

// A skip says which words stand between a command's name and what it is about.
type skip struct {
	valued   string   // letters of flags that take a value
	long     []string // long flags that take one as the next word
	operands int      // words before the inner command
	assigns  bool     // NAME=value words stand before it too
}

// after is what follows the flags.
func (s skip) after(args []word) []word {
	for len(args) > 0 && args[0].flag() {
		text := args[0].text
		args = args[1:]
		if text == "--" {
			break
		}
		if s.takesValue(text) && len(args) > 0 {
			args = args[1:]
		}
	}
	for s.assigns && len(args) > 0 && args[0].known && strings.Contains(args[0].text, "=") {
		args = args[1:]
	}
	return args
}

func (s skip) takesValue(flag string) bool {
	if strings.HasPrefix(flag, "--") {
		return slices.Contains(s.long, flag)
	}
	at := strings.IndexAny(flag[1:], s.valued)
	return s.valued != "" && at >= 0 && at == len(flag)-2
}

// inner is the command that a wrapper runs, nil when it runs none.
func (s skip) inner(args []word) []word {
	args = s.after(args)
	if len(args) <= s.operands {
		return nil
	}
	return args[s.operands:]
}

// wrappers run the command that their arguments are, and do nothing else that
// needs leave.
var wrappers = map[string]skip{
	"env":        {valued: "uCS", long: []string{"--unset", "--chdir"}, assigns: true},
	"nohup":      {},
	"nice":       {valued: "n", long: []string{"--adjustment"}},
	"ionice":     {valued: "cnp"},
	"timeout":    {valued: "ks", long: []string{"--kill-after", "--signal"}, operands: 1},
	"gtimeout":   {valued: "ks", operands: 1},
	"time":       {valued: "fo"},
	"stdbuf":     {valued: "ioe"},
	"setsid":     {},
	"command":    {},
	"builtin":    {},
	"exec":       {valued: "a"},
	"noglob":     {},
	"busybox":    {},
	"xargs":      {valued: "IidnPLsEea", long: []string{"--max-args", "--max-procs", "--max-lines", "--replace", "--delimiter", "--arg-file"}},
	"sudo":       {valued: "ughpCrtTUDR", long: []string{"--user", "--group"}, assigns: true},
	"doas":       {valued: "uC"},
	"flock":      {valued: "wE", operands: 1},
	"chroot":     {operands: 1},
	"watch":      {valued: "n", long: []string{"--interval"}},
	"caffeinate": {valued: "tw"},
	"unbuffer":   {},
	"chronic":    {},
}

// runners run a command of the project's tools, as their second word says.
var runners = map[string][]string{
	"uv": {"run"}, "poetry": {"run"}, "pipenv": {"run"}, "bundle": {"exec"}, "mise": {"exec", "x"}, "direnv": {"exec"}, "npm": {"exec"}, "pnpm": {"exec"}, "yarn": {"exec"}, "rye": {"run"}, "pdm": {"run"}, "hatch": {"run"}, "conda": {"run"}, "docker": {"run", "exec"}, "podman": {"run", "exec"},
}

// globals are flags that stand between a command and its subcommand.
var globals = map[string]skip{
	"git":     {valued: "cC", long: []string{"--git-dir", "--work-tree", "--namespace", "--exec-path", "--super-prefix", "--config-env"}},
	"docker":  {valued: "HcDl", long: []string{"--host", "--context", "--config", "--log-level"}},
	"npm":     {valued: "wC", long: []string{"--prefix", "--workspace"}},
	"pnpm":    {valued: "CF", long: []string{"--dir", "--filter"}},
	"yarn":    {long: []string{"--cwd"}},
	"go":      {valued: "C"},
	"make":    {valued: "CfIjo"},
	"kubectl": {valued: "ns", long: []string{"--namespace", "--context", "--kubeconfig"}},
	"gh":      {valued: "R", long: []string{"--repo"}},
	"cargo":   {valued: "CZ", long: []string{"--config", "--color"}},
}

func isShell(name string) bool {
	return slices.Contains([]string{"bash", "sh", "zsh", "dash", "ksh", "mksh", "ash", "rbash"}, name)
}

// unwrap hands on what a command runs. It reports whether the command itself
// does nothing else.
func (s *script) unwrap(c command) bool {
	switch {
	case isShell(c.name.text):
		return s.shell(c)
	case c.name.text == "eval":
		s.nest(joined(c.args), c)
		return true
	case c.name.text == "trap":
		return s.trap(c)
	case c.name.text == "su" || c.name.text == "runuser" || c.name.text == "script" || c.name.text == "flock":
		s.option(c, "-c", "--command")
	case c.name.text == "env" && c.hasFlag("-S", "--split-string"):
		s.nest(joined(splitString(c.args)), c)
		return true
	case c.name.text == "find" || c.name.text == "fd" || c.name.text == "fdfind":
		s.executed(c)
		return false
	}
	s.runner(c)
	return s.wrapped(c)
}

func (s *script) wrapped(c command) bool {
	how, ok := wrappers[c.name.text]
	if !ok || (c.name.text == "command" && c.hasFlag("-v", "-V")) {
		return false
	}
	inner := how.inner(c.args)
	if c.name.text == "watch" {
		s.nest(joined(inner), c)
		return true
	}
	if c.name.text == "xargs" && len(inner) > 0 {
		inner = append(slices.Clone(inner), word{})
	}
	if c.name.text == "env" || c.name.text == "sudo" {
		s.settings(c.args)
	}
	if c.name.text == "time" {
		for _, e := range outputs("-o", "--output")(command{args: c.args[:len(c.args)-len(inner)]})[1:] {
			s.writes = append(s.writes, target{e.paths[0], c.place})
		}
	}
	s.simple(inner, c.text, c.input)
	return !slices.Contains([]string{"sudo", "doas", "chroot"}, c.name.text) && len(inner) > 0
}

// settings looks at the variables that env sets.
func (s *script) settings(args []word) {
	for _, w := range args {
		if name, value, ok := strings.Cut(w.text, "="); ok {
			s.setting(name, value)
		}
	}
}

// setting notes a variable that decides what commands do.
func (s *script) setting(name, value string) {
	if decides(name) && !(strings.HasSuffix(name, "PAGER") && value == "cat") {
		s.alters = append(s.alters, name)
	}
}

// runner hands on the command of a runner, which stays a command too.
func (s *script) runner(c command) {
	verbs, ok := runners[c.name.text]
	rest := globals[c.name.text].after(c.args)
	if !ok || len(rest) < 2 || !slices.Contains(verbs, rest[0].text) {
		return
	}
	if inner := (skip{}).after(rest[1:]); len(inner) > 0 && c.name.text != "docker" && c.name.text != "podman" {
		s.simple(inner, c.text, c.input)
	}
}

// shell judges what a shell is given: as an argument, or as its input.
func (s *script) shell(c command) bool {
	args := c.args
	for len(args) > 0 && (args[0].flag() || strings.HasPrefix(args[0].text, "+")) {
		text := args[0].text
		args = args[1:]
		if text == "--" {
			break
		}
		if !strings.HasPrefix(text, "--") && strings.Contains(text, "c") {
			for len(args) > 0 && args[0].flag() {
				s.nest(args[0], c)
				args = args[1:]
			}
			s.nest(first(args), c)
			return true
		}
		if (strings.HasSuffix(text, "o") || text == "--rcfile" || text == "--init-file") && len(args) > 0 {
			args = args[1:]
		}
	}
	if len(args) > 0 {
		return false // it runs a file
	}
	if c.hasFlag("--version", "--help") {
		return true
	}
	return s.fromInput(c)
}

func first(args []word) word {
	if len(args) == 0 {
		return word{known: true}
	}
	return args[0]
}

func (s *script) fromInput(c command) bool {
	switch c.input.kind {
	case inputText:
		s.nest(c.input.text, c)
	case inputNone:
		s.unclear = append(s.unclear, "“"+clip(c.text)+"” starts a shell that is given its commands later")
	default:
		s.unclear = append(s.unclear, "“"+clip(c.text)+"” runs as commands what it is fed")
	}
	return true
}

// trap judges the commands of a trap.
func (s *script) trap(c command) bool {
	if ops := c.operands(); len(ops) > 1 {
		s.nest(ops[0], c)
	}
	return true
}

// option judges the text that follows a flag.
func (s *script) option(c command, flags ...string) {
	for i, w := range c.args {
		name, value, glued := strings.Cut(w.text, "=")
		if !w.known || !slices.Contains(flags, name) {
			continue
		}
		if glued {
			s.nest(word{text: value, known: true}, c)
		} else if i+1 < len(c.args) {
			s.nest(c.args[i+1], c)
		}
	}
}

// splitString takes the flag away that makes env split a text into words.
func splitString(args []word) []word {
	var list []word
	for _, w := range args {
		for _, flag := range []string{"--split-string=", "--split-string", "-S"} {
			w.text = strings.TrimPrefix(w.text, flag)
		}
		if w.text != "" || !w.known {
			list = append(list, w)
		}
	}
	return list
}

// executed judges the commands of find -exec and of fd -x, with what is found in
// the place of {}.
func (s *script) executed(c command) {
	for i := 0; i < len(c.args); i++ {
		if !c.args[i].known || !slices.Contains(executes(), c.args[i].text) {
			continue
		}
		var inner []word
		for i++; i < len(c.args) && !ends(c.args[i]); i++ {
			switch w := c.args[i]; {
			case w.text == "{}" && c.name.text == "find":
				inner = append(inner, foundPaths(c)...)
			case strings.Contains(w.text, "{}"):
				inner = append(inner, word{})
			default:
				inner = append(inner, w)
			}
		}
		if c.name.text != "find" {
			inner = append(inner, word{})
		}
		s.simple(inner, c.text, input{})
	}
}

func executes() []string {
	return []string{"-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"}
}

func ends(w word) bool { return w.known && (w.text == ";" || w.text == "+") }

// joined is the text that several words make for a shell.
func joined(list []word) word {
	texts := make([]string, len(list))
	for i, w := range list {
		if !w.known {
			return word{}
		}
		texts[i] = w.text
	}
	return word{text: strings.Join(texts, " "), known: true}
}

// decides reports whether a variable changes what commands do that are started
// afterwards.
func decides(name string) bool {
	exact := []string{"PATH", "IFS", "ENV", "BASH_ENV", "SHELLOPTS", "BASHOPTS", "PROMPT_COMMAND", "PS4", "SHELL", "PERL5OPT", "PERL5LIB", "PYTHONPATH", "PYTHONSTARTUP", "PYTHONHOME", "RUBYOPT", "RUBYLIB", "NODE_PATH", "GOFLAGS", "RUSTC_WRAPPER", "RUSTFLAGS", "MAKEFLAGS", "CC", "CXX", "CLASSPATH", "LESSOPEN", "LESSCLOSE", "BROWSER", "VISUAL"}
	if slices.Contains(exact, name) {
		return true
	}
	for _, start := range []string{"LD_", "DYLD_", "GIT_", "BASH_FUNC", "npm_config_"} {
		if strings.HasPrefix(name, start) && !strings.HasPrefix(name, "GIT_AUTHOR") && !strings.HasPrefix(name, "GIT_COMMITTER") {
			return true
		}
	}
	return strings.HasSuffix(name, "EDITOR") || strings.HasSuffix(name, "_OPTIONS") || strings.HasSuffix(name, "_ASKPASS") || strings.HasSuffix(name, "PAGER")
}
