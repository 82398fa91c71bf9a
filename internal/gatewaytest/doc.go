// Package gatewaytest proves the gateway from outside: it holds tests only, and what
// they are made of.
//
// # Walks
//
// A peer is a client of ours that speaks the four APIs, streaming or not, and does
// what people's clients do not do in print mode: it forks, goes back, edits, clears
// old results, compacts, asks in parallel, runs subagents under its own session's id,
// changes tools, system and model, sends images, replays thinking, leaves in the
// middle of an answer, asks twice, and asks again after a fault. Each step is done
// twice: through the gateway, and without it. Both ends are simulators that refuse
// what a vendor would refuse. The answers must be the same, the bill through the
// gateway no higher, and what passed must be in the pool.
//
// What the simulated model answers follows from the newest words or results alone,
// which carry a label, so that it does not depend on what else stands in the prompt.
// A plan says for each label what is answered.
//
// # Faults
//
// A gateway in a process of its own is killed in the middle of calls and started
// again; the disk is full; upstream stalls, lies and talks nonsense; clients are slow
// or leave. The process is the test program itself, and its clock can be set forward.
//
// # Real clients
//
// `make e2e-clients` installs the clients that clients_test.go lists and runs each
// against gateway and simulator. It is not part of the ordinary tests: it needs root
// for a network of its own, and it installs programs. Nothing that those clients send
// is kept.
package gatewaytest
