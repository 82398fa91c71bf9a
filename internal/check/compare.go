package check

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Version is what a path held before a run.
type Version struct {
	Path string // from the project's folder, with slashes
	None bool   // there was nothing
	Data []byte
}

// Compare makes the patch of a run and its text where git knows nothing of a
// project: from what the changed files held before, and hold now. A file that holds
// what it held is not in it. The text has at most a number of bytes; whole lines where
// it is cut. New files are in the patch alone, as [Previews] shows them.
func Compare(dir string, before []Version, most int) (Patch, Diff, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Patch{}, Diff{}, fmt.Errorf("compare the files: %w", err)
	}
	defer root.Close()
	p := Patch{Before: []string{}, Changed: []File{}}
	var text, stat strings.Builder
	for _, v := range slices.SortedFunc(slices.Values(before), func(a, b Version) int { return strings.Compare(a.Path, b.Path) }) {
		now, there, err := holds(root, v.Path)
		if err != nil {
			return Patch{}, Diff{}, fmt.Errorf("compare %s: %w", v.Path, err)
		}
		if v.None == !there && bytes.Equal(v.Data, now) {
			continue
		}
		p.compared(v, now, there, &text, &stat)
	}
	p.Stats.Files, p.Stats.Raw = len(p.Changed), stat.String()
	d := Diff{Stat: stat.String(), Text: text.String(), Truncated: text.Len() > most}
	if d.Truncated {
		d.Text = d.Text[:strings.LastIndexByte(d.Text[:most], '\n')+1]
	}
	return p, d, nil
}

// holds is what a path holds now: a file its bytes, a link where it leads.
func holds(root *os.Root, path string) (data []byte, there bool, err error) {
	name := filepath.FromSlash(path)
	info, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, false, nil
	case err != nil:
		return nil, false, err
	case info.Mode()&fs.ModeSymlink != 0:
		to, err := root.Readlink(name)
		return []byte(to), true, err
	case !info.Mode().IsRegular():
		return nil, true, nil
	}
	data, err = root.ReadFile(name)
	return data, true, err
}

// compared adds a file that changed.
func (p *Patch) compared(v Version, now []byte, there bool, text, stat *strings.Builder) {
	f := File{Path: v.Path, Status: "M"}
	from, to := "a/"+v.Path, "b/"+v.Path
	switch {
	case v.None:
		p.Changed = append(p.Changed, File{Path: v.Path, Status: "??"})
		p.Stats.Untracked++
		return
	case !there:
		f.Status, to = "D", "/dev/null"
	}
	p.Changed = append(p.Changed, f)
	if !isText(v.Data) || !isText(now) {
		fmt.Fprintf(text, "Binary files %s and %s differ\n", from, to)
		fmt.Fprintf(stat, " %s | Bin\n", v.Path)
		return
	}
	hunks, plus, minus := unified(string(v.Data), string(now))
	fmt.Fprintf(text, "--- %s\n+++ %s\n%s", from, to, hunks)
	fmt.Fprintf(stat, " %s | +%d -%d\n", v.Path, plus, minus)
	p.Stats.Insertions += plus
	p.Stats.Deletions += minus
}

func isText(data []byte) bool { return utf8.Valid(data) && bytes.IndexByte(data, 0) < 0 }
