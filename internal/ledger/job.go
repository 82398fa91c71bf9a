package ledger

import (
	"regexp"
	"slices"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
)

// A Job is a command or an agent that was started in the background.
type Job struct {
	ID     string
	What   string // command or assignment, one line
	Output string // path that its output goes to, "" where none was told
	Page   quire.PageNumber
}

// A job is a Job until something says that it is over.
type job struct {
	Job
	over bool
}

// How tools tell that a job was started, what they call it and where its output
// goes, and how they tell that it is over.
var (
	jobStarted = regexp.MustCompile(`(?:running|started|launched|moved|executing|continues)\b[^\n]{0,40}\b(?:background|async\w*)|\basync agent launched|process running with session id|"agent_id"[ \t]*:|still running[^\n]{0,40}\bid\b`)
	jobID      = regexp.MustCompile(`(?i)(?:\bsession id:?|\bwith id:?|"agent_id"\s*:|\bagent[_ ]?id:?|\bshell[_ ]?id:?|\btask[_ ]?id:?|\bjob[_ ]?id:?|\bbash[_ ]?id:?|\(id:|<task-id>)\s*["']?([\w-]{1,64})`)
	jobOutput  = regexp.MustCompile(`(?i)(?:output[_ ]file:?|output (?:is being |will be )?(?:written|saved|redirected) to:?|<output-file>)\s*["']?([^\s"'<>]+)`)
	jobStatus  = regexp.MustCompile(`(?i)(?:<status>|"status"\s*:\s*"|\bstatus: ?)\s*(\w+)`)
	jobOver    = regexp.MustCompile(`(?i)process exited|exited with (?:exit )?code|\bhas (?:exited|finished|completed|been (?:killed|stopped))|<exited|successfully (?:killed|stopped)|no longer running|"completed"\s*:`)
	ending     = regexp.MustCompile(`(?i)kill|stop|close|cancel`)
)

// follow takes the result of a call: it may start a job, or end one that the call
// is about.
func (l *Ledger) follow(c *call, text string) {
	for _, j := range l.jobs {
		if !j.over && names(c.args, j.ID) {
			j.over = j.over || c.outcome != quire.OutcomeError && ending.MatchString(c.tool) || over(text)
			return
		}
	}
	head := text[:min(len(text), 4096)]
	if !c.starts() || !tellsOfStart(head) {
		return
	}
	if m := jobID.FindStringSubmatch(head); m != nil {
		j := &job{Job: Job{ID: strings.Clone(m[1]), What: c.target, Page: c.page}}
		if m := jobOutput.FindStringSubmatch(head); m != nil {
			j.Output = strings.Clone(strings.TrimRight(m[1], ".,"))
		}
		l.jobs = append(l.jobs, j)
	}
}

// starts reports whether a call is of a kind that starts jobs, and went well.
func (c *call) starts() bool {
	return c.outcome != quire.OutcomeError && (c.action == quire.ActionRun || c.action == quire.ActionTask || c.action == quire.ActionNone)
}

// tellsOfStart reports whether a result tells that a job was started. What tells it
// stands in one line, and only lines with a word that it needs are looked at: most
// results have none.
func tellsOfStart(head string) bool {
	lower := strings.ToLower(head)
	for _, word := range []string{"background", "async", "with session id", `"agent_id"`, "still running"} {
		for from := 0; ; {
			i := strings.Index(lower[from:], word)
			if i < 0 {
				break
			}
			begin, end := lineAround(lower, from+i)
			if jobStarted.MatchString(lower[begin:end]) {
				return true
			}
			from = end
		}
	}
	return false
}

// lineAround is where the line that holds a byte begins and ends.
func lineAround(text string, at int) (begin, end int) {
	begin, end = strings.LastIndexByte(text[:at], '\n')+1, len(text)
	if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
		end = at + i
	}
	return begin, end
}

// notice takes a message of the harness, which may tell that jobs are over.
func (l *Ledger) notice(text string) {
	for _, j := range l.jobs {
		if !j.over && names(text, j.ID) {
			j.over = over(text)
		}
	}
}

// over reports whether a text says that a job has ended. A status decides where
// there is one; the output of the job may say anything.
func over(text string) bool {
	if m := jobStatus.FindStringSubmatch(text); m != nil {
		switch strings.ToLower(m[1]) {
		case "running", "pending", "in_progress", "started", "queued":
			return false
		case "completed", "complete", "finished", "failed", "killed", "stopped", "exited", "cancelled", "done", "success", "error", "timeout":
			return true
		}
	}
	return jobOver.MatchString(text)
}

// names reports whether a text names an id as a word of its own.
func names(text, id string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], id)
		if i < 0 {
			return false
		}
		at, end := from+i, from+i+len(id)
		if (at == 0 || !wordByte(text[at-1])) && (end == len(text) || !wordByte(text[end])) {
			return true
		}
		from = at + 1
	}
}

func wordByte(b byte) bool {
	return b == '_' || '0' <= b && b <= '9' || 'a' <= b|0x20 && b|0x20 <= 'z'
}

// Running returns the jobs that nothing has said to be over, oldest first.
func (l *Ledger) Running() []Job {
	var all []Job
	for _, j := range l.jobs {
		if !j.over {
			all = append(all, j.Job)
		}
	}
	return all
}

// A Schema is a tool whose schema was loaded during the session. It lives on the
// page that brought it: a fold that takes that page takes the tool.
type Schema struct {
	Tool string
	Page quire.PageNumber
}

// Schemas returns the tools that were loaded, each once with its youngest page,
// in the order of those pages.
func (l *Ledger) Schemas() []Schema {
	var all []Schema
	for _, s := range slices.Backward(l.schemas) {
		if !slices.ContainsFunc(all, func(known Schema) bool { return known.Tool == s.Tool }) {
			all = append(all, s)
		}
	}
	slices.Reverse(all)
	return all
}

var (
	schemaName = regexp.MustCompile(`(?:<function>[^\n]*?|"tool_reference"[^\n]*?)"(?:tool_)?name"\s*:\s*"([\w.:-]{1,128})"`)
	selected   = regexp.MustCompile(`"select:([\w.,: -]{1,400})"`)
)

// loaded are the tools that a search for tools found.
func loaded(c *call, text string) []Schema {
	name := strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(c.tool))
	if !strings.Contains(name, "toolsearch") && !strings.Contains(name, "searchtool") || c.outcome == quire.OutcomeError {
		return nil
	}
	var all []Schema
	for _, m := range schemaName.FindAllStringSubmatch(text, -1) {
		all = append(all, Schema{Tool: strings.Clone(m[1]), Page: c.page})
	}
	if m := selected.FindStringSubmatch(c.args); m != nil && len(all) == 0 {
		for _, tool := range strings.Split(m[1], ",") {
			all = append(all, Schema{Tool: strings.Clone(strings.TrimSpace(tool)), Page: c.page})
		}
	}
	return all
}
