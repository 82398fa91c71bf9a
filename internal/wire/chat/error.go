package chat

import (
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/wire/openai"
	"github.com/quire-agent/quire/internal/x/sse"
)

// DecodeError reads the body of a failed request of any dialect. RetryAfter is
// the header of that name, "" without one; only seconds are understood in it.
func DecodeError(status int, retryAfter string, body []byte) *quire.CallError {
	return openai.DecodeError(status, retryAfter, body)
}

// EncodeError is the status and body that OpenAI answers an error with. A wait is
// said in a header, which is not part of it.
func EncodeError(e *quire.CallError) (status int, body []byte) { return openai.EncodeError(e) }

// EncodeStreamError is the event of an error in the middle of a stream, the last one.
func EncodeStreamError(e *quire.CallError) []byte {
	_, body := openai.EncodeError(e)
	return sse.Append(nil, sse.Event{Data: body})
}
