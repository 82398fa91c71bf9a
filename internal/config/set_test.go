package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestSetKeepsTheRest(t *testing.T) {
	cases := []struct{ name, before, key, value, after string }{
		{"no file", "", "utc", "true", "{\n  \"utc\": true\n}\n"},
		{"replace", "{ \"utc\" :  false , \"color\":\"auto\" }", "utc", "1", "{ \"utc\" :  true , \"color\":\"auto\" }"},
		{"append to lines", "{\n\t\"utc\": true\n}\n", "color", "never", "{\n\t\"utc\": true,\n\t\"color\": \"never\"\n}\n"},
		{"append to two lines", "{\n  \"utc\": true,\n\n  \"budget\": 1\n}", "color", "never", "{\n  \"utc\": true,\n\n  \"budget\": 1,\n  \"color\": \"never\"\n}"},
		{"append to one line", `{"utc": true}`, "audit.days", "7", `{"utc": true, "audit.days": 7}`},
		{"empty object", "{}", "utc", "true", "{\n  \"utc\": true\n}"},
		{"empty object on lines", "{\r\n}\r\n", "utc", "true", "{\r\n  \"utc\": true\r\n}\r\n"},
		{"CRLF", "{\r\n  \"utc\": true\r\n}\r\n", "budget", "9", "{\r\n  \"utc\": true,\r\n  \"budget\": 9\r\n}\r\n"},
		{"byte order mark", byteOrderMark + "{\"utc\": true}", "utc", "false", byteOrderMark + "{\"utc\": false}"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			file := filepath.Join(w.home, ".quire", "settings.json")
			if c.before != "" {
				w.user(c.before)
			}
			if _, err := w.load().Set(LayerUser, c.key, c.value); err != nil {
				t.Fatal(err)
			}
			if got := w.read(file); got != c.after {
				t.Errorf("got %q, want %q", got, c.after)
			}
		})
	}
}

func TestSetRefuses(t *testing.T) {
	cases := []struct {
		layer           Layer
		key, value, why string
	}{
		{LayerUser, "utcc", "true", "unknown key"},
		{LayerUser, "utc", "maybe", "neither true nor false"},
		{LayerUser, "home", "x", "may not be set by a user's"},
		{LayerProject, "prices", "x", "may not be set by a project's"},
		{LayerProject, "home", "x", "may not be set by a project's"},
	}
	for _, c := range cases {
		w := newWorld(t)
		_, err := w.load().Set(c.layer, c.key, c.value)
		if err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("set %s %s=%s: %v, want %q", c.layer, c.key, c.value, err, c.why)
		}
		if _, err := os.Stat(filepath.Join(w.home, ".quire")); err == nil {
			t.Errorf("set %s %s=%s left something behind", c.layer, c.key, c.value)
		}
	}
}

func TestSetForTheProject(t *testing.T) {
	w := newWorld(t)
	path, err := w.load().Set(LayerProject, "utc", "true")
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(w.dir, ".quire", "settings.json"); path != want {
		t.Errorf("wrote %s, want %s", path, want)
	}
	if !w.load().Bool(UTC) {
		t.Error("what was set is not read back")
	}
}

func TestSetStoresAbsolutePaths(t *testing.T) {
	w := newWorld(t)
	if _, err := w.load().Set(LayerUser, "prices", "mine.json"); err != nil {
		t.Fatal(err)
	}
	if got, want := w.load().Path(Prices), filepath.Join(w.dir, "mine.json"); got != want {
		t.Errorf("prices = %q, want %q", got, want)
	}
}

func TestSetIsPrivateAndLeavesNoTrace(t *testing.T) {
	w := newWorld(t)
	path, err := w.load().Set(LayerUser, "utc", "true")
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("%d files beside the settings (%v), want 1", len(entries), err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, want 0600", info.Mode())
	}
}

