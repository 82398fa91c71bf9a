// Package run takes a session from call to call. A [Context] is what both ways of
// doing so share: blocks enter, the scheduler plans the prompt, the account
// follows what it costs, and references come back. A replay of a recorded
// session drives it with the recorded answers; a [Step] drives it with a model,
// cutting what comes into pages and assembling what goes out.
package run
