package trial

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/quire-agent/quire/internal/sim"
)

// judge holds what must be true of a session that is done, whatever happened to
// it.
func (s *session) judge() {
	requests := s.sim.Requests()
	s.whole()
	last := s.prefixes(requests)
	s.kept(last)
	s.once(last)
	s.all.add(func(a *tally) { a.requests, a.turns = a.requests+len(requests), a.turns+s.faults })
}

// whole has the program check its journal and bodies.
func (s *session) whole() {
	cmd := exec.Command(s.quire, "doctor")
	cmd.Dir, cmd.Env = s.path(), environment(s.dir)
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "Nothing is damaged") {
		s.fail("quire doctor: %v\n%s", err, out)
	}
}

// A prompt is a request as its cache sees it: what stands in front, and the blocks
// of the messages, each with its role.
type prompt struct {
	head   string
	blocks []string
}

// prefixes holds that each request extends the one before it, byte for byte, cache
// marks aside: across faults, kills and resumptions. It returns the last.
func (s *session) prefixes(requests []sim.Request) prompt {
	var before prompt
	for i, q := range requests {
		if len(q.Body) == 0 {
			continue // the program was killed while it sent it
		}
		now, err := promptOf(q.Body)
		switch {
		case err != nil:
			s.fail("request %d: %v", i+1, err)
		case q.Refused != "":
			s.fail("request %d was refused: %s", i+1, q.Refused)
		case i > 0 && now.head != before.head:
			s.fail("request %d has another system prompt or other tools than the one before", i+1)
		case len(now.blocks) < len(before.blocks):
			s.fail("request %d has %d blocks, the one before had %d", i+1, len(now.blocks), len(before.blocks))
		}
		for n := 0; n < min(len(before.blocks), len(now.blocks)); n++ {
			if now.blocks[n] != before.blocks[n] {
				s.fail("request %d changes block %d from\n%s\nto\n%s", i+1, n, before.blocks[n], now.blocks[n])
				break
			}
		}
		before = now
	}
	if len(before.blocks) < len(s.parts) {
		s.fail("the last request has %d blocks behind %d steps", len(before.blocks), len(s.parts))
	}
	return before
}

// promptOf reads a request of the Messages API.
func promptOf(body []byte) (p prompt, err error) {
	var q struct {
		System, Tools json.RawMessage
		Messages      []struct {
			Role    string
			Content []json.RawMessage
		}
	}
	if err := json.Unmarshal(unmarked(body), &q); err != nil {
		return p, fmt.Errorf("read a request: %w", err)
	}
	p.head = string(q.System) + string(q.Tools)
	for _, m := range q.Messages {
		for _, b := range m.Content {
			p.blocks = append(p.blocks, m.Role+" "+string(b))
		}
	}
	return p, nil
}

// unmarked takes the marks of the cache out of a request as this program writes it.
func unmarked(body []byte) []byte {
	for _, mark := range []string{`,"cache_control":{"type":"ephemeral"}`, `"cache_control":{"type":"ephemeral"},`} {
		body = bytes.ReplaceAll(body, []byte(mark), nil)
	}
	return body
}

// kept holds that what the program showed as done is in what was sent last: answers
// once a tool of theirs began or the turn ended, results once the next call was
// made.
func (s *session) kept(last prompt) {
	sent := strings.Join(last.blocks, "\n")
	answers, tools := 0, 0
	for i, l := range s.acked {
		switch {
		case l.Type == "text" && s.durable(i, "tool", "call"):
			answers++
			if !strings.Contains(sent, quoted(l.Text)) {
				s.fail("the answer %q was shown and is lost", l.Text)
			}
		case l.Type == "result" && s.durable(i, "call"):
			tools++
			if !strings.Contains(sent, `"tool_use_id":`+quote(l.ID)) {
				s.fail("the result of %s was shown and is lost", l.ID)
			}
		}
	}
	s.all.add(func(a *tally) { a.answers, a.tools = a.answers+answers, a.tools+tools })
}

// durable reports whether behind line i of what was shown a line of one of these
// types came, in the same run.
func (s *session) durable(i int, types ...string) bool {
	for _, l := range s.acked[i+1:] {
		if l.Type == "began" {
			return false
		}
		for _, t := range types {
			if l.Type == t {
				return true
			}
		}
	}
	return false
}

func quote(text string) string {
	raw, err := json.Marshal(text)
	if err != nil {
		panic(err) // unreachable: strings always encode
	}
	return string(raw)
}

// quoted is a text as it stands inside a string of JSON.
func quoted(text string) string { return strings.Trim(quote(text), `"`) }

// once holds that no command ran twice, that what a result says was done is there,
// and that calls of answers that broke off were not run.
func (s *session) once(last prompt) {
	trail, err := os.ReadFile(s.path("trail.txt"))
	if err != nil && !os.IsNotExist(err) {
		s.fail("%v", err)
	}
	sent := strings.Join(last.blocks, "\n")
	if bytes.Contains(trail, []byte("never")) {
		s.fail("a call of an answer that broke off was run")
	}
	for _, p := range s.parts {
		switch runs := bytes.Count(trail, []byte(p.mark+"\n")); {
		case p.mark != "" && runs > 1:
			s.fail("the command of %s ran %d times", p.call, runs)
		case p.mark != "" && runs == 0 && strings.Contains(sent, "done-"+p.mark+`\n`):
			s.fail("the command of %s has a result and was not run", p.call)
		}
		s.written(p)
	}
}

// written holds that a file holds what was written to it, if it is there; it is
// there if its result was shown.
func (s *session) written(p part) {
	if p.file == "" {
		return
	}
	text, err := os.ReadFile(s.path(p.file))
	switch {
	case err == nil && string(text) != p.holds:
		s.fail("%s holds %q", p.file, text)
	case err != nil && s.shown(p.call):
		s.fail("%s was written: %v", p.file, err)
	}
}

func (s *session) shown(id string) bool {
	for _, l := range s.acked {
		if l.Type == "result" && l.ID == id && !l.Error {
			return true
		}
	}
	return false
}
