package rendition

import (
	"strings"
	"testing"
)

func TestWords(t *testing.T) {
	for in, want := range map[string]string{
		"parseHTTPHeader(x_y)": "parsehttpheader* parse httpheader x_y* x y",
		"snake_case-42 Open":   "snake_case* snake case 42 open",
		"缓存命中 hit":             "缓存* 存命* 命中* hit",
		"Größe ПриветМир":      "größe приветмир* привет мир",
		"__a 字":                "__a* a",
	} {
		var got []string
		new(worder).words(in, func(word []byte, whole bool) bool {
			mark := ""
			if whole {
				mark = "*"
			}
			got = append(got, string(word)+mark)
			return true
		})
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q, want %q", in, strings.Join(got, " "), want)
		}
	}
}

func FuzzWords(f *testing.F) {
	for _, s := range []string{"", "aB_c", "\xff\xfe缓", "字", "é́A__", "_"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		new(worder).words(text, func(word []byte, _ bool) bool {
			if len(word) == 0 {
				t.Fatalf("an empty word in %q", text)
			}
			return true
		})
	})
}
