package brain

import (
	"encoding/json"
	"fmt"

	"github.com/quire-agent/quire/internal/packet"
	"github.com/quire-agent/quire/internal/route"
)

// message records a packet with its envelope. It is read back before it is written,
// so that one with the wrong layers is never in a journal.
func message[D packet.Direction](a *attempt, phase Phase, worker route.Role, m packet.Message[D]) error {
	raw, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("encode a message: %w", err)
	}
	if _, err := packet.DecodeMessage[D](raw); err != nil {
		return err
	}
	return a.note(RecordMessage, AgentMessage{Run: a.req.Run, Phase: phase, Worker: worker, Message: raw})
}

// down records a handoff.
func (a *attempt) down(phase Phase, h *packet.Handoff) error {
	m, err := packet.Down(h.ID, h.Task.Parent, string(h.Task.Role), packet.KindHandoff, *h)
	if err != nil {
		return fmt.Errorf("encode a handoff: %w", err)
	}
	return message(a, phase, h.Task.Role, m)
}

// up records a result, what a blocked worker asks, and the pages it published.
func (a *attempt) up(phase Phase, r *ExecutedResult) error {
	kind := packet.KindResult
	if r.Status == route.Failed {
		kind = packet.KindError
	}
	m, err := packet.Up(r.Handoff, r.Parent, string(r.Role), kind, r.Result)
	if err != nil {
		return fmt.Errorf("encode a result: %w", err)
	}
	if err := message(a, phase, r.Role, m); err != nil {
		return err
	}
	return a.notes(phase, r)
}

func (a *attempt) notes(phase Phase, r *ExecutedResult) error {
	if r.Status == route.Blocked {
		for _, q := range r.NextQuestions {
			if err := a.remark(phase, r, packet.KindQuestion, q); err != nil {
				return err
			}
		}
	}
	for _, ref := range r.Artifacts {
		if _, ok := ref.Page(); !ok {
			continue
		}
		if err := a.remark(phase, r, packet.KindArtifact, ref.Label, ref); err != nil {
			return err
		}
	}
	return nil
}

func (a *attempt) remark(phase Phase, r *ExecutedResult, kind packet.Kind, text string, refs ...packet.ContextRef) error {
	note := packet.Note{Task: r.Task, Text: text, Refs: append([]packet.ContextRef{}, refs...)}
	m, err := packet.Up(r.Task, r.Parent, string(r.Role), kind, note)
	if err != nil {
		return fmt.Errorf("encode a %s: %w", kind, err)
	}
	return message(a, phase, r.Role, m)
}
