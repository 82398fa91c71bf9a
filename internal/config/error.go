package config

import "fmt"

// An Error is a setting that cannot be used. It names the place and what to do.
type Error struct {
	Where string // file with line (file:line), variable or flag
	What  string // what is wrong
	Next  string // what to do about it; may be empty
}

// Error says where and what; Next is for the caller to show beside it.
func (e *Error) Error() string { return fmt.Sprintf("%s: %s", e.Where, e.What) }
