package norms

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/quire-agent/quire/internal/carrier"
	"github.com/quire-agent/quire/internal/quire"
)

// Files are the names of instruction files, the one that comes first in front.
func Files() []string { return []string{"QUIRE.md", "AGENTS.md", "CLAUDE.md"} }

// maxFile bounds what is read of one file, in bytes: what is behind it is left out,
// and the last page says so.
const maxFile = 1 << 20

// A Place is a folder that may hold instruction files.
type Place struct {
	Dir   string // absolute
	Shown string // how a file of it is named in front of the file's name, with a slash at its end; "" for the project
	Own   bool   // it is the user's, not a project's
}

// Places are the folders from a project up to the root of its repository, the
// nearer first, and then the user's. Outside of a repository the project's
// folder is the only one of its kind. A user's folder that is among them already
// is not there twice.
func Places(project string, users ...Place) (list []Place) {
	shown := ""
	for dir := project; ; dir = filepath.Dir(dir) {
		list = append(list, Place{Dir: dir, Shown: shown})
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			break
		}
		if dir == filepath.Dir(dir) {
			list = list[:1]
			break
		}
		shown += "../"
	}
	for _, u := range users {
		if u.Dir != "" && !slices.ContainsFunc(list, func(p Place) bool { return p.Dir == u.Dir }) {
			u.Own = true
			list = append(list, u)
		}
	}
	return list
}

// A Page is a section of an instruction file.
type Page struct {
	File    string // as it is shown, with its folder
	Dir     string // of the file, absolute
	Title   string // its headings, the outermost first; "" for what stands before the first
	First   int    // its lines in the file
	Last    int
	Text    string
	Tokens  int
	Red     bool // it forbids or demands
	Foreign bool // somebody else wrote it: it is shown as data

	hash quire.Hash
}

// Name is the page as people and models name it.
func (p *Page) Name() string {
	name := fmt.Sprintf("%s:%d-%d", p.File, p.First, p.Last)
	if p.Title != "" {
		name += " “" + p.Title + "”"
	}
	return name
}

// Hash is that of what a page says.
func (p *Page) Hash() quire.Hash { return p.hash }

// A Counter counts tokens.
type Counter interface{ Count(text string) int }

// Norms are what was read.
type Norms struct {
	Pages []Page   // the earlier ones stand where two conflict
	Twice []Pair   // pages that say the same as an earlier one, and are not among Pages
	Fault []string // what could not be read
}

// A Pair is a page, and the earlier one that says the same.
type Pair struct{ Page, Of Page }

// Read reads the instruction files of the places. foreign says of a file of a
// project whether somebody else than the user wrote what stands in it; nil: nobody
// did. A link that leads out of a place's folder is not followed.
func Read(places []Place, count Counter, foreign func(path string) bool) Norms {
	var n Norms
	for _, name := range Files() {
		for _, place := range places {
			text, err := readFile(place.Dir, name)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				n.Fault = append(n.Fault, place.Shown+name+": "+err.Error())
				continue
			}
			file := Page{File: place.Shown + name, Dir: place.Dir}
			file.Foreign = !place.Own && foreign != nil && foreign(filepath.Join(place.Dir, name))
			n.add(file, text, count)
		}
	}
	return n
}

func readFile(dir, name string) (string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	info, err := root.Stat(name)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", errors.New("it is no regular file")
	}
	f, err := root.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return "", err
	}
	text := strings.ToValidUTF8(strings.TrimPrefix(string(data), "\ufeff"), "\uFFFD")
	if int64(len(data)) < info.Size() {
		text += fmt.Sprintf("\n[%d bytes more of this file are not read]\n", info.Size()-int64(len(data)))
	}
	return text, nil
}

// add cuts a file into pages.
func (n *Norms) add(file Page, text string, count Counter) {
	for _, s := range carrier.Sections(text) {
		for _, part := range parts(s.Text, s.First, count) {
			p := file
			p.Title, p.First, p.Last, p.Text = strings.Join(s.Titles, " › "), part.first, part.last, part.text
			p.Tokens, p.Red, p.hash = count.Count(p.Text), red(p.Text), quire.Sum(strings.TrimSpace(p.Text))
			n.keep(p)
		}
	}
}

// keep adds a page, unless one that is there already says the same.
func (n *Norms) keep(p Page) {
	for _, of := range n.Pages {
		if of.Hash() == p.Hash() {
			n.Twice = append(n.Twice, Pair{p, of})
			return
		}
	}
	n.Pages = append(n.Pages, p)
}

// mostPart is how long a page may be, in tokens, before it is cut at blank lines.
const mostPart = 500

type part struct {
	first, last int
	text        string
}

// parts cuts a long section at blank lines outside of fenced code.
func parts(text string, first int, count Counter) (out []part) {
	if count.Count(text) <= mostPart {
		return []part{{first, first + strings.Count(strings.TrimRight(text, "\n"), "\n"), text}}
	}
	var body strings.Builder
	number, start, fence := first, first, false
	flush := func(last int) {
		if strings.TrimSpace(body.String()) != "" {
			out = append(out, part{start, last, body.String()})
		}
		body.Reset()
		start = last + 1
	}
	for line := range strings.SplitAfterSeq(text, "\n") {
		body.WriteString(line)
		trimmed := strings.TrimSpace(line)
		if strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~") {
			fence = !fence
		}
		if trimmed == "" && !fence && count.Count(body.String()) > mostPart/2 {
			flush(number)
		}
		number++
	}
	flush(number - 1)
	return out
}

// redWords begin or make what must not be overlooked.
var redWords = []string{
	"never", "must not", "must never", "do not", "don't", "forbidden", "prohibited", "under no circumstances", "red line", "not allowed", "always", "must",
	"禁止", "不要", "绝不", "不得", "严禁", "切勿", "不能", "不许", "必须", "一律", "红线",
}

// red reports whether a text forbids or demands: its heading does, or most of its
// lines.
func red(text string) bool {
	lines, reds := 0, 0
	for line := range strings.Lines(text) {
		switch trimmed := strings.TrimSpace(line); {
		case trimmed == "":
		case strings.HasPrefix(trimmed, "#"):
			if redLine(trimmed) || strings.Contains(strings.ToLower(trimmed), "rules") {
				return true
			}
		default:
			lines++
			if redLine(line) {
				reds++
			}
		}
	}
	return lines > 0 && 2*reds > lines
}

// redLine reports whether a line has one of the words.
func redLine(line string) bool {
	low := " " + strings.Map(spaced, strings.ToLower(line)) + " "
	return slices.ContainsFunc(redWords, func(w string) bool {
		if w[0] < 0x80 {
			w = " " + w + " "
		}
		return strings.Contains(low, w)
	})
}

// spaced makes a space of what parts words.
func spaced(r rune) rune {
	if r == '’' {
		return '\''
	}
	if r < 0x80 && r != '\'' && !(r >= 'a' && r <= 'z') && !(r >= '0' && r <= '9') {
		return ' '
	}
	return r
}
