// Package sse reads and writes server-sent events, the framing in which models
// stream their answers. It is pure: a reader over any [io.Reader], and bytes.
//
// Of the format (WHATWG HTML, section 9.2) it knows names and data; ids, retry
// times and comments mean nothing to a client that asks for one answer.
package sse
