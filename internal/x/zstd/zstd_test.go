package zstd_test

import (
	"bytes"
	"encoding/hex"
	"io"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/x/zstd"
)

// rawFrame is a frame with one raw block, written by hand after RFC 8878: magic
// number, header (single segment, one byte of content size), block header (last,
// raw, 5 bytes), content.
const rawFrame = "28b52ffd" + "20" + "05" + "290000" + "71756972" + "65"

// runFrame holds the byte 'a' 1000 times as a run-length block.
const runFrame = "28b52ffd" + "60" + "e802" + "431f00" + "61"

func decode(t *testing.T, frame string) ([]byte, error) {
	t.Helper()
	raw, err := hex.DecodeString(frame)
	if err != nil {
		t.Fatal(err)
	}
	r, err := zstd.NewReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	return io.ReadAll(r)
}

func TestRead(t *testing.T) {
	for frame, want := range map[string]string{
		rawFrame:            "quire",
		rawFrame + rawFrame: "quirequire",
		runFrame:            strings.Repeat("a", 1000),
	} {
		got, err := decode(t, frame)
		if err != nil || string(got) != want {
			t.Errorf("%s reads as %q, %v, want %q", frame, got, err, want)
		}
	}
}

func TestTruncated(t *testing.T) {
	if _, err := decode(t, rawFrame[:len(rawFrame)-4]); err == nil {
		t.Error("a truncated stream reads without an error")
	}
}

// A frame may declare any window; one beyond the bound must not be allocated.
func TestWindowIsBounded(t *testing.T) {
	const frame = "28b52ffd" + "00" + "98" + "010000"
	if _, err := decode(t, frame); err == nil {
		t.Error("a window of 512 MiB was accepted")
	}
}

func TestMatch(t *testing.T) {
	if !zstd.Match([]byte("\x28\xb5\x2f\xfd\x20")) || zstd.Match([]byte("{}")) || zstd.Match([]byte("\x28\xb5")) {
		t.Error("the magic number is not recognised")
	}
}
