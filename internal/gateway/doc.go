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
// answered 426, which makes clients fall back to HTTP. Nothing is sent twice.
//
// # Beside it
//
// While bytes pass they are copied, within a budget; a call that does not fit is
// relayed all the same, and counted as lost to the record. When the answer is over
// the copies go through a queue to one goroutine, the observer, which alone touches
// trees, sessions and the pool.
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
