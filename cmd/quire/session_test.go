package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/quire"
)

// While somebody imports, no session is taken in from an export: its bodies would
// be collected before its journal names them.
func TestAnExportWaitsForNobody(t *testing.T) {
	m := newMended(t)
	export := m.write("s1.jsonl", m.run("session", "export", "s1", "--with-secrets").out)
	lock, err := journal.LockHome(m.home())
	if err != nil {
		t.Fatal(err)
	}
	if got := m.run("session", "import", export); got.code != 1 || !strings.Contains(got.err, "has it open") || !strings.Contains(got.err, "wait until") {
		t.Errorf("%+v", got)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	if got := m.run("session", "import", export); got.code != 0 || !strings.Contains(got.out, "s1 is here already") {
		t.Errorf("%+v", got)
	}
}

// While somebody imports, no session is removed; who it is is said.
func TestARemovalWaitsForNobody(t *testing.T) {
	dir := t.TempDir()
	env := newEnvironment([]string{"HOME=" + dir, "QUIRE_HOME=" + dir})
	w, session, err := journal.Create(dir, quire.SessionRecord{}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	lock, err := journal.LockHome(dir)
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	remove := func() (int, string) {
		var fault bytes.Buffer
		a := app{dir: dir, goos: "linux", build: builtFrom("v1", "0")}
		code := a.Run(t.Context(), []string{"session", "rm", session.Number.String(), "--yes"}, strings.NewReader(""), io.Discard, &fault, env)
		return code, fault.String()
	}
	if code, said := remove(); code != 1 || !strings.Contains(said, fmt.Sprint("process ", os.Getpid(), " has it open")) {
		t.Errorf("%d, %s", code, said)
	}
	if _, err := os.Stat(w.Path()); err != nil {
		t.Error(err)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	if code, said := remove(); code != 0 {
		t.Errorf("%d, %s", code, said)
	}
}
