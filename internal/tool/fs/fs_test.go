package fs

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"pgregory.net/rapid"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/tool"
	"github.com/quire-agent/quire/internal/undo"
	"github.com/quire-agent/quire/internal/x/fence"
)

type pool struct {
	mu     sync.Mutex
	bodies map[quire.Hash][]byte
	broken error
}

func (p *pool) PutBodies(_ context.Context, bodies [][]byte) ([]quire.Hash, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []quire.Hash
	for _, b := range bodies {
		h := quire.Sum(string(b))
		p.bodies[h] = b
		list = append(list, h)
	}
	return list, p.broken
}

func (p *pool) Body(_ context.Context, h quire.Hash) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if b, ok := p.bodies[h]; ok {
		return b, nil
	}
	return nil, quire.ErrNotFound
}

type fataler interface {
	Helper()
	Fatal(args ...any)
}

func must(t fataler, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t fataler, dir string) (*Files, *undo.Tree, *pool, func()) {
	t.Helper()
	f, err := fence.Open(dir)
	must(t, err)
	p := &pool{bodies: map[quire.Hash][]byte{}}
	tree := undo.New(f, p)
	return New(f, tree), tree, p, func() { _ = f.Close() }
}

func project(t *testing.T, files map[string]string) (*Files, string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		put(t, dir, name, text)
	}
	f, _, _, done := open(t, dir)
	t.Cleanup(done)
	return f, f.fence.Dir()
}

func put(t fataler, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, []byte(text), 0o644))
}

func get(t fataler, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	must(t, err)
	return string(data)
}

// call runs a tool by its name.
func call(t fataler, f *Files, name string, args any) tool.Result {
	t.Helper()
	raw, ok := args.(string)
	if !ok {
		text, err := json.Marshal(args)
		must(t, err)
		raw = string(text)
	}
	i := slices.IndexFunc(f.Tools(), func(t tool.Tool) bool { return t.Spec().Name == name })
	r, err := f.Tools()[i].Run(context.Background(), tool.Input{Args: json.RawMessage(raw)})
	must(t, err)
	return r
}

func cases(t *testing.T, file string) map[string]map[string]string {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("testdata", file))
	must(t, err)
	all := map[string]map[string]string{}
	for _, f := range archive.Files {
		name, part, _ := strings.Cut(f.Name, "/")
		if all[name] == nil {
			all[name] = map[string]string{}
		}
		all[name][part] = string(f.Data)
	}
	return all
}

// failures.md B22
func TestEdit(t *testing.T) {
	for name, c := range cases(t, "edit.txtar") {
		t.Run(name, func(t *testing.T) {
			f, dir := project(t, map[string]string{"f": c["file"]})
			got := call(t, f, "edit", `{"path":"f",`+strings.TrimSpace(c["args"])[1:])
			if strings.HasPrefix(c["want"], "FAIL ") {
				wantFailure(t, got, strings.ReplaceAll(c["want"], "FAIL ", ""))
				if now := get(t, dir, "f"); now != c["file"] {
					t.Errorf("it was changed to %q", now)
				}
				return
			}
			if now := get(t, dir, "f"); got.Error || now != c["want"] || len(got.Effects) != 1 {
				t.Errorf("%+v, and the file is %q", got, now)
			}
		})
	}
}

func wantFailure(t *testing.T, got tool.Result, lines string) {
	t.Helper()
	for line := range strings.Lines(lines) {
		if line = strings.TrimSuffix(line, "\n"); !got.Error || !strings.Contains(got.Text, line) {
			t.Errorf("%v %q, want a failure with %q", got.Error, got.Text, line)
		}
	}
}

