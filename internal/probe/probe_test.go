package probe

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/recording"
	"github.com/quire-agent/quire/internal/replay"
	"github.com/quire-agent/quire/internal/schedule"
	"github.com/quire-agent/quire/internal/token"
	"github.com/quire-agent/quire/internal/trace"
)

// A record is a line of a log that is written by hand.
type record struct {
	Type      string    `json:"type"`
	UUID      string    `json:"uuid"`
	Parent    string    `json:"parentUuid"`
	SessionID string    `json:"sessionId"`
	Timestamp time.Time `json:"timestamp"`
	CWD       string    `json:"cwd"`
	Version   string    `json:"version"`
	Message   message   `json:"message"`
}

type message struct {
	ID      string  `json:"id,omitempty"`
	Role    string  `json:"role"`
	Model   string  `json:"model,omitempty"`
	Content []block `json:"content"`
}

type block struct {
	Type    string            `json:"type"`
	Text    string            `json:"text,omitempty"`
	ID      string            `json:"id,omitempty"`
	Name    string            `json:"name,omitempty"`
	Input   map[string]string `json:"input,omitempty"`
	ToolUse string            `json:"tool_use_id,omitempty"`
	Content string            `json:"content,omitempty"`
}

// A log is one that is being written.
type log struct {
	lines strings.Builder
	n     int
	at    time.Time
}

func (l *log) add(t *testing.T, m message) {
	t.Helper()
	l.n++
	l.at = l.at.Add(20 * time.Second)
	raw, err := json.Marshal(record{map[string]string{"user": "user", "assistant": "assistant"}[m.Role], fmt.Sprint("u", l.n), fmt.Sprint("u", l.n-1), "by-hand", l.at, "/p", "2.1.0", m})
	if err != nil {
		t.Fatal(err)
	}
	l.lines.Write(append(raw, '\n'))
}

func (l *log) says(t *testing.T, text string) {
	t.Helper()
	l.add(t, message{Role: "user", Content: []block{{Type: "text", Text: text}}})
}

// round is a call of a tool with its result.
func (l *log) round(t *testing.T, tool string, input map[string]string, result string) {
	t.Helper()
	id := fmt.Sprint("t", l.n)
	l.add(t, message{ID: fmt.Sprint("m", l.n), Role: "assistant", Model: "claude-opus-4-6", Content: []block{{Type: "tool_use", ID: id, Name: tool, Input: input}}})
	l.add(t, message{Role: "user", Content: []block{{Type: "tool_result", ToolUse: id, Content: result}}})
}

// load makes a session of the log.
func (l *log) load(t *testing.T, count *token.Counter) *recording.Session {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log.jsonl")
	if err := os.WriteFile(path, []byte(l.lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	logs, err := trace.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := (&recording.Loader{Counter: count}).Load(t.Context(), logs[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// needed is what is read at first and written again at the end.
const needed = "carrier refuses parcels heavier than thirty kilograms unless somebody signs the waiver"

// filler is a text of so many lines in which nothing of it stands.
func filler(seed uint64, lines int) string {
	r := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	for range lines {
		fmt.Fprintf(&b, "ledger %d holds entry %x about gate %d and pier %x\n", r.IntN(1e6), r.Uint64(), r.IntN(1e6), r.Uint64())
	}
	return b.String()
}

// long is a session that reads a page, does other things with pauses, and writes
// a line of the page in the end.
func long(t *testing.T, count *token.Counter) *recording.Session {
	t.Helper()
	l := &log{at: time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)}
	l.says(t, "Read the rules of the carrier.")
	l.round(t, "Read", map[string]string{"file_path": "/p/rules.txt"}, filler(1, 40)+needed+"\n"+filler(2, 40))
	for i := range 60 {
		if i%10 == 0 {
			l.at = l.at.Add(time.Hour)
			l.says(t, fmt.Sprintf("Look at the books of year %d.", i))
		}
		l.round(t, "Read", map[string]string{"file_path": fmt.Sprintf("/p/books/%d.txt", i)}, filler(uint64(10+i), 30))
	}
	l.at = l.at.Add(time.Hour)
	l.says(t, "Write the summary.")
	l.round(t, "Write", map[string]string{"file_path": "/p/summary.md", "content": "Summary of rules\n" + needed + "\nAll other matters remain as agreed before.\n"}, "written")
	l.says(t, "Thanks.")
	l.round(t, "Read", map[string]string{"file_path": "/p/last.txt"}, "nothing")
	return l.load(t, count)
}

func counter(t *testing.T) *token.Counter {
	t.Helper()
	c, err := token.NewCounter()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestAsks holds that a line that was needed again becomes a probe, stands in the
// prompt where nothing goes, and comes back where its page went.
func TestAsks(t *testing.T) {
	count := counter(t)
	s := long(t, count)
	probes, err := Choose(s, 5, 1)
	if err != nil {
		t.Fatal(err)
	}
	if len(probes) != 1 || probes[0].Answer != needed || probes[0].Call != 61 {
		t.Fatalf("the probes are %+v", probes)
	}
	if n := len(strings.Fields(probes[0].Words)); n != mostWords || !strings.Contains(probes[0].Around, "Summary") || strings.Contains(probes[0].Around, "kilograms") {
		t.Errorf("asked with %q, and around with %q", probes[0].Words, probes[0].Around)
	}
	profile, ok := price.ProfileByName("claude")
	table, err := schedule.Default()
	if err != nil || !ok {
		t.Fatal(err)
	}
	policies := append(replay.Baselines(replay.SingleBudget), replay.Ours(replay.Always(table))...)
	for name, resident := range map[string]bool{"append": true, "quire": false} {
		i := slices.IndexFunc(policies, func(p replay.Policy) bool { return p.Name == name })
		got, err := Ask(t.Context(), s, policies[i], replay.UnderProfile(s, profile, replay.SingleBudget), probes, count)
		if err != nil {
			t.Fatal(err)
		}
		if r := got[0]; r.Resident != resident || !r.Recalled[Words] || r.Lost(Words) || r.Tokens[Words] > 4000 {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// TestChoosesBySeed holds that a seed always chooses the same.
func TestChoosesBySeed(t *testing.T) {
	s := long(t, counter(t))
	first, err := Choose(s, 5, 1)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Choose(s, 5, 1)
	if err != nil || !slices.Equal(first, again) {
		t.Errorf("%v; %+v, then %+v", err, first, again)
	}
	other, err := Choose(s, 5, 2)
	if err != nil || slices.Equal(first, other) {
		t.Errorf("another seed asks the same: %+v, %v", other, err)
	}
}

// A question has at most so many words, all of them from the lines, none twice and
// in their order.
func TestQuestion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.StringMatching(`[a-z ,.()湖海山云]{0,40}`), 0, 5).Draw(t, "lines")
		n := rapid.IntRange(1, 12).Draw(t, "n")
		words := strings.Fields(question(rand.New(rand.NewPCG(1, 1)), lines, n))
		if len(words) > n {
			t.Fatalf("%d words of %d", len(words), n)
		}
		rest := strings.Join(lines, "\n")
		for i, w := range words {
			at := strings.Index(rest, w)
			if at < 0 || slices.Contains(words[:i], w) || !telling(w) {
				t.Fatalf("%q is not the next word of %q", w, lines)
			}
			rest = rest[at:]
		}
	})
}
