// Package arch holds no program, only tests: the rules of the repository that a
// compiler does not know. Which package may import which, how long a function
// may be, who may read a clock, what must not stand in a tracked file.
//
// A rule looks at a tree of files and returns findings; each finding names the
// place and says why the rule exists. Every rule is run on this repository, and
// on small bad trees (testdata/<rule>/*.txtar) that show that it can fail. An
// exception to a rule is a line in exceptions_test.go with its reason.
package arch
