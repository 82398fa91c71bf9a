package tool

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/quire-agent/quire/internal/permit"
	"github.com/quire-agent/quire/internal/quire"
)

type echoArgs struct {
	Path string `json:"path" jsonschema:"a path"`
	Size int    `json:"size,omitempty" jsonschema:"a size"`
}

func echo() Tool {
	return New("echo", "Says it again.\n", func(a echoArgs) Want {
		return Want{Request: permit.Request{Reads: []string{a.Path}}}
	}, func(_ context.Context, a echoArgs) (Result, error) {
		return Result{Text: a.Path}, nil
	})
}

func TestSpecIsStrict(t *testing.T) {
	want := `{"type":"object","properties":{"path":{"type":"string","description":"a path"},"size":{"type":"integer","description":"a size"}},"required":["path"],"additionalProperties":false}`
	spec := echo().Spec()
	if string(spec.Schema) != want || spec.Description != "Says it again." {
		t.Errorf("got %s %q, want %s", spec.Schema, spec.Description, want)
	}
}

func TestArguments(t *testing.T) {
	cases := []struct{ args, want string }{
		{`{"path":"a"}`, "a"},
		{` {"path":"a","size":3} `, "a"},
		{`{"size":3}`, `"path" is missing`},
		{``, `"path" is missing`},
		{`{"path":"a","file":"b"}`, `unknown field "file"`},
		{`{"path":3}`, `"path" is a JSON number`},
		{`[]`, "not an object"},
		{`{"path":"a"`, "unexpected end"},
		{`{"path":"a"} {}`, "after top-level value"},
	}
	for _, c := range cases {
		got, err := echo().Run(t.Context(), Input{Args: json.RawMessage(c.args)})
		if err != nil || !strings.Contains(got.Text, c.want) || got.Error != (c.want != "a") {
			t.Errorf("%s: %+v, %v, want %q", c.args, got, err, c.want)
		}
	}
}

func FuzzArguments(f *testing.F) {
	f.Add(`{"path":"a","size":3}`)
	f.Add(`{"path":"a"} x`)
	f.Add(`null`)
	f.Fuzz(func(t *testing.T, raw string) {
		args, err := decode[echoArgs](json.RawMessage(raw))
		if err != nil {
			return
		}
		text, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := decode[echoArgs](text); err != nil || again != args {
			t.Errorf("%q reads as %+v, and that as %+v, %v", raw, args, again, err)
		}
	})
}

type silent struct{}

func (silent) Spec() quire.ToolSpec                       { return quire.ToolSpec{Name: "silent"} }
func (silent) Run(context.Context, Input) (Result, error) { return Result{}, nil }

func TestWants(t *testing.T) {
	if w := WantOf(echo(), Input{Args: json.RawMessage(`{"path":"a"}`)}); w.Tool != "echo" || len(w.Reads) != 1 || w.Unknown {
		t.Errorf("got %+v", w)
	}
	if w := WantOf(silent{}, Input{}); !w.Unknown || !w.Serial || w.Tool != "silent" {
		t.Errorf("got %+v, want that nothing is known", w)
	}
}

// failures.md A48, A39: a cut is between runes and is said where it is.
func TestBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Repeat(rapid.StringOfN(rapid.RuneFrom([]rune("aé日𝄞\n")), 1, 50, -1).Draw(t, "text"), rapid.IntRange(1, 20).Draw(t, "times"))
		limit := rapid.IntRange(10, 500).Draw(t, "limit")
		got := Bound(text, limit)
		if len(text) <= limit {
			if got != text {
				t.Fatalf("%q became %q", text, got)
			}
			return
		}
		if !utf8.ValidString(got) || len(got) > limit+80 || !strings.Contains(got, "left out here") {
			t.Fatalf("bound of %q to %d is %q", text, limit, got)
		}
		head, rest, _ := strings.Cut(got, "\n[… ")
		_, tail, _ := strings.Cut(rest, "…]\n")
		if !strings.HasPrefix(text, head) || !strings.HasSuffix(text, tail) {
			t.Fatalf("bound of %q is %q", text, got)
		}
	})
}
