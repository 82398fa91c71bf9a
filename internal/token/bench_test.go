package token

import (
	"fmt"
	"strings"
	"testing"
)

// sample is program text, output and prose, about a megabyte, without a line
// that occurs twice.
func sample() string {
	var b strings.Builder
	for i := range 6000 {
		fmt.Fprintf(&b, "%6d→\tif err := store.Commit(ctx, checkpoint%d); err != nil {\n", i, i*7919)
		fmt.Fprintf(&b, "2026-02-%02dT10:%02d:%02dZ level=info msg=\"session %x resumed\" files=%d\n", i%28+1, i%60, i%59, i*2654435761, i)
		fmt.Fprintf(&b, "In turn %d the worker didn't find the file, so it looked into cmd/tool%d instead.\n", i, i)
	}
	return b.String()
}

func BenchmarkCount(b *testing.B) {
	s, c, library := sample(), counter(b), library(b)
	for _, run := range []struct {
		name  string
		count func(string) int
	}{
		{"first", func(s string) int { return int(c.count(s).total) }},
		{"again", c.Count},
		{"library", library},
	} {
		b.Run(run.name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			b.ReportAllocs()
			for b.Loop() {
				run.count(s)
			}
		})
	}
}

func BenchmarkCountAdversarial(b *testing.B) {
	c := counter(b)
	for _, name := range []string{"one letter", "base64", "binary", "one ideograph"} {
		s := adversarial()[name]
		b.Run(strings.ReplaceAll(name, " ", "-"), func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			for b.Loop() {
				c.count(s)
			}
		})
	}
}

func BenchmarkNewCounter(b *testing.B) {
	for b.Loop() {
		if _, err := NewCounter(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkObserve(b *testing.B) {
	f := NewFit("claude-opus-4-5")
	for b.Loop() {
		f.Observe(Features{Prose: 120, Code: 900, Numbered: 2000, Arguments: 80, Message: 3, Call: 1}, 3600)
	}
}
