package loose_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/x/loose"
)

func TestObject(t *testing.T) {
	for _, c := range []struct{ reply, want string }{
		{`{"a":1}`, `{"a":1}`},
		{"Here it is:\n```json\n{\"a\": {\"b\": 2}}\n```\nDone {x}.", `{"a": {"b": 2}}`},
		{"```\nnot it\n```\nbut {\"a\":3} it is", `{"a":3}`},
		{`prose {"a": "} {"} more`, `{"a": "} {"}`},
		{"```json\n{\"a\":1}", `{"a":1}`},
		{`{"a":1} and {"b":2}`, ""},
		{`{"a": "cut of`, ""},
		{`[1,2]`, ""},
		{"", ""},
		{"} {", ""},
	} {
		got, ok := loose.Object(c.reply)
		if string(got) != c.want || ok != (c.want != "") {
			t.Errorf("%q gives %q, %v, want %q", c.reply, got, ok, c.want)
		}
	}
}

type element struct {
	Name loose.Text   `json:"name"`
	Size loose.Number `json:"size"`
	Good loose.Bool   `json:"good"`
}

func TestWrongTypesAreLeftOut(t *testing.T) {
	var got struct {
		List  loose.List[element] `json:"list"`
		None  loose.List[element] `json:"none"`
		Words loose.Strings       `json:"words"`
	}
	text := `{"list":[{"name":" a ","size":"2.5","good":true},7,null,"x",{"name":9,"size":"many","good":"yes"},{"size":-1}],"none":{"a":1},"words":["b",1,"",null,"c"]}`
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.List) != 3 || got.List[0] != (element{"a", loose.Number{Value: 2.5, Known: true}, true}) || got.List[1] != (element{}) || len(got.None) != 0 {
		t.Errorf("%+v", got)
	}
	if strings.Join(got.Words, " ") != "b c" {
		t.Errorf("words %q", got.Words)
	}
	if v, ok := got.List[2].Size.Clamped(0, 1); v != 0 || !ok {
		t.Errorf("clamped to %v, %v", v, ok)
	}
}

func FuzzObject(f *testing.F) {
	for _, seed := range []string{"", "{}", "```json\n{\"a\":[1,{\"b\":null}]}\n```", "x {\"a\":\"}\"} y", "```{```}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, reply string) {
		object, ok := loose.Object(reply)
		if !ok {
			return
		}
		var v struct {
			A loose.List[element] `json:"a"`
			B loose.Strings       `json:"b"`
		}
		if err := json.Unmarshal(object, &v); err != nil {
			t.Errorf("%q: %v", object, err)
		}
	})
}
