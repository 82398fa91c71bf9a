package responses

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// TestRecordedItemsComeBack holds for the items of recorded sessions what
// TestAnyCallComesBack holds for those of chance.
func TestRecordedItemsComeBack(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(shared(), "corpus", "bench", "agentv", "*.jsonl"))
	if len(files) == 0 {
		t.Skip("no recorded sessions: set QUIRE_SHARED to the folder that holds corpus")
	}
	items := 0
	for _, name := range files {
		log, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var list [][]byte
		for line := range bytes.Lines(log) {
			var record struct {
				Type    string
				Payload json.RawMessage
			}
			if json.Unmarshal(line, &record) == nil && record.Type == "response_item" {
				list = append(list, record.Payload)
			}
		}
		items += len(list)
		checkCall(t, bytes.Join([][]byte{[]byte(`{"input":[`), bytes.Join(list, []byte(",")), []byte(`]}`)}, nil))
	}
	t.Logf("%d items of %d sessions", items, len(files))
}

// shared is the folder beside the repository that holds recorded sessions.
func shared() string {
	if dir := os.Getenv("QUIRE_SHARED"); dir != "" {
		return dir
	}
	for dir, _ := filepath.Abs("."); ; dir = filepath.Dir(dir) {
		if try := filepath.Join(dir, "shared"); dir == filepath.Dir(dir) || isDir(filepath.Join(try, "corpus")) {
			return try
		}
	}
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}
