package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/quire-agent/quire/internal/permit"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/run"
	"github.com/quire-agent/quire/internal/schedule"
	"github.com/quire-agent/quire/internal/x/sandbox"
)

// The forms of the output.
const (
	outputText   = "text"
	outputJSON   = "json"
	outputStream = "stream-json"
)

// A face shows a run as it goes on. What it shows is masked.
type face interface {
	begin(a *agent) error
	event(e run.Event)
	denials() int
	end(e endedRun) error
}

func (r *agentRun) face() (face, error) {
	switch r.output {
	case outputText:
		return &textFace{inv: r.invocation}, nil
	case outputJSON:
		return &jsonFace{inv: r.invocation}, nil
	case outputStream:
		return &jsonFace{inv: r.invocation, stream: true, teller: teller{mask: r.mask}}, nil
	default:
		return nil, unusable(fmt.Errorf("%q is no form of output", r.output), "use one of text, json, stream-json")
	}
}

// An endedRun is how a run ended, as JSON has it. Its fields keep their meaning.
type endedRun struct {
	Type    string      `json:"type"` // ended
	Session string      `json:"session"`
	Stop    run.Stop    `json:"stop"`
	CutOff  string      `json:"cut_off"` // why the text is not whole: max_tokens, rounds, refusal, error; "" where it is
	Text    string      `json:"text"`
	Error   string      `json:"error,omitempty"`
	Denied  int         `json:"denied"` // calls that were not permitted
	Rounds  int         `json:"rounds"` // calls of this run
	Calls   int         `json:"calls"`  // calls of the session
	Usage   quire.Usage `json:"usage"`  // of the session, as reported
	Epochs  int         `json:"epochs"`

	// US dollars, of the session; left out where the model's prices are not known.
	Cost    *float64 `json:"cost,omitempty"`
	Without *float64 `json:"cost_without,omitempty"` // what the same would have cost with everything kept in the prompt, as estimated
}

func (a *agent) ended(out run.Outcome, denied int) endedRun {
	bill := a.loop.Bill()
	e := endedRun{
		Type: "ended", Session: a.live.Name().Number.String(), Stop: out.Stop, CutOff: out.CutOff, Text: out.Text, Denied: denied,
		Rounds: out.Rounds, Calls: bill.Calls, Usage: bill.Usage, Epochs: a.loop.Step.Context().Scheduler().Epochs(),
	}
	if out.Err != nil {
		e.Error = out.Err.Error()
	}
	if a.model.priced {
		e.Cost, e.Without = &bill.Live, &bill.Shadow
	}
	return e
}

// err is what the exit code says.
func (e *endedRun) err(out run.Outcome) error {
	again := fmt.Sprintf("`quire run --session %s \"go on\"` goes on", e.Session)
	switch {
	case out.Stop == run.StopFailed:
		return &problem{out.Err, again, exitProvider}
	case out.Stop == run.StopAborted:
		return nil // the interrupt itself says so
	case e.CutOff != "":
		return &problem{fmt.Errorf("the run stopped before it was done: %s", stopped(e)), again, exitCutOff}
	case e.Denied > 0:
		return &problem{fmt.Errorf("%d %s not permitted", e.Denied, plural(e.Denied, "call was", "calls were")), "--permit edit or full allows more; `quire help run` says what", exitDenied}
	}
	return nil
}

func stopped(e *endedRun) string {
	if e.Stop == run.StopCut {
		return "the answer was cut off (" + e.CutOff + ")"
	}
	return "the " + string(e.Stop)
}

// summary is the line behind a run.
func (e *endedRun) summary() string {
	parts := []string{fmt.Sprintf("%s: %d %s", e.Session, e.Calls, plural(e.Calls, "call", "calls"))}
	if e.Usage.Prompt() > 0 {
		parts = append(parts, usageTokens(e.Usage))
	}
	if e.Cost != nil {
		parts = append(parts, fmt.Sprintf("$%.4f, without Quire $%.4f", *e.Cost, *e.Without))
	}
	parts = append(parts, fmt.Sprintf("%d %s", e.Epochs, plural(e.Epochs, "epoch", "epochs")))
	return strings.Join(parts, "; ") + fmt.Sprintf(". Go on: quire run --session %s PROMPT", e.Session)
}

// A textFace writes for people: the answer to standard output, what happens to
// standard error.
type textFace struct {
	inv    *invocation
	denied int
}

// begin says what stands between commands and the machine, where it is less than
// people will expect.
func (f *textFace) begin(a *agent) error {
	if s := sandbox.Available(); a.mode != permit.ReadOnly && !(s.Files && s.TCP) {
		f.say("  %s", s)
	}
	return nil
}

func (f *textFace) denials() int { return f.denied }

func (f *textFace) event(e run.Event) {
	switch e := e.(type) {
	case run.Planned:
		if e.Plan.Kind != "" {
			f.say("  epoch: %s; %d tokens become %d", e.Plan.Reason, e.Plan.Before, e.Plan.After)
		}
	case run.Answered:
		if text := wordsOf(e.Reply); text != "" && len(callsOf(e.Reply)) > 0 {
			f.say("%s", text)
		}
	case run.Acting:
		if e.Denied != "" {
			f.denied++
			f.say("  %s was not permitted: %s", shownCall(e.Call), e.Denied)
			return
		}
		f.say("  %s", shownCall(e.Call))
	case run.Acted:
		if e.Result.Error {
			f.say("    %s", clip(firstLine(e.Result.Text), 200))
		}
	}
}

