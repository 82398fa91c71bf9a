package packet

import (
	"encoding/json"
	"fmt"
)

// layers are those that a packet names.
type layers struct {
	From *string `json:"fromLayer"`
	To   *string `json:"toLayer"`
}

// crossing checks that a packet names the layers of a direction.
func crossing(raw []byte, from, to string) error {
	var l layers
	if err := json.Unmarshal(raw, &l); err != nil {
		return err
	}
	if l.From == nil || l.To == nil {
		return fmt.Errorf("%w: the packet does not name them", ErrLayer)
	}
	if *l.From != from || *l.To != to {
		return fmt.Errorf("%w: from %s to %s, want from %s to %s", ErrLayer, *l.From, *l.To, from, to)
	}
	return nil
}

// DecodeHandoff reads a handoff. Of another direction it is [ErrLayer].
func DecodeHandoff(raw []byte) (Handoff, error) { return decode[Handoff](raw, layerBrain, layerAgent) }

// DecodeResult reads a result. Of another direction it is [ErrLayer].
func DecodeResult(raw []byte) (Result, error) { return decode[Result](raw, layerAgent, layerBrain) }

func decode[P any](raw []byte, from, to string) (p P, err error) {
	if err = crossing(raw, from, to); err == nil {
		err = json.Unmarshal(raw, &p)
	}
	if err != nil {
		return p, fmt.Errorf("decode a packet: %w", err)
	}
	return p, nil
}

// DecodeMessage reads a message of a direction, its payload's layers too.
func DecodeMessage[D Direction](raw []byte) (m Message[D], err error) {
	if err := json.Unmarshal(raw, &m); err != nil {
		return m, fmt.Errorf("decode a message: %w", err)
	}
	from, to := layerBrain, layerAgent
	var d D
	if _, up := any(d).(AgentToBrain); up {
		from, to = to, from
	}
	if (from == layerBrain) != (m.From == Orchestrator) || (to == layerBrain) != (m.To == Orchestrator) {
		return m, fmt.Errorf("decode a message: %w: from %q to %q", ErrLayer, m.From, m.To)
	}
	if err := crossing(m.Payload, from, to); err != nil {
		return m, fmt.Errorf("decode a message: %w", err)
	}
	return m, nil
}
