// Package loose reads JSON as models write it: inside prose or a fence, with
// members of other types than were asked for. What cannot be read is left out,
// not refused, because the rest of a reply is worth having; a caller that needs a
// member looks whether it is there.
package loose
