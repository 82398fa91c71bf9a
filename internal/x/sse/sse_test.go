package sse

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

func TestRead(t *testing.T) {
	cases := []struct {
		name, in string
		want     []string // name|data
		err      error
	}{
		{"named", "event: a\ndata: 1\n\n", []string{"a|1"}, nil},
		{"unnamed", "data: 1\n\ndata: 2\n\n", []string{"|1", "|2"}, nil},
		{"CRLF", "event: a\r\ndata: 1\r\n\r\nevent: b\r\ndata: 2\r\n\r\n", []string{"a|1", "b|2"}, nil},
		{"CR", "event: a\rdata: 1\r\rdata: 2\r\r", []string{"a|1", "|2"}, nil},
		{"mixed line ends", "event: a\rdata: 1\n\r\ndata: 2\r\n\n", []string{"a|1", "|2"}, nil},
		{"comments", ": hello\n\n: keep-alive\ndata: 1\n:\n\n", []string{"|1"}, nil},
		{"several lines", "data: a\ndata: b\ndata:\ndata:  c\n\n", []string{"|a\nb\n\n c"}, nil},
		{"no space", "event:a\ndata:{\"x\":1}\n\n", []string{`a|{"x":1}`}, nil},
		{"no colon", "data\n\n", []string{"|"}, nil},
		{"ids and retry", "id: 7\nretry: 10\ndata: 1\n\n", []string{"|1"}, nil},
		{"no data", "event: ping\n\ndata: 1\n\n", []string{"|1"}, nil},
		{"last name counts", "event: a\nevent: b\ndata: 1\n\n", []string{"b|1"}, nil},
		{"byte order mark", "\ufeffdata: 1\n\n", []string{"|1"}, nil},
		{"blank lines", "\n\n\ndata: 1\n\n\n\n", []string{"|1"}, nil},
		{"no blank line at the end", "data: [DONE]\n", []string{"|[DONE]"}, nil},
		{"ends inside a line", "data: 1\n\ndata: {\"x\"", []string{"|1", `|{"x"`}, io.ErrUnexpectedEOF},
		{"empty", "", nil, nil},
		{"two bytes", "d:", []string{"|"}, io.ErrUnexpectedEOF},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for _, r := range []io.Reader{strings.NewReader(c.in), iotest.OneByteReader(strings.NewReader(c.in)), iotest.DataErrReader(strings.NewReader(c.in))} {
				got, err := collect(Read(r))
				if strings.Join(got, "§") != strings.Join(c.want, "§") || !errors.Is(err, c.err) {
					t.Fatalf("got %q, %v; want %q, %v", got, err, c.want, c.err)
				}
			}
		})
	}
}

func collect(events iter.Seq2[Event, error]) ([]string, error) {
	var got []string
	for e, err := range events {
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			return got, err
		}
		got = append(got, e.Name+"|"+string(e.Data))
		if err != nil {
			return got, err
		}
	}
	return got, nil
}

// A connection that breaks is not the end of a stream.
func TestReadFault(t *testing.T) {
	broken := errors.New("broken")
	in := io.MultiReader(strings.NewReader("data: 1\n\ndata: 2\n"), iotest.ErrReader(broken))
	got, err := collect(Read(in))
	if len(got) != 1 || !errors.Is(err, broken) {
		t.Fatalf("got %q, %v", got, err)
	}
}

func TestReadHugeEvent(t *testing.T) {
	big := strings.Repeat("x", 3<<20)
	got, err := collect(Read(strings.NewReader("event: big\ndata: " + big + "\n\ndata: 2\n\n")))
	if err != nil || len(got) != 2 || got[0] != "big|"+big {
		t.Fatalf("%d events, %v", len(got), err)
	}
}

func TestReadTooLong(t *testing.T) {
	line := io.MultiReader(strings.NewReader("data: "), io.LimitReader(endless{}, MaxEvent+1<<20))
	if _, err := collect(Read(line)); !errors.Is(err, ErrTooLong) {
		t.Fatalf("one line: %v", err)
	}
}

// endless is the same letter for ever.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// An event is there as soon as its blank line is: nobody waits for the next one.
func TestReadAtOnce(t *testing.T) {
	in, out := io.Pipe()
	next, stop := iter.Pull2(Read(in))
	defer stop()
	for _, data := range []string{"1", "2"} {
		go func() { _, _ = io.WriteString(out, "data: "+data+"\r\n\r\n") }()
		if e, err, ok := next(); !ok || err != nil || string(e.Data) != data {
			t.Fatalf("got %q, %v, %v", e.Data, err, ok)
		}
	}
	_ = in.Close()
}

// What is written is read back, wherever the stream is cut into reads.
func TestAppendRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.StringMatching(`[ :a-z{}"é]{0,9}`), 1, 4).Draw(t, "lines")
		name := rapid.StringMatching(`[a-z_.]{0,9}`).Draw(t, "name")
		end := rapid.SampledFrom([]string{"\n", "\r", "\r\n"}).Draw(t, "end")
		out := Append(nil, Event{Name: name, Data: []byte(strings.Join(lines, end))})
		out = Append(out, Event{Name: "after", Data: []byte("x")})
		got, err := collect(Read(iotest.HalfReader(bytes.NewReader(out))))
		want := name + "|" + strings.Join(lines, "\n")
		if err != nil || len(got) != 2 || got[0] != want || got[1] != "after|x" {
			t.Fatalf("%q: got %q, %v", out, got, err)
		}
	})
}

func TestAppendName(t *testing.T) {
	if got := string(Append(nil, Event{Name: "a\nb", Data: []byte("1")})); got != "event: ab\ndata: 1\n\n" {
		t.Errorf("got %q", got)
	}
}

// Reading is the same however the bytes come, and reading what was written
// again changes nothing.
func FuzzRead(f *testing.F) {
	f.Add([]byte("event: a\r\ndata: 1\rdata: 2\n\n: x\n\ndata"))
	f.Add([]byte("\ufeffdata: {}\n\n\r\r\ndata:: \n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		whole, werr := collect(Read(bytes.NewReader(in)))
		bitwise, berr := collect(Read(iotest.OneByteReader(bytes.NewReader(in))))
		if strings.Join(whole, "§") != strings.Join(bitwise, "§") || !errors.Is(berr, werr) && werr != nil {
			t.Fatalf("whole %q %v, byte by byte %q %v", whole, werr, bitwise, berr)
		}
		var out []byte
		for e, err := range Read(bytes.NewReader(in)) {
			if err == nil {
				out = Append(out, e)
			}
		}
		again, err := collect(Read(bytes.NewReader(out)))
		if err != nil || len(again) > len(whole) || strings.Join(again, "§") != strings.Join(whole[:len(again)], "§") {
			t.Fatalf("again %q, %v; first %q", again, err, whole)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	var in []byte
	for range 1000 {
		in = Append(in, Event{Name: "content_block_delta", Data: []byte(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"word "}}`)})
	}
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for _, err := range Read(bytes.NewReader(in)) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != 1000 {
			b.Fatal(n)
		}
	}
}
