package undo

import (
	"io/fs"

	"github.com/quire-agent/quire/internal/quire"
)

// A Kind says what stands at a path.
type Kind string

// The kinds.
const (
	None   Kind = "" // nothing
	File   Kind = "file"
	Link   Kind = "link" // a symbolic link
	Folder Kind = "folder"
	Other  Kind = "other" // a device, a socket: never put back
)

// A State is what stands at a path at one time. States are equal when their
// contents are.
type State struct {
	Kind Kind        `json:"kind,omitempty"`
	Hash quire.Hash  `json:"hash,omitzero"`  // of a file its bytes, of a link its target
	Mode fs.FileMode `json:"mode,omitempty"` // permission bits of a file
}

// A Change is what became of a path.
type Change struct {
	Path   string `json:"path"` // from the project's folder, with slashes
	Before State  `json:"before"`
	After  State  `json:"after"`
}

// A chain is what a run made of one path: from the state before its first change
// to that after its last.
type chain struct {
	Change
	broken bool // somebody else changed it in between: the chain begins after that
}

// chains joins the changes of each path, in the order in which the paths first
// come. A change that is recorded twice counts once.
func chains(changes []Change) []chain {
	var list []chain
	at := map[string]int{}
	for _, c := range changes {
		i, seen := at[c.Path]
		switch {
		case !seen:
			at[c.Path] = len(list)
			list = append(list, chain{Change: c})
		case list[i].Change == c: // recorded twice
		case list[i].After == c.Before:
			list[i].After = c.After
		default:
			list[i] = chain{Change: c, broken: true}
		}
	}
	return list
}
