package check

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/x/gitexec"
)

// repo makes a repository with files: name, text, name, text.
func repo(t *testing.T, files ...string) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git here")
	}
	dir := t.TempDir()
	write(t, dir, files...)
	git(t, dir, "init", "-q")
	commit(t, dir)
	return dir
}

func commit(t *testing.T, dir string) {
	t.Helper()
	git(t, dir, "add", "-A")
	git(t, dir, "-c", "user.name=a", "-c", "user.email=a@localhost", "commit", "-q", "--allow-empty", "-m", "some")
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	if _, _, err := gitexec.Run(t.Context(), dir, 0, args...); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, dir string, files ...string) {
	t.Helper()
	for i := 0; i < len(files); i += 2 {
		name := filepath.Join(dir, filepath.FromSlash(files[i]))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(files[i+1]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func remove(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.Remove(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

func measure(t *testing.T, dir string) Baseline {
	t.Helper()
	b, err := Measure(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func patch(t *testing.T, b Baseline, dir string) Patch {
	t.Helper()
	p, err := b.Patch(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func show(p Patch) string {
	var list []string
	for _, f := range p.Changed {
		list = append(list, f.Status+" "+f.Path)
	}
	return fmt.Sprintf("%s | %s | %d +%d -%d ?%d", strings.Join(list, ", "), strings.Join(p.Before, ", "), p.Stats.Files, p.Stats.Insertions, p.Stats.Deletions, p.Stats.Untracked)
}

// failures.md B29: what was changed before a run and not touched by it is not the
// run's.
func TestPatchAgainstItsBaseline(t *testing.T) {
	dir := repo(t, "a.txt", "1\n2\n", "b.txt", "b\n", "gone.txt", "g\n", "put back.txt", "p\n")
	write(t, dir, "mine.txt", "mine\n", "b.txt", "mine\n", "both.txt", "1\n", "put back.txt", "q\n", "c.txt", "c\n")
	b := measure(t, dir)
	if p := patch(t, b, dir); !p.Empty() || len(p.Before) != 5 {
		t.Errorf("nothing was changed: %s", show(p))
	}
	write(t, dir, "a.txt", "1\nX\n", "both.txt", "2\n", "new dir/ü.txt", "n\n", "put back.txt", "p\n")
	remove(t, dir, "gone.txt")
	remove(t, dir, "c.txt")
	p := patch(t, b, dir)
	if want := "M a.txt, ?? both.txt, D c.txt, D gone.txt, ?? new dir/ü.txt, M put back.txt | b.txt, mine.txt | 6 +1 -2 ?2"; show(p) != want {
		t.Errorf("got  %s\nwant %s", show(p), want)
	}
	d, err := b.Diff(t.Context(), dir, &p, MaxDiff)
	if err != nil || !strings.Contains(d.Text, "+X\n") || strings.Contains(d.Text, "mine") || d.Truncated || !strings.Contains(d.Stat, "a.txt") {
		t.Errorf("%+v, %v", d, err)
	}
	if d, err := b.Diff(t.Context(), dir, &p, 60); err != nil || !d.Truncated || len(d.Text) > 60 || !strings.HasSuffix(d.Text, "\n") {
		t.Errorf("%+v, %v", d, err)
	}
	previews, more, err := Previews(dir, &p)
	if err != nil || more || len(previews) != 2 || previews[0].Text != "2\n" {
		t.Errorf("%+v, %v, %v", previews, more, err)
	}
}

// What a run commits is its change too, also the first commit of a repository.
func TestCommitsAreChanges(t *testing.T) {
	dir := repo(t, "a.txt", "1\n")
	b := measure(t, dir)
	write(t, dir, "a.txt", "2\n", "new.txt", "n\n")
	commit(t, dir)
	if p := patch(t, b, dir); show(p) != "M a.txt, A new.txt |  | 2 +2 -1 ?0" {
		t.Error(show(p))
	}
	empty := t.TempDir()
	git(t, empty, "init", "-q")
	b = measure(t, empty)
	write(t, empty, "a.txt", "1\n")
	git(t, empty, "add", "-A")
	if p := patch(t, b, empty); show(p) != "A a.txt |  | 1 +1 -0 ?0" {
		t.Error(show(p))
	}
}

func TestFolderOfARepository(t *testing.T) {
	top := repo(t, "app/a.txt", "1\n", "other.txt", "o\n")
	dir := filepath.Join(top, "app")
	b := measure(t, dir)
	write(t, top, "app/a.txt", "2\n", "other.txt", "p\n", "app/n.txt", "n\n")
	p := patch(t, b, dir)
	if show(p) != "M a.txt, ?? n.txt |  | 2 +1 -1 ?1" {
		t.Error(show(p))
	}
	if d, err := b.Diff(t.Context(), dir, &p, MaxDiff); err != nil || strings.Contains(d.Text, "other") {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestWithoutARepository(t *testing.T) {
	dir := t.TempDir()
	b := measure(t, dir)
	write(t, dir, "a", "1")
	p := patch(t, b, dir)
	if b.Repo || !p.Empty() {
		t.Errorf("%+v %s", b, show(p))
	}
	if d, err := b.Diff(t.Context(), dir, &p, MaxDiff); d != (Diff{}) || err != nil {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestPreviewsAreBounded(t *testing.T) {
	dir := t.TempDir()
	var p Patch
	for i := range mostPreview + 1 {
		name := fmt.Sprintf("f%02d", i)
		write(t, dir, name, strings.Repeat("line\n", 2000)[i:])
		p.Changed = append(p.Changed, File{Path: name, Status: "??"})
	}
	write(t, dir, "f01", "a\x00b")
	list, more, err := Previews(dir, &p)
	if err != nil || !more || len(list) != mostPreview || !list[0].Truncated || len(list[0].Text) > maxPreview || !strings.HasSuffix(list[0].Text, "line\n") || !list[1].Binary || list[1].Text != "" {
		t.Errorf("%d, %v, %v: %+v", len(list), more, err, list[:2])
	}
}

func FuzzStatus(f *testing.F) {
	for _, seed := range []string{"", " M a\x00", "R  new\x00old\x00?? x y\x00", "C  b\x00a\x00", "XX", "R  a\x00", "?? \x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, out string) {
		list := status(out)
		if len(list) > strings.Count(out, "\x00")+1 {
			t.Errorf("%q gives %v", out, list)
		}
		if !slices.IsSortedFunc(list, func(a, b File) int { return strings.Compare(a.Path, b.Path) }) {
			t.Errorf("%q gives %v", out, list)
		}
	})
}

// What checks leave behind is no part of what a run changed, unless somebody changed
// it afterwards.
func TestWhatChecksLeave(t *testing.T) {
	dir := repo(t)
	write(t, dir, "a.txt", "1\n")
	commit(t, dir)
	b := measure(t, dir)
	write(t, dir, "a.txt", "2\n")
	write(t, dir, "new.txt", "n\n")
	before := measure(t, dir)
	write(t, dir, "target/out", "built\n")
	write(t, dir, "Cargo.lock", "made\n")
	after := measure(t, dir)
	left := before.Made(&after)
	p := patch(t, b, dir)
	q := p.Without(left)
	if got := strings.Join(q.Paths(), " "); len(left) != 2 || got != "a.txt new.txt" || q.Stats.Untracked != 1 || q.Stats.Files != 2 || len(p.Changed) != 4 {
		t.Errorf("%v are left, the patch is %s: %+v", left, got, q.Stats)
	}
	write(t, dir, "Cargo.lock", "changed by hand\n")
	p = patch(t, b, dir)
	if q := p.Without(left); !slices.Contains(q.Paths(), "Cargo.lock") {
		t.Error("what was changed after the checks is not in the patch")
	}
}
