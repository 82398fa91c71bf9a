package shingle_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/quire-agent/quire/internal/shingle"
)

func all(text string) []shingle.Shingle {
	var out []shingle.Shingle
	shingle.Scan(text, func(s shingle.Shingle) bool {
		out = append(out, s)
		return true
	})
	return out
}

func hashes(text string) []uint64 {
	var out []uint64
	for _, s := range all(text) {
		out = append(out, s.Hash)
	}
	return out
}

// TestScan says of small texts at which token positions their shingles begin,
// and which of them are inside a path.
func TestScan(t *testing.T) {
	tests := []struct {
		name, text, want string
	}{
		{"empty", "", ""},
		{"five tokens", "alpha beta gamma delta omega", ""},
		{"six tokens", "alpha beta gamma delta omega kappa", "0"},
		{"one long token", "alpha ( a , b )", ""},
		{"two long tokens", "alpha ( beta , b )", "0"},
		{"three characters are short", "foo bar baz foo bar baz", ""},
		{"characters, not bytes", "äöü éèê a b c d", ""},
		{"four characters outside ASCII", "äöüß éèêë a b c d", "0"},
		{"numbers and underscores", "1234 x_yz 1 2 3 4 5", "0"},
		{"symbols are single", "alpha == beta()", "0"},
		{"four CJK characters", "修复内存 a b", "0"},
		{"three CJK characters", "修复内 a b c", ""},
		{"CJK inside words", "a修复b内存c", "0 1"},
		{"kana and hangul", "かなカナ한글", "0"},
		{"CJK characters are not long", "漢字 x 漢 y z w", ""},
		{"no-break space", "alpha\u00a0beta gamma\u3000delta omega kappa", "0"},
		{"path", "/alpha/beta/gamma", "0p"},
		{"path with a word before it", "see /alpha/beta/gamma", "0 1p"},
		{"path in JSON", `{"path":"/alpha/beta/gamma"}`, "2 4 5 6p 7 8"},
		{"two paths are two runs", "/alpha/beta /gamma/delta", "0 1 2"},
		{"URL", "https://example.org/alpha", "0p 3p"},
		{"import path", "example.org/alpha/beta@v1", "0p 1p 2p 3p"},
		{"one slash and a dot", "alpha/beta.go:1234:3", "0p 1p 2p"},
		{"division", "alpha+beta/gamma-delta", "0 1"},
		{"Windows path", `C:\Alpha\beta\gamma.txt`, "0p 1p 2p 3p 4p"},
		{"escapes are no Windows path", `alpha\nbeta\tgamma`, ""},
		{"comment", "//alpha:beta:gamma", "0 1"},
		{"CJK ends a path", "/alpha/beta。/gamma/delta", "0 1 2 3"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, s := range all(tt.text) {
				mark := ""
				if s.Path {
					mark = "p"
				}
				got = append(got, fmt.Sprint(s.Pos, mark))
			}
			if g := strings.ReplaceAll(strings.Join(got, " "), " p", "p"); g != tt.want {
				t.Errorf("Scan(%q) = %q, want %q", tt.text, g, tt.want)
			}
		})
	}
}

func TestScanStripsLineNumbers(t *testing.T) {
	plain := "func alpha(beta int) {\n\n\treturn gamma.delta\n}\n"
	for name, text := range map[string]string{
		"arrow":     "     1→func alpha(beta int) {\n     2→\n     3→\treturn gamma.delta\n     4→}\n",
		"tab":       "1\tfunc alpha(beta int) {\n2\t\n3\t\treturn gamma.delta\n4\t}\n",
		"colon":     "10: func alpha(beta int) {\n11: \n12: \treturn gamma.delta\n13: }\n",
		"twice":     "  1→7: func alpha(beta int) {\n2→\n3→\treturn gamma.delta\n4→}\n",
		"CRLF":      strings.ReplaceAll(plain, "\n", "\r\n"),
		"reflowed":  strings.Join(strings.Fields(plain), "\n\n  "),
		"truncated": "  1→" + strings.TrimSuffix(plain, "\n"),
	} {
		if got, want := hashes(text), hashes(plain); !slices.Equal(got, want) {
			t.Errorf("%s: shingles differ from those of the plain text", name)
		}
	}
	for name, text := range map[string]string{
		"no space behind the colon": "10:func alpha(beta int) {",
		"not at the start":          "func 10: alpha(beta int) {",
		"not a number":              "x1→func alpha(beta int) {",
	} {
		if slices.Equal(hashes(text), hashes("func alpha(beta int) {")) {
			t.Errorf("%s: %q lost its number", name, text)
		}
	}
}

