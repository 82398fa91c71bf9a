package packet

import (
	"errors"
	"fmt"
)

// ErrLayer says that a packet crosses between other layers than its type does, or
// says nothing of them.
var ErrLayer = errors.New("wrong layers for this kind of packet")

// The layers, as types: a value of one is always written as its name and is read
// from nothing else.
type (
	InBrain struct{}
	InAgent struct{}
)

// The names of the layers.
const (
	layerBrain = "brain"
	layerAgent = "agent"
)

// MarshalText writes the name.
func (InBrain) MarshalText() ([]byte, error) { return []byte(layerBrain), nil }

// MarshalText writes the name.
func (InAgent) MarshalText() ([]byte, error) { return []byte(layerAgent), nil }

// UnmarshalText reads the name and refuses any other.
func (*InBrain) UnmarshalText(text []byte) error { return is(text, layerBrain) }

// UnmarshalText reads the name and refuses any other.
func (*InAgent) UnmarshalText(text []byte) error { return is(text, layerAgent) }

func is(text []byte, layer string) error {
	if string(text) != layer {
		return fmt.Errorf("%w: %q, want %q", ErrLayer, text, layer)
	}
	return nil
}

// The directions.
type (
	BrainToAgent struct {
		FromLayer InBrain `json:"fromLayer"`
		ToLayer   InAgent `json:"toLayer"`
	}
	AgentToBrain struct {
		FromLayer InAgent `json:"fromLayer"`
		ToLayer   InBrain `json:"toLayer"`
	}
)

// A Direction is one of the two in which a packet can go.
type Direction interface{ BrainToAgent | AgentToBrain }

// A Payload can go in a direction. The set is closed.
type Payload[D Direction] interface{ crosses(D) }
