package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/store/sqlite"
)

// A mended is a home in which something goes wrong.
type mended struct {
	t        *testing.T
	dir, log string
}

// newMended imports a log with a page without text.
func newMended(t *testing.T) *mended {
	t.Helper()
	m := &mended{t: t, dir: t.TempDir()}
	m.log = m.write("log.jsonl", logOf("one"))
	if got := m.run("import", m.log); got.code != 0 {
		t.Fatalf("%+v", got)
	}
	return m
}

// logOf is a session in which a file is read, changed, and a command says nothing.
func logOf(id string) string {
	parent := "null"
	line := func(kind, uuid, message string) string {
		after := parent
		parent = `"` + uuid + `"`
		return `{"type":"` + kind + `","isSidechain":false,"uuid":"` + uuid + `","parentUuid":` + after + `,"sessionId":"` + id + `","timestamp":"2026-11-02T09:00:00Z","cwd":"/p","message":` + message + "}\n"
	}
	call := func(uuid, tool, input string) string {
		return line("assistant", uuid, `{"id":"m`+uuid+`","role":"assistant","model":"claude-opus-4-6","content":[{"type":"tool_use","id":"t`+uuid+`","name":"`+tool+`","input":`+input+`}]}`)
	}
	result := func(uuid, of, text string) string {
		return line("user", uuid, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t`+of+`","content":"`+text+`"}]}`)
	}
	return line("user", "u1", `{"role":"user","content":"Mend the clock."}`) +
		call("2", "Read", `{"file_path":"/p/clock.go"}`) + result("3", "2", `1\tpackage clock\n2\tvar hand = 1\n`) +
		call("4", "Edit", `{"file_path":"/p/clock.go","old_string":"var hand = 1","new_string":"var hand = 2"}`) + result("5", "4", "The file has been updated.") +
		call("6", "Bash", `{"command":"touch silent.txt"}`) + result("7", "6", "")
}

func (m *mended) write(name, text string) string {
	m.t.Helper()
	path := filepath.Join(m.t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		m.t.Fatal(err)
	}
	return path
}

func (m *mended) run(args ...string) answer {
	m.t.Helper()
	var out, errs bytes.Buffer
	env := newEnvironment([]string{"HOME=" + m.dir, "USERPROFILE=" + m.dir})
	a := app{dir: m.dir, goos: "linux", build: builtFrom("v1.2.3", "0123456789abcdef")}
	code := a.Run(m.t.Context(), args, strings.NewReader(""), &out, &errs, env)
	return answer{code, out.String(), errs.String()}
}

func (m *mended) home() string { return filepath.Join(m.dir, ".quire") }

func (m *mended) journal() string {
	m.t.Helper()
	names, err := journal.List(m.home())
	if err != nil || len(names) == 0 {
		m.t.Fatalf("%v, %v", names, err)
	}
	return names[0].Path
}

func TestShowOfAPageWithoutText(t *testing.T) {
	m := newMended(t)
	if got := m.run("show", "p5"); got.code != 0 || got.out != "" || got.err != "" {
		t.Errorf("show: %+v", got)
	}
	if got := m.run("recall", "silent.txt"); got.code != 0 || !strings.Contains(got.out, "s1/p5") {
		t.Errorf("recall: %+v", got)
	}
	if got := m.run("doctor"); got.code != 0 {
		t.Errorf("doctor: %+v", got)
	}
}

func TestADamagedJournalDoesNotStopOtherLogs(t *testing.T) {
	m := newMended(t)
	path := m.journal()
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, bytes.Replace(text, []byte(`"type":"part"`), []byte(`"type";"part"`), 1), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	other := m.write("other.jsonl", logOf("two"))
	got := m.run("import", m.log, other)
	if got.code != 1 || !strings.HasPrefix(got.out, "1 new session, ") || !strings.Contains(got.err, filepath.Base(path)) || !strings.Contains(got.err, "1 log was not taken in") {
		t.Errorf("got %+v", got)
	}
	if got := m.run("pages", "s2"); got.code != 0 {
		t.Errorf("the other log: %+v", got)
	}
}

func TestReadersSayThatASessionIsBehind(t *testing.T) {
	m := newMended(t)
	w, err := journal.Open(m.journal(), time.Now)
	if err == nil {
		_, err = w.Append(quire.RecordNote, quire.NoteRecord{Reason: "later"})
	}
	if err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"pages"}, {"show", "p1"}, {"recall", "clock"}} {
		if got := m.run(args...); got.code != 0 || !strings.Contains(got.err, "1 session is behind") {
			t.Errorf("%v: %+v", args, got)
		}
	}
	if got := m.run("doctor"); got.code != 0 || !strings.Contains(got.out, "1 session is behind") || !strings.Contains(got.out, "Nothing is damaged.") {
		t.Errorf("doctor: %+v", got)
	}
	if got := m.run("doctor", "--rebuild"); got.code != 0 || strings.Contains(got.out, "behind") {
		t.Errorf("rebuild: %+v", got)
	}
	if got := m.run("pages"); got.err != "" {
		t.Errorf("after it: %+v", got)
	}
}

func TestImportSaysWhatItLeftOutAndPutBack(t *testing.T) {
	m := newMended(t)
	store, err := sqlite.Open(t.Context(), m.home(), sqlite.Options{})
	if err == nil {
		err = store.DropBodies(t.Context(), []quire.Hash{quire.Sum("The file has been updated.")})
	}
	if err != nil || store.Close() != nil {
		t.Fatal(err)
	}
	grown := m.write("log.jsonl", logOf("one")+`{"type":"us`)
	got := m.run("import", grown)
	if got.code != 0 || !strings.Contains(got.out, "0 grown, 1 unchanged") || !strings.Contains(got.out, "1 lost body was put back") || !strings.Contains(got.err, "its end was not taken in") {
		t.Errorf("got %+v", got)
	}
	if got := m.run("doctor"); got.code != 0 || strings.Contains(got.out, "behind") {
		t.Errorf("doctor: %+v", got)
	}
}

func TestPagesSaysWhatTheUserWants(t *testing.T) {
	m := newMended(t)
	w, err := journal.Open(m.journal(), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	for what, page := range map[string]quire.PageNumber{quire.MarkPin: 1, quire.MarkDrop: 2} {
		if _, err := w.Append(quire.RecordMark, quire.MarkRecord{What: what, Page: page, By: owner}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	m.run("doctor", "--rebuild")
	got := m.run("pages")
	if !strings.Contains(got.out, "unknown, pinned") || !strings.Contains(got.out, "ok, dropped") {
		t.Errorf("%+v", got)
	}
}

func TestDerivedFromIsGivenByName(t *testing.T) {
	m := newMended(t)
	var list struct {
		Pages []struct {
			From []string `json:"derived_from"`
		} `json:"pages"`
	}
	if err := json.Unmarshal([]byte(m.run("pages", "--json").out), &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Pages) < 3 || len(list.Pages[2].From) != 1 || list.Pages[2].From[0] != "p2" {
		t.Errorf("pages %+v", list.Pages)
	}
	var one struct {
		Row struct {
			From []string `json:"derived_from"`
		} `json:"row"`
	}
	if err := json.Unmarshal([]byte(m.run("show", "p3", "--json").out), &one); err != nil || len(one.Row.From) != 1 || one.Row.From[0] != "p2" {
		t.Errorf("row %+v, %v", one, err)
	}
}
