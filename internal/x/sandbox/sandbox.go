package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
)

// Command is the name of the hidden command that the program answers with
// [Become].
const Command = "__sandbox"

// ErrNone says that there is no sandbox here.
var ErrNone = errors.New("no sandbox: this system has none, or its kernel has it switched off")

// Rules say what a command may do. It may read everything.
type Rules struct {
	Write   []string `json:"write"`   // folders that it may write to, absolute; those that do not exist are left out
	Network bool     `json:"network"` // it may use the network
}

// Support says what the sandbox of this system can do.
type Support struct {
	Files bool // writing is confined
	TCP   bool // connections can be cut off
	UDP   bool // datagrams too
}

// String says it in one line, for doctor and for the user who is asked.
func (s Support) String() string {
	switch {
	case !s.Files:
		return "no sandbox here: commands run with all rights of the user"
	case !s.TCP:
		return "commands can write only where they may; the network cannot be cut off"
	case !s.UDP:
		return "commands can write only where they may; without leave they make no TCP connections"
	}
	return "commands can write only where they may and without leave have no network"
}

// Wrap makes a command that was not started yet run in the sandbox. self is the
// path of this program.
func Wrap(cmd *exec.Cmd, self string, r Rules) error {
	rules, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("sandbox: %w", err)
	}
	cmd.Args = slices.Concat([]string{self, Command, string(rules), cmd.Path}, cmd.Args)
	cmd.Path = self
	return nil
}

// Become restricts this process and turns it into the command. args are the
// words after [Command] as Wrap made them: the rules, the path of the command,
// and its arguments with its name before them. It returns only with an error,
// and then nothing was run.
func Become(args, env []string) error {
	if len(args) < 3 {
		return errors.New("sandbox: it is started by the program itself only")
	}
	var r Rules
	if err := json.Unmarshal([]byte(args[0]), &r); err != nil {
		return fmt.Errorf("sandbox: %w", err)
	}
	if err := become(r, args[1], args[2:], env); err != nil {
		return fmt.Errorf("sandbox: %w", err)
	}
	return nil
}