func TestScanCountsLines(t *testing.T) {
	text := "\n  7→alpha beta\n  8→gamma\n  9→\n 10→delta omega kappa lambda\n"
	want := []shingle.Shingle{{Pos: 0, First: 2, Last: 5}, {Pos: 1, First: 2, Last: 5}}
	got := all(text)
	for i := range got {
		got[i].Hash = 0
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestScanStops(t *testing.T) {
	n := 0
	shingle.Scan(strings.Repeat("alpha beta ", 10), func(shingle.Shingle) bool {
		n++
		return n < 3
	})
	if n != 3 {
		t.Errorf("yield was called %d times after it returned false at the third", n)
	}
}

func TestScanHashesAreStable(t *testing.T) {
	got := hashes("alpha beta gamma delta omega kappa")
	want := []uint64{0xba5065ebd4e887db}
	if !slices.Equal(got, want) {
		t.Errorf("got %#x, want %#x: hashes may be stored and must not change", got, want)
	}
}

func TestScanTellsOrderApart(t *testing.T) {
	seen := map[uint64]string{}
	words := []string{"alpha", "beta", "gamma", "delta", "omega", "kappa"}
	permute(words, 0, func() {
		text := strings.Join(words, " ")
		h := hashes(text)[0]
		if other, ok := seen[h]; ok {
			t.Fatalf("%q and %q have one hash", text, other)
		}
		seen[h] = text
	})
}

func permute(w []string, i int, visit func()) {
	if i == len(w) {
		visit()
		return
	}
	for j := i; j < len(w); j++ {
		w[i], w[j] = w[j], w[i]
		permute(w, i+1, visit)
		w[i], w[j] = w[j], w[i]
	}
}

// texts generates text rich in what the lexer tells apart.
func texts() *rapid.Generator[string] {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{"alpha", "b", "été", "修复", "/x/y", "://", "→", "12", "\t", ": ", "\n", "\r\n", "{", `"`, "_", "\xff", "\u00a0", "."}),
		rapid.StringN(0, 6, -1),
	)
	return rapid.Map(rapid.SliceOfN(piece, 0, 40), func(p []string) string { return strings.Join(p, "") })
}

// TestScanWindow compares the rolling hash with shingles of six tokens scanned
// alone, for every text: a shingle depends on nothing but its tokens.
func TestScanWindow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom([]string{"alpha", "beta", "x", "(", "修", "é", "gamma"}), 0, 30).Draw(t, "words")
		var want []uint64
		for i := 0; i+shingle.Width <= len(words); i++ {
			want = append(want, hashes(strings.Join(words[i:i+shingle.Width], " "))...)
		}
		if got := hashes(strings.Join(words, "\n")); !slices.Equal(got, want) {
			t.Fatalf("got %x, want %x", got, want)
		}
	})
}

// TestScanNumbered: numbering the lines of any text does not change its
// shingles.
func TestScanNumbered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := texts().Draw(t, "text")
		form := rapid.SampledFrom([]string{"%6d→%s", "%d\t%s", "%d: %s"}).Draw(t, "form")
		lines := strings.Split(text, "\n")
		for i, line := range lines {
			lines[i] = fmt.Sprintf(form, i+1, line)
		}
		numbered := strings.Join(lines, "\n")
		if !slices.Equal(all(text), all(numbered)) {
			t.Fatalf("shingles of %q and %q differ", text, numbered)
		}
		if !slices.Equal(shingle.LineHashes(text), shingle.LineHashes(numbered)) {
			t.Fatalf("lines of %q and %q differ", text, numbered)
		}
	})
}

func TestLineHashes(t *testing.T) {
	got := shingle.LineHashes("alpha {\n\n \t\n\t\tbeta()  \r\n}\n}")
	want := shingle.LineHashes("  1→alpha {\n2: \tbeta()\n3\t}\n4→  }\n")
	if len(got) != 4 || got[2] != got[3] || got[0] == got[1] || !slices.Equal(got, want) {
		t.Errorf("got %x, want four lines like %x", got, want)
	}
	if got := shingle.LineHashes("\n \n12→\n"); got != nil {
		t.Errorf("blank lines gave %x", got)
	}
}

func FuzzScan(f *testing.F) {
	for _, seed := range []string{"", "  12→func alpha(beta int) { return gamma }", "12: x\n13\ty\n", "修复内存泄漏问题", "https://example.org/a?b=c#d", `C:\Alpha\beta`, "\xff\xfe\xfd alpha \xe4\xbf beta", "\u00a0\ufeff\u2028", "→→→"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		lines := int32(strings.Count(text, "\n") + 1)
		pos := int32(-1)
		for _, s := range all(text) {
			if s.Pos <= pos || s.First < 1 || s.Last < s.First || s.Last > lines {
				t.Fatalf("shingle %+v after position %d in %d lines", s, pos, lines)
			}
			pos = s.Pos
		}
		spaced := strings.Map(func(r rune) rune {
			if r != '\n' && unicode.IsSpace(r) {
				return '\v'
			}
			return r
		}, strings.ToValidUTF8(text, "?"))
		if again := strings.ReplaceAll(spaced, "\v", "\v\f"); !slices.Equal(hashes(spaced), hashes(again)) {
			t.Fatalf("white space changes the shingles of %q", text)
		}
		if n := len(shingle.LineHashes(text)); n > int(lines) {
			t.Fatalf("%d lines of %d", n, lines)
		}
	})
}
