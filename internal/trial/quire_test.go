package trial

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// built builds the program and says where it is. It is built as people have it,
// also where the tests are built with a detector of races.
func built(t testing.TB) string {
	t.Helper()
	for _, tool := range []string{"go", "sh"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("this needs ", tool)
		}
	}
	looked(t)
	name := filepath.Join(t.TempDir(), "quire")
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	cmd := exec.Command("go", "build", "-o", name, "github.com/quire-agent/quire/cmd/quire")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build quire: %v\n%s", err, out)
	}
	return name
}

// looked reads the folders of the sources: the results of a test are kept until
// something changes that it looked at, and it imports nothing of the program.
func looked(t testing.TB) {
	t.Helper()
	for _, dir := range []string{"cmd", "internal"} {
		err := filepath.WalkDir(filepath.Join("..", "..", dir), func(_ string, _ fs.DirEntry, err error) error { return err })
		if err != nil {
			t.Fatal(err)
		}
	}
}
