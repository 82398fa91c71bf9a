package permit

import (
	"fmt"
	"slices"
	"strings"
)

// A Resolver says which file of the project a path stands for: its path from the
// project's folder, by what it resolves to, or an error when it leads out.
// fence.Fence is one.
type Resolver interface {
	Resolve(path string) (string, error)
}

// A Policy judges requests. It is not changed by that, so that it may be used
// concurrently.
type Policy struct {
	Mode    Mode
	Layers  []Layer  // in the order in which they come: [Defaults] first
	Project Resolver // of the project's folder
	Temp    []string // folders outside the project that commands may write to, absolute
	Network bool     // commands may reach the network without a question
}

// Judge decides on a request. The same request has the same decision; files are
// looked at only to resolve paths.
func (p *Policy) Judge(r Request) Decision {
	j := &judge{Policy: p}
	for _, path := range r.Reads {
		j.read(words(path), place{}, path, true)
	}
	for _, path := range r.Writes {
		j.write(words(path), place{}, "change "+path)
	}
	if r.Unknown {
		j.note(j.byMode(Deny, Ask, Ask), "call "+r.Tool, "nothing is known about what this tool does", "")
	}
	if r.Foreign {
		j.note(j.byMode(Deny, Ask, Allow), "call "+r.Tool, "it is a tool of a server, which may do anything", r.Tool)
	}
	if r.Command != "" {
		j.command(r)
	}
	return j.decision()
}

// A judge collects what a request does and how strict that makes the verdict.
type judge struct {
	*Policy
	verdict Verdict
	denied  []string
	about   []Subject
	network bool
}

// note takes in one verdict.
func (j *judge) note(v Verdict, text, reason, like string) {
	j.verdict = max(j.verdict, v)
	switch v {
	case Deny:
		j.denied = append(j.denied, "“"+clip(text)+"”: "+reason)
	case Ask:
		s := Subject{text, reason, like}
		if !slices.Contains(j.about, s) {
			j.about = append(j.about, s)
		}
	}
}

func (j *judge) byMode(readOnly, edit, full Verdict) Verdict {
	return [...]Verdict{readOnly, edit, full}[min(int(j.Mode), 2)]
}

func (j *judge) decision() Decision {
	d := Decision{Verdict: j.verdict, Network: j.network}
	switch j.verdict {
	case Deny:
		d.Reason = "not permitted (mode " + j.Mode.String() + "): " + strings.Join(unique(j.denied), "; ")
	case Ask:
		var list []string
		for _, s := range j.about {
			list = append(list, "“"+clip(s.Text)+"”: "+s.Reason)
		}
		d.Reason, d.About = strings.Join(unique(list), "; "), j.about
	}
	return d
}

