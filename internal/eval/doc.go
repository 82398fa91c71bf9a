// Package eval compares context policies over a corpus of recorded sessions.
//
// A [Study] replays all policies over all sessions under all price profiles, the
// sessions of one folder also as one that never ends, and [Measure] pools the
// outcomes of a group into the figures of the evaluation document. Beside them
// stands what no policy can beat: the cheapest rewrites, and the most hits that a
// memory of a size can have. [Crossfit] decides each session by tables that were
// fitted without it; [Ablation] takes away one ingredient at a time.
//
// All figures but [Pace] depend on nothing but the corpus.
package eval
