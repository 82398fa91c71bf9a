package journal

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/quire"
	"pgregory.net/rapid"
)

// three is a journal of three records.
func three(t *testing.T) string {
	t.Helper()
	path := journalPath(t)
	w := open(t, path)
	add(t, w, "x", note{"one"})
	add(t, w, "x", note{"two: \"quoted\" and 文"})
	add(t, w, "x", note{"three"})
	closed(t, w)
	return contents(t, path)
}

// A journal that ends at any byte opens with its whole records, and the bytes
// after them are kept.
func TestTornAtEveryByte(t *testing.T) {
	text := three(t)
	for n := range len(text) + 1 {
		path := journalPath(t)
		write(t, path, text[:n])
		good := strings.LastIndexByte(text[:n], '\n') + 1
		if got := whole(t, path); len(got) != strings.Count(text[:n], "\n") {
			t.Fatalf("cut at %d: a reader sees %d records", n, len(got))
		}
		w := open(t, path)
		checkCut(t, w, text[:good], text[good:n])
		if seq := add(t, w, "x", note{}); seq != int64(strings.Count(text[:n], "\n")) {
			t.Fatalf("cut at %d: it goes on with %d", n, seq)
		}
		closed(t, w)
		whole(t, path)
	}
}

func checkCut(t *testing.T, w *Writer, good, cut string) {
	t.Helper()
	if got := contents(t, w.Path()); got != good {
		t.Fatalf("the journal holds %q, want %q", got, good)
	}
	torn := w.Torn()
	if cut == "" {
		if torn != nil {
			t.Fatalf("torn without a reason: %v", torn)
		}
		return
	}
	if torn == nil || torn.At != int64(len(good)) || torn.Bytes != int64(len(cut)) || torn.Reason == "" {
		t.Fatalf("torn: %v, want %d bytes at %d", torn, len(cut), len(good))
	}
	if got := contents(t, torn.Kept)[torn.KeptAt:]; got != cut {
		t.Fatalf("kept %q, want %q", got, cut)
	}
}

// An overwritten end is torn too: bytes of zero where power failed, lines of
// which pieces are missing.
func TestTornInOtherWays(t *testing.T) {
	text := three(t)
	zeros := string(make([]byte, 5000))
	for name, cut := range map[string]string{
		"zeros": zeros, "zeros and a line end": zeros + "\n", "half a line with an end": `{"v":1,"t":"20` + "\n",
		"two bad lines": "{\"v\n" + zeros + "\n", "an empty line": "\n", "bad line and torn line": "{x}\n{\"v\":1",
		"long": strings.Repeat("q", 300_000), "many": strings.Repeat("q\n", 100_000),
	} {
		t.Run(name, func(t *testing.T) {
			path := journalPath(t)
			write(t, path, text+cut)
			checkCut(t, open(t, path), text, cut)
		})
	}
}

func TestTwoTornEndsAreBothKept(t *testing.T) {
	text := three(t)
	path := journalPath(t)
	write(t, path, text+"first")
	closed(t, open(t, path))
	write(t, path, text+"second")
	w := open(t, path)
	checkCut(t, w, text, "second")
	if got := contents(t, w.Torn().Kept); got != "firstsecond" {
		t.Errorf("kept %q", got)
	}
}

// What is damaged before a whole record is reported with its line and stays.
func TestDamageInTheMiddle(t *testing.T) {
	lines := strings.SplitAfter(three(t), "\n")
	for name, c := range map[string]struct {
		text, reason string
		line         int
		records      int
	}{
		"not JSON":      {lines[0] + "{]\n" + lines[2], "not a JSON object", 2, 2},
		"empty":         {lines[0] + "\n" + lines[2], "not a JSON object", 2, 2},
		"zeros":         {lines[0] + "\x00\x00\n" + lines[2], "not a JSON object", 2, 2},
		"no seq":        {lines[0] + `{"v":1,"t":"2026-01-01T00:00:00Z","type":"x"}` + "\n" + lines[2], "no seq", 2, 2},
		"no type":       {lines[0] + `{"v":1,"t":"2026-01-01T00:00:00Z","seq":1}` + "\n" + lines[2], "no type", 2, 2},
		"no t":          {lines[0] + `{"v":1,"seq":1,"type":"x"}` + "\n" + lines[2], "no t", 2, 2},
		"no v":          {lines[0] + `{"seq":1}` + "\n" + lines[2], "no v", 2, 2},
		"null":          {lines[0] + "null\n" + lines[2], "no v", 2, 2},
		"missing":       {lines[0] + lines[2], "records 1 to 1 are missing", 2, 2},
		"first missing": {lines[1] + lines[2], "records 0 to 0 are missing", 1, 2},
		"twice":         {lines[0] + lines[1] + lines[1] + lines[2], "its seq is 1 where 2", 3, 4},
		"first":         {"\xff\n" + lines[1] + lines[2], "not a JSON object", 1, 2},
	} {
		t.Run(name, func(t *testing.T) {
			path := journalPath(t)
			write(t, path, c.text)
			w := open(t, path)
			if w.Torn() != nil || contents(t, path) != c.text {
				t.Errorf("damage was cut: %v", w.Torn())
			}
			if seq := add(t, w, "x", note{}); seq != 3 {
				t.Errorf("it goes on with %d", seq)
			}
			records, damage := all(t, path)
			if len(records) != c.records || len(damage) == 0 {
				t.Fatalf("%d records, damage %v", len(records), damage)
			}
			d := damage[0]
			if d.Line != c.line || !strings.Contains(d.Reason, c.reason) || d.At != int64(len(strings.Join(strings.SplitAfter(c.text, "\n")[:c.line-1], ""))) {
				t.Errorf("damage %+v, want %q in line %d", d, c.reason, c.line)
			}
			if !errors.Is(d, quire.ErrDamaged) || !strings.HasPrefix(d.Error(), path+":") {
				t.Errorf("damage is %v", d)
			}
		})
	}
}

