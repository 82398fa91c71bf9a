// Package mutate changes decisions of a package one at a time, so that its tests
// can show that they notice. `make mutate` runs it on the scheduler.
//
// All mutants of a package are built into one test program ([Source.Instrument]), in
// which a number turns one of them on; a run of the tests then takes no build.
// Mutants that no test can tell from the original, because they do the same, are
// listed with the reason in testdata.
package mutate
