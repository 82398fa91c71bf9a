package keyring

import (
	"context"
	"errors"
	"testing"

	"github.com/zalando/go-keyring"
)

func TestGet(t *testing.T) {
	keyring.MockInit()
	if text, err := Get(t.Context(), "anthropic"); text != "" || err != nil {
		t.Errorf("an empty keyring holds %q, %v", text, err)
	}
	if err := keyring.Set("quire", "anthropic", "made-up"); err != nil {
		t.Fatal(err)
	}
	if text, err := Get(t.Context(), "anthropic"); text != "made-up" || err != nil {
		t.Errorf("the keyring holds %q, %v", text, err)
	}
}

func TestFailing(t *testing.T) {
	locked := errors.New("locked")
	keyring.MockInitWithError(locked)
	if _, err := Get(t.Context(), "anthropic"); !errors.Is(err, locked) {
		t.Errorf("the error is %v", err)
	}
}

func TestPut(t *testing.T) {
	keyring.MockInit()
	for _, secret := range []string{"made-up", "made-up-too", "", ""} {
		if err := Put(t.Context(), "openai", secret); err != nil {
			t.Fatal(err)
		}
		if text, err := Get(t.Context(), "openai"); text != secret || err != nil {
			t.Errorf("the keyring holds %q, %v, want %q", text, err, secret)
		}
	}
	locked := errors.New("locked")
	keyring.MockInitWithError(locked)
	if err := Put(t.Context(), "openai", "made-up"); !errors.Is(err, locked) {
		t.Errorf("the error is %v", err)
	}
}

// TestWaitEnds holds that a keyring that waits for its user holds nobody up. It
// is the last: what it no longer waits for still asks the keyring.
func TestWaitEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	keyring.MockInit()
	for range 100 {
		if _, err := Get(ctx, "anthropic"); errors.Is(err, context.Canceled) {
			return
		}
	}
	t.Error("an ended context never ends the wait")
}
