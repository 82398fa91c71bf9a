package page

import (
	"encoding/json"
	"fmt"
	"testing"
)

func TestCalls(t *testing.T) {
	for command, want := range map[string]struct {
		calls string
		alone bool
	}{
		"quire recall 'cart total'":                           {"[[recall cart total]]", true},
		"/usr/local/bin/quire show p3 --lines 3-9 | head -20": {"[[show p3 --lines 3-9]]", true},
		"cd /p && QUIRE_HOME=/h quire recall x | grep -n y":   {"[[recall x]]", true},
		"bash -lc 'quire recall x; quire show p2'":            {"[[recall x] [show p2]]", true},
		"echo ---; quire recall x 2>/dev/null":                {"[[recall x]]", true},
		"quire recall x; go test ./...":                       {"[[recall x]]", false},
		"cat notes.txt && quire recall x":                     {"[[recall x]]", false},
		"go test ./... | grep quire":                          {"[]", false},
		"grep -rn quire .":                                    {"[]", false},
		"go build -o quire ./cmd/quire":                       {"[]", false},
		"":                                                    {"[]", false},
	} {
		args, err := json.Marshal(map[string]string{"command": command})
		if err != nil {
			t.Fatal(err)
		}
		calls, alone := Calls("Bash", string(args), "quire")
		if got := fmt.Sprint(calls); got != want.calls || alone != want.alone {
			t.Errorf("%s: %s, alone %v", command, got, alone)
		}
	}
	if calls, _ := Calls("exec_command", `{"cmd":["bash","-lc","quire recall x"]}`, "quire"); len(calls) != 1 {
		t.Errorf("words: %v", calls)
	}
}

// Whatever a command line is, calls of a program are words of it, and nothing is
// alone without one.
func FuzzCalls(f *testing.F) {
	for _, seed := range []string{"quire recall x", "a; quire 'show p", "bash -c \"bash -c 'quire x'\"", "quire <<E\nquire\nE", "quire|quire", "\x00quire\\"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, command string) {
		calls, alone := callsIn(command, false, "quire")
		if alone && len(calls) == 0 {
			t.Errorf("%q: nothing is alone", command)
		}
		words := 0
		for _, c := range calls {
			for _, w := range c {
				words += len(w)
			}
		}
		if words > len(command) {
			t.Errorf("%q: %d bytes of words", command, words)
		}
	})
}
