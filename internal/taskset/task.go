package taskset

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/quire-agent/quire/internal/script"
)

// A Task is one task as its text has it, facts not filled in.
type Task struct {
	Name  string
	Title string
	Lang  string   // what the work is in: Go, Python, JavaScript, shell, docs
	Words string   // the language of the user: en, zh
	Far   int      // calls, at least, between the fact and its use
	Away  bool     // another task stands between the fact and its use
	Check []string // the command that tells whether the task is done, and its arguments

	facts   []fact
	fills   []fill
	project []file
	checks  []file
	talk    []Line
	plan    *script.Script
}

// A Line is one thing that happens in the talk. One of its fields is set.
type Line struct {
	Say    string
	Pause  time.Duration // the user waits
	Remove string        // the user deletes this file of the project
}

// A fact is a value that the seed makes.
type fact struct{ name, kind string }

// A fill is a run of files that say nothing of the task.
type fill struct {
	pattern string // of the paths, with one %d
	count   int
	lines   int
}

// An Error says what is wrong with the text of a task.
type Error struct {
	Task    string
	Line    int // from 1; 0: of the whole
	Message string
}

// Error begins with the task.
func (e *Error) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("task %s: %s", e.Task, e.Message)
	}
	return fmt.Sprintf("task %s, line %d: %s", e.Task, e.Line, e.Message)
}

// The bounds of what a text may ask for.
const (
	maxFiles = 1000
	maxLines = 1000
)

// Parse reads the text of a task. A fault in it is an [*Error]. It takes none whose
// check does not look at all of its facts, nor one whose last question holds a
// fact.
func Parse(name, text string) (*Task, error) {
	p := parser{task: &Task{Name: name, Words: "en"}}
	head, files := split(strings.ReplaceAll(text, "\r\n", "\n"))
	if err := p.head(head); err != nil {
		return nil, err
	}
	for _, f := range files {
		if err := p.file(f); err != nil {
			return nil, err
		}
	}
	if err := p.whole(); err != nil {
		return nil, err
	}
	return p.task, nil
}

type parser struct {
	task *Task
	line int
}

func (p *parser) fail(format string, args ...any) error {
	return &Error{p.task.Name, p.line, fmt.Sprintf(format, args...)}
}

func (p *parser) head(text string) error {
	for l := range strings.Lines(text) {
		p.line++
		l = strings.TrimSpace(l)
		if l == "" || l[0] == '#' {
			continue
		}
		word, rest, _ := strings.Cut(l, " ")
		if err := p.field(word, strings.TrimSpace(rest)); err != nil {
			return err
		}
	}
	return nil
}

func (p *parser) field(word, rest string) (err error) {
	t := p.task
	switch word {
	case "title":
		t.Title = rest
	case "lang":
		t.Lang = rest
	case "words":
		t.Words = rest
	case "far":
		t.Far, err = p.number(rest, 1000)
	case "away":
		t.Away = true
	case "check":
		t.Check = strings.Fields(rest)
	case "fact":
		err = p.fact(strings.Fields(rest))
	case "fill":
		err = p.fill(strings.Fields(rest))
	default:
		err = p.fail("%q is nothing that a task has", word)
	}
	return err
}

func (p *parser) number(text string, most int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0, p.fail("%q is no number from 1 to %d", text, most)
	}
	return n, nil
}

func (p *parser) fact(words []string) error {
	if len(words) != 2 || !slices.Contains(factKinds(), words[1]) {
		return p.fail("a fact has a name and one of the kinds %s", strings.Join(factKinds(), ", "))
	}
	p.task.facts = append(p.task.facts, fact{words[0], words[1]})
	return nil
}

func (p *parser) fill(words []string) (err error) {
	if len(words) != 3 || strings.Count(words[0], "%d") != 1 || strings.Count(words[0], "%") != 1 || !local(words[0]) {
		return p.fail("fill wants a path with one %%d, how many files and how many lines each")
	}
	f := fill{pattern: words[0]}
	if f.count, err = p.number(words[1], maxFiles); err != nil {
		return err
	}
	if f.lines, err = p.number(words[2], maxLines); err == nil {
		p.task.fills = append(p.task.fills, f)
	}
	return err
}

