// Quire is a coding agent whose context is virtual memory, a relay for agents
// that people already use, and an instrument that shows where tokens and money
// went. It keeps sessions so that everything in them can be found again. It is a
// program, not a library: all of it is under internal/, and this package wires it.
//
// # A tour, bottom up
//
// Package quire holds the words: the events of a session, the parts of a prompt,
// pages, usage. Everything else speaks in them.
//
// Package trace reads the logs that agents leave behind, one importer a format,
// and yields events. Package token counts the tokens of their texts, corrected by
// what the provider reported; package price knows what a token costs, and
// simulates the prompt cache that decides it. Package page cuts events into
// pages: one message, one tool call with its result, one version of a file.
// Package shingle finds out which text of an answer was taken from which page.
//
// On these stand the two instruments. Package eval replays a session as if
// another policy had kept its context, and charges what that would have cost;
// package audit adds up what the session did cost. Package report puts an audit
// on a terminal, into JSON or on a page for the browser.
//
// The memory stands beside them. Package ingest takes the same events into a
// pool: bodies into package store, one line each into package journal, and from
// these two alone the rows of the page table, the search index of package
// retrieve and the cards of package carrier. Package vector finds by meaning, where
// somebody has named an endpoint; package quiz measures how well all that finds. Package secret masks secrets wherever text is shown.
//
// What decides stands between the pages and the models. Package schedule plans
// what of a stream stands in the next prompt and in which form, package rendition
// makes these forms, packages ledger and task know what must survive and whose
// turn it is, package assemble makes a call of a plan or refuses. The packages of
// wire speak the providers' bytes, those of model send them, package sim answers
// in their place. Package run goes round: a call, its tools (tool, permit, undo),
// the record. Package history plays a kept session again to say why.
//
// A team stands on it. Package route plans who works, package role says what roles
// and brains there are, package packet what passes between the Brain and its agents,
// packages check and review judge what was done; package brain takes a request
// through all of that, each agent a loop of package run with a stream of its own.
// Package usage adds up what every call used. Here team.go wires it: teamstaff.go
// opens the agents, teamseat.go is one of them, teamproject.go the project.
//
// What a user and a project bring along comes from packages norms (instruction
// files), skill, hook and mcp (servers of others); warning says what a model does not
// see by itself. None of it is needed. It is put together in runaround.go.
//
// Packages gateway and mcp are faces for others.
//
// This package is the only reader of flags, environment and signals. Package
// config says which settings there are and where a value came from.
//
// # This package
//
// main.go is the process; app.go runs one command line and is what tests start.
// root.go lists the commands, one file each; home.go opens the pool for those
// that need it. exit.go turns errors into exit codes
// and advice, flags.go gives keys of the configuration their flags, screen.go
// knows about terminals, colour, zones and JSON.
package main
