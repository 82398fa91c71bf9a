package check

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The edits that are found make the second text of the first, and what both share at
// the ends is not touched.
func TestEditsMakeTheSecondText(t *testing.T) {
	text := rapid.StringMatching(`([abc]{0,2}\n){0,30}([abc])?`)
	rapid.Check(t, func(t *rapid.T) {
		from, to := text.Draw(t, "from"), text.Draw(t, "to")
		var was, is string
		for _, e := range compare(split(from), split(to)) {
			lines := strings.Join(e.lines, "")
			if e.sign != '+' {
				was += lines
			}
			if e.sign != '-' {
				is += lines
			}
		}
		if was != from || is != to {
			t.Fatalf("%q became %q and %q became %q", from, was, to, is)
		}
		if hunks, plus, minus := unified(from, to); (hunks == "") != (from == to) || (plus+minus == 0) != (from == to) {
			t.Fatalf("%d, %d: %q", plus, minus, hunks)
		}
	})
}

// What is written is what git takes as a patch.
func TestHunksApply(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git here")
	}
	text := rapid.StringMatching(`([abc]{0,2}\n){1,40}([abc])?`)
	dir := t.TempDir()
	for seed := range 12 {
		from, to := text.Example(2*seed), text.Example(2*seed+1)
		hunks, _, _ := unified(from, to)
		if err := os.WriteFile(filepath.Join(dir, "f"), []byte(from), 0o600); err != nil {
			t.Fatal(err)
		}
		if hunks != "" {
			cmd := exec.Command("git", "apply", "-")
			cmd.Dir, cmd.Stdin = dir, strings.NewReader("--- a/f\n+++ b/f\n"+hunks)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s\n%q\n%q\n%s", err, out, from, to, hunks)
			}
		}
		if got, err := os.ReadFile(filepath.Join(dir, "f")); err != nil || string(got) != to {
			t.Errorf("%q became %q, want %q: %v", from, got, to, err)
		}
	}
}

// Where git knows nothing the patch is made of what the files held: changed, gone and
// new ones, and none that holds what it held. Texts far apart are replaced whole.
func TestCompareOutsideGit(t *testing.T) {
	dir := t.TempDir()
	was := "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n"
	var old, fresh strings.Builder
	for range 3 * mostEdits {
		old.WriteString("before\n")
		fresh.WriteString("behind\n")
	}
	for name, text := range map[string]string{"a.txt": strings.Replace(was, "five", "FIVE", 1), "same.txt": was, "new.txt": "n\n", "bin": "a\x00c", "far.txt": fresh.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before := []Version{
		{Path: "same.txt", Data: []byte(was)}, {Path: "a.txt", Data: []byte(was)}, {Path: "gone.txt", Data: []byte("x\ny\n")}, {Path: "new.txt", None: true},
		{Path: "bin", Data: []byte("a\x00b")}, {Path: "never.txt", None: true}, {Path: "far.txt", Data: []byte(old.String())},
	}
	p, d, err := Compare(dir, before, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(p.Paths(), " "); got != "a.txt bin far.txt gone.txt new.txt" || p.Stats.Untracked != 1 || p.Stats.Insertions != 1+3*mostEdits || p.Stats.Deletions != 3+3*mostEdits {
		t.Errorf("%s: %+v", got, p.Stats)
	}
	for _, want := range []string{
		"--- a/a.txt\n+++ b/a.txt\n@@ -2,7 +2,7 @@\n two\n three\n four\n-five\n+FIVE\n six\n seven\n eight\n", "--- a/gone.txt\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-x\n-y\n", "Binary files a/bin and b/bin differ\n",
	} {
		if !strings.Contains(d.Text, want) {
			t.Errorf("%q is not in %q", want, d.Text[:300])
		}
	}
	if _, cut, err := Compare(dir, before, 200); err != nil || !cut.Truncated || len(cut.Text) > 200 || !strings.HasSuffix(cut.Text, "\n") {
		t.Errorf("%+v, %v", cut, err)
	}
}
