// Package anthropic turns calls, replies, streams and errors into the bytes of
// the Messages API and back, as pure functions. Both sides use it: a client
// encodes calls and decodes replies, a server the other way round.
//
// Decoding and encoding a request again is the identity on what the provider
// sees: the same members with the same values, lists in their order, numbers and
// tool arguments byte for byte; the order of members and white space between
// them are free. What has no place in a [quire.Call] rides along in Rest, blocks
// of unknown or incomplete form in Opaque. A member whose place cannot say how it
// was written (cache_control with members of its own, text with half a surrogate
// pair) is kept in Rest beside its place and written in its old form for as long
// as the place still says the same.
//
// Where things are:
//
//   - text of role user is PartUser, of assistant PartText, of system PartSystem,
//     inside a tool result or a document PartMachine
//   - tool_use, tool_result, thinking, image and document have their parts; media
//     in base64 are decoded, of others Text is the address, or source is in Rest
//   - redacted_thinking is an opaque PartThinking; server tools and their results
//     are opaque and of no kind, with Tool and ToolUse filled for pairing
//   - output_config.effort is Thinking.Effort; context_management, metadata,
//     top-level cache_control and the like are in Rest
//
// The API demands max_tokens and has no default: a Call without MaxOutput is
// refused by it.
package anthropic
