package ingest

import (
	"bytes"
	"io"
	"os"
)

// Ours reports whether a file is one that Quire made: a journal or an export of
// one. Those are no logs: what is in them was recorded before, and whoever took
// them in as new content would find itself in its own memory.
func Ours(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 256)
	n, err := io.ReadFull(f, head)
	if err != nil && n == 0 {
		return false
	}
	return ours(head[:n])
}

func ours(head []byte) bool {
	if bytes.HasPrefix(head, []byte(`{"export":"session"`)) {
		return true
	}
	return bytes.HasPrefix(head, []byte(`{"v":`)) && bytes.Contains(head, []byte(`"seq":0,"type":"session"`))
}
