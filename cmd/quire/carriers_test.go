package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A folder of the project that cannot be read keeps nothing else from being found;
// one that somebody names and that cannot be read is an error.
func TestUnreadableFolders(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	runAt(t, home, "import", plantTools(t, "/home/ann/shop", toolPlants()[:1]))
	notes := filepath.Join(dir, projectFolder, "notes")
	if err := os.MkdirAll(notes, 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range 20_001 {
		if err := os.WriteFile(filepath.Join(notes, fmt.Sprint(i, ".md")), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		args []string
		code int
	}{{[]string{"recall", "cart"}, 0}, {[]string{"recall", "cart", "--docs", notes}, 1}} {
		var out, errOut bytes.Buffer
		a := app{dir: dir, goos: "linux", build: builtFrom("v1.2.3", "")}
		code := a.Run(t.Context(), c.args, strings.NewReader(""), &out, &errOut, newEnvironment([]string{"HOME=" + t.TempDir(), "QUIRE_HOME=" + home}))
		if code != c.code || !strings.Contains(errOut.String(), "more than 20000 documents") || code == 0 && !strings.Contains(out.String(), "s1/p") {
			t.Errorf("quire %v: code %d, %s%s", c.args, code, out.String(), errOut.String())
		}
	}
}
