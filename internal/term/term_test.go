package term

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

func termsOf(text string) (terms []string) {
	Scan(text, func(term []byte, _ Kind) { terms = append(terms, string(term)) })
	return terms
}

func TestScan(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"plain words", "Fix the login bug!", "fix the login bug"},
		{"camel case", "parseHTTPServer", "parsehttpserver pars http server"},
		{"snake case", "max_retry_count", "max_retry_count max retry count"},
		{"shouting snake", "SQLITE_BUSY", "sqlite_busy sqlit busy"},
		{"kebab case", "keep-last-ten", "keep-last-ten keep last ten"},
		{"dotted name", "os.ReadFile", "os.readfile os readfil read fil"},
		{"double colon", "std::io::Error", "std::io::error std io error"},
		{"path", "cmd/quire/root_test.go", "cmd/quire/root_test.go quire/root_test.go cmd quir root_test.go root_test root test go"},
		{"absolute path, position", "/srv/app.go:12:7", "srv/app.go srv app.go app go 12 7"},
		{"error code", "error[E0432] TS2304", "error e0432 ts2304"},
		{"version", "go1.26.0", "go1.26.0 go1 26 0"},
		{"hash", "commit 3f2a9bc0d1", "commit 3f2a9bc0d1"},
		{"digits stay with letters", "sha256Sum", "sha256sum sha256 sum"},
		{"sentence end is no joiner", "It works. Done.", "it work don"},
		{"single letters go", "for i := a; i < 3", "for 3"},
		{"Chinese", "修复登录", "修 复 修复 登 复登 录 登录"},
		{"Chinese and code", "调用ReadFile失败", "调 用 调用 readfil read fil 失 败 失败"},
		{"full width", "ＥＲＲ１２", "err12"},
		{"Japanese", "エラー", "エ ラ エラ ー ラー"},
		{"composed and decomposed", "cafe\u0301", "café"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := strings.Join(termsOf(c.text), " "); got != c.want {
				t.Errorf("Scan(%q)\n got %s\nwant %s", c.text, got, c.want)
			}
		})
	}
}

func TestScanDropsLongWordsButNotTheirParts(t *testing.T) {
	long := strings.Repeat("x", MaxLength)
	got := termsOf("dir/" + long + " y" + long)
	if !slices.Equal(got, []string{"dir", long}) {
		t.Errorf("got %q", got)
	}
}

func TestStem(t *testing.T) {
	for _, group := range []string{
		"time times timed timing", "run runs running", "file files", "query queries", "fix fixes fixed fixing",
		"plan plans planned planning", "pass passes passed passing", "class classes", "cache caches cached caching", "batch batches batched",
	} {
		words := strings.Fields(group)
		for _, w := range words[1:] {
			if a, b := termsOf(words[0])[0], termsOf(w)[0]; a != b {
				t.Errorf("%s is %s, %s is %s", words[0], a, w, b)
			}
		}
	}
	for _, word := range []string{"status", "this", "process", "string", "need", "exceed", "go", "es2015"} {
		if got := termsOf(word); !slices.Equal(got, []string{word}) {
			t.Errorf("%s is %v", word, got)
		}
	}
	if a, b := termsOf("ReadFile")[0], termsOf("readfile")[0]; a != b {
		t.Errorf("case makes a difference: %s, %s", a, b)
	}
}

func checkTerms(t interface{ Errorf(string, ...any) }, text string) {
	for _, term := range termsOf(text) {
		switch {
		case term == "" || len(term) > MaxLength:
			t.Errorf("%q has the term %q of %d bytes", text, term, len(term))
		case !utf8.ValidString(term):
			t.Errorf("%q has the term %q, which is not UTF-8", text, term)
		case strings.ContainsFunc(term, unicode.IsSpace):
			t.Errorf("%q has the term %q with a space", text, term)
		}
	}
}

func TestScanProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		checkTerms(t, text)
		if a, b := termsOf(norm.NFC.String(text)), termsOf(norm.NFD.String(text)); !slices.Equal(a, b) {
			t.Fatalf("composed %q, decomposed %q", a, b)
		}
		other := rapid.String().Draw(t, "other")
		joined := termsOf(text + "\n" + other)
		if apart := append(termsOf(text), termsOf(other)...); !slices.Equal(joined, apart) {
			t.Fatalf("a line end does not part terms: %q, %q", joined, apart)
		}
	})
}

func FuzzScan(f *testing.F) {
	for _, seed := range []string{"", "a", "os.ReadFile(path)", "修复login函数", "a::b->c", "\xff\xfe", "ÅÄÖ_ß", "x-.-/y", "٣٤٥"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) { checkTerms(t, text) })
}

func BenchmarkScan(b *testing.B) {
	text := strings.Repeat("func (s *Server) handleRequest(ctx context.Context, id int) error { // 处理请求\n", 1000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Scan(text, func([]byte, Kind) {})
	}
}
