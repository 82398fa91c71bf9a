package anthropic

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/wire/wiretest"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

// TestCorpus holds the identity on what recorded sessions sent and got: the
// messages of a log make one request, each answer is one reply. It takes one log
// in eight, which is enough to meet what agents write and takes seconds.
func TestCorpus(t *testing.T) {
	if testing.Short() {
		t.Skip("reads megabytes of recorded sessions")
	}
	var logs, messages, replies, opaque int
	for i, path := range recorded(t) {
		if i%8 != 0 {
			continue
		}
		request, answers := replay(t, path)
		c := checkRecorded(t, path, request)
		for _, m := range c.Messages {
			messages++
			for _, b := range m.Blocks {
				if b.Opaque != nil {
					opaque++
				}
			}
		}
		for _, raw := range answers {
			dumpAnswer(t, raw)
		}
		logs++
		replies += len(answers)
	}
	t.Logf("%d logs, %d messages, %d replies, %d opaque blocks", logs, messages, replies, opaque)
	if messages == 0 || replies == 0 {
		t.Error("no messages or no replies")
	}
}

func checkRecorded(t *testing.T, path string, request []byte) quire.Call {
	t.Helper()
	c, err := DecodeCall(request)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	out, err := EncodeCall(c)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if wiretest.SameJSON(request, out) != nil {
		t.Errorf("%s: not the same when it was decoded and encoded", path)
	}
	return c
}

// replay makes one request of the messages of a log, and lists its answers.
func replay(t *testing.T, path string) (request []byte, answers [][]byte) {
	log, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	request = []byte(`{"model":"m","messages":[`)
	for line := range bytes.Lines(log) {
		r, err := rawjson.Parse(line)
		if err != nil {
			continue
		}
		message, ok := rawjson.Read(r.Peek("message"))
		if !ok || message.Peek("role") == nil {
			continue
		}
		if request[len(request)-1] != '[' {
			request = append(request, ',')
		}
		request = append(request, r.Peek("message")...)
		if message.Is("type", "message") {
			answers = append(answers, r.Peek("message"))
		}
	}
	return append(request, "]}"...), answers
}

func recorded(t *testing.T) []string {
	candidates := []string{os.Getenv("QUIRE_SHARED")}
	dir, err := os.Getwd()
	for err == nil && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
		candidates = append(candidates, filepath.Join(dir, "shared"))
	}
	for _, shared := range candidates {
		var list []string
		for _, folder := range []string{"endless", "bench/entire-cli", "bench/agentv"} {
			found, _ := filepath.Glob(filepath.Join(shared, "corpus", filepath.FromSlash(folder), "*.jsonl"))
			list = append(list, found...)
		}
		if len(list) > 0 {
			return list
		}
	}
	t.Skip("the recorded sessions are not here; QUIRE_SHARED names the folder that holds corpus/")
	return nil
}
