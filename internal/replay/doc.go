// Package replay plays context policies over recorded sessions.
//
// A [Policy] decides, call by call, what a prompt holds: the baselines that other
// agents use, the oracles that know the future, and [Scheduled], which is the
// scheduler of a live session with the recorded one as its world. [Replay] charges
// each emitted prompt through the prompt-cache simulator of package price, and books
// a fault for every need that the prompt did not serve. [Tell] and [Draw] write one
// session down, [FitSession] learns from one what is needed when.
//
// A replay holds the recorded calls fixed: it cannot see what a model would
// have done with another prompt. Faults are therefore a lower bound in one way
// (a model understands more than it copies) and too many in another (paths and
// idioms), which is why two definitions of need stand side by side.
package replay
