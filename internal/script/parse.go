package script

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/quire-agent/quire/internal/quire"
)

// The bounds of numbers in a script, far above any use.
const (
	maxNumber = 1 << 30
	maxWords  = 1 << 20
)

// Parse reads a script. A fault in it is an [*Error]. One without turns answers
// nothing.
func Parse(text string) (*Script, error) {
	p := parser{lines: strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")}
	for p.at < len(p.lines) {
		if err := p.line(); err != nil {
			return nil, err
		}
	}
	if p.loop > 0 {
		return nil, &Error{p.loop, "the loop has no end"}
	}
	if err := p.closed(); err != nil {
		return nil, err
	}
	return &Script{p.groups}, nil
}

// A parser reads line by line. A turn is open from its line on.
type parser struct {
	lines  []string
	at     int // lines read
	groups []group
	loop   int // line of the open loop, 0 for none
}

func (p *parser) fail(format string, args ...any) error {
	return &Error{p.at, fmt.Sprintf(format, args...)}
}

func (p *parser) line() error {
	text := strings.TrimSpace(p.lines[p.at])
	p.at++
	if text == "" || text[0] == '#' {
		return nil
	}
	word, rest := cutWord(text)
	switch word {
	case "turn":
		return p.beginTurn(rest)
	case "loop":
		return p.beginLoop(rest)
	case "end":
		return p.endLoop(rest)
	}
	t := p.open()
	if t == nil {
		return p.fail("%q stands outside of a turn", clip(word))
	}
	return p.inside(t, word, rest)
}

// open is the turn that lines belong to, nil without one.
func (p *parser) open() *turn {
	if len(p.groups) == 0 {
		return nil
	}
	turns := p.groups[len(p.groups)-1].turns
	if len(turns) == 0 {
		return nil
	}
	return &turns[len(turns)-1]
}

func (p *parser) beginTurn(rest string) error {
	if err := p.closed(); err != nil {
		return err
	}
	t := turn{line: p.at}
	var err error
	if t.times, err = p.times(rest, 1); err != nil {
		return err
	}
	if p.loop > 0 {
		if t.times == forever {
			return p.fail("a turn that is never used up would never end the round of its loop")
		}
		last := &p.groups[len(p.groups)-1]
		last.turns = append(last.turns, t)
		return nil
	}
	p.groups = append(p.groups, group{turns: []turn{t}, times: 1})
	return nil
}

// closed checks the turn before: one must do something.
func (p *parser) closed() error {
	t := p.open()
	if t == nil || len(t.steps) > 0 || t.fault != (Fault{}) || t.reason != "" {
		return nil
	}
	return &Error{t.line, "the turn does nothing"}
}

// times reads "", "N times" or "always".
func (p *parser) times(rest string, none int) (int, error) {
	switch rest {
	case "":
		return none, nil
	case "always":
		return forever, nil
	}
	number, unit := cutWord(rest)
	if unit != "times" {
		return 0, p.fail("want nothing, N times or always, not %q", clip(rest))
	}
	return p.number(number, 1, maxNumber)
}

func (p *parser) number(text string, least, most int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, p.fail("%q is no whole number from %d to %d", clip(text), least, most)
	}
	return n, nil
}

func (p *parser) beginLoop(rest string) error {
	if p.loop > 0 {
		return p.fail("a loop cannot stand in a loop")
	}
	if err := p.closed(); err != nil {
		return err
	}
	times, err := p.times(rest, forever)
	if err != nil {
		return err
	}
	p.groups = append(p.groups, group{times: times})
	p.loop = p.at
	return nil
}

func (p *parser) endLoop(rest string) error {
	if p.loop == 0 || rest != "" {
		return p.fail("end closes a loop and has nothing behind it")
	}
	if err := p.closed(); err != nil {
		return err
	}
	last := &p.groups[len(p.groups)-1]
	if len(last.turns) == 0 {
		return p.fail("the loop has no turns")
	}
	p.loop = 0
	// An empty group keeps the lines behind the end from joining the last turn.
	p.groups = append(p.groups, group{})
	return nil
}

