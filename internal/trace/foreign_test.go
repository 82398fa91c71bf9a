package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/quire-agent/quire/internal/quire"
)

func TestCopilot(t *testing.T)  { golden(t, copilotImporter(), "copilot-*.jsonl") }
func TestOpenCode(t *testing.T) { golden(t, opencodeImporter(), "opencode-*.json") }
func TestMini(t *testing.T)     { golden(t, miniImporter(), "mini-*.traj.json") }
func TestSWE(t *testing.T)      { golden(t, sweImporter(), "swe-*.traj") }
func TestMessages(t *testing.T) {
	golden(t, messagesImporter(), "messages-*.json")
	golden(t, messagesImporter(), "messages-*.jsonl")
}

// foreign are the importers whose cases are in this file, by the beginning of
// their cases' names.
func foreign() map[string]importer {
	return map[string]importer{
		"copilot":  copilotImporter(),
		"opencode": opencodeImporter(),
		"mini":     miniImporter(),
		"swe":      sweImporter(),
		"messages": messagesImporter(),
	}
}

// cases are the logs in testdata of an importer.
func cases(t testing.TB, name string) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", name+"-*"))
	if err != nil {
		t.Fatal(err)
	}
	out := make(map[string][]byte)
	for _, file := range files {
		if filepath.Ext(file) == ".golden" {
			continue
		}
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(file)] = b
	}
	if len(out) == 0 {
		t.Fatalf("no cases for %s", name)
	}
	return out
}

// A head may be cut off anywhere behind the first fields.
func TestFormatsAreRecognisedFromShortHeads(t *testing.T) {
	for name, f := range foreign() {
		for file, log := range cases(t, name) {
			if strings.Contains(file, "plain") {
				continue // its head holds messages before anything else
			}
			for _, size := range []int{500, 1000} {
				if size < len(log) && !f.match(log[:size]) {
					t.Errorf("%s is not recognised by its first %d bytes", file, size)
				}
			}
		}
	}
}

// Whatever chunks a log comes in, its events are the same.
func TestChunksDoNotMatter(t *testing.T) {
	for name, f := range foreign() {
		for file, log := range cases(t, name) {
			want := dump(collect(t, f, string(log)))
			var got []quire.Event
			err := f.read(iotest.OneByteReader(bytes.NewReader(log)), func(e quire.Event) bool {
				got = append(got, e)
				return true
			})
			if err != nil || dump(got) != want {
				t.Errorf("%s reads differently byte by byte: %v", file, err)
			}
		}
	}
}

// A log that is cut off gives the events of what is whole, in the same words.
func TestCutLogs(t *testing.T) {
	for name, f := range foreign() {
		for file, log := range cases(t, name) {
			for cut := 0; cut < len(log); cut += 97 {
				events := collect(t, f, string(log[:cut]))
				checkContract(t, events)
				if t.Failed() {
					t.Fatalf("%s cut at %d", file, cut)
				}
			}
		}
	}
}

// Reading ends when the reader of the events wants no more.
func TestForeignReadersMayStop(t *testing.T) {
	for name, f := range foreign() {
		for file, log := range cases(t, name) {
			for stop := 1; stop < 12; stop++ {
				count := 0
				err := f.read(bytes.NewReader(log), func(quire.Event) bool {
					count++
					return count < stop
				})
				if err != nil || count > stop {
					t.Errorf("%s: %d events after %d were wanted, error %v", file, count, stop, err)
				}
			}
		}
	}
}

// A source that fails is a fault of the reader, not of the log.
func TestFaultsOfTheSource(t *testing.T) {
	broken := errors.New("the disk is gone")
	for name, f := range foreign() {
		for file, log := range cases(t, name) {
			if strings.Contains(file, "cut") {
				continue
			}
			src := io.MultiReader(bytes.NewReader(log[:len(log)/2]), iotest.ErrReader(broken))
			if err := f.read(src, func(quire.Event) bool { return true }); !errors.Is(err, broken) {
				t.Errorf("%s: error %v", file, err)
			}
		}
	}
}