func TestSetFollowsALink(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege on Windows")
	}
	w := newWorld(t)
	real := w.write(filepath.Join(w.home, "dotfiles", "quire.json"), `{"utc": true}`)
	w.mkdir(filepath.Join(w.home, ".quire"))
	if err := os.Symlink(real, filepath.Join(w.home, ".quire", "settings.json")); err != nil {
		t.Fatal(err)
	}
	if _, err := w.load().Set(LayerUser, "utc", "false"); err != nil {
		t.Fatal(err)
	}
	if got := w.read(real); got != `{"utc": false}` {
		t.Errorf("the file behind the link holds %q", got)
	}
}

func TestFailedWriteKeepsTheFile(t *testing.T) {
	if runtime.GOOS == "windows" || os.Geteuid() == 0 {
		t.Skip("needs a folder that refuses writes")
	}
	w := newWorld(t)
	file := w.user(`{"utc": true}`)
	if err := os.Chmod(filepath.Dir(file), 0o500); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.Chmod(filepath.Dir(file), 0o700) }()
	if _, err := w.load().Set(LayerUser, "utc", "false"); err == nil {
		t.Error("writing into a read-only folder succeeded")
	}
	if got := w.read(file); got != `{"utc": true}` {
		t.Errorf("the file holds %q", got)
	}
}

// Whatever a valid file looks like, setting a key gives a valid file in which
// that key has the value and every other one has its own.
func TestSetProperty(t *testing.T) {
	blank := rapid.StringMatching(`[ \t\r\n]{0,3}`)
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOfDistinct(rapid.SampledFrom([]string{"utc", "color", "a", `b"c`, "$schema"}), func(s string) string { return s }).Draw(t, "keys")
		key := rapid.SampledFrom([]string{"utc", "budget", "color"}).Draw(t, "key")
		want := map[string]string{}
		text := blank.Draw(t, "before") + "{" + blank.Draw(t, "open")
		for i, k := range keys {
			value := rapid.SampledFrom([]string{"1", `"x"`, "[1, {}]", "null"}).Draw(t, "value")
			want[k] = value
			if i > 0 {
				text += blank.Draw(t, "b1") + "," + blank.Draw(t, "b2")
			}
			quoted, _ := json.Marshal(k)
			text += string(quoted) + blank.Draw(t, "b3") + ":" + blank.Draw(t, "b4") + value
		}
		text += blank.Draw(t, "close") + "}" + blank.Draw(t, "after")
		d, err := parseDocument("f", []byte(text))
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		want[key] = "42"
		same(t, d.with(key, json.RawMessage("42")), want)
	})
}

func same(t *rapid.T, text []byte, want map[string]string) {
	t.Helper()
	var got map[string]json.RawMessage
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	if len(got) != len(want) {
		t.Fatalf("%q has %d keys, want %d", text, len(got), len(want))
	}
	for k, v := range want {
		if string(got[k]) != v {
			t.Errorf("%q: %s = %s, want %s", text, k, got[k], v)
		}
	}
}

func FuzzParseDocument(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"utc": true}`, "{\r\n\"a\": [1, {\"b\": null}],\n \"color\": \"x\"\n}", byteOrderMark + `{"utc":false}`,
		`{"a":1,"a":2}`, `[1]`, `{"a"`, `{"\ud800": 1}`, "", "null", `{"a":1}{"b":2}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := parseDocument("f", text)
		if err != nil {
			return
		}
		for _, m := range d.members {
			if string(d.text[m.start:m.end]) != string(m.value) {
				t.Fatalf("the value of %q is not at its place in %q", m.key, text)
			}
		}
		again, err := parseDocument("f", d.with("utc", json.RawMessage("true")))
		if err != nil {
			t.Fatalf("setting a key in %q broke it: %v", text, err)
		}
		if m := again.find("utc"); m == nil || string(m.value) != "true" {
			t.Fatalf("the key set in %q is not there", text)
		}
	})
}

func TestSchemaIsCurrent(t *testing.T) {
	want, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join("..", "..", "docs", "settings.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.ReplaceAll(string(got), "\r\n", "\n") != string(want) {
		t.Error("docs/settings.schema.json is not current: go run ./cmd/quire config schema > docs/settings.schema.json")
	}
}
