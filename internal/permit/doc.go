// Package permit decides what a tool call may do: allow, ask the user, or deny,
// with the reason in plain words.
//
// Three things decide, the strictest of them for each thing a call does: the
// [Mode], which is a ceiling; the rules of the layers ([Layer]), a later one over
// an earlier; and what the user answered before in this session ([Gate]).
//
// A command is parsed, not matched as text, and each simple command in it is
// judged by itself, wherever it stands: behind && or a pipe, in a subshell or a
// substitution, in the text given to another shell, behind sudo, env, xargs or
// find -exec. What cannot be known before it runs (a name from a variable, text
// from a pipe into a shell) is not guessed: it is asked about.
//
// The package judges and never acts. That a command cannot do more than it was
// allowed to is the work of the sandbox.
package permit
