// Package config is the one configuration of the program. Every key is declared
// once, in [Keys]; a setting's value comes from the strongest layer that has it:
//
//	a flag
//	a QUIRE_* variable of the environment
//	<repo>/.quire/settings.json   the project's file
//	<home>/settings.json          the user's file
//	the default
//
// where <home> is $QUIRE_HOME or ~/.quire and <repo> is the nearest folder above
// the working directory that holds a .git. Each value keeps its [Origin].
//
// A project's file comes with the code that somebody else wrote, so it sets only
// keys whose [Reach] says so: never where anything is sent or kept, and nothing
// that grants more than the user granted.
//
// The package reads files and never the process environment: the caller hands in
// the environment and the flags (see [Sources]).
package config
