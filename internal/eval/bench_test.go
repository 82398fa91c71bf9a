package eval

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/recording"
	"github.com/quire-agent/quire/internal/recording/recordingtest"
	"github.com/quire-agent/quire/internal/replay"
	"github.com/quire-agent/quire/internal/trace"
)

// load reads logs one by one.
func load(b *testing.B, logs []*trace.Log) []*recording.Session {
	b.Helper()
	l := recording.Loader{Counter: recordingtest.NewCounter(b)}
	var out []*recording.Session
	for _, log := range logs {
		s, err := l.Load(context.Background(), log)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { s.Close() })
		out = append(out, s)
	}
	return out
}

func benchmarkLoad(b *testing.B, logs []*trace.Log) {
	b.Helper()
	var size int64
	for _, log := range logs {
		size += log.Size
	}
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		l := recording.Loader{Counter: recordingtest.NewCounter(b)} // it remembers counts
		for _, log := range logs {
			s, err := l.Load(context.Background(), log)
			if err != nil {
				b.Fatal(err)
			}
			s.Close()
		}
	}
}

// benchmarkReplay plays each policy under all profiles.
func benchmarkReplay(b *testing.B, sessions []*recording.Session) {
	b.Helper()
	calls := 0
	for _, s := range sessions {
		calls += len(s.Calls)
	}
	for _, p := range replay.Baselines(replay.SingleBudget) {
		b.Run(p.Name, func(b *testing.B) {
			for b.Loop() {
				for _, s := range sessions {
					var settings []replay.Setting
					for _, profile := range price.Profiles() {
						settings = append(settings, replay.UnderProfile(s, profile, replay.SingleBudget))
					}
					if _, err := replay.Replay(s, []replay.Policy{p}, settings); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(calls*b.N)/b.Elapsed().Seconds(), "calls/s")
		})
	}
}

func BenchmarkLoad(b *testing.B) {
	benchmarkLoad(b, []*trace.Log{recordingtest.ClaudeLog(b, b.TempDir(), "long", 200)})
}

func BenchmarkReplay(b *testing.B) {
	benchmarkReplay(b, load(b, []*trace.Log{recordingtest.ClaudeLog(b, b.TempDir(), "long", 200)}))
}

// The recorded sessions beside the checkout.
func BenchmarkLoadCorpus(b *testing.B) {
	for _, folder := range []string{"endless", "bench/entire-cli", "bench/agentv", "bench/mini-swe-agent"} {
		b.Run(folder, func(b *testing.B) { benchmarkLoad(b, corpus(b, folder)) })
	}
}

func BenchmarkReplayCorpus(b *testing.B) { benchmarkReplay(b, load(b, corpus(b, "bench/entire-cli"))) }

// BenchmarkReplayEndless is one session of all recorded ones.
func BenchmarkReplayEndless(b *testing.B) {
	l := recording.Loader{Counter: recordingtest.NewCounter(b)}
	s, err := l.Join(context.Background(), corpus(b, "endless"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	benchmarkReplay(b, []*recording.Session{s})
}

// corpus opens the recorded sessions of a folder, which are kept beside the
// checkout or where QUIRE_SHARED says. Without them the test is skipped.
func corpus(t testing.TB, folder string) []*trace.Log {
	t.Helper()
	root := shared()
	if root == "" {
		t.Skip("the recorded sessions are not here; QUIRE_SHARED names the folder that holds corpus/")
	}
	var logs []*trace.Log
	for f, err := range trace.Walk([]string{filepath.Join(root, "corpus", filepath.FromSlash(folder))}) {
		if err != nil {
			t.Fatal(err)
		}
		found, err := trace.Open(f.Path)
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
