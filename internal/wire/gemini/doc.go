// Package gemini turns calls, replies, streams and errors into the bytes of
// Gemini's generateContent and back, as pure functions. Both sides use it: a
// client encodes calls and decodes replies, a server the other way round.
//
// The model, and whether the answer streams, stand in the address of a request
// and not in its body: EncodeCall leaves them out, DecodeCall cannot know them.
//
// Decoding and encoding a request again is the identity on what the provider
// sees: the same members with the same values, lists in their order, numbers and
// arguments byte for byte; the order of members and white space between them are
// free. What has no place in a [quire.Call] rides along in Rest, parts of unknown
// form in Opaque. A member whose place cannot say how it was written is kept in
// Rest beside its place and written in its old form for as long as the place
// still says the same. Of the two spellings of names that the API takes,
// functionCall and function_call, only the first is known; the other rides along.
//
// Where things are:
//
//   - text of role user is PartUser, of model PartText, of systemInstruction
//     PartSystem, with thought PartThinking; thoughtSignature is the Signature of
//     whatever part it stands in
//   - the response of a function is the Text of its result: of {"output": text} and
//     {"error": text} the text, of any other object its JSON; media beside it are
//     Content
//   - functionCall and functionResponse may come without ids. They are paired by
//     order and name, and named #1, #2 … in a request, #<response>-1 … in an
//     answer. Names that begin with # are never sent
//   - thinkingConfig is Thinking, its level in lower case Effort; other settings
//     of generation, safety, cachedContent and the like are in Rest
//   - members of a candidate beside its content are in the Rest of a reply, as
//     candidates
package gemini