func TestPatch(t *testing.T) {
	for name, c := range cases(t, "patch.txtar") {
		t.Run(name, func(t *testing.T) {
			before, after := below(c, "before/"), below(c, "after/")
			f, dir := project(t, before)
			got := call(t, f, "apply_patch", patchArgs{c["patch"]})
			if c["fail"] != "" {
				wantFailure(t, got, c["fail"])
				after = before
			} else if got.Error {
				t.Errorf("failed: %s", got.Text)
			}
			if now := tree(t, dir); fmt.Sprint(now) != fmt.Sprint(after) {
				t.Errorf("the files are\n%q\nwant\n%q", now, after)
			}
			report, err := f.tree.Restore(t.Context(), got.Effects)
			if now := tree(t, dir); err != nil || len(report.Conflicts) > 0 || fmt.Sprint(now) != fmt.Sprint(before) {
				t.Errorf("undone: %v, %+v\n%q", err, report, now)
			}
		})
	}
}

func below(c map[string]string, prefix string) map[string]string {
	files := map[string]string{}
	for name, text := range c {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			files[rest] = strings.ReplaceAll(text, "(no line feed)\n", "")
		}
	}
	return files
}

func tree(t fataler, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	must(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		files[filepath.ToSlash(rel)] = get(t, dir, rel)
		return err
	}))
	return files
}

// failures.md B22: what was changed since it was read is not edited.
func TestStale(t *testing.T) {
	changes := map[string]any{
		"edit":        editArgs{Path: "a", Old: "one", New: "1"},
		"write":       writeArgs{Path: "a", Content: "x"},
		"apply_patch": patchArgs{"*** Begin Patch\n*** Update File: a\n@@\n-one\n+1\n*** End Patch\n"},
	}
	for name, args := range changes {
		f, dir := project(t, map[string]string{"a": "one\n"})
		call(t, f, "read", readArgs{Path: "a"})
		put(t, dir, "a", "one\ntwo\n")
		if got := call(t, f, name, args); !got.Error || !strings.Contains(got.Text, "changed since you last read it") {
			t.Errorf("%s: %+v", name, got)
		}
		call(t, f, "read", readArgs{Path: "a"})
		if got := call(t, f, name, args); got.Error {
			t.Errorf("%s after reading again: %+v", name, got)
		}
		if got := call(t, f, "edit", editArgs{Path: "a", Old: get(t, dir, "a"), New: "done"}); got.Error {
			t.Errorf("%s: an edit after one's own: %+v", name, got)
		}
	}
}

func TestWrite(t *testing.T) {
	f, dir := project(t, map[string]string{"old": "x", "d/a": "x", "empty": ""})
	must(t, os.Chmod(filepath.Join(dir, "old"), 0o755))
	if got := call(t, f, "write", writeArgs{"n/e/w", "text\n"}); got.Error || get(t, dir, "n/e/w") != "text\n" || len(got.Effects) != 3 {
		t.Errorf("got %+v", got)
	}
	if got := call(t, f, "write", writeArgs{"empty", "text\n"}); got.Error {
		t.Errorf("got %+v", got)
	}
	for _, c := range []struct{ path, want string }{
		{"old", "you have not read it"}, {"d", "is a folder"}, {"old/x", "not a directory"}, {"../x", "outside the project"}, {"a\x00", "zero byte"}, {"", "the path is empty"},
	} {
		if got := call(t, f, "write", writeArgs{c.path, "text"}); !got.Error || !strings.Contains(got.Text, c.want) {
			t.Errorf("%q: %+v, want %q", c.path, got, c.want)
		}
	}
	call(t, f, "read", readArgs{Path: "old"})
	if got := call(t, f, "write", writeArgs{"old", "y"}); got.Error || get(t, dir, "old") != "y" {
		t.Errorf("got %+v", got)
	}
	if info, err := os.Stat(filepath.Join(dir, "old")); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("mode is %v, %v", info.Mode(), err)
	}
}

