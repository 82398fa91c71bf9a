package skill

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/quire-agent/quire/internal/carrier"
	"github.com/quire-agent/quire/internal/term"
	"github.com/quire-agent/quire/internal/tool"
)

// A Skill is one procedure.
type Skill struct {
	Name        string `json:"name"`
	Description string `json:"description"` // one line
	Path        string `json:"path"`        // of its file, as it is shown

	dir  string // the folder of skills, absolute
	file string // in it, with slashes
}

// A Place is a folder of skills.
type Place struct {
	Dir   string // absolute
	Shown string
}

// A Set are the skills of a session. It is not changed after it was made.
type Set struct {
	Skills []Skill  // by name
	Fault  []string // files that are no skills, and why
}

// The bounds of what is read: of one file in bytes, of how many skills there are,
// and of a description.
const (
	maxFile        = 256 << 10
	mostSkills     = 1000
	maxDescription = 500
)

// Read reads the skills of the places by their front matter. Of two with one name
// that of the earlier place stands. A place that is not there has none.
func Read(places []Place) Set {
	var s Set
	for _, p := range places {
		s.read(p)
	}
	slices.SortFunc(s.Skills, func(a, b Skill) int { return strings.Compare(a.Name, b.Name) })
	return s
}

func (s *Set) read(p Place) {
	root, err := os.OpenRoot(p.Dir)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			s.Fault = append(s.Fault, fmt.Sprintf("%s: %v", p.Shown, err))
		}
		return
	}
	defer root.Close()
	err = fs.WalkDir(root.FS(), ".", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || len(s.Skills) >= mostSkills:
			return err
		case d.IsDir() && file != "." && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case d.IsDir() || d.Name() != "SKILL.md":
			return nil
		}
		s.add(root, p, file)
		return nil
	})
	if err != nil {
		s.Fault = append(s.Fault, fmt.Sprintf("%s: %v", p.Shown, err))
	}
}

func (s *Set) add(root *os.Root, p Place, file string) {
	shown := path.Join(p.Shown, file)
	text, err := readFile(root, file)
	if err != nil {
		s.Fault = append(s.Fault, shown+": "+err.Error())
		return
	}
	head := carrier.FrontMatter(text)
	one := Skill{Name: head["name"], Description: head["description"], Path: shown, dir: p.Dir, file: file}
	if one.Name == "" {
		one.Name = path.Base(path.Dir(file))
	}
	if len(one.Description) > maxDescription {
		one.Description = strings.ToValidUTF8(one.Description[:maxDescription], "") + " …"
	}
	switch {
	case one.Description == "":
		s.Fault = append(s.Fault, shown+": it has no description, by which it would be found")
	case s.Find(one.Name) != nil:
		s.Fault = append(s.Fault, shown+": a skill of the name "+one.Name+" is there already")
	default:
		s.Skills = append(s.Skills, one)
	}
}

func readFile(root *os.Root, file string) (string, error) {
	f, err := root.Open(file)
	if err != nil {
		return "", errors.New("it cannot be read")
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return "", errors.New("it cannot be read")
	case len(text) > maxFile:
		return "", fmt.Errorf("it is longer than %d bytes", maxFile)
	}
	return strings.ToValidUTF8(strings.TrimPrefix(string(text), "\ufeff"), "\uFFFD"), nil
}

// Find is the skill of a name, nil for none.
func (s *Set) Find(name string) *Skill {
	i := slices.IndexFunc(s.Skills, func(k Skill) bool { return k.Name == name })
	if i < 0 {
		return nil
	}
	return &s.Skills[i]
}

// Text is a skill's procedure, without its front matter, as the file is now.
func (k *Skill) Text() (string, error) {
	root, err := os.OpenRoot(k.dir)
	if err != nil {
		return "", fmt.Errorf("read the skill %s: %w", k.Name, err)
	}
	defer root.Close()
	text, err := readFile(root, k.file)
	if err != nil {
		return "", fmt.Errorf("read the skill %s: %w", k.Name, err)
	}
	return strings.TrimSpace(body(text)), nil
}

