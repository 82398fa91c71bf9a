package carrier

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/quire-agent/quire/internal/retrieve"
)

// maxFile is the length in bytes of the longest file that is read, maxFiles the
// number of files of one folder: a folder of documents is written by people.
const (
	maxFile  = 4 << 20
	maxFiles = 20_000
)

// ErrTooMany is returned for a folder with more documents than anybody wrote.
var ErrTooMany = errors.New("more than 20000 documents")

// Documents cuts the documents below a folder into sections. Folders whose name
// begins with a dot and files that are no UTF-8 text are passed over. name is
// how the folder is shown. Access of an entry holds nothing but the project that
// its file names between two lines of --- at its beginning: who may see it is for
// the caller to say.
func Documents(folder fs.FS, name string) ([]retrieve.Entry, error) {
	return files(folder, name, retrieve.HitDocument, "document")
}

// Notes reads memory notes, a section a note.
func Notes(folder fs.FS, name string) ([]retrieve.Entry, error) {
	return files(folder, name, retrieve.HitNote, "note")
}

// Knowledge reads entries of knowledge, a section an entry. A line "from: …" of
// an entry says where it was learned and is shown as its source.
func Knowledge(folder fs.FS, name string) ([]retrieve.Entry, error) {
	entries, err := files(folder, name, retrieve.HitKnowledge, "knowledge")
	for i := range entries {
		for line := range strings.SplitSeq(entries[i].Text, "\n") {
			if from, ok := strings.CutPrefix(line, "from:"); ok {
				entries[i].Source += ", from " + strings.TrimSpace(from)
			}
		}
	}
	return entries, err
}

func files(folder fs.FS, name string, kind retrieve.HitKind, what string) (out []retrieve.Entry, err error) {
	read := 0
	err = fs.WalkDir(folder, ".", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && file != "." && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case !d.Type().IsRegular() || !document(file):
			return nil
		}
		if read++; read > maxFiles {
			return ErrTooMany
		}
		text, ok, err := readText(folder, file)
		if err != nil || !ok {
			return err
		}
		shown, about := path.Join(name, file), frontMatter(text)["project"]
		for _, s := range cut(file, text) {
			e := s.entry(shown, kind, what)
			e.Access.Project = about
			out = append(out, e)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return out, nil
}

func document(file string) bool {
	switch strings.ToLower(path.Ext(file)) {
	case ".md", ".markdown", ".mdx", ".txt", ".rst", ".adoc", ".org":
		return true
	}
	return false
}

// readText reads a file; ok is false where it is too long or no text.
func readText(folder fs.FS, file string) (text string, ok bool, err error) {
	info, err := fs.Stat(folder, file)
	if err != nil || info.Size() > maxFile {
		return "", false, err
	}
	data, err := fs.ReadFile(folder, file)
	if err != nil || !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
		return "", false, err
	}
	return strings.TrimPrefix(string(data), "\ufeff"), true, nil
}

// cut makes sections of a Markdown file; any other is one section.
func cut(file, text string) []section {
	if strings.HasPrefix(strings.ToLower(path.Ext(file)), ".m") {
		return sections(text)
	}
	return []section{{first: 1, text: text}}
}

func (s *section) entry(file string, kind retrieve.HitKind, what string) retrieve.Entry {
	e := retrieve.Entry{Kind: kind, Name: file, Path: file, Title: s.title(), Text: s.text, First: s.first}
	e.Source = fmt.Sprintf("%s %s, line %d", what, file, s.first)
	if e.Title != "" {
		e.Name += "#" + s.titles[len(s.titles)-1]
		e.Source += ", " + e.Title
	}
	return e
}
