// Package fs is the tools that read and change files of the project: read, list,
// edit, write, apply_patch.
//
// All paths are confined to the project by what they resolve to. A change stores
// the old bytes first and is written in one step; what a file was when the model
// last saw it is remembered, and a file that is something else by now is not
// changed before it is read again.
package fs
