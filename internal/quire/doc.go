// Package quire holds the words of the program: the values that travel between
// its parts, and nothing that acts on them. It imports the standard library
// only, and every value in it can be serialised.
//
// The words, as the whole program uses them:
//
//   - A call is one model request. A turn runs from one user message to the
//     next. A session is everything recorded under one journal, or, for logs
//     of other agents, under one session id of that agent.
//   - An [Event] is one thing that happened in a session, in the order of its
//     record: something entered the prompt, a call was made, it answered, its
//     usage was metered, the context was compacted or rewound.
//   - A [Part] is one piece of content of a prompt or an answer.
//   - A [Page] is the unit of scheduling, named p<n> within its session.
//   - [Usage] is what a provider reported for a call.
//
// Importers (package trace) turn foreign logs into events, package page cuts
// events into pages, package replay replays them.
package quire
