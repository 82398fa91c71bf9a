// Package sandbox runs a command so that it can write only to given folders and,
// where that is asked for and the kernel can, not reach the network. On Linux it
// is Landlock; elsewhere, and on kernels without it, there is none, and
// [Available] says so.
//
// A process can only restrict itself, so a command is started through the
// program's own binary ([Wrap]), which restricts itself and then becomes the
// command ([Become]).
//
// What it does not do: it hides no file from reading, does not limit processor
// or memory, and in a command that is cut off from the network, sockets other
// than TCP are only cut off by newer kernels. Commands in it cannot gain rights,
// so sudo does not work.
package sandbox
