// Package trial holds tests only: the program is built and run as people run it,
// against a simulated provider, and must bear what people and machines do to it.
//
// The trial by chaos runs sessions whose provider fails in every way that it can
// and whose process is killed at times that nobody chose, and goes on with each
// until it is done. Then nothing may be damaged or lost: the journal is whole, each
// request holds all that was sent before it, byte for byte, what was shown as done
// is there, and no command ran twice. QUIRE_CHAOS is how many sessions are run,
// QUIRE_CHAOS_SEED the seed of the first of them, to see one again.
//
// The trial by tasks runs the task set under all policies with its scripted models.
package trial