// failures.md B14: a link is what it leads to.
func TestLinks(t *testing.T) {
	f, dir := project(t, map[string]string{"sub/a": "one"})
	outside := t.TempDir()
	put(t, outside, "secret", "secret")
	if err := os.Symlink(filepath.Join(outside, "secret"), filepath.Join(dir, "out")); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	must(t, os.Symlink(outside, filepath.Join(dir, "outdir")))
	must(t, os.Symlink(filepath.Join(dir, "sub", "a"), filepath.Join(dir, "in")))
	for _, path := range []string{"out", "outdir/secret", "../" + filepath.Base(outside), outside + "/secret"} {
		for name, args := range map[string]any{"read": readArgs{Path: path}, "edit": editArgs{path, "secret", "x", false}, "write": writeArgs{path, "x"}, "list": listArgs{Path: path}} {
			if got := call(t, f, name, args); !got.Error || strings.Contains(got.Text, "1\tsecret") {
				t.Errorf("%s %s: %+v", name, path, got)
			}
		}
	}
	if got := call(t, f, "edit", editArgs{"in", "one", "two", false}); got.Error || get(t, dir, "sub/a") != "two" || got.Effects[0].Path != "sub/a" {
		t.Errorf("got %+v", got)
	}
	if info, err := os.Lstat(filepath.Join(dir, "in")); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link was replaced")
	}
	if get(t, outside, "secret") != "secret" {
		t.Error("a file outside was changed")
	}
}

func TestRead(t *testing.T) {
	var picture bytes.Buffer
	must(t, png.Encode(&picture, image.NewGray(image.Rect(0, 0, 3, 2))))
	var wide bytes.Buffer
	must(t, png.Encode(&wide, image.NewGray(image.Rect(0, 0, maxPixels+1, 1))))
	f, _ := project(t, map[string]string{
		"a": "one\ntwo\r\nthree", "empty": "", "bin": "a\x00b", "doc.pdf": "%PDF-1.7\n",
		"text.pdf": "%PDF-1.4\n1 0 obj << /Type /Page /Contents 2 0 R >> endobj 2 0 obj << /Length 20 >> stream\nBT (Hello there) Tj ET\nendstream endobj",
		"scan.pdf": "%PDF-1.4\n1 0 obj << /Type /Page >> endobj", "p.png": picture.String(), "wide.png": wide.String(),
		"long": strings.Repeat("x", maxLine) + "日本\n", "many": strings.Repeat("l\n", readLines+1), "sub/deep.go": "x", "bad": "a\xffb\n",
	})
	for _, c := range []struct {
		args   readArgs
		want   string
		failed bool
	}{
		{readArgs{Path: "a"}, "     1\tone\n     2\ttwo\n     3\tthree\n", false},
		{readArgs{Path: "a", Offset: 2, Limit: 1}, "     2\ttwo\n\n[lines 2-2 of 3; the next begins at offset 3]\n", false},
		{readArgs{Path: "a", Offset: 4}, "The file has 3 lines; line 4 does not exist.", true},
		{readArgs{Path: "a", Offset: -1}, "counted from 1", true},
		{readArgs{Path: "empty"}, "(the file is empty)", false},
		{readArgs{Path: "bin"}, "binary file of 3 bytes", true},
		{readArgs{Path: "doc.pdf"}, "is a PDF", true},
		{readArgs{Path: "text.pdf", Offset: 2}, "     2\tHello there\n", false},
		{readArgs{Path: "scan.pdf"}, "without text", true},
		{readArgs{Path: "p.png"}, "image/png, ", false},
		{readArgs{Path: "wide.png"}, "Make a smaller copy", true},
		{readArgs{Path: "long"}, "x [… 6 bytes of this line left out …]", false},
		{readArgs{Path: "many"}, "[lines 1-2000 of 2001; the next begins at offset 2001]", false},
		{readArgs{Path: "bad"}, "a\uFFFDb", false},
		{readArgs{Path: "sub"}, "is a folder: use list", true},
		{readArgs{Path: "deep.go"}, "Did you mean sub/deep.go?", true},
		{readArgs{Path: "nowhere"}, "does not exist", true},
	} {
		got := call(t, f, "read", c.args)
		if got.Error != c.failed || !strings.Contains(got.Text, c.want) {
			t.Errorf("%+v: %v %.300q, want %q", c.args, got.Error, got.Text, c.want)
		}
	}
	if got := call(t, f, "read", readArgs{Path: "p.png"}); got.Media == nil || got.Media.Width != 3 || got.Media.Height != 2 || got.Data != picture.String() || got.Media.Hash != quire.Sum(picture.String()) {
		t.Errorf("got %+v", got.Media)
	}
}