// A whole line that is no record is not torn, even at the end.
func TestForeignLastLineStays(t *testing.T) {
	text := three(t) + "{\"hello\": 1}\n[]\n"
	path := journalPath(t)
	write(t, path, text)
	w := open(t, path)
	if w.Torn() != nil || contents(t, path) != text {
		t.Errorf("cut: %v", w.Torn())
	}
	if seq := add(t, w, "x", note{}); seq != 3 {
		t.Errorf("it goes on with %d", seq)
	}
}

func TestOtherFilesAreNotTouched(t *testing.T) {
	for _, text := range []string{"a diary\nof a user\n", "{}\n", "[]\n{}\n{\n", "\n"} {
		path := journalPath(t)
		write(t, path, text)
		if _, err := Open(path, newClock().now); !errors.Is(err, quire.ErrDamaged) {
			t.Errorf("Open of %q: %v", text, err)
		}
		if got := contents(t, path); got != text {
			t.Errorf("%q is now %q", text, got)
		}
	}
}

func TestNoJournal(t *testing.T) {
	path := journalPath(t)
	for _, err := range Read(path) {
		if !errors.Is(err, quire.ErrNotFound) {
			t.Errorf("Read: %v", err)
		}
	}
	if _, err := Last(path); !errors.Is(err, quire.ErrNotFound) {
		t.Errorf("Last: %v", err)
	}
	write(t, path, "")
	if _, err := Head(path); !errors.Is(err, quire.ErrNotFound) {
		t.Errorf("Head of an empty one: %v", err)
	}
	if _, err := Last(path); !errors.Is(err, quire.ErrNotFound) {
		t.Errorf("Last of an empty one: %v", err)
	}
}

func TestReadStopsWhenAsked(t *testing.T) {
	path := journalPath(t)
	write(t, path, "{}\n"+three(t))
	for range Read(path) {
		break
	}
}

// A line over the limit is one damage, and what follows it is read.
func TestLineOverTheLimit(t *testing.T) {
	text := three(t)
	s := &scanner{path: "j", lines: newLines(strings.NewReader(strings.Repeat("w", 200_000)+"\n"+text), 1000)}
	var records, damage int
	s.each(func(_ quire.Record, err error) bool {
		if err != nil {
			damage++
		} else {
			records++
		}
		return true
	})
	if damage != 1 || records != 3 {
		t.Errorf("%d records, %d damages", records, damage)
	}
}

// Reading and opening lose no byte of any file.
func FuzzRead(f *testing.F) {
	const stamp = `{"v":1,"t":"2026-03-04T05:06:07.000000089Z"`
	for _, seed := range []string{
		"", "\n", "{}\n", stamp + `,"seq":0,"type":"session","session":1}` + "\n",
		stamp + `,"seq":0,"type":"x"}` + "\n" + stamp + `,"seq":1,"type":"part","body":"zz"}` + "\n" + `{"v":1,"t":`,
		stamp + `,"seq":5,"type":"x"}` + "\n\x00\x00\n" + stamp + `,"seq":9,"type":"x","back":-4}` + "\n",
		`{"v":2,"t":"2026-03-04T05:06:07.000000089Z","seq":2,"type":"empty","crc":"b2123eb0"}` + "\n", `{"v":2,"crc":"` + "\n",
		`{"v":99999999999999999999}` + "\n", "\xff\xfe\n", `"text"` + "\nnull\n[",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var read []byte
		for r, err := range scan("j", bytes.NewReader(text)) {
			if err != nil && !errors.Is(err, quire.ErrDamaged) {
				t.Fatal(err)
			}
			if r.Line != nil {
				read = append(append(read, r.Line...), '\n')
			}
		}
		if tail, ok := bytes.CutPrefix(text, read); !ok || bytes.IndexByte(tail, '\n') >= 0 {
			t.Fatalf("%q is read as %q", text, read)
		}
		checkOpenKeeps(t, text)
	})
}

func checkOpenKeeps(t *testing.T, text []byte) {
	path := filepath.Join(t.TempDir(), "j")
	write(t, path, string(text))
	w, err := Open(path, newClock().now)
	if err == nil {
		closed(t, w)
	} else if !errors.Is(err, quire.ErrDamaged) {
		t.Fatal(err)
	}
	kept, _ := os.ReadFile(path + tornSuffix)
	if got := contents(t, path) + string(kept); got != string(text) {
		t.Fatalf("%q is now %q", text, got)
	}
}

// Lines found from the end are those found from the beginning.
func TestBackwardFindsTheSameLines(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		sizes := rapid.SliceOf(rapid.IntRange(0, 90_000)).Draw(rt, "sizes")
		var text []byte
		for i, n := range sizes {
			text = append(append(text, bytes.Repeat([]byte{byte('a' + i%26)}, n)...), '\n')
		}
		text = append(text, rapid.SampledFrom([]string{"", "tail"}).Draw(rt, "tail")...)
		b := &backward{src: bytes.NewReader(text), from: int64(len(text))}
		rest := text
		for at := int64(len(text)); at > 0; {
			line, start, err := b.line(at)
			if err != nil {
				rt.Fatal(err)
			}
			want := bytes.LastIndexByte(bytes.TrimSuffix(rest, []byte("\n")), '\n') + 1
			if int(start) != want || !bytes.Equal(line, rest[want:]) {
				rt.Fatalf("line at %d of %d bytes, want at %d of %d", start, len(line), want, len(rest[want:]))
			}
			at, rest = start, rest[:want]
		}
	})
}
