// Package sim is a provider of models that has no model: a server that speaks the
// four APIs as the vendors do, and answers what a script says. It is the upstream
// of tests, and lets people try a client without a key.
//
// It is strict. A request that a vendor would refuse is refused with the vendor's
// status and words: calls without results and results without calls, order, empty
// content, sizes, the window, cache breakpoints, thinking that is missing or was
// signed for another prefix, members that do not exist. What is taken is metered:
// each credential and model has a prompt cache that follows the provider's rules
// (package price), and the usage of an answer says what was read and written.
// Tokens are counted by package token, which is an estimate of the vendor's count.
//
// An answer is made of a turn of the script in these steps: thinking that was not
// asked for is left out; what is longer than the limit of the call is cut; thinking
// gets a signature. A signature holds a keyed hash of the block with its model, one
// of everything in front of it but thinking and cache marks, and one of the thinking
// before it: earlier thinking may be left out from the beginning on, not from
// between other thinking.
//
// The simulator knows nothing of what a vendor does with a request that it takes,
// beside its cache: tools that the provider runs, files, batches, stored
// conversations and limits on rates are not there, and an address that would need
// them is answered as one that does not exist. Thinking of another prefix that a
// client wants dropped is dropped, and stands in the record of requests only, as how
// the vendor reports it is not known. Streams of generateContent are server-sent
// events, whether alt asks for them or not.
package sim
