// Package replay is a model that answers as another one answered before: with the
// answers of a recorded session, one for each call, in their order. It looks at no
// prompt, so that a session can be played again over changed tools, settings or
// rules, and what differs is seen. Thinking is left out: it is bound to a prompt
// that is not sent again.
package replay
