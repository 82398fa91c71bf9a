package trace

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/quire"
)

// write puts a file into a folder of the test's own.
func write(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestOpenRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		content string
		want    error
	}{
		"empty":         {"", ErrEmpty},
		"blank":         {"\ufeff \r\n\n", ErrEmpty},
		"text":          {"# Notes\n\nnot a log", ErrUnknown},
		"other JSON":    {`{"name":"ledger","version":"1.0.0"}`, ErrUnknown},
		"other lines":   {`{"level":"info","msg":"started"}` + "\n", ErrUnknown},
		"binary":        {"\x7fELF\x02\x01\x00\x00\x00", ErrBinary},
		"message":       {`{"id":"msg_01","sessionID":"ses_01","role":"user"}`, ErrPiece},
		"part":          {`{"id":"prt_01","sessionID":"ses_01","messageID":"msg_01","type":"text","text":"` + strings.Repeat("x", headSize) + `"}`, ErrPiece},
		"broken gzip":   {"\x1f\x8b\x00\x00", ErrUnreadable},
		"gzip of text":  {packed(t, "just text"), ErrUnknown},
		"gzip of blank": {packed(t, "\n"), ErrEmpty},
	} {
		path := write(t, "file.jsonl", c.content)
		if _, err := Open(path); !errors.Is(err, c.want) || !strings.Contains(fmt.Sprint(err), path) {
			t.Errorf("%s: %v, want %v and the path", name, err, c.want)
		}
	}
	if _, err := Open(t.TempDir()); !errors.Is(err, ErrDirectory) {
		t.Errorf("a folder: %v", err)
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none")); !errors.Is(err, ErrUnreadable) || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

func TestOpenStoredSession(t *testing.T) {
	path := write(t, "ses_01.json", `{"id":"ses_01","version":"0.5.0","title":"sum","time":{"created":1700000000000,"updated":1700000000001}}`)
	logs, err := Open(path)
	if err != nil || len(logs) != 1 || logs[0].Agent != quire.AgentOpenCode {
		t.Errorf("got %v, %v", logs, err)
	}
}

func TestOpenUnreadable(t *testing.T) {
	path := write(t, "log.jsonl", "{}")
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	if f, err := os.Open(path); err == nil {
		f.Close()
		t.Skip("this user may read any file")
	}
	if _, err := Open(path); !errors.Is(err, ErrUnreadable) || !errors.Is(err, os.ErrPermission) {
		t.Errorf("got %v", err)
	}
}

func packed(t testing.TB, content string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// framed is a zstd stream of one raw block (RFC 8878, sections 3.1.1 and 3.1.1.2):
// the content may have up to 128 KiB.
func framed(content string) string {
	size := binary.LittleEndian.AppendUint32(nil, uint32(len(content)))
	block := binary.LittleEndian.AppendUint32(nil, uint32(len(content))<<3|1)
	return "\x28\xb5\x2f\xfd\xa0" + string(size) + string(block[:3]) + content
}

func eventsOf(t testing.TB, path string) []quire.Event {
	t.Helper()
	logs, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	var events []quire.Event
	for _, l := range logs {
		for e, err := range l.Events() {
			if err != nil {
				t.Fatal(err)
			}
			events = append(events, e)
		}
	}
	return events
}

// The name of a file says nothing, and neither compression nor the ends of
// lines nor a byte order mark changes what is read.
func TestOpenByContent(t *testing.T) {
	for file, agent := range map[string]quire.Agent{
		"claude-basic.jsonl": quire.AgentClaudeCode,
		"claude-agent.jsonl": quire.AgentClaudeCode,
		"codex-basic.jsonl":  quire.AgentCodex,
		"codex-bare.jsonl":   quire.AgentCodex,
	} {
		raw, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		log := strings.ReplaceAll(string(raw), "\r\n", "\n")
		want := dump(eventsOf(t, write(t, "a.bin", log)))
		for name, content := range map[string]string{
			"gzip": packed(t, log),
			"zstd": framed(log),
			"CRLF": strings.ReplaceAll(log, "\n", "\r\n"),
			"BOM":  "\ufeff" + log,
		} {
			path := write(t, "b.txt", content)
			if got := dump(eventsOf(t, path)); got != want {
				t.Errorf("%s as %s reads as\n%s", file, name, got)
			}
			logs, err := Open(path)
			if err != nil || len(logs) != 1 || logs[0].Agent != agent || logs[0].Size != int64(len(content)) {
				t.Errorf("%s as %s: %v, %v", file, name, logs, err)
			}
		}
	}
}

func TestEventsMayBeReadAgain(t *testing.T) {
	logs, err := Open(filepath.Join("testdata", "claude-basic.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	counts := [2]int{}
	for i := range counts {
		for range logs[0].Events() {
			counts[i]++
		}
	}
	if counts[0] != counts[1] || counts[0] == 0 {
		t.Errorf("read %d events, then %d", counts[0], counts[1])
	}
	for range logs[0].Events() {
		break // must not panic
	}
}

// A log that breaks off inside its compressed stream is read up to there.
func TestEventsOfBrokenStream(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("testdata", "claude-basic.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	whole := packed(t, string(raw))
	logs, err := Open(write(t, "cut.gz", whole[:len(whole)-20]))
	if err != nil {
		t.Fatal(err)
	}
	events, last := 0, error(nil)
	for e, err := range logs[0].Events() {
		if last != nil {
			t.Error("something comes after the error")
		}
		if last = err; e != nil {
			events++
		}
	}
	if last == nil || events < 5 {
		t.Errorf("%d events, then %v", events, last)
	}
}

// The first line of a log may be longer than what is looked at.
func TestRecogniseLongFirstLine(t *testing.T) {
	log := `{"parentUuid":null,"isSidechain":false,"sessionId":"s","type":"user","message":{"role":"user","content":"` +
		strings.Repeat("x", 2*headSize) + `"},"uuid":"u"}`
	if events := eventsOf(t, write(t, "long.jsonl", log)); len(events) != 2 {
		t.Errorf("%d events", len(events))
	}
}

// No log is taken for one of another format. The names of the cases begin with
// that of their format.
func TestFormatsAreToldApart(t *testing.T) {
	agents := map[string]quire.Agent{
		"claude": quire.AgentClaudeCode, "codex": quire.AgentCodex, "copilot": quire.AgentCopilot,
		"opencode": quire.AgentOpenCode, "mini": quire.AgentMini, "swe": quire.AgentSWE, "messages": quire.AgentMessages,
	}
	files, err := filepath.Glob(filepath.Join("testdata", "*-*"))
	if err != nil || len(files) < 2*len(agents) {
		t.Fatalf("%d cases, %v", len(files), err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, ".golden") {
			continue
		}
		logs, err := Open(file)
		name, _, _ := strings.Cut(filepath.Base(file), "-")
		if err != nil || logs[0].Agent != agents[name] {
			t.Errorf("%s is taken for %v, %v", file, logs, err)
		}
	}
}
