package main

import (
	"encoding/json"
	"errors"

	"github.com/quire-agent/quire/internal/brain"
	"github.com/quire-agent/quire/internal/run"
	"github.com/quire-agent/quire/internal/x/texts"
)

// A teamJSON writes for programs: with stream one line for each thing that happens,
// and in any case the report.
type teamJSON struct {
	inv    *invocation
	stream bool
	err    error
}

// The lines of a stream. docs/brain.md describes them.
type (
	teamBegan struct {
		Type    string `json:"type"` // began
		Session string `json:"session"`
		ULID    string `json:"ulid"`
		Brain   string `json:"brain"`
		Mode    string `json:"mode"`
		Permit  string `json:"permit"`
		Resumed bool   `json:"resumed"`
	}
	teamPlan struct {
		Type string     `json:"type"` // plan
		Plan brain.Plan `json:"plan"`
	}
	teamAgent struct {
		Type  string      `json:"type"` // worker_start
		Scope brain.Scope `json:"agent"`
		Goal  string      `json:"goal"`
	}
	teamResult struct {
		Type   string               `json:"type"` // worker_end
		Scope  brain.Scope          `json:"agent"`
		Result brain.ExecutedResult `json:"result"`
	}
	teamTool struct {
		Type   string      `json:"type"` // tool
		Scope  brain.Scope `json:"agent"`
		Tool   string      `json:"tool"`
		ID     string      `json:"id"`
		Denied string      `json:"denied,omitempty"`
	}
	teamStep struct {
		Type string `json:"type"` // checks, review, fix, merge, fallback, todos
		Step any    `json:"step"`
	}
)

func (f *teamJSON) begin(t *team) error {
	name := t.main.live.Name()
	f.line(teamBegan{"began", name.Number.String(), name.ULID, t.preset.ID, t.brain.Mode.Name, t.brain.Permit, t.history.Open() != nil})
	return f.err
}

func (f *teamJSON) event(e brain.Event) {
	switch e := e.(type) {
	case brain.Planned:
		f.line(teamPlan{"plan", e.Plan})
	case brain.Started:
		f.line(teamAgent{"worker_start", e.Scope, e.Goal})
	case brain.Ended:
		f.line(teamResult{"worker_end", e.Scope, e.Result})
	case brain.Happened:
		if a, ok := e.Event.(run.Acting); ok {
			f.line(teamTool{"tool", e.Scope, a.Call.Tool, a.Call.ToolUse, a.Denied})
		}
	case brain.Checked:
		f.line(teamStep{"checks", e})
	case brain.Reviewed:
		f.line(teamStep{"review", e})
	case brain.Fixing:
		f.line(teamStep{"fix", e})
	case brain.Merged:
		f.line(teamStep{"merge", e})
	case brain.FellBack:
		f.line(teamStep{"fallback", e})
	case brain.Moved:
		f.line(teamStep{"todos", e})
	}
}

func (f *teamJSON) line(v any) {
	if !f.stream {
		return
	}
	text, err := json.Marshal(v)
	if err == nil {
		_, err = f.inv.out.Write(append([]byte(f.inv.mask(string(text))), '\n'))
	}
	f.err = errors.Join(f.err, err)
}

func (f *teamJSON) end(e teamReport) error {
	e = texts.Map(e, f.inv.mask)
	if f.stream {
		f.line(e)
		return f.err
	}
	return writeJSON(f.inv.out, e)
}
