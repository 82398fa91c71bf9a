package secret_test

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/secret"
)

// logText is what agents see all day: output of builds and tests, listings, code.
func logText(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "2026-11-02T09:%02d:%02d.%03dZ INFO cart: served GET /cart/%d?page=%d in %d ms\n", i/60%60, i%60, i%1000, i*7919%100000, i%9, i%97)
		fmt.Fprintf(&b, "=== RUN   TestCart/%d\n--- PASS: TestCart/%d (0.0%ds)\nok  \texample.org/shop/internal/cart\t0.%03ds\n", i, i, i%10, i%1000)
		fmt.Fprintf(&b, "-rw-r--r-- 1 ann ann %d Nov  2 09:00 internal/cart/total_%d.go\n%d\tfunc total%d(items []Item, key string) (sum int, err error) {\n", i*31%9999, i, i, i)
		fmt.Fprintf(&b, "\"token_count\": %d, \"author\": \"ann\", \"path\": \"/home/ann/shop/cart.go\", \"sha\": \"%040x\"\n", i, i*104729)
	}
	return b.String()[:size]
}

func BenchmarkFind(b *testing.B) {
	f := secret.NewFinder()
	text := logText(4 << 20)
	b.Run("log", func(b *testing.B) { benchmarkFind(b, f, text) })
	planted := text
	for i, p := range plants(1) {
		at := i * len(planted) / 80
		planted = planted[:at] + "\n" + p.text() + "\n" + planted[at:]
	}
	b.Run("planted", func(b *testing.B) { benchmarkFind(b, f, planted) })
	b.Run("hostile", func(b *testing.B) { benchmarkFind(b, f, hostile(1<<20)) })
	b.Run("corpus", func(b *testing.B) { benchmarkFind(b, f, recorded(b, 64<<20)) })
}

func benchmarkFind(b *testing.B, f *secret.Finder, text string) {
	b.SetBytes(int64(len(text)))
	n := 0
	for b.Loop() {
		n = len(f.Find(text))
	}
	b.ReportMetric(float64(n), "findings")
}

// hostile is text made to take long: it begins secrets and never ends them.
func hostile(size int) string {
	pieces := []string{"key=", "eyJ", "token: a1", "://a:", "sk-", "-----BEGIN " + "PRIVATE KEY-----", "password=", "Authorization: Bearer ", "mysql -u "}
	var b strings.Builder
	for _, p := range pieces {
		b.WriteString(strings.Repeat(p, size/len(pieces)/len(p)))
	}
	return b.String()
}

func BenchmarkCopy(b *testing.B) {
	f := secret.NewFinder()
	text := logText(4 << 20)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if err := f.Copy(io.Discard, strings.NewReader(text)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNewFinder(b *testing.B) {
	for b.Loop() {
		secret.NewFinder()
	}
}

// recorded is the beginning of the recorded sessions beside the repository.
func recorded(tb testing.TB, most int) string {
	root := shared()
	if root == "" {
		tb.Skip("no recorded sessions: set QUIRE_SHARED to a folder with corpus in it")
	}
	var b strings.Builder
	err := filepath.WalkDir(filepath.Join(root, "corpus"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || b.Len() > most {
			return err
		}
		text, err := os.ReadFile(path)
		b.Write(text)
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return b.String()
}

// shared finds the folder with the corpus.
func shared() string {
	if dir := os.Getenv("QUIRE_SHARED"); dir != "" {
		return dir
	}
	dir, err := os.Getwd()
	for err == nil && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
		if _, err := os.Stat(filepath.Join(dir, "shared", "corpus")); err == nil {
			return filepath.Join(dir, "shared")
		}
	}
	return ""
}
