package responses

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/wire/wiretest"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestGolden reads what the files of testdata hold: request.json gives a call,
// reply.json a reply, stream the reply that it adds up to or its error. What can
// be encoded again is.
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
	checkCall(t, raw)
	return wiretest.DumpCall(c)
}

func dumpAnswer(t *testing.T, raw []byte) string {
	r, err := DecodeReply(raw)
	if err != nil {
		return dumpError(t, err)
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

func dumpError(t *testing.T, err error) string {
	t.Helper()
	var e *quire.CallError
	if !errors.As(err, &e) {
		t.Fatal(err)
	}
	return wiretest.DumpError(e)
}

// dumpStream adds a stream up, and once more after it was encoded and decoded.
func dumpStream(t *testing.T, raw []byte) string {
	deltas, err := collect(raw)
	if err != nil {
		return dumpError(t, err)
	}
	first := fold(t, deltas)
	deltas, err = collect(encodeStream(t, new(Encoder), deltas))
	if err != nil {
		t.Fatal(err)
	}
	if again := fold(t, deltas); !reflect.DeepEqual(sorted(first), sorted(again)) {
		t.Errorf("a stream that was encoded again is\n%swant\n%s", wiretest.DumpReply(again), wiretest.DumpReply(first))
	}
	return wiretest.DumpReply(first)
}

// sorted is a reply with its rests in the order of their names.
func sorted(r quire.Reply) quire.Reply {
	byName := func(rest []quire.Field) []quire.Field {
		return slices.SortedFunc(slices.Values(rest), func(a, b quire.Field) int { return strings.Compare(a.Name, b.Name) })
	}
	r.Rest, r.Blocks = byName(r.Rest), slices.Clone(r.Blocks)
	for i := range r.Blocks {
		r.Blocks[i].Rest = byName(r.Blocks[i].Rest)
	}
	return r
}

func encodeStream(t *testing.T, e *Encoder, deltas []quire.Delta) []byte {
	t.Helper()
	var out []byte
	for _, d := range deltas {
		b, err := e.Encode(d)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, b...)
	}
	return out
}

func collect(stream []byte) (deltas []quire.Delta, err error) {
	for d, err := range DecodeStream(iotest.HalfReader(bytes.NewReader(stream))) {
		if err != nil {
			return deltas, err
		}
		deltas = append(deltas, d)
	}
	return deltas, nil
}

func fold(t *testing.T, deltas []quire.Delta) quire.Reply {
	t.Helper()
	reply, err := wiretest.Fold(deltas)
	if err != nil {
		t.Fatal(err)
	}
	return reply
}