// Bytes that are not UTF-8 are kept as they are, and noted.
func TestForeignBytesThatAreNotUTF8(t *testing.T) {
	for name, log := range map[string]string{
		"copilot":  `{"type":"user.message","data":{"content":"na` + "\xefve" + `"}}`,
		"opencode": `{"info":{},"messages":[{"info":{"role":"user"},"parts":[{"type":"text","text":"na` + "\xefve" + `"}]}]}`,
		"mini":     `{"messages":[{"role":"user","content":"na` + "\xefve" + `"}]}`,
		"swe":      `{"history":[{"role":"user","content":"na` + "\xefve" + `"}]}`,
		"messages": `[{"role":"user","content":"na` + "\xefve" + `"}]`,
	} {
		events := collect(t, foreign()[name], log)
		last := len(events) - 1
		entered, _ := events[last].(quire.Entered)
		noted, _ := events[last-1].(quire.Noted)
		if entered.Part.Text != "na\xefve" || noted.Note != quire.NoteNotUTF8 {
			t.Errorf("%s: %q, noted %q", name, entered.Part.Text, noted.Note)
		}
	}
}

// An endless log: a beginning, and then the same message again and again.
type endless struct {
	head, again string
	left        int64
	rest        string
}

func (e *endless) Read(p []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	if e.rest == "" {
		e.rest, e.head = e.head, ""
		if e.rest == "" {
			e.rest = e.again
		}
	}
	n := copy(p, e.rest)
	e.rest = e.rest[n:]
	e.left -= int64(n)
	return n, nil
}

func TestMemoryDoesNotGrow(t *testing.T) {
	text := strings.Repeat("word ", 4000)
	for name, e := range map[string]endless{
		"opencode": {head: `{"info":{"id":"ses_1","directory":"/"},"messages":[`, again: `{"info":{"role":"user"},"parts":[{"type":"text","text":"` + text + `"}]},`},
		"mini":     {head: `{"info":{"mini_version":"2"},"messages":[`, again: `{"role":"user","content":"` + text + `"},`},
		"swe":      {head: `{"trajectory":[{"action":"` + text + `"}],"history":[`, again: `{"role":"assistant","content":"` + text + `"},`},
		"messages": {head: `[`, again: `{"role":"assistant","content":"` + text + `"},`},
		"copilot":  {again: `{"type":"user.message","data":{"content":"` + text + `"}}` + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			e.left = 32 << 20
			events := 0
			err := foreign()[name].read(&e, func(quire.Event) bool {
				if events++; events%500 == 0 {
					checkHeap(t)
				}
				return true
			})
			if err != nil || events < 1000 {
				t.Errorf("%d events, error %v", events, err)
			}
		})
	}
}

func checkHeap(t *testing.T) {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	if m.HeapAlloc > 24<<20 {
		t.Fatalf("%d MiB are in use", m.HeapAlloc>>20)
	}
}

// fuzz feeds an importer whatever and checks the contract of the events.
func fuzz(f *testing.F, name string) {
	of := foreign()[name]
	for _, log := range cases(f, name) {
		f.Add(string(log))
	}
	for _, log := range []string{"", "{", "[", "{}", "[]", `{"messages":[{"role":"assistant"}]}`, `[{"role":"user","content":[[]]}`, "\xff\xfe"} {
		f.Add(log)
	}
	f.Fuzz(func(t *testing.T, log string) {
		of.match([]byte(log))
		checkContract(t, collect(t, of, log))
	})
}

func FuzzCopilot(f *testing.F)  { fuzz(f, "copilot") }
func FuzzOpenCode(f *testing.F) { fuzz(f, "opencode") }
func FuzzMini(f *testing.F)     { fuzz(f, "mini") }
func FuzzSWE(f *testing.F)      { fuzz(f, "swe") }
func FuzzMessages(f *testing.F) { fuzz(f, "messages") }

