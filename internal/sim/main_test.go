package sim_test

import (
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/quire-agent/quire/internal/script"
	"github.com/quire-agent/quire/internal/sim"
	"github.com/quire-agent/quire/internal/token"
)

func TestMain(m *testing.M) {
	// The client of Google brings a goroutine of its own.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("go.opencensus.io/stats/view.(*worker).start"))
}

// counter is made once for all tests: loading its vocabulary takes a while.
func counter(t testing.TB) *token.Counter {
	c, err := loadCounter()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var loadCounter = sync.OnceValues(token.NewCounter)

// noon is the time of tests in which none passes.
func noon() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) }

// parsed is a script of a test.
func parsed(t testing.TB, text string) *script.Script {
	t.Helper()
	s, err := script.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// make makes a simulator whose own faults fail the test.
func make(t testing.TB, o sim.Options) *sim.Sim {
	t.Helper()
	o.Counter, o.Failed = counter(t), func(err error) { t.Errorf("the simulator: %v", err) }
	if o.Now == nil {
		o.Now = noon
	}
	s, err := sim.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// serve is a simulator behind a listener.
func serve(t *testing.T, o sim.Options) (*sim.Sim, *httptest.Server) {
	t.Helper()
	s := make(t, o)
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return s, server
}
