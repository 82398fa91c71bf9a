package mem_test

import (
	"testing"

	"github.com/quire-agent/quire/internal/store/mem"
	"github.com/quire-agent/quire/internal/store/storetest"
)

func TestStore(t *testing.T) {
	storetest.Test(t, func(testing.TB) storetest.Store { return mem.New() })
}

func BenchmarkStore(b *testing.B) {
	storetest.Benchmark(b, func(testing.TB) storetest.Store { return mem.New() })
}
