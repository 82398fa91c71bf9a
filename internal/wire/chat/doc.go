// Package chat speaks Chat Completions, the protocol of OpenAI that most other
// providers and local servers took over, each in a dialect of its own. It turns
// bytes into our values and back, both ways, and does nothing else.
//
// [DecodeCall] and [EncodeCall] are inverse: a request that is decoded and
// encoded again has the same members with the same values, numbers digit by
// digit and arguments of tools byte by byte; only the order of members within an
// object and the escapes within a text may differ. [DecodeReply] and
// [EncodeReply] do the same for answers, [Decoder] and [Encoder] for streams.
//
// What has no place in our values rides along in their Rest. A member that has a
// place is found in Rest too when its value is not the plain one (a zero, null,
// an empty list), or to say in which form the place is written:
//
//   - of a block of Call.System, role begins another message and says its role;
//   - of thinking, the empty members are those that hold the text;
//   - of a tool call, type is "custom", or "" where there is none;
//   - of a call, max_tokens or max_completion_tokens is 0 under the name in use.
//
// A place that holds something always wins over a member of the same name.
//
// The table of dialects says as data what each family of servers wants;
// [Dialect.Shape] puts a call that was made here into that form.
package chat
