// Package modeltest is the suite that every model passes, whatever its protocol:
// what is said, tools one by one and in parallel, thinking with tools, images,
// long answers, leaving in the middle, and what goes wrong on the way. The
// provider is a server in the test that speaks the protocol through the encoders
// of the wire packages.
package modeltest
