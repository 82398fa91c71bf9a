package main

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
)

// type gives a command a standard input.
func (b *bench) typed(t *testing.T, in string, args ...string) answer {
	t.Helper()
	var out, errOut bytes.Buffer
	a := app{dir: b.dir, goos: "linux", build: builtFrom("v1", "0")}
	a.keyring = func(_ context.Context, account string) (string, error) { return b.ring[account], nil }
	a.keepKey = func(_ context.Context, account, secret string) error {
		if account == "kimi" {
			return errors.New("the keyring is locked")
		}
		b.ring[account] = secret
		return nil
	}
	code := a.Run(t.Context(), args, strings.NewReader(in), &out, &errOut, newEnvironment(b.env))
	return answer{code, out.String(), errOut.String()}
}

// A key is kept in a file or in the keyring, used, shadowed by a variable, and
// removed; it is never shown.
func TestModelsKey(t *testing.T) {
	b := newBench(t)
	b.ring = map[string]string{}
	for _, c := range []struct {
		in   string
		args string
		code int
		want string
	}{
		{"made-up-one\n", "key set openai", 0, "is kept in " + b.home},
		{"", " --json", 0, `"from": "` + b.home},
		{"made-up-two\n", "key set anthropic --keyring", 0, "The key of anthropic is kept in the keyring.\nWhat is used is the key from the keyring."},
		{"made-up-two\n", "key set kimi --keyring", 1, "the keyring is locked"},
		{"", "key set openai", 2, "the key is empty"},
		{"made up", "key set openai", 2, "is no key"},
		{"made-up", "key set nobody", 2, "is no provider"},
		{"", "key", 0, "quire models key rm anthropic"},
		{"", "key rm openai", 0, "was removed from its file"},
		{"", "key rm anthropic", 0, "was removed from the keyring"},
		{"", "key rm anthropic", 0, "No key of anthropic was kept"},
	} {
		got := b.typed(t, c.in, append([]string{"models"}, strings.Fields(c.args)...)...)
		if got.code != c.code || !strings.Contains(got.out+got.err, c.want) || strings.Contains(got.out+got.err, "made-up-") {
			t.Errorf("models %s: %+v, want %d and %q", c.args, got, c.code, c.want)
		}
	}
	b.env = append(b.env, "OPENAI_API_KEY=made-up-env")
	if got := b.typed(t, "made-up-file", "models", "key", "set", "openai"); !strings.Contains(got.out, "What is used is the key from OPENAI_API_KEY") {
		t.Errorf("%+v", got)
	}
	if got := (&bench{dir: b.dir, home: b.home, env: []string{"HOME=" + b.home}}).typed(t, "made-up-x", "models", "key", "set", "openai", "--keyring"); got.code != 2 || !strings.Contains(got.err, "no keyring") {
		t.Errorf("without a keyring: %+v", got)
	}
}