// body is a text behind its front matter.
func body(text string) string {
	lines := strings.SplitAfter(text, "\n")
	if strings.TrimSpace(lines[0]) != "---" {
		return text
	}
	for i, line := range lines[1:] {
		if mark := strings.TrimSpace(line); mark == "---" || mark == "..." {
			return strings.Join(lines[i+2:], "")
		}
	}
	return text
}

// MostHits is how many skills a call is told of.
const MostHits = 3

// Match are the skills that words ask for, the best first, at most [MostHits]: those
// whose name they say, and those that share several words with the name and
// description, of which rare ones count more.
func (s *Set) Match(words string) []Skill {
	wanted, in := terms(words), map[string]int{}
	sets := make([]map[string]bool, len(s.Skills))
	for i, k := range s.Skills {
		sets[i] = terms(k.Name + " " + k.Description)
		for t := range sets[i] {
			in[t]++
		}
	}
	type hit struct {
		score float64
		skill Skill
	}
	var hits []hit
	for i, k := range s.Skills {
		shared, score := 0, 0.0
		for _, t := range sorted(sets[i]) {
			if wanted[t] {
				shared++
				score += math.Log(1 + float64(len(s.Skills))/float64(in[t]))
			}
		}
		if named(words, k.Name) {
			score += 100
			shared += leastShared
		}
		if shared >= leastShared {
			hits = append(hits, hit{score, k})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(b.score, a.score) })
	var out []Skill
	for _, h := range hits[:min(len(hits), MostHits)] {
		out = append(out, h.skill)
	}
	return out
}

// leastShared is how many words a description shares with what it is a hit for.
const leastShared = 2

// named reports whether words have a name in them, as a word of its own.
func named(words, name string) bool {
	low := " " + strings.Join(strings.FieldsFunc(strings.ToLower(words), func(r rune) bool { return strings.ContainsRune(" \t\n.,;:!?\"'`()/", r) }), " ") + " "
	return strings.Contains(low, " "+strings.ToLower(name)+" ")
}

func terms(text string) map[string]bool {
	set := map[string]bool{}
	term.Scan(text, func(t []byte, kind term.Kind) {
		const shortest = 4
		if kind == term.Pair || kind != term.Single && len(t) >= shortest {
			set[string(t)] = true
		}
	})
	return set
}

func sorted(set map[string]bool) []string {
	var list []string
	for t := range set {
		list = append(list, t)
	}
	slices.Sort(list)
	return list
}

// Lines are skills as a message tells of them, a line each, "" for none.
func Lines(list []Skill) string {
	if len(list) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("Skills that may fit; the tool " + ToolName + " runs one:")
	for _, k := range list {
		b.WriteString("\n- " + k.Name + ": " + k.Description)
	}
	return b.String()
}

// ToolName is the name of the tool that runs a skill.
const ToolName = "skill"

//go:embed skill.md
var prompt string

type args struct {
	Name string `json:"name" jsonschema:"of the skill"`
}

// Tool runs the skills of a set. Its declaration does not depend on which there
// are.
func (s *Set) Tool() tool.Tool {
	return tool.New(ToolName, prompt, func(args) tool.Want { return tool.Want{} }, s.run)
}

func (s *Set) run(_ context.Context, a args) (tool.Result, error) {
	k := s.Find(a.Name)
	if k == nil {
		return tool.Failed("There is no skill %q. There are: %s.", a.Name, strings.Join(s.names(), ", ")), nil
	}
	text, err := k.Text()
	if err != nil {
		return tool.Failed("%v.", err), nil
	}
	return tool.Result{Text: fmt.Sprintf("Instructions of the skill %s (%s), for this turn:\n\n%s", k.Name, k.Path, text)}, nil
}

func (s *Set) names() (list []string) {
	const most = 50
	for _, k := range s.Skills[:min(len(s.Skills), most)] {
		list = append(list, k.Name)
	}
	if n := len(s.Skills) - most; n > 0 {
		list = append(list, fmt.Sprintf("and %d more", n))
	}
	return list
}
