package wiretest

import (
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/quire"
)

// Errors holds that what a client of ours reads from an error of ours is what it
// was, whatever it says: the kind, the text, and that a request may be sent again.
func Errors(t *testing.T, encode func(*quire.CallError) (int, []byte), decode func(int, string, []byte) *quire.CallError) {
	t.Helper()
	for _, kind := range []quire.CallErrorKind{
		quire.CallInvalid, quire.CallAuth, quire.CallForbidden, quire.CallNotFound, quire.CallTooLong, quire.CallTooLarge,
		quire.CallRate, quire.CallOverloaded, quire.CallServer, quire.CallFiltered, quire.CallRegion,
	} {
		for _, text := range []string{"", "m \"q\"", "max is 9 tokens"} {
			status, body := encode(&quire.CallError{Kind: kind, Message: text})
			got := decode(status, "", body)
			if got.Kind != kind || !strings.HasSuffix(got.Message, text) || got.Message == "" || got.Kind.Passing() != kind.Passing() {
				t.Errorf("%s %q came back as %+v from %d %s", kind, text, got, status, body)
			}
		}
	}
	for _, kind := range []quire.CallErrorKind{quire.CallNetwork, quire.CallCut, quire.CallGarbled} {
		status, body := encode(&quire.CallError{Kind: kind, Message: "m"})
		if got := decode(status, "", body); status < 500 || !got.Kind.Passing() {
			t.Errorf("%s, which no status says, came back as %+v from %d %s", kind, got, status, body)
		}
	}
}
