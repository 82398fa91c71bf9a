// Package tool is the one shape of the agent's tools ([Tool]) and what they have
// in common: their specification from a prompt text and an argument struct, strict
// reading of arguments, the bound of a result.
//
// A tool does not decide whether it may run: it says what it would do ([Want]),
// package permit judges that, and the loop of package run asks before it acts.
// What the model did wrong is a result that says what to do; an error of Run
// stops the run.
package tool
