package shingle

import (
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/quire"
)

const benchCode = `// Find returns what is known of hash.
func (x *Index) Find(hash uint64) (Entry, bool) {
	s := &x.segments[hash>>(64-segmentBits)]
	if s.used == 0 {
		return Entry{}, false // see https://example.org/docs/internal/index.html
	}
	e := s.slots[s.find(hash)]
	return e.entry(), e.page != 0
}
`

func BenchmarkScan(b *testing.B) {
	for _, c := range []struct{ name, text string }{
		{"code", benchCode},
		{"numbered", "    12→" + strings.ReplaceAll(benchCode, "\n", "\n    13→")},
		{"prose", "The same text gives the same hashes in every run and on every machine, so they may be stored.\n"},
		{"CJK", "同一段文字在任何机器上都得到同样的散列值，所以可以保存下来。\n"},
		{"path", "/alpha/beta/gamma/delta/omega/kappa/lambda.go:12:5: undefined\n"},
		{"run", "alpha.beta+"},
	} {
		text := strings.Repeat(c.text, 1<<20/len(c.text))
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			var sum uint64
			for b.Loop() {
				Scan(text, func(s Shingle) bool { sum += s.Hash; return true })
			}
			_ = sum
		})
	}
}

func BenchmarkLineHashes(b *testing.B) {
	text := strings.Repeat(benchCode, 1<<20/len(benchCode))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		LineHashes(text)
	}
}

func BenchmarkIndexAdd(b *testing.B) {
	b.Run("growing to 4M", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			x := NewIndex(4_000_000)
			for i := range uint64(3_900_000) {
				x.Add(mix(i), 1, quire.PageTool)
			}
			b.ReportMetric(float64(x.bytes())/3.9e6, "B/entry")
		}
	})
	b.Run("small", func(b *testing.B) {
		x := NewIndex(4_000_000)
		for i := uint64(0); b.Loop(); i++ {
			x.Add(mix(i&0xffff), 1, quire.PageTool)
		}
	})
}

func (x *Index) bytes() (n int) {
	for i := range x.segments {
		n += len(x.segments[i].slots) * 12
	}
	return n
}
