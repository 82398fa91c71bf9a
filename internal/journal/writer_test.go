package journal

import (
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/quire"
	"pgregory.net/rapid"
)

func TestLinesAreTheEnvelopeAndThePayload(t *testing.T) {
	path := journalPath(t)
	w := open(t, path)
	add(t, w, quire.RecordCall, quire.CallRecord{Call: "c1", Model: "m<&>"})
	add(t, w, "new-type", json.RawMessage(`{ "a": [1,
		2], "b": {"c": null} }`))
	add(t, w, "empty", struct{}{})
	if got := contents(t, path); got != "" {
		t.Errorf("before Sync the file holds %q", got)
	}
	flush(t, w)
	const stamp = `{"v":2,"t":"2026-03-04T05:06:07.000000089Z"`
	want := stamp + `,"seq":0,"type":"call","crc":"aeb28022","call":"c1","model":"m<&>"}` + "\n" +
		stamp + `,"seq":1,"type":"new-type","crc":"1384e187","a":[1,2],"b":{"c":null}}` + "\n" +
		stamp + `,"seq":2,"type":"empty","crc":"b2123eb0"}` + "\n"
	if got := contents(t, path); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	records := whole(t, path)
	call, err := Decode[quire.CallRecord](records[0])
	if err != nil || call.Model != "m<&>" || !records[0].T.Equal(newClock().at) || records[0].V != quire.RecordVersion {
		t.Errorf("read back: %+v, %v of %+v", call, err, records[0])
	}
	if got := string(records[1].Line) + "\n"; !strings.Contains(want, got) {
		t.Errorf("an unknown type is read as %s", got)
	}
}

func TestPayloadsThatDoNotFit(t *testing.T) {
	path := journalPath(t)
	w := open(t, path)
	for _, payload := range []any{
		[]int{1}, "text", nil, math.Inf(1), json.RawMessage(`{"seq":9}`), json.RawMessage(`{"Type":"y"}`), json.RawMessage(`{"t":"2020-01-01T00:00:00Z"}`),
		json.RawMessage(`{"back":3}`), json.RawMessage(`{"v":2}`), json.RawMessage(`{"crc":"00000000"}`), json.RawMessage(`{"a":[{"b":"}"}],"\u0073eq":1}`), json.RawMessage(`{`),
	} {
		if seq, err := w.Append("x", payload); err == nil {
			t.Errorf("%v was appended as %d", payload, seq)
		}
	}
	if _, err := w.Append("", note{}); err == nil {
		t.Error("a record without a type was appended")
	}
	if seq := add(t, w, "x", json.RawMessage(`{"text":"type","deep":{"seq":1,"list":["v",{"t":2}]}}`)); seq != 0 {
		t.Errorf("what was refused took a seq: the next one is %d", seq)
	}
	flush(t, w)
	if got := whole(t, path); len(got) != 1 {
		t.Errorf("%d records", len(got))
	}
}

func TestReopenedJournalGoesOn(t *testing.T) {
	path := journalPath(t)
	for i := range 4 {
		w := open(t, path)
		if w.Torn() != nil {
			t.Errorf("a whole journal is torn: %v", w.Torn())
		}
		if seq := add(t, w, "x", note{strings.Repeat("y", i*40_000)}); seq != int64(i) {
			t.Errorf("seq %d, want %d", seq, i)
		}
		closed(t, w)
	}
	if got := whole(t, path); len(got) != 4 {
		t.Errorf("%d records", len(got))
	}
}

func TestClosedWriter(t *testing.T) {
	w := open(t, journalPath(t))
	add(t, w, "x", note{})
	closed(t, w)
	if _, err := w.Append("x", note{}); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Append: %v", err)
	}
	if err := w.Close(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Close: %v", err)
	}
	if got := whole(t, w.Path()); len(got) != 1 {
		t.Errorf("Close left %d records", len(got))
	}
}

func TestModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes on this system")
	}
	path := journalPath(t)
	w := open(t, path)
	for name, want := range map[string]fs.FileMode{filepath.Dir(path): 0o700 | fs.ModeDir, path: 0o600, path + lockSuffix: 0o600} {
		info, err := os.Stat(name)
		if err != nil || info.Mode() != want {
			t.Errorf("%s: %v (%v), want %v", name, info.Mode(), err, want)
		}
	}
	closed(t, w)
	if _, err := os.Stat(path + lockSuffix); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the lock file stays after Close: %v", err)
	}
}

// Times never fall, whatever the clock does, also from one process to the next;
// what the clock said is not lost.
func TestClockGoesBackwards(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		path := filepath.Join(t.TempDir(), rapid.StringMatching(`[a-z]{8}`).Draw(rt, "name"))
		c := newClock()
		var said []time.Time
		for _, step := range rapid.SliceOfN(rapid.Int64Range(-int64(time.Hour), int64(time.Hour)), 1, 20).Draw(rt, "steps") {
			w, err := Open(path, c.now)
			if err != nil {
				rt.Fatal(err)
			}
			c.at = c.at.Add(time.Duration(step))
			said = append(said, c.at)
			if _, err := w.Append("x", struct{}{}); err != nil {
				rt.Fatal(err)
			}
			if err := w.Close(); err != nil {
				rt.Fatal(err)
			}
		}
		var last time.Time
		for i, r := range whole(t, path) {
			if r.T.Before(last) || r.Back < 0 || !r.T.Add(-r.Back).Equal(said[i]) {
				rt.Errorf("record %d: t %v back %v after %v, the clock said %v", i, r.T, r.Back, last, said[i])
			}
			last = r.T
		}
	})
}

