package run

import (
	"encoding/json"
	"fmt"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/schedule"
	"github.com/quire-agent/quire/internal/tool"
	"github.com/quire-agent/quire/internal/undo"
)

// An EffectRecord is what a tool call did outside the stream: what it changed in
// the project, with the old bytes in the pool, or which version of a file the
// model saw by it. It is written before the result of the call.
type EffectRecord struct {
	quire.Stamp
	Turn    int             `json:"turn"` // of the session, from 1
	ToolUse string          `json:"toolUse"`
	Changes []undo.Change   `json:"changes,omitempty"`
	Gaps    []undo.Conflict `json:"gaps,omitempty"` // what of it cannot be put back
	Path    string          `json:"path,omitempty"` // that was read
	Version quire.Hash      `json:"version,omitzero"`
}

// An UndoneRecord says that the user had what turns changed put back.
type UndoneRecord struct {
	quire.Stamp
	Turns []int `json:"turns"`
	undo.Report
}

// effect records what a call did besides its result.
func (l *Loop) effect(c quire.Block, want tool.Want, res tool.Result) error {
	e := EffectRecord{Stamp: quire.Stamp{At: l.now()}, Turn: l.turn, ToolUse: c.ToolUse, Changes: res.Effects, Gaps: res.Gaps}
	if len(want.Reads) == 1 && res.Read != (quire.Hash{}) {
		e.Path, e.Version = want.Reads[0], res.Read
	}
	if len(e.Changes)+len(e.Gaps) == 0 && e.Path == "" {
		return nil
	}
	if err := l.Record.Record(quire.RecordEffect, e); err != nil || len(e.Changes) == 0 {
		return err
	}
	return l.sync()
}

// recalled records that a page was needed and did not stand in the prompt, and
// that it is there again, or lines of it.
func (l *Loop) recalled(c quire.Block, res tool.Result) error {
	var args recallArgs
	if json.Unmarshal([]byte(c.Text), &args) != nil || args.Page == "" {
		return nil
	}
	ref, err := quire.ParsePageRef(args.Page)
	if err != nil {
		return nil // the answer says so
	}
	from, ok := l.Step.form(ref.Page)
	if !ok || from.Resident() {
		return nil
	}
	stamp, call, tokens := quire.Stamp{At: l.now()}, callID(l.calls), l.Step.count.Count(res.Text)
	fault := quire.FaultRecord{Stamp: stamp, Call: call, Page: ref.Page, Lines: ref.Lines, From: from, Since: l.Step.since(ref.Page), Reread: tokens, Trips: 1, Cost: l.errandCost(tokens), Saved: l.scale() * l.Step.saved(ref.Page)}
	l.emit(Faulted{fault})
	if err := l.Record.Record(quire.RecordFault, fault); err != nil {
		return err
	}
	in := quire.PageInRecord{Stamp: stamp, Call: callID(l.calls + 1), How: quire.PageInFault, Page: ref.Page, Lines: ref.Lines, Tokens: tokens, Reason: "the model asked for it"}
	return l.Record.Record(quire.RecordPageIn, in)
}

// errandCost is what a recall costs that brings tokens back, in the unit of the
// account: a call that reads the prompt and says only that, and the answer, which
// is written.
func (l *Loop) errandCost(tokens int) float64 {
	c := l.Step.Context()
	m := c.Moment(max(l.turn-1, 0))
	prompt := float64(c.Scheduler().Net() + c.Terms().Prefix)
	return l.scale() * (prompt*m.Prices.Read + RecallOutput*m.Prices.Output + float64(tokens)*m.Write)
}

// A gone page lost its content before a call; what it freed until it is needed is
// what that had saved.
type gone struct {
	call, tokens int
	written      bool // the prompt was written anyway then, so that it was spared that too
}

// lowered notes which pages lost their content by a plan, and which have it again.
func (s *Step) lowered(plan schedule.Plan) {
	for _, d := range plan.Decisions {
		if d.To.Resident() {
			delete(s.went, d.Page)
			continue
		}
		s.went[d.Page] = gone{s.calls, d.Was - d.Tokens, plan.Kind == quire.EpochFree}
	}
}

// since is how many calls ago a page lost its content, 0 where it did not.
func (s *Step) since(n quire.PageNumber) int {
	if g, ok := s.went[n]; ok {
		return s.calls - g.call
	}
	return 0
}

// saved is what the going of a page had saved until now, in the unit of the prices:
// it was not read by the calls since, and not written at the first where all was.
func (s *Step) saved(n quire.PageNumber) float64 {
	g, ok := s.went[n]
	if !ok {
		return 0
	}
	m := s.ctx.Moment(max(s.turn, 0))
	each := m.Prices.Read * float64(s.calls-g.call)
	if g.written {
		each += m.Write - m.Prices.Read
	}
	return each * float64(g.tokens)
}

func callID(n int) string { return fmt.Sprintf("c%d", n) }

// form is the one in which a page stands in the prompt; ok is false where there is
// no such page.
func (s *Step) form(n quire.PageNumber) (form quire.Rendition, ok bool) {
	for i := len(s.texts.blocks) - 1; i >= 0; i-- {
		if h := &s.texts.blocks[i]; h.page.Number == n && (h.piece.Kind != quire.PartToolCall || h.page.Kind == quire.PageWritten) {
			return s.ctx.Weigh(i, max(s.turn, 0)).From, true
		}
	}
	return "", false
}
