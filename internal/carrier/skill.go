package carrier

import (
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/quire-agent/quire/internal/retrieve"
)

// skillFile is the file that makes a folder a skill.
const skillFile = "SKILL.md"

// Skills reads the skills below a folder by the front matter of their SKILL.md:
// name and description. A skill without a description cannot be found and is
// left out; one without a name is called by its folder. Only the description is
// text: a skill is run by a call and never quoted as knowledge.
func Skills(folder fs.FS, name string) (out []retrieve.Entry, err error) {
	err = fs.WalkDir(folder, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Base(file) != skillFile {
			return err
		}
		text, ok, err := readText(folder, file)
		if err != nil || !ok {
			return err
		}
		head := frontMatter(text)
		if head["description"] == "" {
			return nil
		}
		e := retrieve.Entry{Kind: retrieve.HitSkill, Path: path.Join(name, file), Title: head["name"], Text: head["description"]}
		if e.Title == "" {
			e.Title = path.Base(path.Dir(e.Path))
		}
		e.Name, e.Source = e.Title, "skill "+e.Title+" in "+e.Path
		out = append(out, e)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the skills of %s: %w", name, err)
	}
	return out, nil
}

// frontMatter reads the keys of one word at the beginning of a file, between two
// lines of ---. A value may be quoted; one that begins with > or | or goes on
// indented is joined to one line. Nested keys are not read.
func frontMatter(text string) map[string]string {
	head := map[string]string{}
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	if lines[0] != "---" {
		return head
	}
	key := ""
	for _, line := range lines[1:] {
		if line == "---" || line == "..." {
			break
		}
		indented := line != strings.TrimLeft(line, " \t")
		name, value, ok := strings.Cut(line, ":")
		switch {
		case indented && key != "":
			head[key] = strings.TrimSpace(head[key] + " " + strings.TrimSpace(line))
		case ok && name != "" && !indented && !strings.ContainsAny(name, " \t#"):
			key = strings.ToLower(name)
			head[key] = scalar(value)
		}
	}
	return head
}

// scalar is a plain or quoted value; a mark for what follows is none.
func scalar(value string) string {
	value = strings.TrimSpace(value)
	switch {
	case value == ">" || value == "|" || value == ">-" || value == "|-":
		return ""
	case len(value) >= 2 && (value[0] == '"' || value[0] == '\'') && value[len(value)-1] == value[0]:
		return value[1 : len(value)-1]
	}
	return value
}
