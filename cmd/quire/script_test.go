package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"quire": main})
}

// TestScripts runs the program as a process, as testdata/script/*.txtar says. Each
// script has a home folder and a project of its own, and none of this machine's
// settings.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"),
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			env.Setenv("HOME", home)
			env.Setenv("USERPROFILE", home)
			env.Setenv("TZ", "UTC")
			if cache := buildCache(); cache != "" {
				env.Setenv("GOCACHE", cache) // so that the demo need not compile the standard library
			}
			if path, err := exec.LookPath("quire"); err == nil {
				env.Setenv("QUIRE", path) // for scripts that empty the PATH
			}
			return os.MkdirAll(home, 0o700)
		},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

// buildCache is where this machine's Go keeps what it compiled, "" where that is
// not known.
func buildCache() string {
	if dir := os.Getenv("GOCACHE"); dir != "" {
		return dir
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "go-build")
}
