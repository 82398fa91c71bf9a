package page

import "strings"

// Calls finds the calls of a program in the command line of a tool call: the
// words after its name, for each. Alone says that there are some and that
// nothing else prints: other commands only pick from what those print, change
// the folder, or print a word of their own.
//
// A program is known by the name of its file. Substitutions, aliases and scripts
// are not looked into.
func Calls(tool, args, program string) (calls [][]string, alone bool) {
	if !strings.Contains(strings.ToLower(args), program) {
		return nil, false // most calls, without looking further
	}
	c := newInvocation(tool, args)
	command, ok := c.command()
	if !ok {
		return nil, false
	}
	return callsIn(command, c.windows(command), program)
}

func callsIn(command string, windows bool, program string) (calls [][]string, alone bool) {
	alone = true
	for _, s := range split(command, windows) {
		found, quiet := s.calls(program)
		calls = append(calls, found...)
		alone = alone && quiet
	}
	return calls, alone && len(calls) > 0
}

// calls finds the calls of a program in a simple command, and says whether
// nothing else prints.
func (s simple) calls(program string) (calls [][]string, quiet bool) {
	words := s.unwrapped()
	if len(words) == 0 {
		return nil, true
	}
	name := binary(words[0])
	if isShellBinary(name) && len(words) >= 3 && strings.HasPrefix(words[1], "-") && strings.Contains(words[1], "c") {
		return callsIn(words[2], false, program)
	}
	if name == program {
		return [][]string{words[1:]}, true
	}
	args := newArguments(name, words[1:])
	if s.out != "" || s.piped && onlyShows(name, args) {
		return nil, true
	}
	_, counts := described(name, args)
	return nil, !counts
}

// unwrapped are the words of a command without assignments and wrappers before
// its name.
func (s simple) unwrapped() []string {
	words := s.words
	for len(words) > 0 && (strings.Contains(words[0], "=") && !strings.HasPrefix(words[0], "-") || isWrapper(words[0])) {
		words = words[1:]
	}
	return words
}