func (p *parser) inside(t *turn, word, rest string) error {
	switch word {
	case "when":
		return p.when(t, rest)
	case "think", "say", "words", "call":
		return p.step(t, word, rest)
	case "stop":
		return p.stop(t, rest)
	case "wait", "fail", "cut", "stall", "garbage", "drop":
		return p.fault(t, word, rest)
	}
	return p.fail("%q is no word of the language", clip(word))
}

func (p *parser) when(t *turn, rest string) error {
	var c condition
	word, rest := cutWord(rest)
	if word == "not" {
		c.not = true
		word, rest = cutWord(rest)
	}
	c.about = subject(word)
	var err error
	switch c.about {
	case aboutPrompt, aboutSystem, aboutUser, aboutResult, aboutModel:
		err = p.compare(&c, rest)
	case aboutAnswered, aboutTool:
		c.text, err = p.name(rest)
	case aboutCall:
		err = p.interval(&c, rest)
	default:
		err = p.fail("when looks at prompt, system, user, result, model, answered, tool or call, not at %q", clip(word))
	}
	t.when = append(t.when, c)
	return err
}

func (p *parser) compare(c *condition, rest string) error {
	how, rest := cutWord(rest)
	if how != "contains" && how != "matches" {
		return p.fail("%s contains or matches something, not %q", c.about, clip(how))
	}
	text, err := p.text(rest)
	if err != nil {
		return err
	}
	if text == "" {
		return p.fail("%s %s nothing", c.about, how)
	}
	if c.text = text; how == "contains" {
		return nil
	}
	if c.form, err = regexp.Compile(text); err != nil {
		return p.fail("%v", err)
	}
	return nil
}

// name reads one word.
func (p *parser) name(rest string) (string, error) {
	word, more := cutWord(rest)
	if word == "" || more != "" {
		return "", p.fail("want one name, not %q", clip(rest))
	}
	return word, nil
}

func (p *parser) interval(c *condition, rest string) (err error) {
	from, to, found := strings.Cut(rest, "-")
	if !found {
		to = from
	}
	if c.from, err = p.number(strings.TrimSpace(from), 1, maxNumber); err != nil {
		return err
	}
	c.to, err = p.number(strings.TrimSpace(to), c.from, maxNumber)
	return err
}

func (p *parser) step(t *turn, word, rest string) (err error) {
	var s step
	switch word {
	case "think":
		s.kind = quire.PartThinking
		s.text, err = p.words(rest)
	case "say":
		s.kind = quire.PartText
		s.text, err = p.words(rest)
	case "words":
		s.kind = quire.PartText
		s.text, err = p.numbered(rest)
	case "call":
		s.kind = quire.PartToolCall
		err = p.call(&s, rest)
	}
	t.steps = append(t.steps, s)
	return err
}

// words reads a text in which placeholders stand.
func (p *parser) words(rest string) (string, error) {
	text, err := p.text(rest)
	if err != nil {
		return "", err
	}
	if text == "" {
		return "", p.fail("there is no text")
	}
	return text, p.placeholders(text)
}

// numbered makes a text of so many words.
func (p *parser) numbered(rest string) (string, error) {
	n, err := p.number(rest, 1, maxWords)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString("word")
		b.WriteString(strconv.Itoa(i + 1))
	}
	return b.String(), nil
}

func (p *parser) call(s *step, rest string) (err error) {
	s.tool, rest = cutWord(rest)
	if word, more := cutWord(rest); word == "as" {
		s.id, rest = cutWord(more)
	}
	if s.tool == "" || strings.HasPrefix(s.tool, "{") || strings.HasPrefix(s.id, "{") {
		return p.fail("call wants a name, then the arguments")
	}
	if word, more := cutWord(rest); word == "text" {
		s.free = true
		s.text, err = p.words(more)
		return err
	}
	if s.text, err = p.text(rest); err != nil {
		return err
	}
	if err := p.placeholders(s.text); err != nil {
		return err
	}
	return p.object(s.text)
}

