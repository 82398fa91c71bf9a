package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/quire-agent/quire/internal/permit"
)

// policyFile is the name of the files with rules of permission: one of the user in
// the home, and one of the project in its folder .quire.
const policyFile = "permit.json"

// policy is what the agent may do: the mode as a ceiling, the rules that are built
// in, the user's, and the project's, which can only make them stricter.
func (a *agent) policy() (*permit.Policy, error) {
	user, err := layer("the user's "+policyFile, filepath.Join(a.home.pool.Home, policyFile))
	if err != nil {
		return nil, err
	}
	project, err := layer("the project's "+policyFile, filepath.Join(a.project.Dir(), ".quire", policyFile))
	if err != nil {
		return nil, err
	}
	project.Tighten = true
	return &permit.Policy{Mode: a.mode, Layers: []permit.Layer{permit.Defaults(), user, project}, Project: a.project, Temp: []string{os.TempDir()}}, nil
}

// layer reads a file of rules. None is a layer without rules.
func layer(name, path string) (permit.Layer, error) {
	l := permit.Layer{Name: name}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err == nil {
		var file struct {
			Rules []permit.Rule `json:"rules"`
		}
		d := json.NewDecoder(strings.NewReader(string(text)))
		d.DisallowUnknownFields()
		err = d.Decode(&file)
		l.Rules = file.Rules
	}
	if err != nil {
		return l, unusable(fmt.Errorf("the rules in %s: %w", path, err), `a file of rules looks like {"rules": [{"command": "go test", "verdict": "allow"}]}`)
	}
	return l, nil
}

// mayAsk reports whether somebody can be asked: there is a terminal to read from
// and one to write to.
func (inv *invocation) mayAsk() bool {
	f, ok := inv.in.(*os.File)
	return ok && isTerminal(f) && inv.errTerminal
}

// An asker asks for leave on a terminal.
type asker struct {
	inv   *invocation
	lines chan string // what the user typed; closed at the end of the input
}

// newAsker makes it. It reads the input from now on, as long as the process lives:
// a read of a terminal cannot be taken back.
func newAsker(inv *invocation) *asker {
	a := &asker{inv, make(chan string)}
	go a.read(bufio.NewReader(inv.in))
	return a
}

func (a *asker) read(r *bufio.Reader) {
	defer close(a.lines)
	for {
		line, err := r.ReadString('\n')
		if line = strings.TrimSpace(line); line != "" || err == nil {
			a.lines <- line
		}
		if err != nil {
			return
		}
	}
}

// Ask puts a question to the user. No answer is a refusal.
func (a *asker) Ask(ctx context.Context, q permit.Question) (permit.Answer, error) {
	wider := a.put(a.inv.err, q)
	select {
	case <-ctx.Done():
		return permit.Refuse, ctx.Err()
	case line := <-a.lines:
		return answerOf(line, wider), nil
	}
}

// put writes the question, and reports whether there is a wider thing to allow.
func (a *asker) put(w io.Writer, q permit.Question) (wider bool) {
	fmt.Fprintf(w, "\nLeave is asked for by the tool %s:\n", q.Tool)
	choices := "y this time, s in this session"
	for _, s := range q.About {
		fmt.Fprintf(w, "  %s\n", a.inv.mask(clip(s.String(), 400)))
		if s.Like != "" {
			wider = true
			choices = fmt.Sprintf("y this time, s in this session, a also all like %q", clip(s.Like, 60))
		}
	}
	if q.Notice != "" {
		fmt.Fprintf(w, "  %s\n", q.Notice)
	}
	fmt.Fprintf(w, "Allow it? %s, anything else: no > ", choices)
	return wider
}

func answerOf(line string, wider bool) permit.Answer {
	switch strings.ToLower(line) {
	case "y", "yes":
		return permit.Once
	case "s":
		return permit.Session
	case "a":
		if wider {
			return permit.SessionLike
		}
	}
	return permit.Refuse
}
