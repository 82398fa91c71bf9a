package rendition

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
)

// The lengths in bytes of what a card shows.
const (
	cardTarget = 160
	cardLine   = 200
	cardNames  = 8 // names of failed tests and the like
	claimMax   = 120
)

// Card is a page in one structured line, or a few: of a tool call what was done
// to what, how it ended and one line of its result; of a user message its first
// line; of the model's text its last paragraph, verbatim, at most 120 characters of
// it, marked as its claim. Nothing in it is generated, and it is masked.
//
//	p412 ran "go test ./...": exit 1; 2 failed: TestOpen, TestClose
//	p413 read internal/x/y.go L1-L80: 80 lines, 1240 tokens
//	p7 model claims: "All tests pass."
func (m *Maker) Card(s Source) string {
	switch s.Page.Kind {
	case quire.PageImage:
		return m.imageCard(&s)
	case quire.PageUser:
		return m.quoteCard(&s, "user")
	case quire.PageMachine, quire.PageSystem, quire.PageDocument:
		return m.quoteCard(&s, verb(&s))
	case quire.PageAssistant:
		return m.claimCard(&s)
	}
	return m.toolCard(&s)
}

func (m *Maker) imageCard(s *Source) string {
	card := fmt.Sprintf("%s %s", s.Page.Number, imageSize(s))
	if s.Page.Target != "" {
		card += " of " + clip(m.line(s.Page.Target), cardTarget)
	}
	if seen := clip(m.line(sentence(s.Seen)), cardLine); seen != "" {
		card += fmt.Sprintf(`, seen as "%s"`, seen)
	}
	return card
}

// quoteCard shows the first line of a message, and how long it is where that is
// not all.
func (m *Maker) quoteCard(s *Source, who string) string {
	all := strings.TrimSpace(s.Text)
	first := clip(m.lineAt(s.Text, start(s.Text, 0)), cardLine)
	card := fmt.Sprintf(`%s %s: "%s"`, s.Page.Number, who, first)
	if len(all) > len(first) && len(firstLine(all)) < len(all) || len(firstLine(all)) > cardLine {
		card += ", first of " + size(&s.Page)
	}
	return card
}

func (m *Maker) claimCard(s *Source) string {
	last := lastParagraph(s.Text)
	if last == "" {
		return fmt.Sprintf("%s model: no text", s.Page.Number)
	}
	from := strings.LastIndex(s.Text, last)
	to := min(from+len(last), from+4*claimMax+4)
	text, cut := opening(strings.TrimSpace(plain(m.part(s.Text, from, to))))
	how := "model claims"
	if cut || to < from+len(last) {
		how = "model claims (its beginning)"
	}
	return fmt.Sprintf(`%s %s: "%s"`, s.Page.Number, how, text)
}

func (m *Maker) toolCard(s *Source) string {
	what := clip(m.line(target(&s.Page)), cardTarget)
	if what == "" {
		what = clip(m.line(s.Page.Tool), cardTarget)
	} else if s.Page.Action == quire.ActionRun {
		what = `"` + what + `"`
	}
	card := strings.TrimSpace(fmt.Sprintf("%s %s %s", s.Page.Number, verb(s), what))
	said := m.result(s)
	if end := ended(s); end != "" {
		said = append([]string{end}, said...)
	}
	if len(said) == 0 {
		return card
	}
	return card + ": " + strings.Join(said, "; ")
}

// ended says how a call ended: its exit code, or its outcome where that is bad.
func ended(s *Source) string {
	if s.Page.Action == quire.ActionRun {
		if code, ok := exitCode(s.Text); ok {
			return "exit " + code
		}
	}
	switch s.Outcome {
	case quire.OutcomeError, quire.OutcomeReverted, quire.OutcomeAbandoned:
		return string(s.Outcome)
	}
	return ""
}

// result is what the class of a page lets one say of it.
func (m *Maker) result(s *Source) []string {
	if s.Outcome == quire.OutcomeError && s.Page.Action != quire.ActionRun {
		return m.firstAlarm(s)
	}
	switch s.Page.Action {
	case quire.ActionRead, quire.ActionWrite, quire.ActionFetch:
		return []string{sizes(s)}
	case quire.ActionEdit, quire.ActionPlan:
		return nil
	}
	if s.Page.Kind == quire.PageWritten {
		return []string{sizes(s)}
	}
	switch s.Page.Class {
	case quire.ClassTest:
		return m.tests(s)
	case quire.ClassSearch:
		return hitCounts(s.Text)
	case quire.ClassListing:
		return []string{counted(entries(s.Text), "entry")}
	case quire.ClassDiff:
		return m.changes(s)
	case quire.ClassTable:
		return []string{counted(entries(s.Text), "line")}
	case quire.ClassTrace:
		return m.raised(s)
	}
	if found := m.firstAlarm(s); found != nil {
		return found
	}
	return m.lastLine(s)
}

