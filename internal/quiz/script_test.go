package quiz

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/recording"
	"github.com/quire-agent/quire/internal/token"
	"github.com/quire-agent/quire/internal/trace"
)

// A script writes a log by hand, in the format of Claude Code.
type script struct {
	lines  []string
	parent *string
}

type (
	block struct {
		Type    string `json:"type"`
		ID      string `json:"id,omitempty"`
		Name    string `json:"name,omitempty"`
		Input   any    `json:"input,omitempty"`
		Use     string `json:"tool_use_id,omitempty"`
		Content string `json:"content,omitempty"`
	}
	message struct {
		ID      string `json:"id,omitempty"`
		Role    string `json:"role"`
		Model   string `json:"model,omitempty"`
		Content any    `json:"content"`
	}
	entry struct {
		Type    string  `json:"type"`
		UUID    string  `json:"uuid"`
		Parent  *string `json:"parentUuid"`
		Session string  `json:"sessionId"`
		Time    string  `json:"timestamp"`
		CWD     string  `json:"cwd"`
		Message message `json:"message"`
	}
)

func (s *script) add(kind string, m message) *script {
	id := fmt.Sprint("u", len(s.lines))
	at := time.Date(2026, 3, 2, 9, 0, len(s.lines), 0, time.UTC).Format(time.RFC3339)
	raw, err := json.Marshal(entry{kind, id, s.parent, "hand", at, "/p", m})
	if err != nil {
		panic(err) // the script is a test's own
	}
	s.lines, s.parent = append(s.lines, string(raw)), &id
	return s
}

func (s *script) user(text string) *script {
	return s.add("user", message{Role: "user", Content: text})
}

// round is a call of a tool with its result.
func (s *script) round(tool string, input map[string]string, result string) *script {
	use := fmt.Sprint("t", len(s.lines))
	s.add("assistant", message{ID: "m" + use, Role: "assistant", Model: "claude-opus-4-6", Content: []block{{Type: "tool_use", ID: use, Name: tool, Input: input}}})
	return s.add("user", message{Role: "user", Content: []block{{Type: "tool_result", Use: use, Content: result}}})
}

func (s *script) load(t *testing.T) *recording.Session {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(s.lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	logs, err := trace.Open(path)
	if err != nil || len(logs) != 1 {
		t.Fatalf("%d logs, %v", len(logs), err)
	}
	counter, err := token.NewCounter()
	if err != nil {
		t.Fatal(err)
	}
	load := recording.Loader{Counter: counter}
	loaded, err := load.Load(t.Context(), logs[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := loaded.Close(); err != nil {
			t.Error(err)
		}
	})
	return loaded
}
