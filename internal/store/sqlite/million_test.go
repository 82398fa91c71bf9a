package sqlite

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/store/storetest"
)

// millionPages is the size of the generated pool.
const millionPages = 1_000_000

// BenchmarkMillion measures a pool of a million pages, each with a body, which it
// makes first; that takes minutes and a gigabyte, so it is asked for with
// QUIRE_MILLION=1 (make bench-pool).
func BenchmarkMillion(b *testing.B) {
	if os.Getenv("QUIRE_MILLION") == "" {
		b.Skip("takes minutes: QUIRE_MILLION=1")
	}
	home := b.TempDir()
	var pages []drawnPage
	b.Run("Make", func(b *testing.B) {
		if pages == nil { // once, however many rounds are asked for
			pages = makeMillion(b, home)
		}
	})
	debug.FreeOSMemory()
	s := openTest(b, home)
	b.Run("Open", func(b *testing.B) {
		for b.Loop() {
			again, err := Open(context.Background(), home, Options{})
			if err != nil {
				b.Fatal(err)
			}
			if err := again.Close(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Show", func(b *testing.B) { benchShow(b, s, pages) })
	b.Run("Session", func(b *testing.B) {
		benchTimes(b, func(draw *rand.Rand) {
			countRows(b, s, quire.Filter{Session: quire.SessionNumber(1 + draw.IntN(millionPages/1000))}, 1000)
		})
	})
	b.Run("Target", func(b *testing.B) {
		benchTimes(b, func(draw *rand.Rand) {
			countRows(b, s, quire.Filter{Target: pages[draw.IntN(len(pages))].target, Limit: 1}, 1)
		})
	})
	b.Run("All", func(b *testing.B) {
		for b.Loop() {
			countRows(b, s, quire.Filter{}, millionPages)
		}
		b.ReportMetric(residentMiB(b), "MiB-RSS")
	})
}

// A drawnPage is a page of the generated pool that is looked for.
type drawnPage struct {
	ref    quire.PageRef
	target string
}

// makeMillion makes the pool, reports how fast and how large, and returns some of
// its pages.
func makeMillion(b *testing.B, home string) []drawnPage {
	s, err := Open(context.Background(), home, Options{})
	if err != nil {
		b.Fatal(err)
	}
	draw := rand.New(rand.NewPCG(1, 2))
	texts := make([][]byte, 2000)
	for i := range texts {
		texts[i] = storetest.Text(draw, draw.IntN(1<<(7+draw.IntN(6))))
	}
	var pages []drawnPage
	var textBytes int64
	start := time.Now()
	const batch = 5000
	for n := 0; n < millionPages; n += batch {
		rows := storetest.Rows(draw, quire.SessionNumber(1+n/1000), batch)
		bodies := make([][]byte, batch)
		for i := range bodies {
			bodies[i] = fmt.Appendf(nil, "%d\n%s", n+i, texts[draw.IntN(len(texts))])
			textBytes += int64(len(bodies[i]))
		}
		putBatch(b, s, rows, bodies)
		pages = append(pages, drawnPage{rows[n%batch].Ref(), rows[n%batch].Target}, drawnPage{rows[77].Ref(), rows[77].Target})
	}
	seconds := time.Since(start).Seconds()
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(textBytes)/1e6/seconds, "MB-text/s")
	b.ReportMetric(float64(textBytes/millionPages), "B-text/body")
	b.ReportMetric(float64(fileBytes(b, home, BodiesFile)/millionPages), "B-disk/body")
	b.ReportMetric(float64(fileBytes(b, home, PoolFile)/millionPages), "B-disk/row")
	return pages
}

func putBatch(b *testing.B, s *Store, rows []quire.Row, bodies [][]byte) {
	hs, err := s.PutBodies(context.Background(), bodies)
	if err != nil {
		b.Fatal(err)
	}
	for i := range rows {
		rows[i].Body = hs[i]
	}
	if err := s.PutRows(context.Background(), rows); err != nil {
		b.Fatal(err)
	}
}

// benchShow finds a page by its name and reads its body, as `quire show` does.
func benchShow(b *testing.B, s *Store, pages []drawnPage) {
	benchTimes(b, func(draw *rand.Rand) {
		ref := pages[draw.IntN(len(pages))].ref
		f := quire.Filter{Session: ref.Session, Pages: []quire.PageNumber{ref.Page}}
		for r, err := range s.Rows(context.Background(), quire.Reader{Who: "user:ann"}, f) {
			if err != nil {
				b.Fatal(err)
			}
			if _, err := s.Body(context.Background(), r.Body); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// benchTimes reports the median, which a busy machine moves little, and the 99th
// percentile besides the mean.
func benchTimes(b *testing.B, do func(*rand.Rand)) {
	draw := rand.New(rand.NewPCG(3, 4))
	var times []time.Duration
	for b.Loop() {
		start := time.Now()
		do(draw)
		times = append(times, time.Since(start))
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Microseconds()), "µs-p50")
	b.ReportMetric(float64(times[len(times)*99/100].Microseconds()), "µs-p99")
}

func countRows(b *testing.B, s *Store, f quire.Filter, want int) {
	n := 0
	for _, err := range s.Rows(context.Background(), quire.Reader{Who: "user:ann"}, f) {
		if err != nil {
			b.Fatal(err)
		}
		n++
	}
	if n != want {
		b.Fatalf("%d rows, want %d", n, want)
	}
}

func fileBytes(t testing.TB, home, name string) int64 {
	t.Helper()
	info, err := os.Stat(filepath.Join(home, name))
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// residentMiB is what the process holds in memory, 0 where the system does not
// say so.
func residentMiB(b *testing.B) float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, err := strconv.Atoi(strings.Fields(rest)[0])
			if err != nil {
				b.Fatal(err)
			}
			return float64(kib) / 1024
		}
	}
	return 0
}
