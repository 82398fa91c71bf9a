package main

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// smallDisk is a file system of 8 MiB in memory.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=8m"); err != nil {
		t.Skip("a small file system cannot be mounted here: ", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// bigLog writes a log with bodies that are large and cannot be packed.
func bigLog(t *testing.T, path, session string) {
	t.Helper()
	var b strings.Builder
	line := func(id, parent, kind string, message any) {
		raw, err := json.Marshal(map[string]any{"type": kind, "uuid": id, "parentUuid": parent, "sessionId": session,
			"timestamp": "2026-11-02T09:00:00Z", "cwd": "/p", "version": "2.1.0", "message": message})
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(raw, '\n'))
	}
	type block map[string]any
	line("r", "", "user", block{"role": "user", "content": "Look at " + session})
	parent := "r"
	for i := range 80 {
		use, call, noise := fmt.Sprint("t", i), fmt.Sprint("a", i), make([]byte, 6000)
		if _, err := rand.Read(noise); err != nil {
			t.Fatal(err)
		}
		line(call, parent, "assistant", block{"id": session + call, "role": "assistant", "model": "claude-opus-4-6", "content": []block{
			{"type": "tool_use", "id": use, "name": "Bash", "input": block{"command": "dump " + use}}}, "usage": block{"input_tokens": 1, "output_tokens": 1}})
		parent = use
		line(parent, call, "user", block{"role": "user", "content": []block{{"type": "tool_result", "tool_use_id": use, "content": hex.EncodeToString(noise)}}})
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// fillDisk takes all the room that is left.
func fillDisk(t *testing.T, dir string) (ballast string) {
	t.Helper()
	ballast = filepath.Join(dir, "ballast")
	f, err := os.Create(ballast)
	for page := make([]byte, 4096); err == nil; {
		_, err = f.Write(page)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return ballast
}

// Room can be made where there is none left: sessions go, then bodies; the files
// shrink when there is room for that.
func TestFreeingAFullDisk(t *testing.T) {
	disk, logs := smallDisk(t), t.TempDir()
	env := newEnvironment([]string{"HOME=" + logs, "QUIRE_HOME=" + filepath.Join(disk, "quire")})
	quire := func(want string, args ...string) {
		t.Helper()
		var out, fault bytes.Buffer
		a := app{dir: logs, goos: "linux", build: builtFrom("v1", "0")}
		if code := a.Run(t.Context(), args, strings.NewReader(""), &out, &fault, env); code != 0 || !strings.Contains(out.String()+fault.String(), want) {
			t.Fatalf("quire %v: %d, %s%s", args, code, out.String(), fault.String())
		}
	}
	for _, name := range []string{"one", "two"} {
		bigLog(t, filepath.Join(logs, name+".jsonl"), name)
		quire("1 new session", "import", name+".jsonl")
	}
	ballast := fillDisk(t, disk)
	quire("Deleted 0 sessions and 0 bodies", "pool", "gc", "--yes")
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	quire("Made 162 rows", "doctor", "--rebuild")
	ballast = fillDisk(t, disk)
	quire("Removed s1", "session", "rm", "s1", "--yes")
	quire("no room to compact", "pool", "gc", "--yes")
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	before := weight(filepath.Join(disk, "quire"), "bodies.db")
	quire("Deleted 0 sessions and 0 bodies", "pool", "gc", "--yes")
	if after := weight(filepath.Join(disk, "quire"), "bodies.db"); after > before*2/3 {
		t.Errorf("bodies.db shrank from %d to %d bytes", before, after)
	}
	quire("Nothing is damaged", "doctor", "--rebuild")
}
