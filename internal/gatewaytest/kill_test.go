package gatewaytest

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/index"
	"github.com/quire-agent/quire/internal/ingest"
	"github.com/quire-agent/quire/internal/sim"
	"github.com/quire-agent/quire/internal/store/sqlite"
)

// everyKill is the variable with which the gateway is killed at each of its writes,
// and not at some of them only.
const everyKill = "QUIRE_KILLS"

// A gateway that is killed at any of its writes, of bodies before and after they are
// durable and of each line of a journal (G13), and started again, loses nothing that
// a client was answered: the session goes on, each request is one that the provider
// takes, the answers are the same, and the pool is sound.
// failures.md A2, A6
// design.md G13
func TestKilledAtWrites(t *testing.T) {
	for _, d := range dialects() {
		t.Run(string(d.api), func(t *testing.T) {
			if os.Getenv(everyKill) == "" && d.api != sim.Messages {
				t.Skip("run with " + everyKill + "=1, as `make walks` does: each kill starts two processes")
			}
			for n := int64(1); killedAt(t, d, n); n = nextKill(n) {
			}
		})
	}
}

// nextKill is the next write at which the gateway is killed: each one, or one in
// steps that grow.
func nextKill(n int64) int64 {
	if os.Getenv(everyKill) != "" {
		return n + 1
	}
	return n*5 + 11
}

// killedAt tells the tale to a gateway that dies at its nth write. It reports whether
// it came that far.
func killedAt(t *testing.T, d dialect, n int64) bool {
	t.Helper()
	c := ahead{filepath.Join(t.TempDir(), "ahead")}
	c.set(t, 0)
	up := newUpstream(t)
	p := newProcess(t, setting{Upstream: up.address, Ahead: c.file, Die: n})
	m := &mender{remote: remote{p}}
	x := newTale(t, d, up, m, c.now)
	shift := time.Duration(0)
	x.pass = func(by time.Duration) { shift += by; c.set(t, shift) }
	x.tell()
	p.stop()
	if t.Failed() {
		t.Fatalf("killed at write %d", n)
	}
	x.accepted()
	pool, shut := reopened(t, p.setting.Home, c.now)
	defer shut()
	x.kept(pool)
	if t.Failed() {
		t.Fatalf("killed at write %d", n)
	}
	return m.mended
}

// reopened is the pool of a home that nobody uses any more.
func reopened(t *testing.T, home string, now func() time.Time) (*ingest.Pool, func()) {
	t.Helper()
	store, err := sqlite.Open(context.Background(), home, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	pool := newPool(t, home, now)
	pool.Bodies, pool.Table, pool.Heads, pool.Index = store, store, store, index.New(store, store)
	return pool, func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A mender is a client that starts the gateway again when it finds it dead, and asks
// again. It asks once more in any case, as an answer may have been cut off.
type mender struct {
	remote
	mended bool
}

// ServeHTTP asks until there is an answer.
func (m *mender) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := bodyOf(r)
	for range 3 {
		whole := &held{header: http.Header{}}
		serve(m.remote, whole, withBody(r, body))
		if whole.done {
			whole.to(w)
			return
		}
		<-m.p.done
		m.mended = true
		m.p.again()
	}
	panic(http.ErrAbortHandler)
}