func sizes(s *Source) string {
	return fmt.Sprintf("%s, %s", counted(lineCount(s.Text), "line"), size(&s.Page))
}

func lineCount(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

func entries(text string) (n int) {
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" {
			n++
		}
	}
	return n
}

func hitCounts(text string) []string {
	hits, files, before := 0, map[string]bool{}, ""
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		hits++
		if f := hitFile(line); f != before && f != "" {
			before, files[f] = f, true
		}
	}
	if len(files) == 0 {
		return []string{counted(hits, "line")}
	}
	return []string{counted(hits, "line") + " in " + counted(len(files), "file")}
}

// tests names the failed tests of a run, or gives its summary.
func (m *Maker) tests(s *Source) []string {
	failed := failedTests(s.Text)
	if len(failed) == 0 {
		return m.lastLine(s)
	}
	for i := range failed[:min(len(failed), cardNames)] {
		failed[i] = clip(m.line(failed[i]), cardTarget/2)
	}
	return []string{fmt.Sprintf("%d failed: %s", len(failed), named(failed))}
}

func named(names []string) string {
	if len(names) <= cardNames {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:cardNames], ", ") + " and " + strconv.Itoa(len(names)-cardNames) + " more"
}

// changes counts what a diff changes.
func (m *Maker) changes(s *Source) []string {
	var files []string
	plus, minus := 0, 0
	for line := range strings.Lines(s.Text) {
		switch {
		case hasPrefix(line, "+++ ", "*** Update File: ", "*** Add File: "):
			files = append(files, clip(m.line(diffFile(line)), cardTarget/2))
		case strings.HasPrefix(line, "--- "):
		case line[0] == '+':
			plus++
		case line[0] == '-':
			minus++
		}
	}
	if len(files) == 0 {
		return m.lastLine(s)
	}
	return []string{fmt.Sprintf("+%d −%d in %s", plus, minus, named(files))}
}

func diffFile(line string) string {
	if _, file, ok := strings.Cut(line, " File: "); ok {
		return strings.TrimSpace(file)
	}
	file, _, _ := strings.Cut(strings.TrimSpace(line[len("+++ "):]), "\t")
	return strings.TrimPrefix(file, "b/")
}

// raised is what a stack trace was raised for: Python says it last, the others
// first.
func (m *Maker) raised(s *Source) []string {
	if strings.Contains(s.Text, "Traceback (most recent call last)") {
		at, found := 0, -1
		for line := range strings.Lines(s.Text) {
			name, _, _ := strings.Cut(line, ":")
			if c := line[0]; c != ' ' && c != '\t' && strings.TrimSpace(name) != "" && !strings.ContainsAny(strings.TrimSpace(name), " ()<") {
				found = at
			}
			at += len(line)
		}
		if found >= 0 {
			return []string{clip(m.lineAt(s.Text, found), cardLine)}
		}
	}
	return m.firstAlarm(s)
}

// firstAlarm is the first of the lines that tell of a failure most surely.
func (m *Maker) firstAlarm(s *Source) []string {
	at, best, found := 0, quiet, -1
	for line := range strings.Lines(cardText(s.Text)) {
		if a := alarmOf(line); a > best && a >= likely {
			if best, found = a, at; a == certain {
				break
			}
		}
		at += len(line)
	}
	if found < 0 {
		return nil
	}
	return []string{clip(m.lineAt(s.Text, found), cardLine)}
}

// cardText bounds how much of a page a card looks at: what comes later is one
// recall away.
func cardText(text string) string { return text[:min(len(text), 64<<10)] }

// lastLine is the last line of the output of a command that is not blank and not
// of the frame that a harness puts around it.
func (m *Maker) lastLine(s *Source) []string {
	rest := s.Text
	for range 20 {
		end := len(strings.TrimRight(rest, " \t\r\n"))
		if end == 0 {
			return []string{"no output"}
		}
		from := strings.LastIndexByte(rest[:end], '\n') + 1
		if !framing(strings.TrimSpace(rest[from:end])) {
			return []string{clip(m.lineAt(s.Text, from), cardLine)}
		}
		rest = rest[:from]
	}
	return nil
}

// framing knows lines that a harness adds: a lone tag, the exit code, the word that
// the output follows.
func framing(line string) bool {
	if strings.HasPrefix(line, "<") && strings.HasSuffix(line, ">") && !strings.ContainsAny(line[1:len(line)-1], "<>") && (len(line) < 40 && !strings.Contains(line, " ") || exitLine.MatchString(line)) {
		return true
	}
	return line == "Output:" || mentions(line) && exitLine.MatchString(line)
}

// start is where the first line that is not blank begins.
func start(text string, from int) int {
	for {
		i := strings.IndexByte(text[from:], '\n')
		if i < 0 || strings.TrimSpace(text[from:from+i]) != "" {
			return from
		}
		from += i + 1
	}
}