func TestConcurrentWriters(t *testing.T) {
	path := journalPath(t)
	w := open(t, path)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				seq, err := w.Append("x", note{"text"})
				if err = errors.Join(err, w.Sync()); err != nil {
					t.Error(err)
					return
				}
				if last, err := Last(path); err != nil || last.Seq < seq {
					t.Errorf("after Sync of %d the last record is %d (%v)", seq, last.Seq, err)
				}
			}
		})
	}
	wg.Wait()
	if got := whole(t, path); len(got) != 400 {
		t.Errorf("%d records", len(got))
	}
}

// A reader beside a writer sees whole records only, in order.
func TestReadWhileWriting(t *testing.T) {
	path := journalPath(t)
	w := open(t, path)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 200 {
			if _, err := w.Append("x", note{strings.Repeat("z", i*211%70_000)}); err != nil {
				t.Error(err)
			}
			if err := w.Sync(); err != nil {
				t.Error(err)
			}
		}
	}()
	for reading := true; reading; {
		select {
		case <-done:
			reading = false
		default:
		}
		whole(t, path)
	}
	if got := whole(t, path); len(got) != 200 {
		t.Errorf("%d records", len(got))
	}
}

func TestHugeLine(t *testing.T) {
	if testing.Short() {
		t.Skip("100 MB")
	}
	path := journalPath(t)
	w := open(t, path)
	add(t, w, "x", note{"small"})
	add(t, w, "x", note{strings.Repeat("m", 100<<20)})
	add(t, w, "x", note{"small again"})
	closed(t, w)
	records := whole(t, path)
	if len(records) != 3 || len(records[1].Line) < 100<<20 {
		t.Fatalf("%d records", len(records))
	}
	if err := os.Truncate(path, w.durable-int64(len(records[2].Line))-1); err != nil {
		t.Fatal(err)
	}
	if last, err := Last(path); err != nil || last.Seq != 1 || len(last.Line) != len(records[1].Line) {
		t.Errorf("the last record is %d with %d bytes (%v)", last.Seq, len(last.Line), err)
	}
}

func TestTooLongALine(t *testing.T) {
	w := open(t, journalPath(t))
	w.most = 1000
	if _, err := w.Append("x", note{strings.Repeat("m", 1000)}); err == nil || !strings.Contains(err.Error(), "at most 1000") {
		t.Errorf("got %v", err)
	}
	if seq := add(t, w, "x", note{strings.Repeat("m", 900)}); seq != 0 {
		t.Errorf("the next record has seq %d", seq)
	}
}

// Append keeps memory bounded by syncing when much is waiting.
func TestAppendSyncsWhenMuchWaits(t *testing.T) {
	w := open(t, journalPath(t))
	text := strings.Repeat("k", maxPending/4)
	for range 5 {
		add(t, w, "x", note{text})
	}
	if got := whole(t, w.Path()); len(got) != 3 {
		t.Errorf("%d records are in the file, want the 3 that there was room for", len(got))
	}
	flush(t, w)
	if got := whole(t, w.Path()); len(got) != 5 {
		t.Errorf("%d records are in the file", len(got))
	}
}

func TestTwoWritersInOneProcess(t *testing.T) {
	path := journalPath(t)
	w := open(t, path)
	if _, err := Open(path, time.Now); !errors.Is(err, quire.ErrLocked) {
		t.Errorf("second Open: %v", err)
	}
	closed(t, w)
	closed(t, open(t, path))
}

func BenchmarkAppendSync(b *testing.B) {
	for _, c := range []struct {
		name  string
		group int
	}{{"each", 1}, {"group-16", 16}, {"group-256", 256}} {
		b.Run(c.name, func(b *testing.B) {
			w, err := Open(filepath.Join(b.TempDir(), "j"), time.Now)
			if err != nil {
				b.Fatal(err)
			}
			part := quire.PartRecord{Node: 7, Call: "msg_0123456789", Part: quire.Part{Kind: quire.PartToolCall, Tool: "Read", ToolUse: "toolu_0123456789"}, Body: quire.Sum("x"), Pages: []quire.PageNumber{412}}
			n := 0
			for b.Loop() {
				for range c.group {
					if _, err := w.Append(quire.RecordPart, part); err != nil {
						b.Fatal(err)
					}
				}
				if err := w.Sync(); err != nil {
					b.Fatal(err)
				}
				n += c.group
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "records/s")
			b.ReportMetric(float64(w.durable)/1e6/b.Elapsed().Seconds(), "MB/s")
			if err := w.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

func BenchmarkAppend(b *testing.B) {
	w, err := Open(filepath.Join(b.TempDir(), "j"), time.Now)
	if err != nil {
		b.Fatal(err)
	}
	part := quire.PartRecord{Node: 7, Call: "msg_0123456789", Part: quire.Part{Kind: quire.PartToolCall, Tool: "Read", ToolUse: "toolu_0123456789"}, Body: quire.Sum("x"), Pages: []quire.PageNumber{412}}
	for b.Loop() {
		if _, err := w.Append(quire.RecordPart, part); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkRead(b *testing.B) {
	path := filepath.Join(b.TempDir(), "j")
	w, err := Open(path, time.Now)
	if err != nil {
		b.Fatal(err)
	}
	for range 10_000 {
		if _, err := w.Append(quire.RecordPart, quire.PartRecord{Node: 7, Part: quire.Part{Kind: quire.PartToolCall, Tool: "Read"}, Body: quire.Sum("x")}); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(w.durable)
	for b.Loop() {
		for _, err := range Read(path) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}
