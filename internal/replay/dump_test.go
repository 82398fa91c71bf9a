package replay

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/recording/recordingtest"
	"github.com/quire-agent/quire/internal/shingle"
)

// A line of a dump as a stranger reads it.
type dumped struct {
	Session  string    `json:"session"`
	Call     int       `json:"call"`
	T        time.Time `json:"t"`
	Messages []struct {
		Role string `json:"role"`
		Text string `json:"text"`
	} `json:"messages"`
	Overhead int `json:"overhead_tokens"`
}

func readDump(t recordingtest.Checker, r io.Reader) (lines []dumped) {
	t.Helper()
	dec := json.NewDecoder(bufio.NewReader(r))
	dec.DisallowUnknownFields()
	for {
		var l dumped
		if err := dec.Decode(&l); errors.Is(err, io.EOF) {
			return lines
		} else if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
}

// holds is every shingle of the messages of a line.
func (l dumped) holds() map[uint64]bool {
	held := map[uint64]bool{}
	for _, m := range l.Messages {
		shingle.Scan(m.Text, func(g shingle.Shingle) bool { held[g.Hash] = true; return true })
	}
	return held
}

// Coverage can be recomputed from the dump alone.
func TestDumpHoldsWhatWasCounted(t *testing.T) {
	c := recordingtest.NewCounter(t)
	claude, _ := price.ProfileByName("claude")
	check(t, 20, func(t *rapid.T) {
		s := built(t, c, drawSessions(t, 20, true)...)
		policies := allOf(t, 2_000)
		p := policies[rapid.IntRange(0, len(policies)-1).Draw(t, "policy")]
		set := UnderProfile(s, claude, 2_000)
		var buf bytes.Buffer
		if err := Dump(&buf, s, p, set); err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(buf.Bytes(), []byte("\n")); n != len(s.Calls) {
			t.Fatalf("%d lines for %d calls", n, len(s.Calls))
		}
		var strict, wide int64
		lines, sent := readDump(t, &buf), prompts(s, p, set)
		for k, l := range lines {
			if l.Session != "s0" || l.Call != k || !l.T.Equal(s.Calls[k].At) || l.Overhead != s.Overhead+sent[k].Schema || l.Messages == nil {
				t.Fatalf("line %d: %+v", k, l)
			}
			held := l.holds()
			for _, n := range s.Needs {
				if int(n.Call) == k {
					strict += among(n.StrictShingles, held)
					wide += among(n.Shingles, held)
				}
			}
		}
		out, err := Replay(s, []Policy{p}, []Setting{set})
		if err != nil {
			t.Fatal(err)
		}
		if o := out[0][0]; o.Covered != strict || o.CoveredWide != wide {
			t.Fatalf("%s: %d and %d shingles covered, the dump holds %d and %d", p.Name, o.Covered, o.CoveredWide, strict, wide)
		}
	})
}

func among(hashes []uint64, held map[uint64]bool) (n int64) {
	for _, h := range hashes {
		if held[h] {
			n++
		}
	}
	return n
}

// The golden form of a dump: roles, order, unescaped arguments, no HTML escapes.
func TestDumpOfOneCall(t *testing.T) {
	s := recordingtest.NewScript("s1", recordingtest.Morning()).User("a < b?")
	s.Round("Edit", recordingtest.Editing{Path: "/base/ada/x.go", Old: "a\tb", New: "c"}, "ok").Pause(time.Minute).Call()
	built := built(t, recordingtest.NewCounter(t), s)
	claude, _ := price.ProfileByName("claude")
	var buf bytes.Buffer
	if err := Dump(&buf, built, Baselines(0)[0], UnderProfile(built, claude, 0)); err != nil {
		t.Fatal(err)
	}
	want := `{"session":"s1","call":0,"t":"2026-03-02T09:00:00Z","messages":[{"role":"user","text":"a < b?"}],"overhead_tokens":18000}
{"session":"s1","call":1,"t":"2026-03-02T09:00:01Z","messages":[{"role":"user","text":"a < b?"},{"role":"assistant","text":"Edit\n/base/ada/x.go\na\tb\nc"},{"role":"tool","text":"ok"}],"overhead_tokens":18000}
`
	if got := buf.String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestDumpReportsWriteErrors(t *testing.T) {
	s := built(t, recordingtest.NewCounter(t), recordingtest.NewScript("s1", recordingtest.Morning()).User("hello").Call())
	claude, _ := price.ProfileByName("claude")
	broken := errors.New("the disk is full")
	if err := Dump(writerFunc(func([]byte) (int, error) { return 0, broken }), s, Baselines(0)[0], UnderProfile(s, claude, 0)); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
