package trace

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
)

// isStoredSession reports whether a head is that of a session file in the folder
// in which OpenCode kept its sessions before it had a database.
func isStoredSession(head []byte) bool {
	v := headOf(head)
	return strings.HasPrefix(headField(v, "id").text(), "ses") && headField(v, "time").isObject() &&
		headField(v, "info") == nil && headField(v, "messages") == nil
}

// openStoredSession opens the session of a session file in such a folder:
//
//	storage/session/PROJECT/SESSION.json
//	storage/message/SESSION/MESSAGE.json
//	storage/part/MESSAGE/PART.json
//
// or, in earlier versions, storage/session/info, storage/session/message and
// storage/session/part/SESSION/MESSAGE. Ids rise with time, and so do the names of
// files. Log.Size is that of the session file alone.
func openStoredSession(path string, size int64) *Log {
	return &Log{Path: path, Agent: quire.AgentOpenCode, Size: size, events: folderSession(path)}
}

func folderSession(path string) iter.Seq2[quire.Event, error] {
	return func(yield func(quire.Event, error) bool) {
		r := newOpenCodeReader(newSink(func(e quire.Event) bool { return yield(e, nil) }))
		err := readFolder(r, path)
		if err != nil && !r.done {
			yield(nil, fmt.Errorf("read session %s: %w", path, err))
		}
	}
}

func readFolder(r *openCodeReader, path string) error {
	session, err := readValue(path)
	if err != nil {
		return err
	}
	r.describe(session)
	root := storageRoot(path)
	id := session.get("id").text()
	messages, err := jsonFiles(filepath.Join(root, "message", filepath.Base(id)))
	if err != nil {
		return err
	}
	for n, file := range messages {
		if r.done {
			return nil
		}
		readFolderMessage(r, root, id, n+1, file)
	}
	r.finish()
	return nil
}

// storageRoot is the folder that holds "message" and "part". A session file lies
// two folders below it, or one in early versions.
func storageRoot(path string) string {
	above := filepath.Dir(filepath.Dir(path))
	if filepath.Base(filepath.Dir(path)) == "info" {
		return above
	}
	return filepath.Dir(above)
}

// readFolderMessage sends a message with its parts. Files that cannot be read are
// reported by name.
func readFolderMessage(r *openCodeReader, root, session string, n int, file string) {
	r.Stamp = quire.Stamp{Line: n}
	info, err := readValue(file)
	if err != nil {
		r.skip(fmt.Errorf("%s: %w", filepath.Base(file), err))
		return
	}
	id := strings.TrimSuffix(filepath.Base(file), ".json")
	files, err := jsonFiles(filepath.Join(root, "part", id))
	if err == nil && len(files) == 0 {
		files, err = jsonFiles(filepath.Join(root, "part", filepath.Base(session), id))
	}
	if err != nil {
		r.skip(err)
	}
	var parts []value
	for _, f := range files {
		p, err := readValue(f)
		if err != nil {
			r.skip(fmt.Errorf("%s: %w", filepath.Base(f), err))
			continue
		}
		parts = append(parts, p)
	}
	r.message(n, id, info, parts)
}

// jsonFiles lists the JSON files of a folder in the order of their names. A
// folder that is not there has none.
func jsonFiles(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		if !e.IsDir() && filepath.Ext(e.Name()) == ".json" {
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	return out, nil
}

// readValue reads a file that holds one JSON object.
func readValue(path string) (value, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	v, err := newDocument(f).take()
	switch {
	case errors.Is(err, io.EOF):
		return nil, errTruncated
	case err == nil && !v.isObject():
		return nil, errSyntax
	}
	return v, err
}