// local reports whether a path stays below the folder that it is in.
func local(name string) bool { return fs.ValidPath(name) && name != "." && path.Clean(name) == name }

// file takes a part of the text: the talk, the script, or a file of the project or
// of the check.
func (p *parser) file(f file) (err error) {
	p.line = f.line
	folder, name, _ := strings.Cut(f.name, "/")
	switch {
	case f.name == "talk":
		return p.talk(f.text)
	case f.name == "script":
		if strings.Contains(f.text, "{{") {
			return p.fail("the script names a fact: it must find it in the prompt")
		}
		p.task.plan, err = script.Parse(f.text)
		if e, ok := errors.AsType[*script.Error](err); ok {
			p.line += e.Line - 1
			return p.fail("%s", e.Message)
		}
		return err
	case folder != "project" && folder != "check":
		return p.fail("%q is neither talk nor script nor below project or check", f.name)
	case !local(name):
		return p.fail("%q is no path of a file", f.name)
	case folder == "project":
		p.task.project = append(p.task.project, file{name: name, text: f.text})
	default:
		p.task.checks = append(p.task.checks, file{name: name, text: f.text})
	}
	return nil
}

func (p *parser) talk(text string) error {
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		l := strings.TrimSpace(lines[i])
		if l != "" && l[0] != '#' {
			word, rest, _ := strings.Cut(l, " ")
			if err := p.said(word, strings.TrimSpace(rest)); err != nil {
				return err
			}
		}
		p.line++
	}
	return nil
}

func (p *parser) said(word, rest string) (err error) {
	l := Line{}
	switch {
	case rest == "":
		return p.fail("%q has nothing behind it", word)
	case word == "say":
		l.Say = strings.ReplaceAll(rest, `\n`, "\n")
	case word == "pause":
		if l.Pause, err = time.ParseDuration(rest); err != nil || l.Pause <= 0 {
			return p.fail("%q is no time", rest)
		}
	case word == "remove" && local(rest):
		l.Remove = rest
	default:
		return p.fail("%q is neither say nor pause nor remove and a path", word)
	}
	p.task.talk = append(p.task.talk, l)
	return nil
}

// whole checks what can be seen only of the whole.
func (p *parser) whole() error {
	p.line = 0
	t := p.task
	last := Line{}
	for _, l := range t.talk {
		if l.Say != "" {
			last = l
		}
	}
	switch {
	case t.Title == "" || t.Lang == "" || len(t.Check) == 0:
		return p.fail("title, lang and check are needed")
	case t.Words != "en" && t.Words != "zh":
		return p.fail("words is en or zh")
	case t.plan == nil || last.Say == "" || len(t.facts) == 0:
		return p.fail("a talk, a script and a fact are needed")
	case strings.Contains(last.Say, "{{"):
		return p.fail("the last question holds a fact")
	}
	return p.used()
}

// used holds that the check looks at each fact, and that the user or the project
// tells it.
func (p *parser) used() error {
	told, asked := "", ""
	for _, l := range p.task.talk {
		told += l.Say + "\n"
	}
	for _, f := range p.task.project {
		told += f.text + "\n"
	}
	for _, f := range p.task.checks {
		asked += f.text + "\n"
	}
	for _, f := range p.task.facts {
		place := placeOf(f.name)
		if !strings.Contains(told, place) || !strings.Contains(asked, place) {
			return p.fail("the fact %s is not both told and checked", f.name)
		}
		told, asked = strings.ReplaceAll(told, place, ""), strings.ReplaceAll(asked, place, "")
	}
	return p.known(told + asked)
}

// known holds that nothing is left that looks like the place of a fact.
func (p *parser) known(text string) error {
	for l := range strings.Lines(text) {
		if _, ok := fillerLines(l); !ok && strings.Contains(l, "{{") {
			return p.fail("%q names no fact of the task", strings.TrimSpace(l))
		}
	}
	return nil
}

// fillerLines reads a line that stands for so many lines that say nothing.
func fillerLines(line string) (n int, ok bool) {
	number, found := strings.CutPrefix(strings.TrimRight(line, "\n"), "{{filler ")
	number, closed := strings.CutSuffix(number, "}}")
	n, err := strconv.Atoi(number)
	return n, found && closed && err == nil && 0 < n && n <= maxLines
}
