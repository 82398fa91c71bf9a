// Package curation makes of a request that a client sent the one that is sent in
// its place: its list of messages gives way to the stream that the scheduler keeps,
// and everything else of it stays, byte for byte. It is pure: it keeps no files,
// reads no clock and knows no network.
//
// A [Dialect] is one of the four APIs. A [Mirror] follows one list of messages:
// elements of it enter as [Item]s, in their order, each with what the pool knows of
// its parts; a call is planned by the same run.Step that sessions of our own use,
// and the list of the call is made of it. Elements that stand whole are sent as the
// client sent them; where a block stands in another form, its element is written
// anew. [Edit] says what else of a request changes: the tool for recalling comes in
// behind the client's tools, our cache marks take the place of the client's, and
// what would let the provider clear the prompt is taken out.
//
// An [Answer] is what comes back. It passes unchanged, event for event, until the
// model recalls a page: from there on the client sees what the model says besides,
// and the answer of the call that follows the recall in the same message.
package curation