func (f *textFace) say(format string, args ...any) {
	fmt.Fprintln(f.inv.err, f.inv.mask(fmt.Sprintf(format, args...)))
}

func (f *textFace) end(e endedRun) error {
	if text := strings.TrimSpace(e.Text); text != "" {
		if _, err := io.WriteString(f.inv.out, f.inv.mask(text)+"\n"); err != nil {
			return err
		}
	}
	f.say("%s", e.summary())
	return nil
}

// shownCall is a call in one line: its tool and what it is about.
func shownCall(c quire.Block) string { return c.Tool + " " + clip(c.Text, 160) }

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

func wordsOf(r quire.Reply) string {
	var texts []string
	for _, b := range r.Blocks {
		if b.Kind == quire.PartText {
			texts = append(texts, strings.TrimSpace(b.Text))
		}
	}
	return strings.Join(texts, "\n")
}

func callsOf(r quire.Reply) (calls []quire.Block) {
	for _, b := range r.Blocks {
		if b.Kind == quire.PartToolCall {
			calls = append(calls, b)
		}
	}
	return calls
}

// A jsonFace writes for programs: with stream one line for each thing that
// happens, and in any case one object for how the run ended.
type jsonFace struct {
	inv    *invocation
	stream bool
	denied int
	call   int // under way
	teller teller
	err    error
}

// The lines of a stream. docs/run.md describes them.
type (
	runBegan struct {
		Type    string `json:"type"` // began
		Session string `json:"session"`
		ULID    string `json:"ulid"`
		Model   string `json:"model"`
		Permit  string `json:"permit"`
		Sandbox string `json:"sandbox"`
		Project string `json:"project"`
	}
	runCalled struct {
		Type   string `json:"type"` // call
		Call   int    `json:"call"`
		Prompt int    `json:"prompt_tokens"`
		Epoch  string `json:"epoch,omitempty"`
		Reason string `json:"reason,omitempty"`
	}
	runSaid struct {
		Type string `json:"type"` // text
		Call int    `json:"call"`
		Text string `json:"text"`
	}
	runActing struct {
		Type   string          `json:"type"` // tool
		ID     string          `json:"id"`
		Tool   string          `json:"tool"`
		Args   json.RawMessage `json:"args,omitempty"`
		Denied string          `json:"denied,omitempty"`
	}
	runActed struct {
		Type  string `json:"type"` // result
		ID    string `json:"id"`
		Tool  string `json:"tool"`
		Error bool   `json:"error"`
		Exit  *int   `json:"exit,omitempty"`
		Text  string `json:"text"`
	}
	runAnswered struct {
		Type  string      `json:"type"` // answer
		Call  int         `json:"call"`
		Stop  quire.Stop  `json:"stop"`
		Usage quire.Usage `json:"usage"`
	}
)

func (f *jsonFace) begin(a *agent) error {
	name := a.live.Name()
	f.line(runBegan{"began", name.Number.String(), name.ULID, a.model.id, a.mode.String(), sandbox.Available().String(), f.inv.mask(a.project.Dir())})
	return f.err
}

func (f *jsonFace) denials() int { return f.denied }

func (f *jsonFace) event(e run.Event) {
	switch e := e.(type) {
	case run.Planned:
		f.planned(e.Call, e.Prompt, e.Plan)
	case run.Said:
		f.delta(e.Delta)
	case run.Answered:
		if text := wordsOf(e.Reply); text != "" {
			f.line(runSaid{"text", e.Call, f.inv.mask(text)})
		}
		f.line(runAnswered{"answer", e.Call, e.Reply.Stop, e.Reply.Usage})
	case run.Acting:
		if e.Denied != "" {
			f.denied++
		}
		f.line(runActing{"tool", e.Call.ToolUse, e.Call.Tool, f.args(e.Call.Text), e.Denied})
	case run.Acted:
		f.line(runActed{"result", e.Call.ToolUse, e.Call.Tool, e.Result.Error, e.Result.Exit, f.inv.mask(e.Result.Text)})
	}
}

func (f *jsonFace) delta(d quire.Delta) {
	if !f.stream {
		return
	}
	if text := f.teller.take(d); text != "" {
		f.line(runDelta{"delta", f.call, text})
	}
}

func (f *jsonFace) planned(call, prompt int, p schedule.Plan) {
	f.call = call
	f.line(runCalled{"call", call, prompt, p.Kind, f.inv.mask(p.Reason)})
}

// args are arguments with their secrets masked. Where they are no JSON any more
// they are a string.
func (f *jsonFace) args(text string) json.RawMessage {
	masked := f.inv.mask(text)
	if json.Valid([]byte(masked)) {
		return json.RawMessage(masked)
	}
	quoted, err := json.Marshal(masked)
	f.err = errors.Join(f.err, err)
	return quoted
}

func (f *jsonFace) line(v any) {
	if !f.stream {
		return
	}
	text, err := json.Marshal(v)
	if err == nil {
		_, err = f.inv.out.Write(append(text, '\n'))
	}
	f.err = errors.Join(f.err, err)
}

func (f *jsonFace) end(e endedRun) error {
	e.Text, e.Error = f.inv.mask(e.Text), f.inv.mask(e.Error)
	if f.stream {
		f.line(e)
		return f.err
	}
	return writeJSON(f.inv.out, e)
}
