package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestText(t *testing.T) {
	for raw, want := range map[string]string{
		`""`:                        "",
		`"plain"`:                   "plain",
		`"a\n\t\r\b\f\"\\\/z"`:      "a\n\t\r\b\f\"\\/z",
		`"\u00e9\u4e2d"`:            "é中",
		`"\ud83d\ude00"`:            "😀",
		`"half \ud83d pair"`:        `half \ud83d pair`,
		`"\ud83d\u0041"`:            `\ud83dA`,
		`"\ude00\ud83d"`:            `\ude00\ud83d`,
		`"\u12"`:                    `\u12`,
		`"\uzzzz"`:                  `\uzzzz`,
		`"\q"`:                      `\q`,
		"\"latin1 \xe9 stays\"":     "latin1 \xe9 stays",
		"\"raw\ttab and\nnewline\"": "raw\ttab and\nnewline",
		`123`:                       "",
		`{"a":1}`:                   "",
		``:                          "",
	} {
		if got := value(raw).text(); got != want {
			t.Errorf("%s reads as %q, want %q", raw, got, want)
		}
	}
}

func TestScalars(t *testing.T) {
	for raw, want := range map[string]int64{
		"0": 0, "42": 42, "-7": -7, "1e3": 1000, "12.9": 12, "9223372036854775807": 1<<63 - 1,
		"1e400": 0, "1e30": 1 << 62, "nan": 0, "inf": 0, `"5"`: 0, "": 0, "true": 0, "null": 0,
	} {
		if got := value(raw).integer(); got != want {
			t.Errorf("%q is %d, want %d", raw, got, want)
		}
	}
	when := time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC)
	if got := value(`"2026-01-02T03:04:05.678Z"`).time(); !got.Equal(when) {
		t.Errorf("the time reads as %v", got)
	}
	if got := value(`"yesterday"`).time(); !got.IsZero() {
		t.Errorf("a text that is no time reads as %v", got)
	}
	if !value("true").truth() || value("false").truth() || value(`"true"`).truth() {
		t.Error("truth is not told")
	}
}

func TestIs(t *testing.T) {
	for raw, want := range map[string]bool{
		`"user"`: true, `"use"`: false, `"\u0075ser"`: true, `[user]`: false, `user`: false, ``: false,
	} {
		if got := value(raw).is("user"); got != want {
			t.Errorf("%s is user: %v", raw, got)
		}
	}
}

func TestGet(t *testing.T) {
	v := value(`{ "a" : {"b\n":[1,2]} , "a":3, "s":"}{", "e":{} }`)
	for want, path := range map[string][]string{
		`[1,2]`: {"a", "b\n"},
		`"}{"`:  {"s"},
		`{}`:    {"e"},
		``:      {"a", "c", "d"},
	} {
		if got := v.get(path...).raw(); got != want {
			t.Errorf("%q is %s, want %s", path, got, want)
		}
	}
}

func TestDamagedValuesAreReported(t *testing.T) {
	for _, raw := range []string{
		`{`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":"x}`, `{"a":"x\"}`, `{"a":{}`, `{"a":[}`,
		`{"a":1}}`, `{"a":1} {"b":2}`, `{"a" 1}`, `{a:1}`, `{"a":,}`, `{"a":1 "b":2}`, `{,}`, `{"a":1,}`,
	} {
		m := value(raw).members()
		for m.next() {
			_ = m.val.text()
		}
		if m.err == nil {
			t.Errorf("%s reads without an error", raw)
		}
	}
}

// decoded writes v as encoding/json would, read with this package's means only.
func decoded(v value) json.RawMessage {
	switch {
	case v.isObject():
		fields := make(map[string]json.RawMessage)
		for m := v.members(); m.next(); {
			fields[string(m.key)] = decoded(m.val)
		}
		return encoded(fields)
	case v.isArray():
		elements := make([]json.RawMessage, 0)
		for m := v.items(); m.next(); {
			elements = append(elements, decoded(m.val))
		}
		return encoded(elements)
	case v.isString():
		return encoded(v.text())
	case string(v) == "null":
		return json.RawMessage("null")
	case string(v) == "true" || string(v) == "false":
		return encoded(v.truth())
	}
	return encoded(v.number())
}

func encoded(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // the values above can all be encoded
	}
	return raw
}

// agree checks that well-formed JSON is read as encoding/json reads it, apart
// from what that replaces and this package keeps.
func agree(t interface{ Fatalf(string, ...any) }, raw []byte) {
	var want any
	if !utf8.Valid(raw) || bytes.Contains(raw, []byte(`\u`)) || json.Unmarshal(raw, &want) != nil {
		return
	}
	a, b := encoded(want), decoded(bytes.TrimSpace(raw))
	if !bytes.Equal(a, b) {
		t.Fatalf("%s reads as %s, want %s", raw, b, a)
	}
}

// The text of strings and the order of fields survive any nesting.
func TestReadsWhatWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		key := rapid.StringN(1, 20, -1).Draw(t, "key")
		inner, err := json.Marshal(struct {
			Before []string
			Text   string
		}{rapid.SliceOf(rapid.String()).Draw(t, "before"), text})
		if err != nil {
			t.Fatal(err)
		}
		name, err := json.Marshal(key)
		if err != nil {
			t.Fatal(err)
		}
		raw := append(append(append([]byte(`{"x":[[],{}],`), name...), ':'), inner...)
		raw = append(raw, '}')
		if key == "x" {
			return
		}
		if got := value(raw).get(key, "Text").text(); got != text {
			t.Fatalf("reads as %q, want %q", got, text)
		}
		agree(t, raw)
	})
}

