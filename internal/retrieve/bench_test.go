package retrieve

import (
	"context"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/index"
	"github.com/quire-agent/quire/internal/quire"
)

// A folder keeps segments in files, so that a benchmark measures an index that
// is not in memory.
type folder struct {
	index.Memory // its heads
	dir          string
}

func (f *folder) PutSegment(_ context.Context, name string, from io.Reader) error {
	to, err := os.Create(filepath.Join(f.dir, name))
	if err != nil {
		return err
	}
	defer to.Close()
	_, err = io.Copy(to, from)
	return err
}

func (f *folder) ReadSegment(_ context.Context, name string, off int64, n int) ([]byte, error) {
	in, err := os.Open(filepath.Join(f.dir, name))
	if err != nil {
		return nil, fmt.Errorf("%w: %v", quire.ErrNotFound, err)
	}
	defer in.Close()
	data := make([]byte, n)
	k, err := in.ReadAt(data, off)
	if err == io.EOF {
		err = nil
	}
	return data[:k], err
}

func (f *folder) DropSegments(_ context.Context, names []string) error {
	for _, name := range names {
		if err := os.Remove(filepath.Join(f.dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// A library makes pages out of their numbers: lines of code, logs and prose from
// 300,000 words of which some are frequent and most are rare, as in real text.
type library struct {
	pages int
	read  *atomic.Int64 // texts that a search asked for
	words []string      // the most frequent first
}

const vocabulary = 300_000

func newLibrary(pages int) library {
	l := library{pages: pages, read: &atomic.Int64{}}
	syllables := strings.Fields("re ta lo mi ner con ve sa pu di ka st or gen el fu")
	for rank := range uint64(vocabulary + 1) {
		l.words = append(l.words, word(syllables, rank))
	}
	return l
}

func word(list []string, rank uint64) string {
	var b strings.Builder
	for n := rank + 17; n > 0; n /= 16 {
		b.WriteString(list[n%16])
	}
	switch rank % 7 {
	case 0:
		return b.String() + "Handler"
	case 1:
		return "pkg/" + b.String() + ".go"
	case 2:
		return b.String() + "_" + strconv.FormatUint(rank%97, 10)
	}
	return b.String()
}

func (l library) text(page int) string {
	r := rand.New(rand.NewPCG(uint64(page), 7))
	z := rand.NewZipf(r, 1.08, 4, vocabulary)
	var b strings.Builder
	for range 14 {
		for range 10 {
			b.WriteString(l.words[z.Uint64()])
			b.WriteByte(' ')
		}
		b.WriteString("= " + strconv.FormatUint(uint64(r.Uint32()), 16) + ";\n")
	}
	return b.String()
}

func (l library) row(page int) quire.Row {
	text := quire.PageNumber(page%1000 + 1)
	return quire.Row{
		Page:    quire.Page{Number: text, Kind: quire.PageTool, Class: quire.ClassLog, Tool: "bash", Body: quire.Hash{byte(page), byte(page >> 8), byte(page >> 16), 1}},
		Session: quire.SessionNumber(page/1000 + 1), Owner: me, Scope: quire.ScopeSession, Outcome: quire.OutcomeUnknown,
	}
}

func (l library) Rows(_ context.Context, _ quire.Reader, f quire.Filter) iter.Seq2[quire.Row, error] {
	return func(yield func(quire.Row, error) bool) {
		for _, n := range f.Pages {
			if !yield(l.row((int(f.Session)-1)*1000+int(n)-1), nil) {
				return
			}
		}
	}
}

func (l library) Text(_ context.Context, r *quire.Row) (string, error) {
	l.read.Add(1)
	return l.text((int(r.Session)-1)*1000 + int(r.Number) - 1), nil
}

// index makes the index as an ingest does, a thousand pages at a time.
func (l library) index(b *testing.B) (*index.Index, int) {
	b.Helper()
	ctx := context.Background()
	store := &folder{dir: b.TempDir()}
	x := index.New(store, store)
	bytes := 0
	for at := 0; at < l.pages; at += 1000 {
		var docs []index.Document
		for i := range 1000 {
			r := l.row(at + i)
			text := l.text(at + i)
			bytes += len(text)
			d, _ := NewDocument(&r, "", text, "")
			docs = append(docs, d)
		}
		if err := x.Add(ctx, docs); err != nil {
			b.Fatal(err)
		}
		mergeAll(b, x)
	}
	return x, bytes
}

func mergeAll(b *testing.B, x *index.Index) {
	for {
		did, err := x.Merge(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		if !did {
			return
		}
	}
}

// queries have eight words: a rare one of the page they ask for and seven of the
// frequent ones, or only those.
func (l library) query(i int, rare bool) string {
	r := rand.New(rand.NewPCG(uint64(i), 99))
	z := rand.NewZipf(r, 1.08, 4, 300)
	words := make([]string, 8)
	for k := range words {
		words[k] = l.words[z.Uint64()]
	}
	if rare {
		words[3] = l.words[20_000+r.Uint64N(200_000)]
	}
	return strings.Join(words, " ")
}

func benchmarkRecall(b *testing.B, pages int) {
	l := newLibrary(pages)
	began := time.Now()
	x, bytes := l.index(b)
	took := time.Since(began)
	st, err := x.Stats(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	p := &Pages{Index: x, Table: l, Texts: l}
	for _, kind := range []struct {
		name string
		rare bool
	}{{"rare", true}, {"frequent", false}} {
		b.Run(kind.name, func(b *testing.B) {
			var times []time.Duration
			n := 0
			before := processorTime()
			for b.Loop() {
				q := Query{Text: l.query(n, kind.rare), Reader: quire.Reader{Who: me}}
				n++
				start := time.Now()
				if _, err := p.Search(context.Background(), q); err != nil {
					b.Fatal(err)
				}
				times = append(times, time.Since(start))
			}
			used := processorTime() - before
			slices.Sort(times)
			b.ReportMetric(used.Seconds()*1000/float64(n), "cpu-ms/op")
			b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(times[len(times)*99/100].Microseconds())/1000, "p99-ms")
			b.ReportMetric(float64(l.read.Load())/float64(n), "texts/op")
			l.read.Store(0)
			b.ReportMetric(float64(st.Bytes)/float64(bytes), "index/text")
			b.ReportMetric(float64(bytes)/1e6/took.Seconds(), "build-MB/s")
			b.ReportMetric(float64(st.Segments), "segments")
			b.ReportMetric(heap(), "heap-MB")
		})
	}
}

// heap is what is in use after a collection.
func heap() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc) / 1e6
}

// BenchmarkRecall10k is for profiles: its index is built in seconds.
func BenchmarkRecall10k(b *testing.B) { benchmarkRecall(b, 10_000) }

func BenchmarkRecall100k(b *testing.B) { benchmarkRecall(b, 100_000) }

// BenchmarkRecallMillion needs minutes to build its index: make bench-pool asks
// for it.
func BenchmarkRecallMillion(b *testing.B) {
	if os.Getenv("QUIRE_MILLION") == "" {
		b.Skip("set QUIRE_MILLION to build an index of a million pages")
	}
	benchmarkRecall(b, 1_000_000)
}
