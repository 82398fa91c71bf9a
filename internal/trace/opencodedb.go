package trace

import (
	"errors"
	"fmt"
	"iter"
	"os"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/x/sqlite"
)

// openSQLite finds the sessions in a database of OpenCode, the oldest first. The
// session that a session was started from is in SessionInfo.Parent. The files of
// the database are only read, not locked and not written to (package sqlite); each
// reading of a session opens them anew and sees what is committed then.
func openSQLite(path string) ([]*Log, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, unreadable(err)
	}
	db, err := sqlite.Open(path)
	if err != nil {
		return nil, unreadable(err)
	}
	defer db.Close()
	tables, err := column(db, "select name from sqlite_master where type = 'table' and name in ('session', 'message', 'part')")
	if err != nil {
		return nil, unreadable(err)
	}
	if len(tables) < 3 {
		return nil, ErrUnknown
	}
	ids, err := column(db, "select id from session order by time_created, id")
	if err != nil {
		return nil, unreadable(err)
	}
	var logs []*Log
	for _, id := range ids {
		logs = append(logs, &Log{Path: path, Part: id, Agent: quire.AgentOpenCode, Size: info.Size(), events: storedSession(path, id)})
	}
	return logs, nil
}

// storedSession reads one session of a database.
func storedSession(path, id string) iter.Seq2[quire.Event, error] {
	return func(yield func(quire.Event, error) bool) {
		r := newOpenCodeReader(newSink(func(e quire.Event) bool { return yield(e, nil) }))
		err := readStored(r, path, id)
		if err != nil && !r.done {
			yield(nil, fmt.Errorf("read session %s: %w", id, err))
		}
	}
}

// errWritten is how it is reported that the database was at work.
var errWritten = errors.New("the database was written to while it was read: records may be missing")

func readStored(r *openCodeReader, path, id string) error {
	db, err := sqlite.Open(path)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := describeStored(r, db, id); err != nil {
		return err
	}
	messages, err := column(db, "select id from message where session_id = ? order by time_created, id", id)
	if err != nil {
		return err
	}
	for n, message := range messages {
		if r.done {
			return nil
		}
		if err := readStoredMessage(r, db, n+1, message); err != nil {
			return err
		}
	}
	if db.Changed() {
		r.skip(errWritten)
	}
	r.finish()
	return nil
}

func describeStored(r *openCodeReader, db *sqlite.DB, id string) error {
	for row, err := range db.Rows("select parent_id, directory, version, time_created, revert from session where id = ?", id) {
		if err != nil {
			return err
		}
		r.opener.info = quire.SessionInfo{
			ID:      id,
			Agent:   quire.AgentOpenCode,
			Parent:  row[0],
			Project: row[1],
			Version: row[2],
			Started: moment(value(row[3])),
		}
		r.revert = value(row[4]).get("messageID").text()
	}
	r.opener.open(r.sink)
	return nil
}

func readStoredMessage(r *openCodeReader, db *sqlite.DB, n int, id string) error {
	info, err := column(db, "select data from message where id = ?", id)
	if err != nil || len(info) == 0 {
		return err // a message that was deleted meanwhile is no more
	}
	texts, err := column(db, "select data from part where message_id = ? order by id", id)
	if err != nil {
		return err
	}
	parts := make([]value, len(texts))
	for i, t := range texts {
		parts[i] = value(t)
	}
	r.message(n, id, value(info[0]), parts)
	return nil
}

// column is the first column of all rows of a query.
func column(db *sqlite.DB, query string, args ...any) ([]string, error) {
	var out []string
	for row, err := range db.Rows(query, args...) {
		if err != nil {
			return nil, err
		}
		out = append(out, row[0])
	}
	return out, nil
}
