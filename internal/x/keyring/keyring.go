// Package keyring reads and keeps secrets in the keyring of the system: the Secret
// Service, the Keychain, the Credential Manager. It is the one importer of the
// library that knows them.
package keyring

import (
	"context"
	"errors"
	"fmt"

	"github.com/zalando/go-keyring"
)

// service is under what name Quire's secrets are kept.
const service = "quire"

// Get is the secret of an account, "" where there is none or no keyring at all.
// A keyring may ask the user to open it; when the context ends meanwhile Get
// returns, and what waits for the user goes on behind it.
func Get(ctx context.Context, account string) (string, error) {
	text, err := wait(ctx, func() (string, error) { return keyring.Get(service, account) })
	if errors.Is(err, keyring.ErrNotFound) || errors.Is(err, keyring.ErrUnsupportedPlatform) {
		return "", nil
	}
	return text, err
}

// Put keeps the secret of an account, in place of one that is there. An empty one
// takes it out; that there was none is no error. It waits as Get does.
func Put(ctx context.Context, account, secret string) error {
	_, err := wait(ctx, func() (string, error) {
		if secret == "" {
			return "", keyring.Delete(service, account)
		}
		return "", keyring.Set(service, account, secret)
	})
	if secret == "" && errors.Is(err, keyring.ErrNotFound) {
		return nil
	}
	return err
}

// wait asks the keyring, as long as the context lasts.
func wait(ctx context.Context, ask func() (string, error)) (string, error) {
	type answer struct {
		text string
		err  error
	}
	got := make(chan answer, 1)
	go func() {
		text, err := ask()
		got <- answer{text, err}
	}()
	select {
	case a := <-got:
		if a.err != nil {
			return "", fmt.Errorf("ask the keyring: %w", a.err)
		}
		return a.text, nil
	case <-ctx.Done():
		return "", fmt.Errorf("wait for the keyring: %w", ctx.Err())
	}
}
