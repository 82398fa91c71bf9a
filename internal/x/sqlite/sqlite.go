// Package sqlite opens SQLite databases, in two ways: [Open] those that belong
// to other programs, to read them, and [OpenFile] those of Quire's own.
//
// A foreign database is never written, locked or created, and what its program
// has committed is seen even where that still stands in a write-ahead log.
// SQLite itself cannot do this: to read a database with a write-ahead log it
// needs the shared-memory file, which it creates and locks; opened as immutable
// it passes over the log, and with it the latest sessions; and a copy of the
// files costs as much as they are long. So the log is resolved here: the library
// is given a read-only file in which each page is the youngest committed one.
//
// What another program writes while a database is open may or may not be seen;
// Changed tells whether that can have happened.
package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"iter"

	_ "modernc.org/sqlite" // the driver that sql.Open names
	"modernc.org/sqlite/vfs"
)

// A DB is a foreign database opened for reading. Its methods may be called concurrently.
type DB struct {
	name  string
	image *image
	files *vfs.FS
	sql   *sql.DB
}

// Open opens the database in a file to read it.
func Open(path string) (*DB, error) {
	db, err := open(path)
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", path, err)
	}
	return db, nil
}

func open(path string) (*DB, error) {
	image, err := openImage(path)
	if err != nil {
		return nil, err
	}
	name, files, err := vfs.New(folder{image})
	if err != nil {
		return nil, errors.Join(err, image.Close())
	}
	handle, err := sql.Open("sqlite", "file:"+databaseName+"?mode=ro&immutable=1&_pragma=temp_store(memory)&vfs="+name)
	if err != nil {
		return nil, errors.Join(err, files.Close(), image.Close())
	}
	return &DB{name: path, image: image, files: files, sql: handle}, nil
}

// Close closes the database. Rows must have been read or left before.
func (db *DB) Close() error {
	return errors.Join(db.sql.Close(), db.files.Close(), db.image.Close())
}

// Changed reports whether another program may have written to the files of the
// database since it was opened.
func (db *DB) Changed() bool { return db.image.changed() }

// Rows runs a query and yields its rows, each with its columns as text; NULL is
// "". A row is overwritten by the next one. An error ends the sequence.
func (db *DB) Rows(query string, args ...any) iter.Seq2[[]string, error] {
	return func(yield func([]string, error) bool) {
		if err := db.rows(query, args, yield); err != nil {
			yield(nil, fmt.Errorf("query %s: %w", db.name, err))
		}
	}
}

func (db *DB) rows(query string, args []any, yield func([]string, error) bool) error {
	rows, err := db.sql.Query(query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	cells := make([]sql.NullString, len(columns))
	into := make([]any, len(columns))
	for i := range cells {
		into[i] = &cells[i]
	}
	row := make([]string, len(columns))
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		for i, c := range cells {
			row[i] = c.String
		}
		if !yield(row, nil) {
			return nil
		}
	}
	return rows.Err()
}

// databaseName is how the library names the one file that there is.
const databaseName = "database"

// A folder is a file system that holds one database.
type folder struct{ image *image }

// Open opens the database.
func (f folder) Open(name string) (fs.File, error) {
	if name != databaseName {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return &reader{image: f.image}, nil
}
