package model

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func variables(pairs map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { text, ok := pairs[name]; return text, ok }
}

func TestKeyNeverShowsItself(t *testing.T) {
	k := NewKey(" made-up-key\n", "A_VARIABLE")
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		for _, value := range []any{k, &k, Endpoint{Key: k}, []Key{k}} {
			if got := fmt.Sprintf(verb, value); strings.Contains(got, "made-up") || strings.Contains(got, "6d616465") {
				t.Errorf("%s of %T shows the key: %s", verb, value, got)
			}
		}
	}
	if got := k.Hide("wrong key made-up-key, made-up-key"); strings.Contains(got, "made-up") {
		t.Errorf("hidden is %q", got)
	}
	if got := (Key{}).Hide("as it is"); got != "as it is" {
		t.Errorf("no key hides %q", got)
	}
}

func TestFindKey(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "openai"), []byte("from-file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ring := func(_ context.Context, account string) (string, error) {
		return map[string]string{"openai": "from-ring", "gemini": "from-ring"}[account], nil
	}
	keys := Keys{Dir: dir, Ring: ring, Env: variables(map[string]string{"ANTHROPIC_API_KEY": "from-env", "OPENAI_API_KEY": " ", "GOOGLE_API_KEY": ""})}
	for name, want := range map[string]string{"anthropic": "from-env", "openai": "from-file", "gemini": "from-ring", "ollama": "", "chat": ""} {
		p, _ := Named(name)
		key, err := keys.Find(t.Context(), p)
		if err != nil || key.Reveal() != want {
			t.Errorf("%s has the key %q, %v; want %q", name, key.Reveal(), err, want)
		}
	}
}

func TestMissingKey(t *testing.T) {
	keys := Keys{
		Env: variables(nil), Dir: t.TempDir(),
		Ring: func(context.Context, string) (string, error) { return "", errors.New("it is locked") },
	}
	p, _ := Named("mistral")
	_, err := keys.Find(t.Context(), p)
	e, ok := errors.AsType[*KeyError](err)
	if !ok || !e.Missing || !strings.Contains(e.Message, "locked") {
		t.Fatalf("the error is %#v", err)
	}
	for _, way := range []string{"MISTRAL_API_KEY", keys.Dir, "service quire"} {
		if !strings.Contains(e.Next, way) {
			t.Errorf("the advice %q says nothing of %s", e.Next, way)
		}
	}
}

// TestFileOfOthers holds that a key that others can read is refused.
func TestFileOfOthers(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes say nothing on Windows")
	}
	p, _ := Named("openai")
	for mode, refused := range map[os.FileMode]bool{0o600: false, 0o400: false, 0o640: true, 0o604: true, 0o620: true} {
		dir := t.TempDir()
		name := filepath.Join(dir, "openai")
		if err := os.WriteFile(name, []byte("made-up-key"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
		key, err := Keys{Dir: dir, Env: variables(nil)}.Find(t.Context(), p)
		e, _ := errors.AsType[*KeyError](err)
		if refused != (e != nil) || refused != key.Empty() {
			t.Errorf("mode %o gives %v, %v", mode, key, err)
		}
		if refused && (e.Missing || !strings.Contains(e.Next, "chmod 600") || strings.Contains(e.Message, "made-up")) {
			t.Errorf("mode %o: the error is %+v", mode, e)
		}
	}
}

func TestNoFile(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "openai"), 0o700); err != nil {
		t.Fatal(err)
	}
	p, _ := Named("openai")
	_, err := Keys{Dir: dir, Env: variables(nil)}.Find(t.Context(), p)
	if e, ok := errors.AsType[*KeyError](err); !ok || e.Missing {
		t.Errorf("a folder in place of a key gives %v", err)
	}
}

// TestNoKey holds that what is no key is never sent, nor shown.
func TestNoKey(t *testing.T) {
	p, _ := Named("openai")
	for _, text := range []string{"made up", "made\nup", "made\x00up", "m\u00e4de"} {
		key, err := Keys{Env: variables(map[string]string{"OPENAI_API_KEY": text})}.Find(t.Context(), p)
		e, ok := errors.AsType[*KeyError](err)
		if !ok || e.Missing || !key.Empty() || strings.Contains(e.Message, text) {
			t.Errorf("%q gives %v, %v", text, key, err)
		}
	}
}
