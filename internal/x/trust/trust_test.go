package trust_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/quire-agent/quire/internal/x/trust"
)

func open(t *testing.T, path string) *trust.Store {
	t.Helper()
	s, err := trust.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestGrants(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "trust.json")
	s, sum := open(t, path), trust.Sum("a", "b")
	if s.Has("hook", sum) {
		t.Error("an empty store trusts")
	}
	for range 2 {
		if err := s.Grant(trust.Grant{Kind: "hook", Sum: sum, Note: "a b"}); err != nil {
			t.Fatal(err)
		}
	}
	s = open(t, path)
	if !s.Has("hook", sum) || s.Has("mcp", sum) || s.Has("hook", trust.Sum("ab")) || s.Has("hook", trust.Sum("a", "B")) {
		t.Error("not exactly what was granted is trusted")
	}
	if had, err := s.Revoke("hook", sum); !had || err != nil {
		t.Errorf("%v, %v", had, err)
	}
	if had, err := s.Revoke("hook", sum); had || err != nil {
		t.Errorf("%v, %v", had, err)
	}
	if open(t, path).Has("hook", sum) {
		t.Error("what was revoked is trusted")
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
}

func TestBrokenStoreTrustsNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trust.json")
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := trust.Open(path); err == nil {
		t.Error("want an error")
	}
}
