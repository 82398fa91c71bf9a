package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A world is a user's home and a repository in a temporary folder.
type world struct {
	t    *testing.T
	dir  string // the repository
	home string // the user's home folder
	env  map[string]string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), home: t.TempDir(), env: map[string]string{}}
	w.mkdir(filepath.Join(w.dir, ".git"))
	return w
}

func (w *world) mkdir(path string) {
	w.t.Helper()
	if err := os.MkdirAll(path, 0o700); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) write(path, text string) string {
	w.t.Helper()
	w.mkdir(filepath.Dir(path))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
	return path
}

func (w *world) user(text string) string {
	return w.write(filepath.Join(w.home, ".quire", "settings.json"), text)
}

func (w *world) project(text string) string {
	return w.write(filepath.Join(w.dir, ".quire", "settings.json"), text)
}

func (w *world) sources(flags ...Flag) Sources {
	return Sources{Flags: flags, UserHome: w.home, Dir: w.dir,
		Env: func(name string) (string, bool) { v, ok := w.env[name]; return v, ok }}
}

func (w *world) load(flags ...Flag) *Settings {
	w.t.Helper()
	s, err := Load(w.sources(flags...))
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

func (w *world) read(path string) string {
	w.t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(text)
}

func TestStrongestLayerWins(t *testing.T) {
	w := newWorld(t)
	check := func(want int, layer Layer, flags ...Flag) {
		t.Helper()
		s := w.load(flags...)
		one, err := s.Get("audit.days")
		if err != nil {
			t.Fatal(err)
		}
		if s.Int(AuditDays) != want || one.Origin.Layer != layer {
			t.Errorf("audit.days = %d from %v, want %d from %v", s.Int(AuditDays), one.Origin, want, layer)
		}
	}
	check(30, LayerDefault)
	w.user(`{"audit.days": 1}`)
	check(1, LayerUser)
	w.project(`{"audit.days": 2}`)
	check(2, LayerProject)
	w.env["QUIRE_AUDIT_DAYS"] = "3"
	check(3, LayerEnv)
	check(4, LayerFlag, Flag{"audit.days", "4"})
}

func TestOriginNamesThePlace(t *testing.T) {
	w := newWorld(t)
	file := w.user("{\n  \"utc\": true,\n  \"color\": \"never\"\n}\n")
	w.env["QUIRE_BUDGET"] = "5"
	s := w.load(Flag{"audit.days", "9"})
	for name, want := range map[string]string{
		"color": file + ":3", "utc": file + ":2", "budget": "QUIRE_BUDGET", "audit.days": "--days", "prices": "",
	} {
		one, err := s.Get(name)
		if err != nil || one.Origin.Where != want {
			t.Errorf("%s comes from %q (%v), want %q", name, one.Origin.Where, err, want)
		}
	}
}

func TestWrongFilesAreErrors(t *testing.T) {
	cases := []struct{ name, user, project, where, what, next string }{
		{"unknown key", "{\n\"utcc\": true}", "", "settings.json:2", `unknown key "utcc"`, `nearest known key is "utc"`},
		{"nested key", `{"audit": {"days": 3}}`, "", "settings.json:1", `unknown key "audit"`, `"audit.days"`},
		{"wrong type", `{"utc": "true"}`, "", "settings.json:1", `utc: "true" does not have the type boolean`, "it means"},
		{"number for text", `{"color": 3}`, "", "settings.json:1", "color: 3 does not have the type string", ""},
		{"one for true", `{"utc": 1}`, "", "settings.json:1", "1 does not have the type boolean", ""},
		{"true for a number", `{"budget": true}`, "", "settings.json:1", "true does not have the type integer", ""},
		{"fraction", `{"audit.days": 1.5}`, "", "settings.json:1", `"1.5" is not a whole number`, ""},
		{"too small", `{"audit.days": 0}`, "", "settings.json:1", "0 is less than 1", ""},
		{"not a word", `{"color": "red"}`, "", "settings.json:1", `"red" is not one of auto, always, never`, ""},
		{"null", `{"utc": null}`, "", "settings.json:1", "does not have the type boolean", ""},
		{"twice", "{\"utc\": true,\n\"utc\": false}", "", "settings.json:2", "set twice, first in line 1", "remove one"},
		{"bare backslash", "{\n\"prices\": \"C:\\q\\prices.json\"}", "", "settings.json:2", "not valid JSON", `a backslash is written twice`},
		{"cut off", "{\"utc\": true,\n", "", "settings.json:2", "not valid JSON", "one JSON object"},
		{"empty", "", "", "settings.json:1", "not valid JSON", ""},
		{"array", "[]", "", "settings.json:1", "not a JSON object", ""},
		{"not UTF-8", "{\"color\": \"\xff\"}", "", "settings.json:1", "not UTF-8", "save it as UTF-8"},
		{"home in a file", `{"home": "x"}`, "", "settings.json:1", "home may not be set by a user's", "QUIRE_HOME"},
		{"project sets prices", "", `{"prices": "x"}`, "settings.json:1", "prices may not be set by a project's", "quire config set prices"},
		{"project sets home", "", `{"home": "x"}`, "settings.json:1", "home may not be set by a project's", "QUIRE_HOME"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			if c.project == "" {
				w.user(c.user)
			} else {
				w.project(c.project)
			}
			_, err := Load(w.sources())
			wrong, ok := errors.AsType[*Error](err)
			if !ok {
				t.Fatalf("Load: %v, want an *Error", err)
			}
			if !strings.HasSuffix(wrong.Where, c.where) || !strings.Contains(wrong.What, c.what) || !strings.Contains(wrong.Next, c.next) {
				t.Errorf("got %+v, want where %q, what %q, next %q", wrong, c.where, c.what, c.next)
			}
		})
	}
}

