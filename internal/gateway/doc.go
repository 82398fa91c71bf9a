// Package gateway stands between a client and a provider of models. It relays what
// both say, byte for byte, and beside that keeps what passed: sessions with their
// pages, what each call used and cost, and why its prompt was not in the cache.
//
// # The relay
//
// A request goes up as it came, to the upstream that the configuration names for
// its API, and the answer comes down as it arrives. What the gateway does not know
// passes: members, headers, endpoints, methods. Its own are only the hop-by-hop
// headers, accept-encoding (upstream is asked for an answer that is not compressed,
// so that it can be read) and the token of the gateway. An upgrade to WebSocket is
// answered 426, which makes clients fall back to HTTP. Nothing is sent twice, but a
// prompt that was too long, once, made smaller, and a stream of ours that its
// provider finds fault with, once, as the client's own view.
//
// # The stream
//
// A session is relayed until its first epoch: a call outside of a tool loop that
// finds the cache cold, or one that does not fit the window. From there on it is
// curated (ask.go, curated.go): for every message that went up or came down here what
// was sent is sent again, byte for byte, pages that are idle stand as handles, cards
// and excerpts, and recall stands last in the list of tools. Package curation makes
// the bodies, with the scheduler and the assembler of all other sessions.
//
// A client that goes back, or goes on beside what it said before, goes on from what
// was sent: what is folded stays folded, as the cache holds it so. Under each model,
// list of tools and system prompt that a client takes a stream has a form of its own
// (terms.go), to which it comes back with the client.
//
// What goes up is never chosen to cost more than the client's own view (quote.go). A
// first epoch begins only where its body is cheaper at that very call, by a simulated
// cache of all that went up before, and where it frees what two recalls would cost or
// a part of the prompt. A conversation that begins
// while tools and system prompt are in the cache with recall alone, since another one
// is curated, begins with recall.
//
// What entered a stream is written down before the answer to it goes down (intent.go),
// elements by their hash in the pool, so that another process makes the same bytes of
// it. A recall is answered here (joint.go): alone, by another call whose answer goes
// on in the same message; beside calls of the client's it is held and joined to their
// results. Whatever fails in this, the client's own view goes up, without the thinking
// that is bound to another prompt; it is counted, and the line of the call says why.
//
// Calls of sessions that are warm and not curated go up without being looked at
// (hint.go). A request is scanned while it comes in (intake.go); of its list of messages
// only what was not seen in the last minutes is read (reading.go). Nobody waits for the
// record longer than a limit: a store that hangs holds no answer up, and the client's
// own words go up (patience.go).
//
// # Beside it
//
// While bytes pass they are copied, within a budget; a call that does not fit is
// relayed all the same, and counted as lost to the record. When the answer is over
// the copies go through a queue to one goroutine, the observer, which alone touches
// trees, sessions, streams and journals. A call that may be curated asks it what goes
// up, behind all calls that are over.
//
// A session is found by what its client says and by nothing else: the messages of a
// request form a chain of hashes under one credential, and the longest chain that is
// known is what the request goes on from (tree.go). A change before its end is a
// fork; results that the client cleared are none; a compaction is recognised by the
// summary, which passed here as an answer. Requests without tools that go on from
// nothing (titles, probes) are accounted and not kept.
//
// A credential is known here by a keyed hash. Keys are in no journal, no pool, no
// line and no figure.
package gateway
