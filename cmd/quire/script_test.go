package main

import (
	"os"
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
			return os.MkdirAll(home, 0o700)
		},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}