func unique(list []string) []string {
	var out []string
	for _, text := range list {
		if !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}

// command judges a text for the shell, and the lines that it would be given.
func (j *judge) command(r Request) {
	text := r.Command
	if r.Input != "" {
		text = withInput(r.Command, r.Input)
	}
	s := parse(text, place{now: r.Dir}, 0)
	for _, why := range s.unclear {
		j.note(j.byMode(Deny, Ask, Ask), r.Command, why, "")
	}
	for _, name := range s.alters {
		j.note(j.byMode(Deny, Ask, Allow), r.Command, "it sets "+name+", which changes what other commands do", "")
	}
	for _, t := range s.reads {
		j.read([]word{t.word}, t.place, r.Command, false)
	}
	for _, t := range s.writes {
		j.write([]word{t.word}, t.place, r.Command)
	}
	for _, c := range s.commands {
		j.simple(c)
	}
}

// withInput puts the lines where the shell would find them: a here-document that
// nothing in them can end.
func withInput(command, input string) string {
	end := "END"
	for strings.Contains(input, end) {
		end += "_"
	}
	return "{ " + command + "\n} <<'" + end + "'\n" + strings.TrimSuffix(input, "\n") + "\n" + end + "\n"
}

// simple judges a simple command: by rule, and where no rule allows it by what
// it does.
func (j *judge) simple(c command) {
	found := find(j.Layers, func(r Rule) match { return matchCommand(r, c) })
	if found.verdict > Allow {
		j.note(max(found.verdict, j.byMode(j.floor(c), Allow, Allow)), c.text, found.reason(), "")
		return
	}
	for _, e := range effects(c) {
		if found.ok() && j.Mode != ReadOnly {
			j.network = j.network || e.kind == connects
			continue
		}
		j.effect(c, e)
	}
}

// floor is what a command meets in read-only mode whatever the rules say.
func (j *judge) floor(c command) Verdict {
	for _, e := range effects(c) {
		if e.kind != looks {
			return Deny
		}
	}
	return Allow
}

// effect judges one thing that a command does.
func (j *judge) effect(c command, e effect) {
	like := likeness(c)
	switch e.kind {
	case looks:
		j.read(e.paths, c.place, c.text, false)
	case changes:
		j.write(e.paths, c.place, c.text)
	case removes:
		j.remove(e.paths, c.place, c.text)
	case runs:
		j.note(j.byMode(Deny, Ask, Allow), c.text, or(e.why, "it runs code"), like)
	case connects:
		if v := j.byMode(Deny, Ask, Ask); j.Network && j.Mode == Full {
			j.network = true
		} else {
			j.note(v, c.text, "it reaches the network", like)
			j.network = j.network || v == Ask
		}
	case raises:
		j.note(j.byMode(Deny, Ask, Ask), c.text, "it works with another user's rights", "")
	case system:
		j.note(j.byMode(Deny, Ask, Ask), c.text, "it changes this machine, not the project", "")
	case hidden:
		j.note(j.byMode(Deny, Ask, Ask), c.text, e.why, "")
	}
}

// likeness is the wider thing that a user may allow with a command: its name and
// its subcommand.
func likeness(c command) string {
	if verb := c.verb(); verb != "" && len(c.operands()) > 0 && !strings.ContainsAny(verb, "/.=*") {
		return c.name.text + " " + verb
	}
	return c.name.text
}

func or(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

// read judges reading: tools stay in the project, commands may look around, and
// rules are about both.
func (j *judge) read(paths []word, at place, text string, confined bool) {
	for _, w := range paths {
		if !w.known {
			continue
		}
		spellings, inside := j.resolve(w, at)
		if confined && !inside {
			j.note(Deny, text, "it is outside the project", "")
		}
		found := find(j.Layers, func(r Rule) match { return sure(matchPath(r.Read, spellings)) })
		if found.verdict > Allow {
			j.note(found.verdict, text, "reading "+w.text+": "+found.reason(), "")
		}
	}
}

// write judges changing files. What is copied to a folder lands in it, so a rule
// about what is in it counts.
func (j *judge) write(paths []word, at place, text string) {
	for _, w := range paths {
		if w.known && sink(w.text) {
			continue
		}
		j.touch(w, at, text, "", func(r Rule, spellings []string) match {
			return sure(matchPath(r.Write, spellings) || matchPath(r.Write, below(spellings)))
		})
	}
}

func below(folders []string) []string {
	list := make([]string, len(folders))
	for i, f := range folders {
		list[i] = f + "/x"
	}
	return list
}

func sure(yesNo bool) match {
	if yesNo {
		return yes
	}
	return no
}

// remove judges removing files: all of a folder, so a rule about something in it
// counts.
func (j *judge) remove(paths []word, at place, text string) {
	for _, w := range paths {
		whole := j.wholeFolder(w, at)
		if whole {
			j.note(j.byMode(Deny, Ask, Ask), text, "it removes everything that is there", "")
		}
		j.touch(w, at, text, "it removes files", func(r Rule, spellings []string) match {
			inIt := !whole && slices.ContainsFunc(spellings, func(s string) bool { return reaches(r.Write, fixedPart(s)) })
			return sure(inIt || matchPath(r.Write, spellings))
		})
	}
}

// touch judges one path that is changed or removed.
func (j *judge) touch(w word, at place, text, removal string, matches func(Rule, []string) match) {
	spellings, inside := j.resolve(w, at)
	found := find(j.Layers, func(r Rule) match { return matches(r, spellings) })
	outside := "it changes files outside the project"
	if spellings == nil {
		outside = "which files it changes is not known before it runs"
	}
	switch {
	case found.verdict == Deny:
		j.note(Deny, text, found.reason(), "")
	case j.Mode == ReadOnly:
		j.note(Deny, text, or(removal, "it changes files"), "")
	case !inside:
		j.note(Ask, text, outside, "")
	case found.verdict > Allow:
		j.note(found.verdict, text, found.reason(), "")
	case removal != "" && !found.ok():
		j.note(j.byMode(Deny, Ask, Allow), text, removal, "")
	}
}

// sink reports whether what is written to a path goes nowhere.
func sink(name string) bool {
	return slices.Contains([]string{"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/fd/1", "/dev/fd/2", "nul", "NUL", "-"}, name)
}

// resolve gives the spellings of a path, as it is named and as it resolves, and
// whether all of them are where writing is permitted.
func (j *judge) resolve(w word, at place) (spellings []string, inside bool) {
	if !w.known {
		return nil, false
	}
	names := at.spellings(w.text)
	inside = len(names) > 0
	for _, name := range names {
		spellings = append(spellings, cleaned(name))
		rel, err := j.Project.Resolve(name)
		if strings.HasPrefix(name, "~") || err != nil {
			inside = inside && j.temporary(name)
			continue
		}
		spellings = append(spellings, rel)
	}
	return spellings, inside
}

// temporary reports whether a path lies in a folder for temporary files.
func (j *judge) temporary(name string) bool {
	return slices.ContainsFunc(j.Temp, func(dir string) bool {
		return strings.HasPrefix(cleaned(name)+"/", strings.TrimSuffix(dir, "/")+"/")
	})
}

// wholeFolder reports whether a path is the project's folder or that for
// temporary files, or everything in it.
func (j *judge) wholeFolder(w word, at place) bool {
	if !w.known {
		return false
	}
	for _, name := range at.spellings(w.text) {
		name = or(strings.TrimRight(name, "*./"), ".")
		rel, err := j.Project.Resolve(name)
		if err == nil && rel == "." && !strings.HasPrefix(name, "~") || slices.Contains(j.Temp, name) {
			return true
		}
	}
	return false
}

// String says what a subject is, for a list.
func (s Subject) String() string { return fmt.Sprintf("%s (%s)", s.Text, s.Reason) }

// Looks reports whether a command surely only looks: it changes no file and runs
// no code that cannot be seen. What it is not sure of is not.
func Looks(command string) bool {
	s := parse(command, place{}, 0)
	if len(s.unclear) > 0 || len(s.alters) > 0 {
		return false
	}
	for _, t := range s.writes {
		if !t.word.known || !sink(t.word.text) {
			return false
		}
	}
	for _, c := range s.commands {
		for _, e := range effects(c) {
			if e.kind != looks {
				return false
			}
		}
	}
	return true
}
