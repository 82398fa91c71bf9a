package model

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestKeepAndDrop(t *testing.T) {
	k := Keys{Env: variables(nil), Dir: filepath.Join(t.TempDir(), "keys")}
	p, _ := Named("openai")
	for _, text := range []string{"made-up-first\n", " made-up-second "} {
		path, err := k.Keep(p, text)
		if err != nil {
			t.Fatal(err)
		}
		key, err := k.Find(t.Context(), p)
		if err != nil || key.Reveal() != strings.TrimSpace(text) || key.From != path {
			t.Errorf("kept %v from %s, %v", key, key.From, err)
		}
		info, err := os.Stat(path)
		if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("the file is %v, %v", info, err)
		}
	}
	for _, text := range []string{"", " \n", "two lines\nof it"} {
		_, err := k.Keep(p, text)
		var e *KeyError
		if !errors.As(err, &e) || e.Next == "" {
			t.Errorf("%q: %v", text, err)
		}
	}
	left, err := os.ReadDir(k.Dir)
	if err != nil || len(left) != 1 {
		t.Errorf("in the folder are %v, %v", left, err)
	}
	for _, want := range []bool{true, false} {
		if there, err := k.Drop(p); err != nil || there != want {
			t.Errorf("dropped: %v, %v, want %v", there, err, want)
		}
	}
	if _, err := k.Find(t.Context(), p); err == nil {
		t.Error("the key is still found")
	}
}
