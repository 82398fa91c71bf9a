package zstd_test

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/x/zstd"
	"pgregory.net/rapid"
)

func newCodec(t testing.TB) *zstd.Codec {
	t.Helper()
	c, err := zstd.NewCodec()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func TestCodecRoundTrip(t *testing.T) {
	c := newCodec(t)
	rapid.Check(t, func(t *rapid.T) {
		body := bytes.Repeat(rapid.SliceOf(rapid.Byte()).Draw(t, "body"), rapid.IntRange(1, 200).Draw(t, "times"))
		got, err := c.Decompress(c.Compress(body), len(body))
		if err != nil || !bytes.Equal(got, body) {
			t.Fatalf("%d bytes come back as %d, %v", len(body), len(got), err)
		}
	})
}

func TestCodecRefusesOtherSizes(t *testing.T) {
	c := newCodec(t)
	frame := c.Compress([]byte(strings.Repeat("a", 1000)))
	for _, size := range []int{-1, 0, 999, 1001, 1 << 40} {
		if _, err := c.Decompress(frame, size); err == nil {
			t.Errorf("1000 bytes decompress as %d", size)
		}
	}
}

// FuzzDecompress: a frame yields the size asked for or an error.
func FuzzDecompress(f *testing.F) {
	c := newCodec(f)
	for _, frame := range []string{rawFrame, runFrame, "", "28b52ffd"} {
		raw, err := hex.DecodeString(frame)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw, 5)
		f.Add(raw, 1000)
	}
	f.Fuzz(func(t *testing.T, frame []byte, size int) {
		if size > 1<<20 {
			return
		}
		if body, err := c.Decompress(frame, size); err == nil && len(body) != size {
			t.Fatalf("%d bytes, want %d", len(body), size)
		}
	})
}
