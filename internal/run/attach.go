package run

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"sort"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/quire-agent/quire/internal/quire"
)

// The bounds of what is attached to the user's words: of one file, of the list of
// a folder, and of how many references there may be.
const (
	MaxAttached = 64 << 10
	MaxListed   = 24 << 10
	maxMentions = 32
	maxRead     = 8 << 20 // bytes of a file that is looked at
)

// A Mention is a file or folder that the user's words refer to: @path, @dir/,
// @path:10-40, @"a b.txt".
type Mention struct {
	Path  string
	Lines quire.Range // zero: all of it
}

// Mentions finds the references of a text, in their order, each once. An @ begins
// one where it stands at the beginning or behind white space or an opening
// bracket, so that addresses of mail are none.
func Mentions(text string) (found []Mention) {
	seen := map[Mention]bool{}
	before := ' '
	for i, r := range text {
		if r == '@' && opens(before) {
			if m, ok := mention(text[i+1:]); ok && !seen[m] && len(found) < maxMentions {
				seen[m] = true
				found = append(found, m)
			}
		}
		before = r
	}
	return found
}

func opens(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`([{<"'`+"`", r) }

// mention reads a reference behind its @.
func mention(text string) (Mention, bool) {
	if rest, ok := strings.CutPrefix(text, `"`); ok {
		name, after, ok := strings.Cut(rest, `"`)
		if !ok || name == "" || strings.ContainsAny(name, "\n\x00") {
			return Mention{}, false
		}
		lines, _ := linesOf(after)
		return Mention{name, lines}, true
	}
	end := strings.IndexFunc(text, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("\"'`<>|)]}\x00", r) })
	if end < 0 {
		end = len(text)
	}
	name := strings.TrimRight(text[:end], ".,;:!?，。；：！？")
	if i := strings.LastIndexByte(name, ':'); i > 0 {
		if lines, ok := linesOf(name[i:]); ok {
			return Mention{name[:i], lines}, true
		}
	}
	return Mention{Path: name}, name != "" && name[0] != '@'
}

// linesOf reads :10-40 or :10 at the beginning of a text.
func linesOf(text string) (quire.Range, bool) {
	rest, ok := strings.CutPrefix(text, ":")
	if !ok {
		return quire.Range{}, false
	}
	end := strings.IndexFunc(rest, func(r rune) bool { return r != '-' && (r < '0' || r > '9') })
	if end < 0 {
		end = len(rest)
	}
	from, to, both := strings.Cut(rest[:end], "-")
	first, err := strconv.Atoi(from)
	if err != nil || first < 1 {
		return quire.Range{}, false
	}
	last := first
	if both {
		if last, err = strconv.Atoi(to); err != nil || last < first {
			return quire.Range{}, false
		}
	}
	return quire.Range{First: first, Last: last}, true
}

// A Project is the folder that references stay in. fence.Fence is one.
type Project interface {
	Resolve(path string) (string, error)
}

// Attach is what the references of the user's words stand for, a block each. What
// cannot be read is no error: the block says why, so that the model knows that
// something was meant to be there. files are those of the project.
func Attach(p Project, files fs.FS, words string) (blocks []quire.Block) {
	for _, m := range Mentions(words) {
		blocks = append(blocks, quire.Block{Part: quire.Part{Kind: quire.PartMachine, Text: attached(p, files, m)}})
	}
	return blocks
}

func attached(p Project, files fs.FS, m Mention) string {
	text, err := content(p, files, m)
	if err != nil {
		return fmt.Sprintf("The user referred to %s. It could not be attached: %v.", m.Path, err)
	}
	return text
}

func content(p Project, files fs.FS, m Mention) (string, error) {
	name, err := p.Resolve(m.Path)
	if err != nil {
		return "", err
	}
	info, err := fs.Stat(files, name)
	switch {
	case err != nil:
		return "", fmt.Errorf("there is no such file")
	case info.IsDir():
		return listed(files, name, m)
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("it is no regular file")
	case info.Size() > maxRead:
		return "", fmt.Errorf("it has %d bytes; the tool read shows parts of it", info.Size())
	}
	return read(files, name, m)
}

// read is a text file, or lines of it, up to the bound.
func read(files fs.FS, name string, m Mention) (string, error) {
	data, err := fs.ReadFile(files, name)
	if err != nil {
		return "", fmt.Errorf("it cannot be read")
	}
	if bytes.IndexByte(data[:min(len(data), 8<<10)], 0) >= 0 || !utf8.Valid(data) {
		return "", fmt.Errorf("it is no text; the tool read shows images and documents")
	}
	text, what := string(data), name
	if m.Lines != (quire.Range{}) {
		lines := strings.SplitAfter(text, "\n")
		if m.Lines.First > len(lines) {
			return "", fmt.Errorf("it has %d lines", len(lines))
		}
		last := min(m.Lines.Last, len(lines))
		text, what = strings.Join(lines[m.Lines.First-1:last], ""), fmt.Sprintf("%s, lines %d to %d", name, m.Lines.First, last)
	}
	whole := len(text)
	if text = bounded(text, MaxAttached); len(text) < whole {
		what += fmt.Sprintf(", the first %d of %d bytes: the tool read shows the rest", len(text), whole)
	}
	return "Attached by the user: " + what + "\n" + text, nil
}

// bounded is the beginning of a text, whole lines where there are lines.
func bounded(text string, most int) string {
	if len(text) <= most {
		return text
	}
	text = text[:most]
	if i := strings.LastIndexByte(text, '\n'); i >= 0 {
		return text[:i+1]
	}
	for !utf8.ValidString(text) {
		text = text[:len(text)-1]
	}
	return text
}

// listed is what a folder holds, folders with a slash.
func listed(files fs.FS, name string, m Mention) (string, error) {
	entries, err := fs.ReadDir(files, name)
	if err != nil {
		return "", fmt.Errorf("the folder cannot be read")
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		if names[i] = path.Join(name, e.Name()); e.IsDir() {
			names[i] += "/"
		}
	}
	sort.Strings(names)
	text := strings.Join(names, "\n") + "\n"
	what := fmt.Sprintf("the folder %s, %d entries", m.Path, len(names))
	if short := bounded(text, MaxListed); len(short) < len(text) {
		text = short
		what += ", not all of them shown"
	}
	return "Attached by the user: " + what + "\n" + text, nil
}
