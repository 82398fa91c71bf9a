package trace

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/quire-agent/quire/internal/quire"
)

// A stored is a session to be stored in each of the ways that OpenCode has.
type stored struct {
	Info struct {
		ID        string          `json:"id"`
		ParentID  string          `json:"parentID"`
		Directory string          `json:"directory"`
		Version   string          `json:"version"`
		Revert    json.RawMessage `json:"revert"`
		Time      struct {
			Created int64 `json:"created"`
		} `json:"time"`
	}
	Messages []struct {
		Info  json.RawMessage   `json:"info"`
		Parts []json.RawMessage `json:"parts"`
	}
}

// loadStored reads an export of which all messages can be stored, and the events
// that it has as an export.
func loadStored(t *testing.T, name string) (s stored, info []byte, events string) {
	t.Helper()
	file, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var whole struct {
		Info     json.RawMessage `json:"info"`
		Messages []struct {
			Info  json.RawMessage   `json:"info"`
			Parts []json.RawMessage `json:"parts"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(file, &whole); err != nil {
		t.Fatal(err)
	}
	whole.Messages = whole.Messages[:min(len(whole.Messages), 10)]
	s.Messages = whole.Messages
	if err := json.Unmarshal(whole.Info, &s.Info); err != nil {
		t.Fatal(err)
	}
	short, err := json.Marshal(whole)
	if err != nil {
		t.Fatal(err)
	}
	return s, whole.Info, dump(collect(t, opencodeImporter(), string(short)))
}

func messageID(n int) string { return fmt.Sprintf("msg_%02d", n+1) }

const schema = `
create table session(id text primary key, parent_id text, directory text not null, version text not null, time_created integer not null, revert text);
create table message(id text primary key, session_id text not null, time_created integer not null, data text not null);
create table part(id text primary key, message_id text not null, session_id text not null, data text not null);`

// storeDatabase puts sessions into a database and leaves it open, with all of
// them in its write-ahead log.
func storeDatabase(t *testing.T, path string, sessions ...stored) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(path))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1)
	run := func(query string, args ...any) {
		if _, err := db.Exec(query, args...); err != nil {
			t.Fatal(err)
		}
	}
	run("pragma journal_mode=wal")
	run("pragma wal_autocheckpoint=0")
	run(schema)
	for _, s := range sessions {
		parent := sql.NullString{String: s.Info.ParentID, Valid: s.Info.ParentID != ""}
		run("insert into session values (?,?,?,?,?,?)", s.Info.ID, parent, s.Info.Directory, s.Info.Version, s.Info.Time.Created, string(s.Info.Revert))
		for i, m := range s.Messages {
			id := messageID(i)
			run("insert into message values (?,?,?,?)", s.Info.ID+id, s.Info.ID, i, string(m.Info))
			for k, p := range m.Parts {
				run("insert into part values (?,?,?,?)", fmt.Sprintf("%s%s.%02d", s.Info.ID, id, k), s.Info.ID+id, s.Info.ID, string(p))
			}
		}
	}
}

// What OpenCode keeps in its database reads like what it exports.
func TestDatabaseReadsLikeExport(t *testing.T) {
	for _, name := range []string{"opencode-basic.json", "opencode-steps.json"} {
		t.Run(name, func(t *testing.T) {
			s, _, want := loadStored(t, name)
			id := s.Info.ID
			s.Info.ID = "" // so that the ids of messages are those of the export
			path := filepath.Join(t.TempDir(), "data.db")
			storeDatabase(t, path, s)
			logs, err := Open(path)
			if err != nil || len(logs) != 1 {
				t.Fatalf("%d logs, error %v", len(logs), err)
			}
			got := eventsOfLog(t, logs[0])
			opened := got[0].(quire.Opened)
			opened.Info.ID = id
			got[0] = opened
			checkContract(t, got)
			if dump(got) != want {
				t.Errorf("got:\n%swant:\n%s", dump(got), want)
			}
		})
	}
}

func eventsOfLog(t *testing.T, l *Log) []quire.Event {
	t.Helper()
	var events []quire.Event
	for e, err := range l.Events() {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	return events
}

// A database holds several sessions; those of subagents name their parent.
func TestDatabaseOfSeveralSessions(t *testing.T) {
	first, _, _ := loadStored(t, "opencode-basic.json")
	second, _, _ := loadStored(t, "opencode-steps.json")
	second.Info.Time.Created++
	path := filepath.Join(t.TempDir(), "data.db")
	storeDatabase(t, path, second, first)
	before, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	logs, err := Open(path)
	if err != nil || len(logs) != 2 {
		t.Fatalf("%d logs, error %v", len(logs), err)
	}
	for i, want := range []struct{ id, parent string }{{"ses_1", ""}, {"ses_2", "ses_1"}} {
		opened := eventsOfLog(t, logs[i])[0].(quire.Opened)
		if logs[i].Part != want.id || opened.Info.ID != want.id || opened.Info.Parent != want.parent {
			t.Errorf("log %d is %q, %+v, want %v", i, logs[i].Part, opened.Info, want)
		}
	}
	for range logs[1].Events() {
		break // a reader may stop at once, and the database is closed again
	}
	after, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(after) != len(before) {
		t.Errorf("%d files, %d before reading, error %v", len(after), len(before), err)
	}
}

// A database without the tables is named as what it is not.
func TestForeignDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data.db")
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(path))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("create table t(a)"); err != nil {
		t.Fatal(err)
	}
	if logs, err := Open(path); !errors.Is(err, ErrUnknown) {
		t.Errorf("%d logs, error %v", len(logs), err)
	}
}

// storeFolder puts a session into the folder of JSON files that OpenCode had
// before it had a database, and returns the path of the session file.
func storeFolder(t *testing.T, s stored, info []byte, early bool) string {
	t.Helper()
	root := t.TempDir()
	session := filepath.Join(root, "session", "project", s.Info.ID+".json")
	if early {
		root = filepath.Join(root, "session")
		session = filepath.Join(root, "info", s.Info.ID+".json")
	}
	put(t, session, info)
	for i, m := range s.Messages {
		put(t, filepath.Join(root, "message", s.Info.ID, messageID(i)+".json"), m.Info)
		dir := filepath.Join(root, "part", messageID(i))
		if early {
			dir = filepath.Join(root, "part", s.Info.ID, messageID(i))
		}
		for k, p := range m.Parts {
			put(t, filepath.Join(dir, fmt.Sprintf("prt_%02d.json", k)), p)
		}
	}
	return session
}

func put(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestFolderReadsLikeExport(t *testing.T) {
	for _, early := range []bool{false, true} {
		for _, name := range []string{"opencode-basic.json", "opencode-steps.json"} {
			s, info, want := loadStored(t, name)
			logs, err := Open(storeFolder(t, s, info, early))
			if err != nil || len(logs) != 1 {
				t.Fatalf("%s: %d logs, error %v", name, len(logs), err)
			}
			if got := dump(eventsOfLog(t, logs[0])); got != want {
				t.Errorf("%s, early %t; got:\n%swant:\n%s", name, early, got, want)
			}
		}
	}
}

// A part that cannot be read is named, and the rest is read.
func TestFolderWithDamage(t *testing.T) {
	s, info, _ := loadStored(t, "opencode-basic.json")
	path := storeFolder(t, s, info, false)
	root := filepath.Dir(filepath.Dir(filepath.Dir(path)))
	put(t, filepath.Join(root, "part", "msg_01", "prt_00.json"), []byte(`{"type":`))
	put(t, filepath.Join(root, "message", "ses_1", "msg_02.json"), nil)
	events := eventsOfLog(t, openStoredSession(path, 0))
	checkContract(t, events)
	var reasons []string
	for _, e := range events {
		if e, ok := e.(quire.Skipped); ok {
			reasons = append(reasons, e.Reason)
		}
	}
	want := fmt.Sprint([]string{"prt_00.json: " + errTruncated.Error(), "msg_02.json: " + errTruncated.Error()})
	if fmt.Sprint(reasons) != want {
		t.Errorf("skipped %q, want %s", reasons, want)
	}
}
