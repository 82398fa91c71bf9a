package gemini

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/wire/wiretest"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestGolden reads what the files of testdata hold: request.json gives call,
// reply.json gives reply, stream gives folded. Each is encoded again too.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) { testFile(t, path) })
	}
}

func testFile(t *testing.T, path string) {
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got string
	for i := range archive.Files {
		f := &archive.Files[i]
		switch f.Name {
		case "request.json":
			got = dumpRequest(t, f.Data)
		case "reply.json":
			got = dumpAnswer(t, f.Data)
		case "stream":
			got = dumpStream(t, f.Data)
		default:
			if *update {
				f.Data = []byte(got)
			} else if got != string(f.Data) {
				t.Errorf("%s is\n%swant\n%s", f.Name, got, f.Data)
			}
		}
	}
	if *update {
		if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func dumpRequest(t *testing.T, raw []byte) string {
	c, err := DecodeCall(raw)
	if err != nil {
		t.Fatal(err)
	}
	again, err := EncodeCall(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := wiretest.SameJSON(raw, again); err != nil {
		t.Error(err)
	}
	return wiretest.DumpCall(c)
}

func dumpAnswer(t *testing.T, raw []byte) string {
	r, err := DecodeReply(raw)
	if err != nil {
		t.Fatal(err)
	}
	again, err := EncodeReply(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := wiretest.SameJSON(raw, again); err != nil {
		t.Error(err)
	}
	return wiretest.DumpReply(r)
}

// dumpStream adds a stream up, and once more after it was encoded and decoded.
func dumpStream(t *testing.T, raw []byte) string {
	deltas := collect(t, raw)
	first := fold(t, deltas)
	var out []byte
	var e Encoder
	for _, d := range deltas {
		b, err := e.Encode(d)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, b...)
	}
	if err := wiretest.SameReply(first, fold(t, collect(t, out))); err != nil {
		t.Error("encoded again:", err)
	}
	return wiretest.DumpReply(first)
}

func collect(t *testing.T, stream []byte) []quire.Delta {
	t.Helper()
	var deltas []quire.Delta
	for d, err := range DecodeStream(iotest.HalfReader(bytes.NewReader(stream))) {
		if err != nil {
			t.Fatal(err)
		}
		deltas = append(deltas, d)
	}
	return deltas
}

func fold(t *testing.T, deltas []quire.Delta) quire.Reply {
	t.Helper()
	reply, err := wiretest.Fold(deltas)
	if err != nil {
		t.Fatal(err)
	}
	return reply
}
