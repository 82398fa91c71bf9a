package main

import (
	"slices"
	"strings"
)

// An environment is a set of variables. It is not changed after it was made.
type environment struct {
	pairs []string // NAME=value; of two with one name the later one counts
}

// newEnvironment takes variables in the form of os.Environ.
func newEnvironment(pairs []string) environment { return environment{pairs} }

// lookup finds a variable.
func (e environment) lookup(name string) (string, bool) {
	for i := len(e.pairs) - 1; i >= 0; i-- {
		if key, value, ok := strings.Cut(e.pairs[i], "="); ok && key == name {
			return value, true
		}
	}
	return "", false
}

// with is the environment with more variables, which count before those of the same
// name.
func (e environment) with(pairs ...string) environment {
	return environment{append(slices.Clone(e.pairs), pairs...)}
}

// get is the value of a variable, "" when it is not set.
func (e environment) get(name string) string {
	value, _ := e.lookup(name)
	return value
}

// home is the user's home folder, "" when there is none.
func (e environment) home(goos string) string {
	if goos == "windows" {
		return e.get("USERPROFILE")
	}
	return e.get("HOME")
}
