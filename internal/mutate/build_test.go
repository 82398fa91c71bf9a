package mutate

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A test that looks at both sides of a decision kills the mutant without its
// guard, and cannot tell which of two equal numbers it was given.
func TestSurvivors(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a program")
	}
	dir := filepath.Join(t.TempDir(), "largest")
	files := map[string]string{
		"go.mod":          "module largest\n\ngo 1.26\n",
		"largest.go":      "package largest\n\nfunc of(a, b int) int {\n\tif a > b {\n\t\treturn a\n\t}\n\treturn b\n}\n",
		"largest_test.go": "package largest\n\nimport \"testing\"\n\nfunc Test(t *testing.T) {\n\tif of(1, 2) != 2 || of(2, 1) != 2 {\n\t\tt.Fatal()\n\t}\n}\n",
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b, err := Make(dir, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var changes []string
	for _, m := range b.Mutants[1:] {
		changes = append(changes, m.Change())
	}
	if want := []string{"a > b → false", "a > b → a >= b"}; !slices.Equal(changes, want) {
		t.Fatalf("mutants %q", changes)
	}
	if got := survivors(b, nil); !slices.Equal(got, []bool{false, false, true}) || !b.Survives(0) {
		t.Fatalf("survivors %v", got)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != len(files) {
		t.Fatalf("%d files are left beside the package: %v", len(left), err)
	}
}

func TestAPackageThatDoesNotBuildIsReported(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs the compiler")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "p.go"), []byte("package p\n\nfunc f() int { return nothing }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Make(dir, t.TempDir()); err == nil {
		t.Fatal("no error")
	}
}
