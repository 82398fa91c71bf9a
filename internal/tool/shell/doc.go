// Package shell is the tool that runs commands (bash), and those that look after
// commands in the background (bash_output, kill_bash).
//
// A command has no terminal and an empty standard input, so that it cannot wait
// for anybody. It runs in a process group of its own, which ends with it, in the
// sandbox where there is one. Of its output the beginning and the end are kept.
package shell
