package recording

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestArguments(t *testing.T) {
	tests := []struct {
		name, args string
		want       []string
	}{
		{"empty", "", nil},
		{"no values", `{"limit": 20, "all": true}`, nil},
		{"values, not keys", `{"path": "/x", "edits": [{"old" : "a\nb", "new":"c"}]}`, []string{"/x", "a\nb", "c"}},
		{"list", `["bash", "-lc", "ls"]`, []string{"bash", "-lc", "ls"}},
		{"string", `"ls"`, []string{"ls"}},
		{"escapes", `{"a":"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00"}`, []string{"\"\\/\b\f\n\r\té😀"}},
		{"half a surrogate pair", `{"a":"\ud83dx\ude00"}`, []string{"\ufffdx\ufffd"}},
		{"unknown escape", `{"a":"\d+\uzz"}`, []string{`\d+\uzz`}},
		{"cut off in a string", `{"a":"x","b":"ab`, []string{"x", "ab"}},
		{"cut off in an escape", `{"b":"ab\`, []string{"ab"}},
		{"cut off in a code unit", `{"b":"ab\u00`, []string{`ab\u00`}},
		{"raw input", "*** Begin Patch\n+\"x\": 1\n", []string{"*** Begin Patch\n+\"x\": 1\n"}},
		{"raw code in braces", `{ print("x") }`, []string{`{ print("x") }`}},
	}
	for _, tt := range tests {
		if got := arguments(tt.args); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// stringValues reads valid JSON with the standard library.
func stringValues(args string) (out []string) {
	type level struct{ object, key bool }
	var stack []level
	for d := json.NewDecoder(strings.NewReader(args)); ; {
		tok, err := d.Token()
		if err != nil {
			return out
		}
		top := len(stack) - 1
		if c, ok := tok.(json.Delim); ok && (c == '}' || c == ']') {
			stack = stack[:top]
			continue
		}
		if top >= 0 && stack[top].object {
			if stack[top].key = !stack[top].key; stack[top].key {
				continue
			}
		}
		switch v := tok.(type) {
		case json.Delim:
			stack = append(stack, level{object: v == '{'})
		case string:
			out = append(out, v)
		}
	}
}

func FuzzArguments(f *testing.F) {
	for _, seed := range []string{
		"", "{", `{"a":"b"}`, `{"a":{"b":["c",1,{"d":null,"e":"f"}]},"g":"\u00e9\n"}`,
		`["a",["b"],{}]`, `"x"`, `{"a":"\ud83d\ude00\ud83d"}`, `{"a":"\`, `{"a":"\u12`, "*** Begin Patch", "{}", "[]",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, args string) {
		got := arguments(args)
		for i := range args {
			arguments(args[:i])
		}
		if !beginsJSON(args) || !json.Valid([]byte(args)) || !utf8.ValidString(args) {
			return
		}
		if want := stringValues(args); !slices.Equal(got, want) {
			t.Fatalf("arguments(%q) = %q, want %q", args, got, want)
		}
	})
}
