package permit

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/x/fence"
)

// project is a folder as testdata/commands.txt describes it.
func project(t testing.TB) *fence.Fence {
	t.Helper()
	base := t.TempDir()
	for _, dir := range []string{"p/sub", "p/db", "p/deep/er", "p/build", "p/private", "p/.git", "p/.github/workflows", "other"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Symlink(filepath.Join(base, "other"), filepath.Join(base, "p", "out")), os.Symlink("sub", filepath.Join(base, "p", "in"))); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	f, err := fence.Open(filepath.Join(base, "p"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func policy(t testing.TB, mode Mode) *Policy {
	return &Policy{Mode: mode, Project: project(t), Temp: []string{"/scratch"}, Layers: []Layer{Defaults(), {Name: "test", Rules: []Rule{
		{Command: "make lint", Verdict: Allow},
		{Command: "npm run fmt", Verdict: Allow},
		{Command: "make deploy", Verdict: Deny, Reason: "only people deploy"},
		{Write: "db/**", Verdict: Ask},
		{Read: "private/**", Verdict: Ask},
	}}}}
}

// failures.md B12: each simple command is judged, however it is spelled and
// wherever it stands.
func TestCommands(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "commands.txt"))
	if err != nil {
		t.Fatal(err)
	}
	marks := map[Verdict]byte{Allow: '+', Ask: '?', Deny: '-'}
	cases := 0
	for _, mode := range []Mode{ReadOnly, Edit, Full} {
		p := policy(t, mode)
		for line := range strings.Lines(string(text)) {
			line = strings.TrimRight(line, "\n")
			if line == "" || line[0] == '#' {
				continue
			}
			cases++
			command := strings.ReplaceAll(line[4:], `\n`, "\n")
			if strings.Contains(line, "printf '%s") {
				command = line[4:]
			}
			if d := p.Judge(Request{Tool: "bash", Command: command}); marks[d.Verdict] != line[mode] {
				t.Errorf("%s: %q is %s, want %c: %s", mode, command, d.Verdict, line[mode], d.Reason)
			}
		}
	}
	if cases < 3*400 {
		t.Errorf("only %d cases were read", cases)
	}
}
