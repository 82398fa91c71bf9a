package rawjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// scanned scans a text in pieces of a size.
func scanned(in []byte, size int) ([]Place, error) {
	var s Scanner
	for len(in) > 0 {
		n := min(size, len(in))
		if _, err := s.Write(in[:n]); err != nil {
			return nil, err
		}
		in = in[n:]
	}
	return s.Outline()
}

// sameAsLibrary holds a scanner against encoding/json and the rest of this package.
func sameAsLibrary(t testing.TB, in []byte, size int) {
	list, err := scanned(in, size)
	if want := json.Valid(in); Valid(in) != want || (err == nil) != want {
		t.Fatalf("%q in pieces of %d: %v, want valid %t", in, size, err, want)
	}
	if err != nil {
		return
	}
	members := Members(in)
	if len(list) != len(members) {
		t.Fatalf("%q: %d members, want %d", in, len(list), len(members))
	}
	for i, m := range members {
		name, _ := TextOf(list[i].Name.Of(in))
		if name != m.Name || !bytes.Equal(list[i].Value.Of(in), m.Value) {
			t.Fatalf("%q in pieces of %d: member %d is %q, want %q", in, size, i, list[i].Value.Of(in), m.Value)
		}
		elements := Elements(m.Value)
		if len(elements) != len(list[i].Elements) {
			t.Fatalf("%q: member %d has %d elements, want %d", in, i, len(list[i].Elements), len(elements))
		}
		for k, e := range elements {
			if got := list[i].Elements[k].Of(in); !bytes.Equal(got, e) {
				t.Fatalf("%q: element %d.%d is %q, want %q", in, i, k, got, e)
			}
		}
	}
}

// scanSeeds are texts in which something is easily missed.
func scanSeeds() []string {
	return []string{
		`{}`, `[]`, ``, ` `, `0`, `-`, `-0`, `01`, `1.`, `1.5e`, `1e+`, `1E-7`, `-1.25e+10 `, `tru`, `true`, `nulll`, `"a`, `"a"`, `"\u12g4"`, `"\u12"`,
		`"\x"`, "\"\x01\"", "\"\x7f\xff\"", "\ufeff{}", `{"a":}`, `{"a"}`, `{"a":1,}`, `[1,]`, `[,]`, `{,}`, `{"a":[1,"b",{"c":[2]},[],-3.5],"d":"e\\\"f","d":{}}`,
		`{"a":1}{`, `{"a":NaN}`, ` { "a" : [ 1 , [ 2 ] , "x" ] , "b" : null } `, `"12345678\n1234567\u00e912345678"`, `[[{"a":[1]}],{"b":2}]`, `{"":0}`, `]`, `}`, `[}`, `{]`,
	}
}

func TestScannerIsTheLibrary(t *testing.T) {
	for _, in := range scanSeeds() {
		for size := 1; size <= len(in)+1; size++ {
			sameAsLibrary(t, []byte(in), size)
		}
	}
}

// A string of any length with a special byte at any place is read to its end.
func TestScannerFindsEverySpecialByte(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		inside := rapid.SliceOfN(rapid.SampledFrom([]byte("ab \x1f\x20\x21\"#[\\]\x7f\x80\xa2\xdc\xff\x00nu0")), 0, 40).Draw(t, "inside")
		in := append(append([]byte(`{"k":["`), inside...), `"]}`...)
		list, err := scanned(in, rapid.IntRange(1, 50).Draw(t, "size"))
		if want := json.Valid(in); (err == nil) != want || Valid(in) != want {
			t.Fatalf("%q: %v, want valid %t", in, err, want)
		}
		if err == nil && len(list) != len(Members(in)) {
			t.Fatalf("%q has %d members", in, len(list))
		}
	})
}

// The depth is that of encoding/json.
func TestScannerDepth(t *testing.T) {
	for _, n := range []int{200, MaxDepth - 1, MaxDepth, MaxDepth + 1} {
		in := []byte(strings.Repeat("[", n) + strings.Repeat("]", n))
		if Valid(in) != json.Valid(in) {
			t.Errorf("%d deep: %t", n, Valid(in))
		}
	}
}

// An outline does not grow without a bound, and what it does not hold is said.
func TestScannerKeepsSoMany(t *testing.T) {
	in := []byte(`{"a":[` + strings.Repeat("1,", MaxPlaces) + `1],"b":2}`)
	list, err := scanned(in, 4096)
	if !errors.Is(err, ErrLong) || list != nil || !Valid(in) {
		t.Errorf("%d members, %v", len(list), err)
	}
	var many strings.Builder
	for i := range MaxPlaces + 10 {
		fmt.Fprintf(&many, `,"%d":[0]`, i)
	}
	in = []byte("{" + many.String()[1:] + "}")
	if list, err = scanned(in, len(in)); !errors.Is(err, ErrLong) || list != nil || !Valid(in) {
		t.Errorf("%d members, %v", len(list), err)
	}
}

func FuzzScanner(f *testing.F) {
	for i, seed := range scanSeeds() {
		f.Add([]byte(seed), i%7+1)
	}
	f.Fuzz(func(t *testing.T, in []byte, size int) {
		sameAsLibrary(t, in, max(1, size))
	})
}

func BenchmarkValid(b *testing.B) {
	text := AppendText(nil, strings.Repeat("\tif err != nil {\n\t\treturn \"quoted\"\n\t}\n", 1<<12))
	for _, c := range []struct {
		name  string
		valid func([]byte) bool
	}{{"ours", Valid}, {"library", json.Valid}} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if !c.valid(text) {
					b.Fatal("not valid")
				}
			}
		})
	}
}
