// Package responses speaks the Responses API of OpenAI. It turns bytes into our
// values and back, both ways, and does nothing else.
//
// [DecodeCall] and [EncodeCall] are inverse: a request that is decoded and
// encoded again has the same members with the same values, numbers digit by
// digit and arguments of tools byte by byte; only the order of members within an
// object and the escapes within a text may differ. [DecodeReply] and
// [EncodeReply] do the same for answers, [Decoder] and [Encoder] for streams.
//
// Items become blocks. What the model made in a row is one message of the
// assistant; every other item is a message of its own. Items that are not known
// here, like calls of tools that the provider runs, compactions and references,
// are opaque blocks; those of which not even the role is known stand in a
// message without one.
//
// What has no place in our values rides along in their Rest. Some members there
// say in which form a place is written:
//
//   - of a block of Call.System, role begins a message of that role; a text in
//     front without it is the instructions;
//   - of a text of the assistant, message begins an item and holds its other
//     members; of an opaque part, null says that it goes on with the item;
//   - of a message, type is "message" where the item says so, and input is ""
//     where the text is the whole input.
//
// A place that holds something always wins over a member of the same name.
package responses
