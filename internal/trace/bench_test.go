package trace

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/quire"
)

// generated is a log of about size bytes: sessions of code, as large and as
// often escaped as the real ones.
func generated(size int, round func(n int, code string) string) []byte {
	line := "\\tif err := ledger.Append(row, \\\"total\\\"); err != nil { // \u00e9t\u00e9 → 夏\\n"
	code := strings.Repeat(line, 40)
	var b bytes.Buffer
	for n := 0; b.Len() < size; n++ {
		b.WriteString(round(n, code))
	}
	return b.Bytes()
}

func claudeRound(n int, code string) string {
	const common = `"isSidechain":false,"userType":"external","cwd":"/home/ada/ledger","sessionId":"5e551000-0000-4000-8000-000000000009","version":"2.1.20","gitBranch":"main"`
	const usage = `"usage":{"input_tokens":3,"cache_creation_input_tokens":410,"cache_read_input_tokens":19200,"cache_creation":{"ephemeral_5m_input_tokens":410,"ephemeral_1h_input_tokens":0},"output_tokens":9,"service_tier":"standard"}`
	return fmt.Sprintf(`{"parentUuid":"r%[1]d",%[2]s,"message":{"model":"claude-opus-4-5","id":"msg_%[1]d","type":"message","role":"assistant","content":[{"type":"thinking","thinking":"%[6]s","signature":"%064[1]d"}],%[3]s},"type":"assistant","uuid":"t%[1]d","timestamp":"2026-03-02T09:00:04.000Z"}
{"parentUuid":"t%[1]d",%[2]s,"message":{"model":"claude-opus-4-5","id":"msg_%[1]d","type":"message","role":"assistant","content":[{"type":"tool_use","id":"toolu_%[1]d","name":"Edit","input":{"file_path":"/home/ada/ledger/sum.go","old_string":"%[6]s","new_string":"x"}}],%[3]s},"type":"assistant","uuid":"a%[1]d","timestamp":"2026-03-02T09:00:05.000Z"}
{"parentUuid":"a%[1]d",%[2]s,"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_%[1]d","type":"tool_result","content":"%[4]s"}]},"uuid":"r%[5]d","timestamp":"2026-03-02T09:00:05.400Z"}
`, n, common, usage, code, n+1, code[:len(code)/10])
}

func codexRound(n int, code string) string {
	return fmt.Sprintf(`{"timestamp":"2026-05-01T08:00:03.000Z","type":"response_item","payload":{"type":"reasoning","summary":[],"encrypted_content":null}}
{"timestamp":"2026-05-01T08:00:04.000Z","type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"sed -n %[1]dp sum.go\"}","call_id":"call_%[1]d"}}
{"timestamp":"2026-05-01T08:00:04.200Z","type":"response_item","payload":{"type":"function_call_output","call_id":"call_%[1]d","output":"%[2]s"}}
{"timestamp":"2026-05-01T08:00:04.301Z","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":%[1]d},"last_token_usage":{"input_tokens":20000,"cached_input_tokens":2432,"output_tokens":412,"reasoning_output_tokens":291,"total_tokens":20412},"model_context_window":258400}}}
`, n, code)
}

func drain(b *testing.B, f importer, log io.Reader) (events int) {
	b.Helper()
	err := f.read(log, func(quire.Event) bool { events++; return true })
	if err != nil {
		b.Fatal(err)
	}
	return events
}

func benchmark(b *testing.B, f importer, log []byte) {
	b.SetBytes(int64(len(log)))
	b.ReportAllocs()
	for b.Loop() {
		if drain(b, f, bytes.NewReader(log)) < 10 {
			b.Fatal("the log was not read")
		}
	}
}

func BenchmarkClaude(b *testing.B) {
	benchmark(b, claudeImporter(), generated(8<<20, claudeRound))
}

func BenchmarkCodex(b *testing.B) {
	benchmark(b, codexImporter(), generated(8<<20, codexRound))
}

// BenchmarkCorpus reads the recorded sessions beside the checkout, one after the
// other.
func BenchmarkCorpus(b *testing.B) {
	for _, folder := range []string{"endless", "bench/entire-cli", "bench/agentv", "bench/mini-swe-agent"} {
		b.Run(folder, func(b *testing.B) {
			logs := corpus(b, folder)
			var size int64
			for _, l := range logs {
				size += l.Size
			}
			b.SetBytes(size)
			for b.Loop() {
				for _, l := range logs {
					for _, err := range l.Events() {
						if err != nil {
							b.Fatal(err)
						}
					}
				}
			}
		})
	}
}

// corpus opens the logs of a folder of the recorded sessions, which are kept
// beside the checkout or where QUIRE_SHARED says. Without them the test is
// skipped.
func corpus(t testing.TB, folder string) []*Log {
	t.Helper()
	root := shared()
	if root == "" {
		t.Skip("the recorded sessions are not here; QUIRE_SHARED names the folder that holds corpus/")
	}
	var logs []*Log
	for f, err := range Walk([]string{filepath.Join(root, "corpus", filepath.FromSlash(folder))}) {
		if err != nil {
			t.Fatal(err)
		}
		found, err := Open(f.Path)
		if err != nil {
			t.Fatal(err)
		}
		logs = append(logs, found...)
	}
	return logs
}

func shared() string {
	candidates := []string{os.Getenv("QUIRE_SHARED")}
	dir, err := os.Getwd()
	for err == nil && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
		candidates = append(candidates, filepath.Join(dir, "shared"))
	}
	for _, c := range candidates {
		if _, err := os.Stat(filepath.Join(c, "corpus")); c != "" && err == nil {
			return c
		}
	}
	return ""
}
