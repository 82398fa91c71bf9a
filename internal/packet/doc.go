// Package packet is what crosses between the Brain and its agents: handoffs down,
// results up, and nothing else. The names of fields are those of the wire and of
// the journal.
//
// A packet has a direction, and the direction is part of its type. There are two,
// [BrainToAgent] and [AgentToBrain]; a message from one agent to another has no
// type, so that a program which sends one does not compile. What comes as bytes is
// checked again by [DecodeHandoff], [DecodeResult] and [DecodeMessage]: a packet
// whose layers are not those of its type is refused.
//
// What a model answers is no packet: [Normalise] makes one of it, whatever it is,
// and the ids in it are those of the handoff, never the model's echo.
//
// The package is pure.
package packet
