package check

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// A Purpose says what a check is for.
type Purpose string

// The purposes.
const (
	ForCheck Purpose = "check"
	ForTypes Purpose = "typecheck"
	ForLint  Purpose = "lint"
	ForTests Purpose = "test"
)

func purposes() []Purpose { return []Purpose{ForCheck, ForTypes, ForLint, ForTests} }

// A System is what a project is built with.
type System string

// The systems.
const (
	Go     System = "go"
	Rust   System = "rust"
	Node   System = "node"
	Python System = "python"
	Java   System = "java"
	Make   System = "make"
	Own    System = "custom" // of the project's file of checks
)

// A Command is one check.
type Command struct {
	Name    string   `json:"name"` // unique in a project
	System  System   `json:"system"`
	Purpose Purpose  `json:"purpose"`
	Dir     string   `json:"dir"` // from the project's folder, "." for it
	Argv    []string `json:"argv"`
}

// Line is the command as a line for a POSIX shell.
func (c *Command) Line() string {
	if len(c.Argv) == 3 && c.Argv[0] == "sh" && c.Argv[1] == "-c" {
		return c.Argv[2]
	}
	var words []string
	for _, w := range c.Argv {
		words = append(words, quoted(w))
	}
	return strings.Join(words, " ")
}

func quoted(w string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=@,+", r)
	}
	if w != "" && !strings.ContainsFunc(w, func(r rune) bool { return !plain(r) }) {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

// finders look for the checks of a system in a folder, nil where it is not used.
func finders() []func(fs.FS, string) []Command {
	return []func(fs.FS, string) []Command{goChecks, rustChecks, nodeChecks, pythonChecks, javaChecks, makeChecks}
}

// mostDirs is how many folders below the project are looked at.
const mostDirs = 64

// Find lists the checks of a project: its own from the configuration, then those
// that its files say it has. A system that the project's folder does not hold is
// looked for in the folders right below it. Make is asked only where no other
// system was found, because it runs what they are.
func Find(project fs.FS, c Config) []Command {
	var list []Command
	for _, one := range c.Custom {
		list = append(list, one.command())
	}
	found := 0
	for i, find := range finders() {
		if last := i == len(finders())-1; last && found > 0 {
			break
		}
		here := find(project, ".")
		for _, dir := range folders(project) {
			if len(here) == 0 || here[0].Dir != "." {
				here = append(here, find(project, dir)...)
			}
		}
		found += len(here)
		list = append(list, here...)
	}
	return unique(list)
}

func (c *Custom) command() Command {
	out := Command{Name: c.Name, System: Own, Purpose: c.Purpose, Dir: c.Dir, Argv: []string{"sh", "-c", c.Command}}
	if out.Purpose == "" {
		out.Purpose = ForCheck
	}
	if out.Dir == "" {
		out.Dir = "."
	}
	return out
}

// folders are those right below the project that may hold a system of their own.
func folders(project fs.FS) (list []string) {
	entries, err := fs.ReadDir(project, ".")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if e.IsDir() && len(list) < mostDirs && !strings.HasPrefix(e.Name(), ".") && !slices.Contains([]string{"node_modules", "vendor", "testdata", "target", "dist", "build"}, e.Name()) {
			list = append(list, e.Name())
		}
	}
	return list
}

// unique are the checks of which each name is there once: the first.
func unique(list []Command) (out []Command) {
	for _, c := range list {
		if !slices.ContainsFunc(out, func(o Command) bool { return o.Name == c.Name }) {
			out = append(out, c)
		}
	}
	return out
}

// in names a check: with its folder, where that is not the project's.
func in(dir, name string, system System, p Purpose, argv ...string) Command {
	if dir != "." {
		name = dir + ": " + name
	}
	return Command{Name: name, System: system, Purpose: p, Dir: dir, Argv: argv}
}

func has(project fs.FS, names ...string) bool {
	return slices.ContainsFunc(names, func(n string) bool { _, err := fs.Stat(project, n); return err == nil })
}

func text(project fs.FS, dir, name string) []byte {
	data, err := fs.ReadFile(project, path.Join(dir, name))
	if err != nil {
		return nil
	}
	return data
}

func goChecks(project fs.FS, dir string) []Command {
	if !has(project, path.Join(dir, "go.mod")) {
		return nil
	}
	return []Command{
		in(dir, "go build", Go, ForTypes, "go", "build", "./..."),
		in(dir, "go vet", Go, ForLint, "go", "vet", "./..."),
		in(dir, "go test", Go, ForTests, "go", "test", "./..."),
	}
}

func rustChecks(project fs.FS, dir string) []Command {
	if !has(project, path.Join(dir, "Cargo.toml")) {
		return nil
	}
	list := []Command{in(dir, "cargo check", Rust, ForTypes, "cargo", "check", "--all-targets")}
	if has(project, path.Join(dir, "clippy.toml"), path.Join(dir, ".clippy.toml")) || bytes.Contains(text(project, dir, "Cargo.toml"), []byte("lints.clippy")) {
		list = append(list, in(dir, "cargo clippy", Rust, ForLint, "cargo", "clippy", "--all-targets"))
	}
	return append(list, in(dir, "cargo test", Rust, ForTests, "cargo", "test"))
}

