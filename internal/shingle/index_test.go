package shingle

import (
	"math/bits"
	"testing"

	"pgregory.net/rapid"

	"github.com/quire-agent/quire/internal/quire"
)

func TestIndexKeepsTheYoungest(t *testing.T) {
	x := NewIndex(100)
	tests := []struct {
		name string
		page quire.PageNumber
		kind quire.PageKind
		want Entry
	}{
		{"first", 1, quire.PageUser, Entry{1, quire.PageUser, 1}},
		{"same page again", 1, quire.PageUser, Entry{1, quire.PageUser, 1}},
		{"other page", 4, quire.PageAssistant, Entry{4, quire.PageAssistant, 2}},
		{"same page, other kind", 4, quire.PageTool, Entry{4, quire.PageTool, 2}},
		{"page 0", 0, quire.PageTool, Entry{0, quire.PageTool, 3}},
		{"large number", 1 << 30, quire.PageTool, Entry{maxPage, quire.PageTool, 4}},
	}
	for _, tt := range tests {
		x.Add(42, tt.page, tt.kind)
		if got, ok := x.Find(42); !ok || got != tt.want {
			t.Errorf("%s: got %+v, %t, want %+v", tt.name, got, ok, tt.want)
		}
	}
	for page := range quire.PageNumber(10) {
		x.Add(42, page, quire.PageTool)
	}
	if got, _ := x.Find(42); got.Pages != MaxPages {
		t.Errorf("counted %d pages, want %d", got.Pages, MaxPages)
	}
	if _, ok := x.Find(43); ok || x.Len() != 1 {
		t.Errorf("found a hash that was never added; %d hashes", x.Len())
	}
}

// TestIndexIsAMap plays random additions against a map.
func TestIndexIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 300).Draw(t, "limit")
		x, want := NewIndex(limit), map[uint64]quire.PageNumber{}
		adds := rapid.SliceOfN(rapid.Uint64(), 0, 600).Draw(t, "hashes")
		for i, h := range adds {
			if i%3 == 0 {
				h &= 0xff // collisions of places and repeated hashes
			}
			x.Add(h, quire.PageNumber(i), quire.PageTool)
			want[h] = quire.PageNumber(i)
		}
		n := 0
		for h, page := range want {
			got, ok := x.Find(h)
			if ok != x.Keeps(h) || ok && got.Page != page {
				t.Fatalf("Find(%#x) = %+v, %t; kept %t, want page %d", h, got, ok, x.Keeps(h), page)
			}
			if ok {
				n++
			}
		}
		if n != x.Len() || n >= limit && x.Sampled() < 64 {
			t.Fatalf("%d hashes found, %d counted, limit %d", n, x.Len(), limit)
		}
	})
}

func TestIndexIsBounded(t *testing.T) {
	const limit = 1 << 16
	x := NewIndex(limit)
	for i := range uint64(10 * limit) {
		x.Add(mix(i), 1, quire.PageTool)
	}
	bytes := 0
	for i := range x.segments {
		bytes += cap(x.segments[i].slots) * 12
	}
	if x.Sampled() != 4 || x.Len() >= limit || bytes > 30*limit {
		t.Errorf("after %d hashes: %d kept, halved %d times, %d bytes", 10*limit, x.Len(), x.Sampled(), bytes)
	}
	for i := range uint64(10 * limit) {
		if _, ok := x.Find(mix(i)); ok != (bits.TrailingZeros64(mix(i)) >= 4) {
			t.Fatalf("hash %#x: found %t", mix(i), ok)
		}
	}
}

func TestSmallIndexIsSmall(t *testing.T) {
	x := NewIndex(4_000_000)
	for i := range uint64(1000) {
		x.Add(mix(i), 1, quire.PageTool)
	}
	n := 0
	for i := range x.segments {
		n += len(x.segments[i].slots)
	}
	if n > 4000 {
		t.Errorf("%d slots for 1,000 hashes", n)
	}
}
