package trial

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// environment is that of this process, with a home of its own and without what
// would change the program.
func environment(home string) []string {
	var list []string
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, "QUIRE_") && !strings.HasSuffix(name, "_API_KEY") && name != "HOME" && name != "USERPROFILE" {
			list = append(list, pair)
		}
	}
	if cache := buildCache(); cache != "" {
		list = append(list, "GOCACHE="+cache)
	}
	return append(list, "HOME="+home, "USERPROFILE="+home, "QUIRE_HOME="+filepath.Join(home, "quire"), "ANTHROPIC_API_KEY=chaos")
}

// buildCache is where Go keeps what it compiled, so that a home without a cache
// has it too; "" where that is not known.
func buildCache() string {
	out, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

func stderrOf(err error) string {
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		return string(e.Stderr)
	}
	return ""
}
