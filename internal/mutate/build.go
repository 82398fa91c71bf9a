package mutate

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A Build is the test program of a package with all its mutants.
type Build struct {
	Mutants []Mutant // the number of each is its place
	program string
	dir     string // of the package, in which its tests run
}

// variable is what tells the test program which mutant is on.
const variable = "QUIRE_MUTANT"

// chooser is the file that is added to the package.
const chooser = `package %s

import (
	"os"
	"strconv"
)

var mutantOn, _ = strconv.Atoi(os.Getenv("` + variable + `"))

func mutant(n int) bool { return n == mutantOn }
`

// Make builds the tests of the package in a folder, which has its name, into work,
// an empty folder.
// Nothing is written beside the package. It needs the Go command.
func Make(dir, work string) (*Build, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("mutate: %w", err)
	}
	b := &Build{Mutants: make([]Mutant, 1), program: filepath.Join(work, "tests.exe"), dir: dir} // number 0: none is on
	overlay, err := b.overlay(work)
	if err != nil {
		return nil, fmt.Errorf("mutate: %w", err)
	}
	cmd := exec.Command("go", "test", "-c", "-vet=off", "-overlay="+overlay, "-o", b.program, ".")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("mutate: build %s: %w\n%s", dir, err, out)
	}
	return b, nil
}

// overlay writes the changed files and the file that says which stands for which.
func (b *Build) overlay(work string) (string, error) {
	replace := map[string]string{}
	put := func(name, text string) error {
		to := filepath.Join(work, name)
		replace[filepath.Join(b.dir, name)] = to
		return os.WriteFile(to, []byte(text), 0o600)
	}
	names, err := filepath.Glob(filepath.Join(b.dir, "*.go"))
	if err != nil {
		return "", err
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		if err := b.add(name, put); err != nil {
			return "", err
		}
	}
	if err := put("mutant_on.go", fmt.Sprintf(chooser, filepath.Base(b.dir))); err != nil {
		return "", err
	}
	list, err := json.Marshal(struct{ Replace map[string]string }{replace})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(work, "overlay.json")
	return overlay, os.WriteFile(overlay, list, 0o600)
}

func (b *Build) add(name string, put func(name, text string) error) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	s, err := Read(filepath.Base(name), string(text), len(b.Mutants))
	if err != nil {
		return err
	}
	b.Mutants = append(b.Mutants, s.Mutants...)
	return put(filepath.Base(name), s.Instrument())
}

// Survives runs the tests with one mutant on, 0 for none, and reports whether
// they pass. The arguments are handed to the test program.
func (b *Build) Survives(number int, args ...string) bool {
	cmd := exec.Command(b.program, args...)
	cmd.Dir = b.dir
	cmd.Env = append(cmd.Environ(), fmt.Sprintf("%s=%d", variable, number))
	return cmd.Run() == nil
}
