package arch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// module is the path of this module; trees in testdata use it too.
const module = "github.com/quire-agent/quire"

// A tree is a set of files with slash-separated paths from the root.
type tree struct {
	files    []file
	fset     *token.FileSet
	packages []*pkg // sorted by folder
	broken   []finding
}

type file struct {
	path string
	text string
}

// A pkg is the Go files of one folder outside testdata.
type pkg struct {
	dir  string // from the root, as in internal/page
	code []source
	test []source
}

type source struct {
	path  string
	lines int
	ast   *ast.File
}

// A finding is one breach of a rule.
type finding struct {
	where string // path, or path:line
	what  string // the breach and the reason of the rule
}

func (f finding) String() string { return f.where + ": " + f.what }

// newTree parses the Go files of a set of files.
func newTree(files []file) *tree {
	t := &tree{files: files, fset: token.NewFileSet()}
	byDir := map[string]*pkg{}
	for _, f := range files {
		if path.Ext(f.path) == ".go" && !strings.Contains("/"+f.path, "/testdata/") {
			t.parse(f, byDir)
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(byDir)) {
		t.packages = append(t.packages, byDir[dir])
	}
	return t
}

func (t *tree) parse(f file, byDir map[string]*pkg) {
	parsed, err := parser.ParseFile(t.fset, f.path, f.text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.broken = append(t.broken, finding{f.path, "does not parse: " + err.Error()})
		return
	}
	dir := path.Dir(f.path)
	p := byDir[dir]
	if p == nil {
		p = &pkg{dir: dir}
		byDir[dir] = p
	}
	src := source{path: f.path, lines: strings.Count(f.text, "\n"), ast: parsed}
	if strings.HasSuffix(f.path, "_test.go") {
		p.test = append(p.test, src)
	} else {
		p.code = append(p.code, src)
	}
}

func (t *tree) at(n ast.Node) string {
	pos := t.fset.Position(n.Pos())
	return pos.Filename + ":" + strconv.Itoa(pos.Line)
}

func (t *tree) find(dir string) *pkg {
	for _, p := range t.packages {
		if p.dir == dir {
			return p
		}
	}
	return nil
}

// all is the code and the tests of the package.
func (p *pkg) all() []source { return slices.Concat(p.code, p.test) }

// imports lists import paths with the file that has them, in order.
func imports(sources []source) []imported {
	var list []imported
	for _, s := range sources {
		for _, spec := range s.ast.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err == nil {
				list = append(list, imported{name, spec})
			}
		}
	}
	return list
}

type imported struct {
	path string
	spec *ast.ImportSpec
}

// local is the folder of an import of this module, "" for any other.
func (i imported) local() string {
	dir, ok := strings.CutPrefix(i.path, module+"/")
	if !ok {
		return ""
	}
	return dir
}

// foreign reports whether the import is neither of the standard library nor of
// this module.
func (i imported) foreign() bool {
	first, _, _ := strings.Cut(i.path, "/")
	return strings.Contains(first, ".") && i.path != module && i.local() == ""
}

// repository reads the files of this repository: those that version control
// tracks or would track, or all of them in a checkout without it.
func repository(t *testing.T) *tree {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	var files []file
	for _, name := range tracked(t, root) {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			continue // deleted, and not yet committed so
		}
		files = append(files, file{name, string(text)})
	}
	if len(files) == 0 {
		t.Fatal("found no files in the repository")
	}
	return newTree(files)
}

func tracked(t *testing.T, root string) []string {
	t.Helper()
	cmd := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return walked(t, root)
	}
	names := strings.Split(strings.TrimRight(string(out), "\x00"), "\x00")
	slices.Sort(names)
	return slices.Compact(names)
}

func walked(t *testing.T, root string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(root, func(name string, entry os.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("walk %s: %w", name, err)
		}
		if entry.IsDir() && (entry.Name() == ".git" || entry.Name() == "bin") {
			return filepath.SkipDir
		}
		if entry.Type().IsRegular() {
			rel, err := filepath.Rel(root, name)
			names = append(names, filepath.ToSlash(rel))
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