func TestWrongVariableAndFlag(t *testing.T) {
	w := newWorld(t)
	_, err := Load(w.sources(Flag{"utc", "perhaps"}))
	if err == nil || !strings.Contains(err.Error(), `--utc: "perhaps" is neither true nor false`) {
		t.Errorf("flag: %v", err)
	}
	w.env["QUIRE_UTC"] = "perhaps"
	if _, err = Load(w.sources()); err == nil || !strings.HasPrefix(err.Error(), "QUIRE_UTC: ") {
		t.Errorf("variable: %v", err)
	}
	w.env["QUIRE_UTC"] = ""
	if _, err = Load(w.sources()); err != nil {
		t.Errorf("an empty variable is an unset one: %v", err)
	}
}

// A project's file comes from strangers: what it may set is decided key by key.
// A new key that a project may set must be added here by hand.
func TestWhatAProjectMaySet(t *testing.T) {
	harmless := map[string]bool{"utc": true, "color": true, "audit.days": true, "budget": true}
	for _, k := range Keys() {
		if (k.Reach == ReachProject) != harmless[k.Name] {
			t.Errorf("%s: a project may set it = %v; is that harmless?", k.Name, k.Reach == ReachProject)
		}
	}
}

func TestUsersFileIsNoProjectsFile(t *testing.T) {
	w := newWorld(t)
	w.home = w.dir // a home folder under version control
	w.user(`{"prices": "mine.json"}`)
	if got, want := w.load().Path(Prices), filepath.Join(w.home, ".quire", "mine.json"); got != want {
		t.Errorf("prices = %q, want %q", got, want)
	}
}

func TestPaths(t *testing.T) {
	w := newWorld(t)
	outside := filepath.Join(t.TempDir(), "p.json")
	cases := []struct{ value, want string }{
		{"p.json", filepath.Join(w.dir, "p.json")},
		{"~/p.json", filepath.Join(w.home, "p.json")},
		{"~", w.home},
		{"~p.json", filepath.Join(w.dir, "~p.json")},
		{outside, outside},
	}
	for _, c := range cases {
		if got := w.load(Flag{"prices", c.value}).Path(Prices); got != c.want {
			t.Errorf("--prices %s is %q, want %q", c.value, got, c.want)
		}
	}
	if got, want := w.load().Path(Home), filepath.Join(w.home, ".quire"); got != want {
		t.Errorf("home = %q, want %q", got, want)
	}
	w.env["QUIRE_HOME"] = "q"
	if got, want := w.load().Path(Home), filepath.Join(w.dir, "q"); got != want {
		t.Errorf("home = %q, want %q", got, want)
	}
}

func TestNoHomeAndNoRepository(t *testing.T) {
	w := newWorld(t)
	w.home, w.dir = "", t.TempDir()
	s := w.load()
	if s.Path(Home) != "" {
		t.Errorf("home = %q without a user's home", s.Path(Home))
	}
	for _, layer := range []Layer{LayerUser, LayerProject} {
		if _, err := s.Set(layer, "utc", "true"); err == nil {
			t.Errorf("set for the %s succeeded without a place for it", layer)
		}
	}
}

func TestSubfolderFindsTheProject(t *testing.T) {
	w := newWorld(t)
	w.project(`{"utc": true}`)
	w.dir = filepath.Join(w.dir, "a", "b")
	w.mkdir(w.dir)
	if !w.load().Bool(UTC) {
		t.Error("the project's file was not found from a folder below")
	}
}

func TestByteOrderMarkAndSchemaMember(t *testing.T) {
	w := newWorld(t)
	w.user(byteOrderMark + "{\r\n  \"$schema\": \"x\",\r\n  \"utc\": true\r\n}\r\n")
	s := w.load()
	one, err := s.Get("utc")
	if err != nil || !s.Bool(UTC) || !strings.HasSuffix(one.Origin.Where, ":3") {
		t.Errorf("utc = %v from %v (%v)", s.Bool(UTC), one.Origin, err)
	}
}

func TestNearest(t *testing.T) {
	for name, want := range map[string]string{
		"uct": "utc", "colour": "color", "days": "audit.days", "audit": "audit.days", "price": "prices", "AUDIT.DAY": "audit.days",
	} {
		if got := Nearest(name); got != want {
			t.Errorf("nearest to %q is %q, want %q", name, got, want)
		}
	}
}

func TestEveryKeyIsComplete(t *testing.T) {
	flags := map[string]bool{}
	for _, k := range Keys() {
		if k.Help == "" || strings.HasSuffix(k.Help, ".") {
			t.Errorf("%s: help %q must be a sentence without full stop", k.Name, k.Help)
		}
		if k.Flag != "" && flags[k.Flag] {
			t.Errorf("%s: flag --%s sets two keys", k.Name, k.Flag)
		}
		flags[k.Flag] = true
		if got, err := k.Parse(k.Default); err != nil || got != k.Default {
			t.Errorf("%s: default %q is not canonical: %q, %v", k.Name, k.Default, got, err)
		}
	}
}

// The getters panic on a key without declaration; this calls each of them.
func TestEveryNameIsDeclared(t *testing.T) {
	s := newWorld(t).load()
	s.Path(Home)
	s.Path(Prices)
	s.Bool(UTC)
	s.Text(Color)
	s.Int(AuditDays)
	s.Name(Model)
	s.Name(ModelURL)
	if got := s.Int(Budget); got != 0 {
		t.Errorf("budget = %d by default", got)
	}
}