func TestWebpSizes(t *testing.T) {
	header := func(chunk string, rest ...byte) []byte {
		return append([]byte("RIFF\x00\x00\x00\x00WEBP"+chunk+"\x00\x00\x00\x00"), append(rest, make([]byte, 20)...)...)
	}
	for _, data := range [][]byte{
		header("VP8X", 0, 0, 0, 0, 99, 0, 0, 49, 0, 0),
		header("VP8L", 0x2f, 99, 0x40, 12, 0),
		header("VP8 ", 0, 0, 0, 0x9d, 1, 0x2a, 100, 0, 50, 0),
	} {
		if w, h := size("image/webp", data); w != 100 || h != 50 {
			t.Errorf("%s is %d×%d, want 100×50", data[12:16], w, h)
		}
	}
	if w, h := size("image/webp", []byte("RIFF")); w != 0 || h != 0 {
		t.Error("a cut header has a size")
	}
}

func FuzzPicture(f *testing.F) {
	f.Add([]byte("RIFF\x00\x00\x00\x00WEBPVP8X\x00\x00\x00\x00aaaaaaaaaaaaaaaa"))
	f.Add([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"))
	f.Add([]byte("GIF89a\x01\x00\x01\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if r, ok := picture("p", data); ok && !r.Error && (r.Media == nil || r.Media.Bytes != len(data) || r.Media.Width > maxPixels) {
			t.Errorf("got %+v", r)
		}
	})
}

func TestList(t *testing.T) {
	f, _ := project(t, map[string]string{"a": "", "d/b": "", "d/e/c": "", ".gitignore": "x/\n", "x/y": ""})
	for _, c := range []struct {
		args listArgs
		want string
	}{
		{listArgs{}, ".gitignore\na\nd/\n"},
		{listArgs{Depth: 3}, ".gitignore\na\nd/\nd/b\nd/e/\nd/e/c\n"},
		{listArgs{Path: "d"}, "d/b\nd/e/\n"},
		{listArgs{Ignored: true}, ".gitignore\na\nd/\nx/\n"},
		{listArgs{Path: "a"}, "a is a file: use read."},
	} {
		if got := call(t, f, "list", c.args); got.Text != c.want {
			t.Errorf("%+v: %q, want %q", c.args, got.Text, c.want)
		}
	}
}

// A pool that cannot be written stops the run, and nothing was changed.
func TestBrokenPool(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "a", "one")
	f, _, p, done := open(t, dir)
	defer done()
	p.broken = quire.ErrFull
	if _, err := f.edit().Run(t.Context(), tool.Input{Args: json.RawMessage(`{"path":"a","old_string":"one","new_string":"two"}`)}); err == nil || get(t, dir, "a") != "one" {
		t.Errorf("error %v, and the file is %q", err, get(t, dir, "a"))
	}
}

func TestLineEndsAreKept(t *testing.T) {
	f, dir := project(t, map[string]string{"a": "one\r\ntwo\r\nthree\r\n"})
	call(t, f, "edit", editArgs{"a", "one\ntwo", "1\n2", false})
	call(t, f, "apply_patch", patchArgs{"*** Begin Patch\n*** Update File: a\n@@\n 2\n-three\n+3\n+4\n*** End Patch\n"})
	if now := get(t, dir, "a"); now != "1\r\n2\r\n3\r\n4\r\n" {
		t.Errorf("the file is %q", now)
	}
}

