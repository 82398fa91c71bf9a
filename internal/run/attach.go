package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"sort"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/tool"
)

// The bounds of what is attached to the user's words: of one file and of the list
// of a folder in bytes, of the card of a session in bytes, and of how many
// references there may be. How much of an attachment stands in a prompt is decided
// by admission, and is less.
const (
	maxFile     = 8 << 20
	maxListed   = 1 << 20
	MaxCard     = 24 << 10
	maxMentions = 32
)

// A Mention is a file or folder that the user's words refer to, or another
// session: @path, @dir/, @path:10-40, @"a b.txt", @@s7.
type Mention struct {
	Path    string
	Lines   quire.Range // zero: all of it
	Session string      // by its number or ULID; "": it is a file or folder
}

// String is what was meant.
func (m Mention) String() string {
	if m.Session != "" {
		return "session " + m.Session
	}
	return m.Path
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
		return Mention{Path: name, Lines: lines}, true
	}
	end := strings.IndexFunc(text, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("\"'`<>|)]}\x00", r) })
	if end < 0 {
		end = len(text)
	}
	name := strings.TrimRight(text[:end], ".,;:!?，。；：！？")
	if session, ok := strings.CutPrefix(name, "@"); ok {
		return Mention{Session: session}, session != "" && !strings.ContainsAny(session, "@/\\")
	}
	if i := strings.LastIndexByte(name, ':'); i > 0 {
		if lines, ok := linesOf(name[i:]); ok {
			return Mention{Path: name[:i], Lines: lines}, true
		}
	}
	return Mention{Path: name}, name != ""
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

// Sessions has what is known of other sessions: Card is the ledger card of one, in
// at most so many bytes. An error says to the model why there is none.
type Sessions interface {
	Card(ctx context.Context, session string, most int) (string, error)
}

// An Attacher finds what the references of the user's words stand for.
type Attacher struct {
	Project  Project
	Files    fs.FS    // of the project
	Sessions Sessions // nil: other sessions cannot be referred to

	// Show shows what is no text, images and documents; ok is false where it
	// cannot. nil: nothing is shown.
	Show func(name string, data []byte) (r tool.Result, ok bool)
}

// Attach is what the references stand for, in their order. What cannot be read is
// no error: the block says why, so that the model knows that something was meant
// to be there.
func (a *Attacher) Attach(ctx context.Context, words string) (blocks []quire.Block) {
	for _, m := range Mentions(words) {
		more, err := a.attached(ctx, m)
		if err != nil {
			more = machine(fmt.Sprintf("The user referred to %s. It could not be attached: %v.", m, err))
		}
		blocks = append(blocks, more...)
	}
	return blocks
}

// attachment is how the text of what was attached begins.
const attachment = "Attached by the user: "

func machine(text string) []quire.Block {
	return []quire.Block{{Part: quire.Part{Kind: quire.PartMachine, Text: text}}}
}

func (a *Attacher) attached(ctx context.Context, m Mention) ([]quire.Block, error) {
	if m.Session != "" {
		text, err := a.card(ctx, m.Session)
		blocks := machine(text)
		blocks[0].Origin = quire.OriginOwn // a card refers to pages and is none
		return blocks, err
	}
	name, err := a.Project.Resolve(m.Path)
	if err != nil {
		return nil, err
	}
	info, err := fs.Stat(a.Files, name)
	switch {
	case err != nil:
		return nil, errors.New("there is no such file")
	case info.IsDir():
		text, err := listed(a.Files, name, m)
		return machine(text), err
	case !info.Mode().IsRegular():
		return nil, errors.New("it is no regular file")
	case info.Size() > maxFile:
		return nil, fmt.Errorf("it has %d bytes; the tool read shows parts of it", info.Size())
	}
	return a.file(name, m)
}

func (a *Attacher) card(ctx context.Context, session string) (string, error) {
	if a.Sessions == nil {
		return "", errors.New("no other session can be read here")
	}
	card, err := a.Sessions.Card(ctx, session, MaxCard)
	if err != nil {
		return "", err
	}
	return attachment + "what is on record of session " + session + "\n" + card, nil
}

// file is a text, or lines of it, or what else can be shown.
func (a *Attacher) file(name string, m Mention) ([]quire.Block, error) {
	data, err := fs.ReadFile(a.Files, name)
	if err != nil {
		return nil, errors.New("it cannot be read")
	}
	if bytes.IndexByte(data[:min(len(data), 8<<10)], 0) >= 0 || !utf8.Valid(data) {
		return a.shown(name, data, m)
	}
	return lines(name, string(data), m)
}

// shown is an image as such, and a document as its text.
func (a *Attacher) shown(name string, data []byte, m Mention) ([]quire.Block, error) {
	if a.Show == nil {
		return nil, errors.New("it is no text")
	}
	r, ok := a.Show(name, data)
	switch {
	case !ok:
		return nil, errors.New("it is neither a text nor an image or a document")
	case r.Error:
		return nil, errors.New(strings.TrimSuffix(r.Text, "."))
	case r.Media == nil:
		return lines(name, r.Text, m)
	}
	image := quire.Block{Part: quire.Part{Kind: quire.PartImage, Media: r.Media, Data: r.Data}}
	return append(machine(attachment+r.Text), image), nil
}

func lines(name, text string, m Mention) ([]quire.Block, error) {
	what := name
	if m.Lines != (quire.Range{}) {
		all := strings.SplitAfter(text, "\n")
		if m.Lines.First > len(all) {
			return nil, fmt.Errorf("it has %d lines", len(all))
		}
		last := min(m.Lines.Last, len(all))
		text, what = strings.Join(all[m.Lines.First-1:last], ""), fmt.Sprintf("%s, lines %d to %d", name, m.Lines.First, last)
	}
	return machine(attachment + what + "\n" + text), nil
}

// bounded is the beginning of a text, whole lines.
func bounded(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return text[:strings.LastIndexByte(text[:most], '\n')+1]
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
	if short := bounded(text, maxListed); len(short) < len(text) {
		text = short
		what += ", not all of them shown"
	}
	return attachment + what + "\n" + text, nil
}