// nodeChecks are those of the scripts check, typecheck, lint and test that are
// there, run by the manager whose lock file is.
func nodeChecks(project fs.FS, dir string) (list []Command) {
	var file struct {
		Scripts map[string]string `json:"scripts"`
	}
	if json.Unmarshal(text(project, dir, "package.json"), &file) != nil {
		return nil
	}
	for _, p := range purposes() {
		if script := file.Scripts[string(p)]; script != "" && !strings.Contains(script, "no test specified") {
			list = append(list, in(dir, string(p), Node, p, manager(project, dir), "run", string(p)))
		}
	}
	return list
}

// manager is the package manager of a folder; of one without a lock file, that of
// the project.
func manager(project fs.FS, dir string) string {
	for _, at := range []string{dir, "."} {
		switch {
		case has(project, path.Join(at, "bun.lock"), path.Join(at, "bun.lockb")):
			return "bun"
		case has(project, path.Join(at, "pnpm-lock.yaml")):
			return "pnpm"
		case has(project, path.Join(at, "yarn.lock")):
			return "yarn"
		}
	}
	return "npm"
}

func pythonChecks(project fs.FS, dir string) (list []Command) {
	at := func(name string) string { return path.Join(dir, name) }
	if !has(project, at("pyproject.toml"), at("setup.py"), at("setup.cfg"), at("requirements.txt"), at("tox.ini"), at("pytest.ini")) {
		return nil
	}
	config := string(text(project, dir, "pyproject.toml")) + string(text(project, dir, "setup.cfg")) + string(text(project, dir, "tox.ini"))
	python := func(module string, args ...string) []string {
		return append([]string{"python3", "-m", module}, args...)
	}
	if has(project, at("mypy.ini"), at(".mypy.ini")) || strings.Contains(config, "mypy]") {
		list = append(list, in(dir, "mypy", Python, ForTypes, python("mypy", ".")...))
	}
	if has(project, at("ruff.toml"), at(".ruff.toml")) || strings.Contains(config, "[tool.ruff") {
		list = append(list, in(dir, "ruff", Python, ForLint, python("ruff", "check", ".")...))
	}
	switch {
	case has(project, at("pytest.ini"), at("conftest.py"), at("tests/conftest.py")) || strings.Contains(config, "pytest"):
		list = append(list, in(dir, "pytest", Python, ForTests, python("pytest", "-q")...))
	default:
		list = append(list, pythonTests(project, dir)...)
	}
	return list
}

// pythonTests are the tests of a project whose configuration names no runner: by the
// form of the tests. Those in a folder that is no package are looked for in there,
// because unittest finds none of them from above.
func pythonTests(project fs.FS, dir string) []Command {
	for _, at := range []string{"tests", "test", ""} {
		form := testForm(project, path.Join(dir, at))
		switch {
		case form == "pytest":
			return []Command{in(dir, form, Python, ForTests, "python3", "-m", "pytest", "-q")}
		case form != "" && (at == "" || has(project, path.Join(dir, at, "__init__.py"))):
			return []Command{in(dir, form, Python, ForTests, "python3", "-m", "unittest", "discover")}
		case form != "":
			return []Command{in(dir, form, Python, ForTests, "python3", "-m", "unittest", "discover", "-s", at)}
		}
	}
	return nil
}

// testForm is pytest or unittest, by the first file of tests in a folder that shows
// it, "" where none does.
func testForm(project fs.FS, dir string) string {
	files, err := fs.Glob(project, path.Join(dir, "test*.py"))
	if err != nil {
		return "" // unreachable: the pattern is well formed
	}
	for _, f := range files {
		code := "\n" + string(text(project, "", f))
		switch {
		case strings.Contains(code, "unittest"):
			return "unittest"
		case strings.Contains(code, "import pytest"), strings.Contains(code, "\ndef test_"), strings.Contains(code, "\nclass Test"):
			return "pytest"
		}
	}
	return ""
}

func javaChecks(project fs.FS, dir string) []Command {
	wrapped := func(wrapper, plain string) string {
		if has(project, path.Join(dir, wrapper)) {
			return "./" + wrapper
		}
		return plain
	}
	switch {
	case has(project, path.Join(dir, "pom.xml")):
		mvn := wrapped("mvnw", "mvn")
		return []Command{
			in(dir, "mvn compile", Java, ForTypes, mvn, "-q", "-B", "test-compile"),
			in(dir, "mvn test", Java, ForTests, mvn, "-q", "-B", "test"),
		}
	case has(project, path.Join(dir, "build.gradle"), path.Join(dir, "build.gradle.kts")):
		gradle := wrapped("gradlew", "gradle")
		return []Command{
			in(dir, "gradle classes", Java, ForTypes, gradle, "-q", "testClasses"),
			in(dir, "gradle test", Java, ForTests, gradle, "-q", "test"),
		}
	}
	return nil
}

// target is a rule of a makefile. An assignment is none.
var target = regexp.MustCompile(`^([A-Za-z0-9_.-]+)\s*::?(?:[^=:]|$)`)

func makeChecks(project fs.FS, dir string) (list []Command) {
	var file []byte
	for _, name := range []string{"GNUmakefile", "makefile", "Makefile"} {
		if file = text(project, dir, name); file != nil {
			break
		}
	}
	targets := map[string]bool{}
	for s := bufio.NewScanner(bytes.NewReader(file)); s.Scan(); {
		if m := target.FindStringSubmatch(s.Text()); m != nil {
			targets[m[1]] = true
		}
	}
	for _, p := range purposes() {
		if targets[string(p)] {
			list = append(list, in(dir, "make "+string(p), Make, p, "make", string(p)))
		}
	}
	return list
}
