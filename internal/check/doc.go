// Package check says what a run changed in a project and whether it holds: the
// state before ([Measure]), the patch against it ([Baseline.Patch], [Baseline.Diff]),
// what kind of change and how risky it is, which checks the project has ([Find]),
// which of them belong to the change ([Config.Select]), and their results ([Run]).
//
// Git is asked and never changes anything. What was changed before the run and not
// touched since is not the run's. Outside of a repository there is no baseline, and
// the caller's own list of changed files stands ([Changed]).
package check
