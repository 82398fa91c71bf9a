package secret_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/quire-agent/quire/internal/secret"
	"pgregory.net/rapid"
)

// TestCopyMasksAcrossWindows puts secrets of every kind across the places where
// one window ends and the next begins.
func TestCopyMasksAcrossWindows(t *testing.T) {
	f := secret.NewFinder()
	line := "2026-11-02 09:00:01 INFO served /cart in 12 ms\n"
	for i, p := range plants(9) {
		for _, edge := range []int{256 << 10, 248 << 10} {
			size := edge - len(p.text())*(1+i%4)/5
			text := strings.Repeat(line, size/len(line)+1)[:size-1] + "\n" + p.text() + "\n" + strings.Repeat(line, 4000)
			var b strings.Builder
			if err := f.Copy(&b, strings.NewReader(text)); err != nil {
				t.Fatal(err)
			}
			if b.String() != f.Mask(text) || survives(p.secret, b.String()) != "" {
				t.Errorf("%s at %d: copied otherwise", p.rule, edge)
			}
		}
	}
}

// TestCopyIsMask holds the same for texts by chance.
func TestCopyIsMask(t *testing.T) {
	f := secret.NewFinder()
	rapid.Check(t, func(t *rapid.T) {
		piece, _ := drawText(t)
		text := strings.Repeat(piece+strings.Repeat("x = y\n", rapid.IntRange(0, 50).Draw(t, "between")), rapid.IntRange(1, 400).Draw(t, "times"))
		var b bytes.Buffer
		if err := f.Copy(&b, iotest.HalfReader(strings.NewReader(text))); err != nil {
			t.Fatal(err)
		}
		if b.String() != f.Mask(text) {
			t.Fatalf("%d bytes of %q are copied otherwise", len(text), piece)
		}
	})
}

func TestCopyOfALongSecret(t *testing.T) {
	f := secret.NewFinder()
	text := "API_TOKEN=" + strings.Repeat("aB3cD4eF5gH6", 80_000) + "\nrest\n"
	var b strings.Builder
	if err := f.Copy(&b, strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	if want := "API_TOKEN=‹secret:secret›\nrest\n"; b.String() != want {
		t.Errorf("got %.80q", b.String())
	}
}

func TestCopyTellsErrors(t *testing.T) {
	f := secret.NewFinder()
	broken := errors.New("broken")
	if err := f.Copy(io.Discard, iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Error(err)
	}
	r, w := io.Pipe()
	_ = r.CloseWithError(broken) // never fails
	if err := f.Copy(w, strings.NewReader("text")); !errors.Is(err, broken) {
		t.Error(err)
	}
}
