// Package keyring reads secrets from the keyring of the system: the Secret
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
	type answer struct {
		text string
		err  error
	}
	got := make(chan answer, 1)
	go func() {
		text, err := keyring.Get(service, account)
		got <- answer{text, err}
	}()
	select {
	case a := <-got:
		if errors.Is(a.err, keyring.ErrNotFound) || errors.Is(a.err, keyring.ErrUnsupportedPlatform) {
			return "", nil
		}
		if a.err != nil {
			return "", fmt.Errorf("read the keyring: %w", a.err)
		}
		return a.text, nil
	case <-ctx.Done():
		return "", fmt.Errorf("wait for the keyring: %w", ctx.Err())
	}
}
