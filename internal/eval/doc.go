// Package eval replays recorded sessions through context policies and measures
// what each would have cost and what it would have missed.
//
// The way through the package: [Loader] reads a log into a [Session] (items of
// prompts, calls, needs). A [Policy] decides, call by call, what a prompt
// holds. [Replay] plays policies over a session, charges each emitted prompt
// through the prompt-cache simulator of package price, and books a fault for
// every need that the prompt did not serve. [Measure] pools outcomes into the
// figures of the evaluation document; a [Study] adds what no policy can beat.
//
// A replay holds the recorded calls fixed: it cannot see what a model would
// have done with another prompt. Faults are therefore a lower bound in one way
// (a model understands more than it copies) and too many in another (paths and
// idioms), which is why two definitions of need stand side by side.
package eval
