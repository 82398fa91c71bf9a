package sqlite

import (
	"context"
	"math/rand/v2"
	"os"
	"runtime"
	"testing"

	"github.com/quire-agent/quire/internal/quire"
)

// kill -9 at random points: nothing that was acknowledged is lost, what was not
// is there wholly or not at all, and the pool goes on. A home lives through five
// runs.
func TestKill(t *testing.T) {
	runs := 20
	if os.Getenv("QUIRE_LONG") != "" {
		runs = 200
	}
	seed := rand.Uint64()
	t.Logf("seed %d, %d runs (200 with QUIRE_LONG=1)", seed, runs)
	random := rand.New(rand.NewPCG(seed, 0))
	var home string
	next, acknowledged := 1, 0
	for run := range runs {
		if run%5 == 0 {
			home, next = t.TempDir(), 1
		}
		last := killOnce(t, home, next, random.IntN(8), random.IntN(10_000_000))
		wantAcknowledged(t, home, next, last)
		acknowledged += last - next + 1
		next = last + 2 // the round after the last may be there or not
		if t.Failed() {
			t.Fatalf("in run %d", run)
		}
	}
	t.Logf("%d rounds were acknowledged", acknowledged)
}

// killOnce kills a writer after some acknowledgements and a moment more, and
// returns the last round that it acknowledged.
func killOnce(t *testing.T, home string, first, after, spins int) int {
	t.Helper()
	c := startChild(t, home, first, 1_000_000)
	last := first - 1
	for range after {
		last = c.round()
	}
	for range spins {
		runtime.KeepAlive(spins)
	}
	return c.kill(last)
}

func wantAcknowledged(t *testing.T, home string, first, last int) {
	t.Helper()
	ctx := context.Background()
	s, err := Open(ctx, home, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := s.Check(ctx); err != nil {
		t.Error(err)
	}
	for n := first; n <= last; n++ {
		wantRound(t, s, n)
	}
	for r, err := range s.Rows(ctx, quire.Reader{Who: "user:ann"}, quire.Filter{Session: quire.SessionNumber(last + 1)}) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Number == 1 {
			wantRound(t, s, last+1)
		}
	}
	for info, err := range s.EachBody(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Body(ctx, info.Hash); err != nil {
			t.Error(err)
		}
	}
}

// Two processes write at the same time: both succeed, and wait for each other.
func TestTwoProcesses(t *testing.T) {
	const rounds = 25
	home := t.TempDir()
	a, b := startChild(t, home, 1, rounds), startChild(t, home, 1001, rounds)
	s := openTest(t, home)
	for n := 2001; n < 2001+rounds; n++ {
		if err := writeRound(s, n); err != nil {
			t.Fatal(err)
		}
	}
	a.end()
	b.end()
	for _, first := range []int{1, 1001, 2001} {
		for n := first; n < first+rounds; n++ {
			wantRound(t, s, n)
		}
	}
	if err := s.Check(context.Background()); err != nil {
		t.Error(err)
	}
}
