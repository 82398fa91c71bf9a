// Package hook runs commands of the user at certain moments of a session: when it
// begins, when the user has said something, around a tool call, when leave is asked
// for, around an epoch, around a worker, when a turn ends, when something is told,
// when the session ends. A hook reads what happened as JSON from its standard input
// and can add to the prompt, or block what is about to happen: by exit code 2, with
// its standard error as the reason, or by a JSON object on its standard output.
//
// Hooks stand in hooks.json in the user's home and in the folder .quire of a
// project. Those of a project run only where the user has trusted exactly that
// command; a project cannot trust itself. Every hook that matches is recorded, also
// one that was not run, with the reason. What a hook writes is bounded.
package hook
