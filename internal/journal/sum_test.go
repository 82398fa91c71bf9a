package journal

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/quire"
)

// summed gives the lines of a journal that a test changed the checksums that fit.
func summed(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		var e envelope
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			panic(err) // the test's own line
		}
		out.Write(append(resum([]byte(strings.TrimSuffix(line, "\n")), e.Sum), '\n'))
	}
	return out.String()
}

// The checksum is that of the line without it, as anybody can compute it.
func TestChecksumOfALine(t *testing.T) {
	line, _, _ := strings.Cut(three(t), "\n")
	before, rest, ok := strings.Cut(line, `,"crc":"`)
	if !ok {
		t.Fatalf("no checksum in %s", line)
	}
	sum := crc32.Checksum([]byte(before+rest[9:]), crc32.MakeTable(crc32.Castagnoli))
	if want := fmt.Sprintf("%08x", sum); rest[:8] != want {
		t.Errorf("%s, want %s", rest[:8], want)
	}
}

// Whichever bit of a journal turns over, a reader reports it, or the journal
// ends without a line end.
func TestEveryFlippedBitIsReported(t *testing.T) {
	text := three(t)
	path := journalPath(t)
	for bit := range len(text) * 8 {
		flipped := []byte(text)
		flipped[bit/8] ^= 1 << (bit % 8)
		write(t, path, string(flipped))
		if _, damage := all(t, path); len(damage) == 0 && flipped[len(flipped)-1] == '\n' {
			t.Fatalf("bit %d of byte %d turned over unseen: %s", bit%8, bit/8, flipped)
		}
	}
}

// Lines of before there were checksums are read as they are; from version 2 on a
// line without one has lost it.
func TestLinesWithoutAChecksum(t *testing.T) {
	const old = `{"v":1,"t":"2026-03-04T05:06:07.000000089Z","seq":0,"type":"x","crcs":"x","text":"one"}` + "\n"
	path := journalPath(t)
	write(t, path, old)
	w := open(t, path)
	add(t, w, "x", note{"two"})
	closed(t, w)
	if records := whole(t, path); len(records) != 2 || records[0].V != 1 || records[1].V != quire.RecordVersion {
		t.Errorf("%+v", records)
	}
	write(t, path, strings.Replace(old, `"v":1`, `"v":2`, 1))
	if _, damage := all(t, path); len(damage) != 1 || !strings.Contains(damage[0].Reason, "lost its checksum") {
		t.Errorf("%+v", damage)
	}
}

// The lines of a masked export have the checksums of what stands there, but for
// one that did not fit before.
func TestMaskedLinesFit(t *testing.T) {
	p := pool{}
	_, path := recorded(t, p, "one")
	text := exported(t, path, p, func(s string) string { return strings.ReplaceAll(s, "ada", "***") })
	seen := 0
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, `{"v":`) {
			continue
		}
		seen++
		if _, err := parse([]byte(strings.TrimSuffix(line, "\n"))); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	if seen != 2 || !strings.Contains(text, "user:***") {
		t.Errorf("%d lines in %s", seen, text)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	wrong := []byte(strings.Replace(string(raw), "user:ada", "user:adb", 1))
	wrong = wrong[:strings.IndexByte(string(wrong), '\n')]
	if _, err := parse(maskRecord(wrong, strings.ToUpper, nil)); err == nil {
		t.Error("masking has mended a line")
	}
}