// What a patch writes for a change, applied, gives the changed text.
func TestPatchesApply(t *testing.T) {
	line := rapid.SampledFrom([]string{"a", "b", "", "  c", "-d", "+e", "@@ f", "*** g", "\tif x {", "}"})
	rapid.Check(t, func(t *rapid.T) {
		var before, after, body []string
		olds, news := 0, 0
		for i := range rapid.IntRange(1, 12).Draw(t, "lines") {
			l := fmt.Sprintf("%s#%d", line.Draw(t, "line"), i)
			switch rapid.SampledFrom([]string{" ", " ", "-", "+"}).Draw(t, "op") {
			case " ":
				before, after, body = append(before, l), append(after, l), append(body, " "+l)
				olds, news = olds+1, news+1
			case "-":
				before, body, olds = append(before, l), append(body, "-"+l), olds+1
			case "+":
				after, body, news = append(after, l), append(body, "+"+l), news+1
			}
		}
		if olds == 0 {
			return
		}
		text := func(lines []string) string { return strings.Join(append(lines, ""), "\n") }
		for form, patch := range map[string]string{
			"unified": fmt.Sprintf("--- a/f\n+++ b/f\n@@ -1,%d +1,%d @@\n%s", olds, news, text(body)),
			"begin":   "*** Begin Patch\n*** Update File: f\n@@\n" + text(body) + "*** End Patch\n",
		} {
			list, err := parsePatch(patch)
			must(t, err)
			got, _, err := applyHunks(text(before), list[0].hunks)
			must(t, err)
			if got != text(after) {
				t.Fatalf("%s: %q became %q, want %q by\n%s", form, text(before), got, text(after), patch)
			}
		}
	})
}

// Random edits, undone, give the files there were.
func TestUndoOfEdits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "fs")
		must(t, err)
		defer func() { must(t, os.RemoveAll(dir)) }()
		names := []string{"a", "b", "d/c"}
		for _, n := range names[:rapid.IntRange(0, 3).Draw(t, "files")] {
			put(t, dir, n, "one\ntwo\n")
		}
		f, undoer, _, done := open(t, dir)
		defer done()
		before := tree(t, dir)
		var effects []undo.Change
		for range rapid.IntRange(1, 6).Draw(t, "steps") {
			name := rapid.SampledFrom(names).Draw(t, "name")
			word := rapid.SampledFrom([]string{"one", "two", "three"}).Draw(t, "word")
			var got tool.Result
			switch rapid.SampledFrom([]string{"write", "edit", "delete", "move"}).Draw(t, "op") {
			case "write":
				call(t, f, "read", readArgs{Path: name})
				got = call(t, f, "write", writeArgs{name, word + "\n"})
			case "edit":
				got = call(t, f, "edit", editArgs{name, word, "three", true})
			case "delete":
				got = call(t, f, "apply_patch", patchArgs{"*** Begin Patch\n*** Delete File: " + name + "\n*** End Patch\n"})
			case "move":
				got = call(t, f, "apply_patch", patchArgs{"*** Begin Patch\n*** Update File: " + name + "\n*** Move to: n/" + word + "\n*** End Patch\n"})
			}
			effects = append(effects, got.Effects...)
		}
		report, err := undoer.Restore(context.Background(), effects)
		must(t, err)
		if now := tree(t, dir); len(report.Conflicts) > 0 || fmt.Sprint(now) != fmt.Sprint(before) {
			t.Fatalf("%q became %q\n%+v\n%+v", before, now, effects, report)
		}
	})
}

// FuzzPatch holds that no patch breaks the reader, and that what it can apply it
// applies the same way twice.
func FuzzPatch(f *testing.F) {
	archive, err := txtar.ParseFile(filepath.Join("testdata", "patch.txtar"))
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range archive.Files {
		if strings.HasSuffix(file.Name, "/patch") {
			f.Add(string(file.Data), "1\n2\nx\n")
		}
	}
	f.Fuzz(func(t *testing.T, patch, text string) {
		list, err := parsePatch(patch)
		if err != nil {
			return
		}
		for _, s := range list {
			if s.path == "" {
				t.Errorf("a section without a path: %+v", s)
			}
			once, at, err := applyHunks(text, s.hunks)
			twice, _, again := applyHunks(text, s.hunks)
			if once != twice || (err == nil) != (again == nil) || err == nil && len(at) != len(s.hunks) {
				t.Errorf("%q and %q", once, twice)
			}
		}
	})
}

func BenchmarkNearest(b *testing.B) {
	var text strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&text, "\tfunc number%d(x int) error { return check(x, %d) }\n", i, i*7)
	}
	for b.Loop() {
		nearest(text.String(), "func number777(y int) error { return check(y, 5439) }\n}")
	}
}
