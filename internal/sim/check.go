package sim

import (
	"fmt"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/wire/anthropic"
	"github.com/quire-agent/quire/internal/wire/chat"
	"github.com/quire-agent/quire/internal/wire/gemini"
	"github.com/quire-agent/quire/internal/wire/responses"
)

// Check judges a call as the simulator would judge it, sent by that API: an error
// of type [*quire.CallError] says why it would be refused, any other that it cannot
// be sent at all. Sizes are judged, the window is not, as nothing here counts
// tokens. The secret is that of the simulator whose thinking stands in the call.
func Check(api API, c quire.Call, l Limits, secret string) error {
	body, err := api.encodeCall(c)
	if err != nil {
		return fmt.Errorf("check a call: %w", err)
	}
	sent, err := api.decode(body)
	if err != nil {
		return fmt.Errorf("check a call: %w", err)
	}
	if api == Gemini {
		sent.Model = c.Model
	}
	refused := tooLargeFor(api, len(body), l)
	if refused == nil {
		refused = (&judge{api: api, call: &sent, limits: l, signer: signer{[]byte(secret)}}).refuse()
	}
	if refused == nil {
		return nil
	}
	return api.decodeError(refused.status, refused.body(api, ""))
}

func (a API) encodeCall(c quire.Call) ([]byte, error) {
	switch a {
	case Messages:
		return anthropic.EncodeCall(c)
	case Chat:
		return chat.EncodeCall(c)
	case Responses:
		return responses.EncodeCall(c)
	}
	return gemini.EncodeCall(c)
}

func (a API) decodeError(status int, body []byte) *quire.CallError {
	switch a {
	case Messages:
		return anthropic.DecodeError(status, "", body)
	case Gemini:
		return gemini.DecodeError(status, "", body)
	}
	return chat.DecodeError(status, "", body)
}