// A recorded is what a recorded log adds up to.
type recorded struct {
	calls, results int
	usage          quire.Usage
}

func addUp(t testing.TB, l *Log) recorded {
	t.Helper()
	sum := recorded{usage: quire.Usage{Known: ^quire.UsageFields(0)}}
	for e, err := range l.Events() {
		if err != nil {
			t.Fatal(err)
		}
		switch e := e.(type) {
		case quire.Called:
			sum.calls++
		case quire.Entered:
			if e.Part.Kind == quire.PartToolResult {
				sum.results++
			}
		case quire.Metered:
			sum.usage = sum.usage.Add(e.Usage)
		case quire.Skipped:
			t.Errorf("%s: line %d skipped: %s", l.Path, e.Line, e.Reason)
		}
	}
	return sum
}

// The sums were taken from the recorded files by other means.
func TestRecordedSums(t *testing.T) {
	const all = quire.KnownInput | quire.KnownCache | quire.KnownOutput
	want := map[string]recorded{
		"astroid-1333.traj.json":                     {188, 187, quire.Usage{Input: 57065, CacheRead: 9471680, Output: 50833, Known: all}},
		"marshmallow-1343.traj.json":                 {189, 188, quire.Usage{Input: 31252, CacheRead: 4940864, Output: 25227, Known: all}},
		"sqlfluff-1733.traj.json":                    {157, 156, quire.Usage{Input: 44814, CacheRead: 8674304, Output: 61187, Known: all}},
		"10fb4666-56f0-4352-90fc-715caf95b418.jsonl": {54, 68, quire.Usage{Output: 19254, Known: quire.KnownOutput}},
		"c3f091b3-1a1f-435f-8acb-6c7520106212.jsonl": {56, 61, quire.Usage{Output: 41776, Known: quire.KnownOutput}},
	}
	for _, l := range append(corpus(t, "bench/mini-swe-agent"), corpus(t, "bench/agentv")...) {
		name := filepath.Base(l.Path)
		w, ok := want[name]
		if !ok {
			continue // of another importer
		}
		if got := addUp(t, l); got != w {
			t.Errorf("%s: %+v, want %+v", name, got, w)
		}
		delete(want, name)
	}
	if len(want) > 0 {
		t.Errorf("not found: %v", want)
	}
}

// BenchmarkForeign measures importers on logs of the usual make-up: long strings
// full of newlines.
func BenchmarkForeign(b *testing.B) {
	text := strings.Repeat(`\tif err != nil {\n\t\treturn \"x\", err\n\t}\n`, 200)
	var mini, code, lines strings.Builder
	mini.WriteString(`{"info":{"mini_version":"2"},"messages":[{"role":"user","content":"x"}`)
	code.WriteString(`{"info":{"id":"ses_1"},"messages":[{"info":{"role":"user"},"parts":[]}`)
	for i := range 400 {
		fmt.Fprintf(&mini, `,{"role":"assistant","content":"x","tool_calls":[{"id":"c%d","function":{"name":"bash","arguments":"%s"}}]},{"role":"tool","tool_call_id":"c%d","content":"%s","extra":{"raw_output":"%s"}}`, i, text[:400], i, text, text)
		fmt.Fprintf(&code, `,{"info":{"id":"m%d","role":"assistant"},"parts":[{"type":"tool","callID":"c%d","tool":"read","state":{"status":"completed","input":{"a":1},"output":"%s"}}]}`, i, i, text)
		fmt.Fprintf(&lines, `{"type":"tool.execution_complete","id":"i%d","data":{"toolCallId":"c%d","success":true,"result":{"content":"%s","detailedContent":"%s"}}}`+"\n", i, i, text, text)
	}
	for name, log := range map[string]string{"mini": mini.String() + "]}", "opencode": code.String() + "]}", "copilot": lines.String()} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(log)))
			for b.Loop() {
				if err := foreign()[name].read(strings.NewReader(log), func(quire.Event) bool { return true }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