func FuzzScan(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,"two",{"three":null}],"b":true}`, `{"a":"\\\"","b":"\\"}`, `[[[["deep"]]]]`,
		`{"a":"unfinished`, `{"\u0061":"\ud800"}`, ` {"a" : 1 , "b":[ ] } `, "\"\xff\xfe\"", `{"a":1]`, `-0.5e+3`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		agree(t, raw)
		decoded(raw)
		v := value(raw)
		if v.text() == "" && v.isString() && len(v) > 2 {
			t.Errorf("the text of %q is lost", raw)
		}
		_, _, _ = v.integer(), v.time(), v.get("a", "b")
		readAll(t, raw, 64)
	})
}

type scanned struct {
	number int
	text   string
	long   bool
}

func readAll(t testing.TB, log []byte, limit int) []scanned {
	t.Helper()
	l := newLineReader(bytes.NewReader(log))
	l.max = limit
	var out []scanned
	for l.next() {
		out = append(out, scanned{l.number, string(l.line), l.long})
	}
	if l.err != nil {
		t.Fatal(l.err)
	}
	return out
}

func TestLines(t *testing.T) {
	long := strings.Repeat("x", 65)
	for log, want := range map[string][]scanned{
		"":                         nil,
		"\n\r\n  \n":               nil,
		"a\nb":                     {{1, "a", false}, {2, "b", false}},
		"a\r\n\r\n b \r\n":         {{1, "a", false}, {3, "b", false}},
		"\ufeff{}\n\ufeff":         {{1, "{}", false}, {2, "\ufeff", false}},
		"a\n" + long + "\nb":       {{1, "a", false}, {2, "", true}, {3, "b", false}},
		long:                       {{1, "", true}},
		"\xff\xfe bytes \xe9\nend": {{1, "\xff\xfe bytes \xe9", false}, {2, "end", false}},
	} {
		got := readAll(t, []byte(log), 64)
		if len(got) != len(want) {
			t.Errorf("%q reads as %v", log, got)
			continue
		}
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("%q: line is %v, want %v", log, got[i], want[i])
			}
		}
	}
}

// Reading line by line is splitting at line ends, whatever the content.
func TestLinesSplit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const limit = 10
		text := rapid.StringOf(rapid.SampledFrom([]rune("ab \t\r\n\né"))).Draw(t, "text")
		var want []scanned
		for i, line := range strings.SplitAfter(text, "\n") {
			whole := strings.Trim(line, " \t\r\n")
			if len(line) > limit {
				want = append(want, scanned{i + 1, "", true})
			} else if whole != "" {
				want = append(want, scanned{i + 1, whole, false})
			}
		}
		l := newLineReader(iotest.HalfReader(strings.NewReader(text)))
		l.max = limit
		var got []scanned
		for l.next() {
			got = append(got, scanned{l.number, string(l.line), l.long})
		}
		if l.err != nil || !slices.Equal(got, want) {
			t.Fatalf("%q reads as %v, %v, want %v", text, got, l.err, want)
		}
	})
}

// A source may hand out its bytes in any pieces.
func TestLinesFromSlowSource(t *testing.T) {
	l := newLineReader(iotest.OneByteReader(strings.NewReader("one\ntwo\n")))
	var got []string
	for l.next() {
		got = append(got, string(l.line))
	}
	if strings.Join(got, "|") != "one|two" || l.err != nil {
		t.Errorf("got %q, %v", got, l.err)
	}
}

func TestLinesOfBrokenSource(t *testing.T) {
	broken := errors.New("the disk is gone")
	l := newLineReader(io.MultiReader(strings.NewReader("one\ntwo"), iotest.ErrReader(broken)))
	if !l.next() || string(l.line) != "one" {
		t.Errorf("the line before the fault is %q", l.line)
	}
	if l.next() {
		t.Errorf("half a line is read as %q", l.line)
	}
	if !errors.Is(l.err, broken) {
		t.Errorf("the fault is %v", l.err)
	}
}

// zeros is an endless source that keeps no memory.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func TestLongLineHoldsNoMemory(t *testing.T) {
	src := io.MultiReader(io.LimitReader(zeros{}, 100<<20), strings.NewReader("\nafter\n"))
	l := newLineReader(src)
	if !l.next() || !l.long || len(l.line) != 0 {
		t.Errorf("100 MiB without a line break are not reported as a long line")
	}
	if cap(l.buf) != 0 {
		t.Errorf("%d bytes are kept", cap(l.buf))
	}
	if !l.next() || string(l.line) != "after" || l.number != 2 {
		t.Errorf("line %d after the long one is %q", l.number, l.line)
	}
}

func TestHeadLines(t *testing.T) {
	var got []string
	for line := range headLines([]byte("\ufeff\n{\"a\":1}\r\n\n{\"b\":\"cut")) {
		got = append(got, string(line))
	}
	if strings.Join(got, "|") != `{"a":1}|{"b":"cut` {
		t.Errorf("got %q", got)
	}
}
