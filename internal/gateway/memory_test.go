package gateway

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/index"
	"github.com/quire-agent/quire/internal/store/sqlite"
)

// BenchmarkIdleSession is the memory that a session of 1 MB takes that was put out of
// mind: of one that is relayed, and of one that is curated.
func BenchmarkIdleSession(b *testing.B) {
	for _, curated := range []bool{false, true} {
		b.Run(map[bool]string{false: "relayed", true: "curated"}[curated], func(b *testing.B) {
			const sessions = 15
			w, pass := diskWorld(b)
			client := &http.Client{Transport: &http.Transport{DisableCompression: true}}
			defer client.CloseIdleConnections()
			idleSessions(b, w, pass, client, "warm up", 2, curated)
			for b.Loop() {
				before := heapOf()
				idleSessions(b, w, pass, client, fmt.Sprint("session ", b.N), sessions, curated)
				b.ReportMetric(float64(int64(heapOf())-int64(before))/sessions/1000, "kB/session")
			}
		})
	}
}

// idleSessions has sessions of some calls each, and lets them be idle.
func idleSessions(b *testing.B, w *world, pass func(time.Duration), client *http.Client, name string, n int, curated bool) {
	list := make([]*growing, n)
	for i := range list {
		list[i] = newGrowing(1 << 20)
		list[i].front = strings.Replace(list[i].front, `"N"`, fmt.Sprintf(`"%s %d"`, name, i), 1)
		list[i].list = append([]string{fmt.Sprintf(`{"role":"user","content":"%s %d"}`, name, i)}, list[i].list...)
	}
	const calls = 4
	for call := range calls {
		if curated {
			pass(3 * time.Hour)
		}
		for _, s := range list {
			firstByte(b, client, w.url, s.next(false))
			if l := w.line(); call == calls-1 && l.Curated != curated {
				b.Fatalf("the last call: %s", callText(b, l))
			}
		}
	}
	pass(time.Hour)
	err := w.g.observer.do(context.Background(), func(func() bool) { w.g.observer.unload() })
	if err != nil {
		b.Fatal(err)
	}
	w.g.reader.turn()
	w.g.reader.turn()
}

// heapOf is how many bytes are in use.
func heapOf() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// diskWorld is a gateway over a home on disk, with a clock that can be set forward.
func diskWorld(b *testing.B) (w *world, pass func(time.Duration)) {
	pool, ahead := newPool(b), time.Duration(0)
	store, err := sqlite.Open(context.Background(), pool.Home, sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	pool.Bodies, pool.Table, pool.Heads, pool.Index = store, store, store, index.New(store, store)
	pool.Now = func() time.Time { return time.Now().Add(ahead) }
	w = newWorld(b, pool, serveHandler(b, quick()), func(o *Options) { curates(o); o.Limits.Settle = time.Hour })
	b.Cleanup(func() {
		w.stop()
		if err := store.Close(); err != nil {
			b.Error(err)
		}
	})
	return w, func(by time.Duration) { ahead += by }
}
