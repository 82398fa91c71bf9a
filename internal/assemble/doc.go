// Package assemble makes the call of a plan: which blocks of a stream stand, and
// in which form, becomes messages that a provider accepts. It is pure, and it
// refuses to make a call that breaks an invariant of the stream ([Error] says
// which one, and where).
//
// An [Assembler] follows one stream, plan by plan. As long as plans only append,
// what it made before stays as it is, byte for byte, and a call costs time in
// proportion to what is new. At an epoch everything behind the first change is
// made anew, from pages.
//
// What becomes of the blocks of a plan:
//
//   - The blocks of one response are one message of the assistant; the results
//     of its calls follow in one message of the tool, in the order of the calls.
//     A lowered call keeps its id and its name, and its arguments stay an object.
//   - A response of which a fold took a call or a result is no response any
//     more. What stands of it is shown as data.
//   - Where an epoch changes what stands before an open tool loop, the loop ends:
//     its calls and results become data in the user's message, its thinking goes,
//     and a fresh loop begins.
//   - Thinking is bound to every byte before it. It stands as long as these are
//     the ones that it was made for, and no call longer.
//   - What Quire adds by itself (folds, notices, pages shown again, ended loops)
//     is framed: data from a named source, never a request of the user.
package assemble
