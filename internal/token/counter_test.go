package token

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer"
	"pgregory.net/rapid"
)

// blank finds space between two line breaks. The library (v0.10.0) ends a piece
// after the first line break of such a run, where the pattern, and OpenAI's own
// implementation, goes on to the last.
var blank = regexp.MustCompile(`([\r\n])[\p{Z}\t\v\f\x{85}]+([\r\n])`)

// plain takes space between line breaks out of a text, and DEL, which the
// library (v0.10.0) loses: its pattern matches it with none of the alternatives.
func plain(s string) string {
	s = strings.ReplaceAll(s, "\x7f", "")
	for {
		t := blank.ReplaceAllString(s, "$1$2")
		if t == s {
			return s
		}
		s = t
	}
}

// library is the tokenizer that the Counter must agree with on plain text.
func library(t testing.TB) func(string) int {
	t.Helper()
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	return func(s string) int {
		n, err := codec.Count(s)
		if err != nil {
			t.Fatalf("count %q: %v", s, err)
		}
		return n
	}
}

// shared is made once: making a Counter takes as long as most tests.
var shared = sync.OnceValues(NewCounter)

func counter(t testing.TB) *Counter {
	t.Helper()
	c, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// tricky are texts at the edges of the pattern's alternatives.
var tricky = []string{
	"", " ", "  ", "\n", " \n", "\n ", "\r\n\r\n", " \t \n \n  x", "a  b", "a   ", "  a", "\u00a0\u00a0x", "\u2028x\u3000y",
	"don't DON'T we'LL I'd they'Re it's' x'ſ y'RE'VE", "'s", "''s", "'", "a'", "A'T",
	"HTTPServer", "camelCaseName", "ABC", "ABc", "aBC", "ǅx", "XǅY", "ʰa", "aʰA", "Aʰ", "ʰ",
	"e\u0301", "\u0301", "\u0301\u0302A", "\u0301A", "\u0301a", " \u0301", "x\u0301\u0301Y", "A\u0301", "\u0301AB c",
	"12345678", "1a2", " 1", "٣٤٥٦", "Ⅳ½x", "//\n\n//", "/\r\n/x", " //", " /\n", "::foo", " ::foo", "-\u3000-",
	"中文。没有空格的句子,和English混在一起123。", "日本語テキスト、カタカナ。", "한국어 문장입니다.", "ไทยไม่มีช่องว่าง", "हिन्दी में",
	"🙂🙂‍↕️ ok", "\x00\x01", "\u200bx", "\x85 a", "\x1c\x1d", "\ufeffpackage",
	"func main() {\n\tfmt.Println(\"hi\")\n}\n", "{\"a\":[1,2,{\"b\":null}]}", "     1→package x\n     2→\n",
	"<|endoftext|>", "\xff\xfe", "a\xffb", " \xff", "\xc3", "中\xe4\xb8",
}

func TestCountAgreesWithTheLibrary(t *testing.T) {
	c, want := counter(t), library(t)
	for _, s := range tricky {
		s = plain(s)
		if got := c.Count(s); got != want(s) {
			t.Errorf("Count(%q) = %d, want %d", s, got, want(s))
		}
	}
}

// The pieces of these are known from the pattern, one token each.
func TestSpaceBetweenLineBreaksIsOnePiece(t *testing.T) {
	k := newClasses()
	for _, s := range []string{"\n \n", " \n\t\n", "\r\n  \r\n", "\n\u00a0\n\n"} {
		for _, after := range []string{"", " ", "  x", "y"} {
			if got := k.next(s+after, 0); got != len(s) {
				t.Errorf("the piece at the head of %q is %q", s+after, (s + after)[:got])
			}
		}
	}
}

// text draws a text made of the characters that the pattern tells apart.
func text(most int) *rapid.Generator[string] {
	runes := []rune("aabcXYZé ſʰǅ中文字\u0301٣7789   \t\n\n\r/'-_.,:{}\"=\u00a0\u3000🙂")
	of := rapid.OneOf(
		rapid.SampledFrom(runes), rapid.SampledFrom(runes),
		rapid.RuneFrom(nil, unicode.L, unicode.M, unicode.N, unicode.Z, unicode.P, unicode.S, unicode.C),
	)
	return rapid.OneOf(
		rapid.StringOfN(of, 0, most, -1),
		rapid.Map(rapid.SliceOfN(rapid.SampledFrom(tricky), 0, most/8), func(s []string) string { return strings.Join(s, "") }),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, most), func(b []byte) string { return string(b) }),
	)
}

