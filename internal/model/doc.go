// Package model is what all models behind HTTP share: the table of providers,
// their keys, and one way of sending a request and reading the answer as it
// streams. The packages below it each speak one protocol, or wrap a model in
// something that every model wants.
//
// A model answers calls:
//
//	Call(ctx context.Context, c quire.Call) iter.Seq2[quire.Delta, error]
//
// Nothing happens before the sequence is read; reading it again sends the call
// again. Deltas come in the order that [quire.Delta] promises. The first error
// ends the sequence: the context's when that is over, else a
// [*quire.CallError]. Whoever stops reading gives the connection up at once. A
// model is safe for concurrent use.
//
// An answer may take any time in all, as a long one does; what is limited is
// how long nothing may come (see [Limits]).
package model