// object checks arguments. A placeholder is taken for a digit, which may stand
// inside of a string and as a number.
func (p *parser) object(text string) error {
	example, _ := expand(text, func(string) (string, bool) { return "0", true })
	if !strings.HasPrefix(strings.TrimSpace(example), "{") || !json.Valid([]byte(example)) {
		return p.fail("arguments are a JSON object, not %q; a tool that takes free text is called with text in front of it", clip(text))
	}
	return nil
}

func (p *parser) placeholders(text string) error {
	var unknown string
	_, err := expand(text, func(name string) (string, bool) {
		if !placeholder(name) {
			unknown = name
		}
		return "", true
	})
	if err != nil || unknown != "" {
		return p.fail("${%s} stands for nothing; $${ is a plain ${", clip(unknown))
	}
	return nil
}

func (p *parser) stop(t *turn, rest string) error {
	switch s := quire.Stop(rest); s {
	case quire.StopLength, quire.StopWindow, quire.StopPhrase, quire.StopRefusal, quire.StopPause:
		t.reason = s
		return nil
	}
	return p.fail("an answer stops for length, window, phrase, refusal or pause, not for %q", clip(rest))
}

func (p *parser) fault(t *turn, word, rest string) (err error) {
	f := &t.fault
	if word == "wait" {
		f.Wait, err = p.duration(rest)
		return err
	}
	if f.Status != 0 || f.Break != "" {
		return p.fail("a turn has one fault")
	}
	switch word {
	case "fail":
		return p.status(f, rest)
	case "drop":
		f.Break = BreakDrop
		if rest != "" {
			return p.fail("drop has nothing behind it")
		}
		return nil
	}
	f.Break = Break(word)
	number, rest := cutWord(rest)
	if f.At, err = p.number(number, 0, maxNumber); err != nil {
		return err
	}
	return p.lasting(f, rest)
}

// lasting reads how long a stall is.
func (p *parser) lasting(f *Fault, rest string) (err error) {
	if rest == "" {
		return nil
	}
	word, rest := cutWord(rest)
	if word != "for" || f.Break != BreakStall {
		return p.fail("%s has %q behind it", f.Break, clip(word))
	}
	f.For, err = p.duration(rest)
	return err
}

func (p *parser) duration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, p.fail("%q is no time; write 500ms or 2s", clip(text))
	}
	return d, nil
}

func (p *parser) status(f *Fault, rest string) (err error) {
	number, rest := cutWord(rest)
	if f.Status, err = p.number(number, 400, 599); err != nil {
		return err
	}
	if word, more := cutWord(rest); word == "after" {
		number, rest = cutWord(more)
		f.After, err = strconv.ParseFloat(number, 64)
		if err != nil || !(f.After > 0) || f.After > maxNumber {
			return p.fail("%q is no number of seconds", clip(number))
		}
	}
	f.Message, err = p.text(rest)
	return err
}

// text reads a text in one of its three forms.
func (p *parser) text(rest string) (string, error) {
	switch {
	case strings.HasPrefix(rest, "<<"):
		return p.document(rest[2:])
	case strings.HasPrefix(rest, `"`):
		text, err := strconv.Unquote(rest)
		if err != nil {
			return "", p.fail("%s is no string", clip(rest))
		}
		return text, nil
	}
	return rest, nil
}

// document reads lines up to one that is the word.
func (p *parser) document(word string) (string, error) {
	begun := p.at
	if word == "" || strings.ContainsAny(word, " \t") {
		return "", p.fail("<< wants a word right behind it")
	}
	for ; p.at < len(p.lines); p.at++ {
		if strings.TrimSpace(p.lines[p.at]) != word {
			continue
		}
		space, _, _ := strings.Cut(p.lines[p.at], word)
		lines := make([]string, 0, p.at-begun)
		for _, l := range p.lines[begun:p.at] {
			lines = append(lines, strings.TrimPrefix(l, space))
		}
		p.at++
		return strings.Join(lines, "\n"), nil
	}
	return "", &Error{begun, fmt.Sprintf("no line is %q", clip(word))}
}

func cutWord(text string) (word, rest string) {
	if i := strings.IndexAny(text, " \t"); i >= 0 {
		return text[:i], strings.TrimSpace(text[i:])
	}
	return text, ""
}

// clip bounds what an error quotes.
func clip(text string) string {
	const most = 60
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
