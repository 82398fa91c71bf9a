package sqlite

import (
	"context"
	"testing"

	"github.com/quire-agent/quire/internal/store/storetest"
)

func openTest(t testing.TB, home string) *Store {
	t.Helper()
	s, err := Open(context.Background(), home, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestStore(t *testing.T) {
	storetest.Test(t, func(t testing.TB) storetest.Store { return openTest(t, t.TempDir()) })
}
