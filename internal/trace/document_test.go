package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

// jsonText draws the JSON of some value, with white space in places.
func jsonText(t *rapid.T) string {
	v := rapid.Deferred(anyValue).Draw(t, "value")
	b, err := json.MarshalIndent(v, "", rapid.SampledFrom([]string{"", "\t", "  "}).Draw(t, "indent"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func anyValue() *rapid.Generator[any] {
	text := rapid.StringOf(rapid.SampledFrom([]rune("ab\\\"{}[],: \n\t界😀\x00")))
	return rapid.OneOf(
		rapid.Map(text, func(s string) any { return s }),
		rapid.Map(rapid.Float64Range(-1e9, 1e9), func(f float64) any { return f }),
		rapid.SampledFrom([]any{nil, true, false, 0}),
		rapid.Map(rapid.SliceOfN(rapid.Deferred(anyValue), 0, 4), func(s []any) any { return s }),
		rapid.Map(rapid.MapOfN(text, rapid.Deferred(anyValue), 0, 4), func(m map[string]any) any { return m }),
	)
}

// Values that stand one after the other are taken one by one, as they are
// written, in whatever chunks they come.
func TestTakeReadsWhatIsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(rapid.Custom(jsonText), 1, 4).Draw(t, "texts")
		var src io.Reader = strings.NewReader(strings.Join(want, "\n "))
		if rapid.Bool().Draw(t, "slow") {
			src = iotest.OneByteReader(src)
		}
		d := newDocument(src)
		for _, w := range want {
			got, err := d.take()
			if err != nil || string(got) != w {
				t.Fatalf("took %q, error %v, want %q", got, err, w)
			}
		}
		if _, err := d.take(); !errors.Is(err, io.EOF) {
			t.Fatalf("at the end: %v", err)
		}
	})
}

// Walking in finds the fields and elements in their order, and skipping them
// leaves the rest to be read.
func TestWalksInto(t *testing.T) {
	d := newDocument(strings.NewReader("\ufeff {\"a\": [1, [2], {\"b\":3}], \"sk\\u0069p\" : {\"x\":[{}]},\"c\":\"d\"} true"))
	var got []string
	err := d.object(func(key string) error {
		got = append(got, key)
		switch key {
		case "a":
			return d.array(func(n int) error {
				v, err := d.take()
				got = append(got, string(rune('0'+n))+v.raw())
				return err
			})
		case "skip":
			return d.skip()
		}
		v, err := d.take()
		got = append(got, v.raw())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"a", "11", "2[2]", `3{"b":3}`, "skip", "c", `"d"`}; !slices.Equal(got, want) {
		t.Errorf("walked over %q, want %q", got, want)
	}
	if v, err := d.take(); !v.truth() || err != nil {
		t.Errorf("behind it %q, %v", v, err)
	}
}

func TestDamagedDocuments(t *testing.T) {
	for text, want := range map[string]error{
		`{"a":1`: errTruncated, `{"a":`: errTruncated, `{"a`: errTruncated, `{`: errTruncated, `{"a":"x\"`: errTruncated,
		`{a:1}`: errSyntax, `{"a" 1}`: errSyntax, `{"a":1 "b":2}`: errSyntax, `{"a":}`: errSyntax, `{"a":,}`: errSyntax,
		`[1]`: errSyntax, `1`: errSyntax, ``: io.EOF,
	} {
		d := newDocument(strings.NewReader(text))
		err := d.object(func(string) error {
			_, err := d.take()
			return err
		})
		if !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", text, err, want)
		}
	}
}

func TestOversizedRecordsArePassedOver(t *testing.T) {
	d := newDocument(strings.NewReader(`["` + strings.Repeat("x", 100) + `", 2]`))
	d.limit = 50
	var got []string
	err := d.array(func(int) error {
		v, err := d.take()
		if errors.Is(err, errOversized) {
			got = append(got, "long")
			return nil
		}
		got = append(got, v.raw())
		return err
	})
	if err != nil || !slices.Equal(got, []string{"long", "2"}) {
		t.Errorf("%q, %v", got, err)
	}
}

// Compacting changes nothing but white space between tokens.
func TestCompact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := jsonText(t)
		var want bytes.Buffer
		if err := json.Compact(&want, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got := compact(value(text)); got != want.String() {
			t.Fatalf("compact %q = %q, want %q", text, got, want.String())
		}
	})
}

func FuzzDocument(f *testing.F) {
	for _, seed := range []string{`{"a":[1,{"b":"\\\""}]} [2]`, `{"a"`, `[[[`, `]`, "\ufeff{}", `"x`, `nul`, `{"a":1,}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		fast, slow := newDocument(strings.NewReader(text)), newDocument(iotest.OneByteReader(strings.NewReader(text)))
		for {
			a, errA := fast.take()
			b, errB := slow.take()
			if string(a) != string(b) || !errors.Is(errA, errB) {
				t.Fatalf("%q, %v in one piece but %q, %v byte by byte", a, errA, b, errB)
			}
			if errA != nil {
				return
			}
			if len(a) == 0 {
				t.Fatal("took nothing")
			}
		}
	})
}