func TestCountAgreesWithTheLibraryOnAnyText(t *testing.T) {
	c, want := counter(t), library(t)
	rapid.Check(t, func(t *rapid.T) {
		s := plain(text(300).Draw(t, "text"))
		if got := c.Count(s); got != want(s) {
			t.Fatalf("Count(%q) = %d, want %d", s, got, want(s))
		}
	})
}

func TestPiecesCoverTheText(t *testing.T) {
	k := newClasses()
	rapid.Check(t, func(t *rapid.T) {
		s := text(300).Draw(t, "text")
		for i := 0; i < len(s); {
			end := k.next(s, i)
			if end <= i || end > len(s) {
				t.Fatalf("piece at %d of %q ends at %d", i, s, end)
			}
			i = end
		}
	})
}

// A line feed before a character that is neither white space nor a slash ends
// a piece, so cutting there changes nothing.
func TestCuttingAtLineStartsKeepsTheCount(t *testing.T) {
	c := counter(t)
	rapid.Check(t, func(t *rapid.T) {
		s := text(300).Draw(t, "text")
		sum, from := 0, 0
		for i := 1; i < len(s); i++ {
			if s[i-1] == '\n' && seam(s[i:]) {
				sum += c.Count(s[from:i])
				from = i
			}
		}
		if sum += c.Count(s[from:]); sum != c.Count(s) {
			t.Fatalf("parts of %q count %d, the whole %d", s, sum, c.Count(s))
		}
	})
}

func seam(rest string) bool {
	r, _ := utf8.DecodeRuneInString(rest)
	return r != '/' && !unicode.IsSpace(r)
}

// The texts that make a merge or an expression engine quadratic.
func adversarial() map[string]string {
	rng := rand.New(rand.NewPCG(1, 2))
	fill := func(n int, alphabet string) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = alphabet[rng.IntN(len(alphabet))]
		}
		return string(b)
	}
	const size = 100_000
	base64 := "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	return map[string]string{
		"one letter":      strings.Repeat("a", size),
		"one capital":     strings.Repeat("A", size),
		"one space":       strings.Repeat(" ", size),
		"one line feed":   strings.Repeat("\n", size),
		"one dash":        strings.Repeat("-", size),
		"one ideograph":   strings.Repeat("中", size/3),
		"one mark":        strings.Repeat("\u0301", size/2),
		"letters":         fill(size, base64[:52]),
		"lower":           fill(size, base64[26:52]),
		"base64":          fill(size, base64),
		"hexadecimal":     fill(size, "0123456789abcdef"),
		"binary":          fill(size, string(all)),
		"invalid":         strings.Repeat("\xff", size),
		"spaces and feed": strings.Repeat(strings.Repeat(" ", 999)+"\n", size/1000),
		"minified":        strings.Repeat("function(a,b){return a?b:c[d]};", size/31),
	}
}

func TestCountOfAdversarialText(t *testing.T) {
	c, want := counter(t), library(t)
	for name, s := range adversarial() {
		s = plain(s)
		got, exact := c.Count(s), want(s)
		if slack := 2 * (len(s)*3/maxPiece + 1); got < exact-slack || got > exact+slack {
			t.Errorf("%s: %d, the library %d, allowed ±%d", name, got, exact, slack)
		}
		if got != exact {
			t.Logf("%s: %d, the library %d", name, got, exact)
		}
	}
}

func TestCacheForgetsAndStaysRight(t *testing.T) {
	c := &Counter{young: map[uint64]count{}}
	c.remember(1, count{11, 0})
	for i := range uint64(2*generation + 1) {
		c.remember(i+10, count{1, 0})
	}
	if _, ok := c.recall(1); ok {
		t.Error("the cache remembers without bound")
	}
	if len(c.young)+len(c.old) > 2*generation {
		t.Errorf("the cache holds %d counts", len(c.young)+len(c.old))
	}
	if n, ok := c.recall(2*generation + 10); !ok || n.total != 1 {
		t.Errorf("the youngest count is %v, %v", n, ok)
	}
}

func TestCountIsSafeForConcurrentUse(t *testing.T) {
	c := counter(t)
	long := strings.Repeat("the quick brown fox jumps over the lazy dog\n", 50)
	want := library(t)(long)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 20 {
				if got := c.Count(long[:len(long)-i*44]); got != want-i*10 {
					t.Errorf("%d lines less: %d", i, got)
				}
			}
		})
	}
	wg.Wait()
}

func FuzzCount(f *testing.F) {
	for _, s := range tricky {
		f.Add(s)
	}
	c, want := counter(f), library(f)
	f.Fuzz(func(t *testing.T, s string) {
		s = plain(s)
		if len(s) < maxPiece && c.Count(s) != want(s) {
			t.Errorf("Count(%q) = %d, want %d", s, c.Count(s), want(s))
		}
	})
}
