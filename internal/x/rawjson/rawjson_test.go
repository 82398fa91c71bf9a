package rawjson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestReaderLeavesWhatItCannotWriteBack(t *testing.T) {
	for _, c := range []struct {
		in, rest string
		take     func(*Reader)
	}{
		{`{"a":"x"}`, `{}`, func(r *Reader) { r.Text("a") }},
		{`{"a":""}`, `{"a":""}`, func(r *Reader) { r.Text("a") }},
		{`{"a":"\ud800"}`, `{"a":"\ud800"}`, func(r *Reader) { r.Text("a") }},
		{`{"a":"\ufffd"}`, `{}`, func(r *Reader) { r.Text("a") }},
		{`{"a":"\\ufffd"}`, `{}`, func(r *Reader) { r.Text("a") }},
		{"{\"a\":\"\xff\"}", "{\"a\":\"\xff\"}", func(r *Reader) { r.Text("a") }},
		{`{"a":7}`, `{}`, func(r *Reader) { r.Count("a") }},
		{`{"a":7e0}`, `{"a":7e0}`, func(r *Reader) { r.Count("a") }},
		{`{"a":-0}`, `{"a":-0}`, func(r *Reader) { r.Count("a") }},
		{`{"a":true , "b" : [ 1 ]}`, `{"b":[ 1 ]}`, func(r *Reader) { r.True("a") }},
		{`{"a":false}`, `{"a":false}`, func(r *Reader) { r.True("a") }},
		{`{"a":1,"b":2,"a":3}`, `{"b":2,"a":3}`, func(*Reader) {}},
		{`{"a":"x"}`, `{"a":"x"}`, func(r *Reader) { r.Is("a", "y") }},
		{`{"a":[1],"b":{}}`, `{"b":{}}`, func(r *Reader) { r.Take("a") }},
	} {
		r, err := Parse([]byte(c.in))
		if err != nil {
			t.Fatalf("%s: %v", c.in, err)
		}
		c.take(r)
		var w Writer
		w.Rest(r.Rest())
		if got, err := w.Bytes(); err != nil || string(got) != c.rest {
			t.Errorf("%s left %s, %v; want %s", c.in, got, err, c.rest)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, in := range []string{``, ` `, `{`, `[]`, `"a"`, `nul`, `{"a":1}x`, `{"\ud800":1}`} {
		if _, err := Parse([]byte(in)); err == nil {
			t.Errorf("%q was read as an object", in)
		}
	}
}

func TestWriter(t *testing.T) {
	var inner, w Writer
	inner.True("yes", true)
	inner.True("no", false)
	w.Text("a", "first")
	w.Text("none", "")
	w.Count("a", 2)
	w.Count("zero", 0)
	w.Full("empty", "")
	w.Raw("b", json.RawMessage(`1e3`))
	w.Object("c", &inner)
	w.Made("d", Array([]json.RawMessage{json.RawMessage(`1`), json.RawMessage(`"x"`)}))
	want := `{"a":"first","empty":"","b":1e3,"c":{"yes":true},"d":[1,"x"]}`
	if got, err := w.Bytes(); err != nil || string(got) != want {
		t.Errorf("wrote %s, %v", got, err)
	}
}

func TestWriterRefusesWhatIsNoJSON(t *testing.T) {
	var inner, w Writer
	inner.Raw("a", json.RawMessage(`{`))
	w.Object("in", &inner)
	if got, err := w.Bytes(); err == nil {
		t.Errorf("wrote %s", got)
	}
}

// Of many members too, each name is read and written once.
func TestManyMembers(t *testing.T) {
	var in strings.Builder
	for i := range 300 {
		fmt.Fprintf(&in, `%s"k%d":%d`, map[bool]string{true: "{", false: ","}[i == 0], i%200, i)
	}
	in.WriteString("}")
	r, err := Parse([]byte(in.String()))
	if err != nil || len(r.Rest()) != 200 {
		t.Fatalf("%d members, %v", len(r.Rest()), err)
	}
	var w Writer
	w.Rest(r.Rest())
	w.Rest(r.Rest())
	out, err := w.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	sameJSON(t, []byte(in.String()), out)
	if n := len(Members(out)); n != 200 {
		t.Errorf("wrote %d members", n)
	}
}

// A quoted text reads back as it was.
func TestQuoteIsUndone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "text")
		quoted := AppendText(nil, s)
		var back string
		if err := json.Unmarshal(quoted, &back); err != nil || back != s {
			t.Fatalf("%q came back as %q, %v", s, back, err)
		}
		if back, exact := TextOf(quoted); !exact || back != s {
			t.Fatalf("%q came back as %q, %v", s, back, exact)
		}
	})
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{`{"a":[1,{"b":"c\\\""}],"d":null}`, ` [ "x" , 2 , [] ] `, `{}`, ` { "\\" : "\\" } `, `{"a":"\u00e9\ud83d\ude00\ud83d"}`, `-1.5e3`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if !json.Valid(in) {
			return
		}
		if IsArray(in) {
			sameJSON(t, in, Array(Elements(in)))
		}
		if r, ok := Read(in); ok {
			var w Writer
			w.Rest(r.Rest())
			out, err := w.Bytes()
			if err != nil {
				t.Fatal(err)
			}
			sameJSON(t, in, out)
		}
		if text, exact := TextOf(in); exact {
			sameJSON(t, in, AppendText(nil, text))
		} else if IsString(in) && !strings.Contains(text, "\ufffd") {
			t.Fatalf("%s: %q is not exact, and why not?", in, text)
		}
	})
}

func sameJSON(t *testing.T, a, b []byte) {
	t.Helper()
	if x, y := decoded(t, a), decoded(t, b); !reflect.DeepEqual(x, y) {
		t.Fatalf("%s became %s", a, b)
	}
}

func decoded(t *testing.T, b []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%s: %v", b, err)
	}
	return v
}

func BenchmarkTextOf(b *testing.B) {
	in := AppendText(nil, strings.Repeat("\tif err != nil {\n\t\treturn \"quoted\"\n\t}\n", 1<<12))
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		if _, exact := TextOf(in); !exact {
			b.Fatal("not exact")
		}
	}
}
