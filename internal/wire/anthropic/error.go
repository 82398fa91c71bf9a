package anthropic

import (
	"strconv"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

// errorTypes lists the types of errors of the API, with the status that each
// comes with and what it means. The first of a kind is the one that is written.
// Source: the vendor's page on errors.
var errorTypes = [...]struct {
	name   string
	status int
	kind   quire.CallErrorKind
}{
	{"invalid_request_error", 400, quire.CallInvalid},
	{"authentication_error", 401, quire.CallAuth},
	{"permission_error", 403, quire.CallForbidden},
	{"billing_error", 402, quire.CallForbidden},
	{"not_found_error", 404, quire.CallNotFound},
	{"request_too_large", 413, quire.CallTooLarge},
	{"rate_limit_error", 429, quire.CallRate},
	{"api_error", 500, quire.CallServer},
	{"timeout_error", 504, quire.CallServer},
	{"overloaded_error", 529, quire.CallOverloaded},
	{"invalid_request_error", 400, quire.CallTooLong},
	{"invalid_request_error", 400, quire.CallFiltered},
	{"permission_error", 403, quire.CallRegion},
}

// phrases lists what tells apart errors that the API gives one type, in lower case.
var phrases = [...]struct {
	text string
	kind quire.CallErrorKind
}{
	{"prompt is too long", quire.CallTooLong},
	{"input is too long", quire.CallTooLong},
	{"exceed context limit", quire.CallTooLong},
	{"content filtering policy", quire.CallFiltered},
	{"credit balance is too low", quire.CallForbidden},
	{"not available in your", quire.CallRegion},
	{"unsupported country", quire.CallRegion},
	{"request exceeds the maximum size", quire.CallTooLarge},
}

// maxMessage bounds the text of an error whose body is no JSON: a page of a
// proxy, say.
const maxMessage = 500

// DecodeError classifies an answer that is not a success. retryAfter is the
// header of that name, "" without one; only its form in seconds is read, as the
// other needs a clock. Status 0 is for an error in the middle of a stream, whose
// type then says which status it would have had.
func DecodeError(status int, retryAfter string, body []byte) *quire.CallError {
	e := &quire.CallError{Status: status, After: seconds(retryAfter)}
	if r, err := rawjson.Parse(body); err == nil {
		if inner, ok := rawjson.Read(r.Peek("error")); ok {
			e.Code, e.Message = inner.Text("type"), inner.Text("message")
		}
	}
	if e.Code == "" && e.Message == "" {
		e.Message = clip(strings.TrimSpace(strings.ToValidUTF8(string(body), "")))
	}
	e.Kind = classify(e)
	return e
}

// seconds reads a number of seconds; 0 for anything else.
func seconds(text string) float64 {
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || !(n > 0) || n > 1e9 {
		return 0
	}
	return n
}

func clip(s string) string {
	if len(s) <= maxMessage {
		return s
	}
	return strings.ToValidUTF8(s[:maxMessage], "") + " …"
}

// classify finds the kind by the text, then the type, then the status. It fills
// in a status that is not there.
func classify(e *quire.CallError) quire.CallErrorKind {
	kind := kindOfStatus(e.Status)
	for _, t := range errorTypes {
		if t.name == e.Code {
			kind = t.kind
			if e.Status == 0 {
				e.Status = t.status
			}
			break
		}
	}
	text := strings.ToLower(e.Message)
	for _, p := range phrases {
		if !kind.Passing() && strings.Contains(text, p.text) {
			return p.kind
		}
	}
	return kind
}

// kindOfStatus is what a status means by itself. 408 and 409 pass, like faults
// of the provider.
func kindOfStatus(status int) quire.CallErrorKind {
	for _, t := range errorTypes {
		if t.status == status {
			return t.kind
		}
	}
	switch {
	case status == 408 || status == 409:
		return quire.CallServer
	case status == 503:
		return quire.CallOverloaded
	case status >= 400 && status < 500:
		return quire.CallInvalid
	default:
		return quire.CallServer
	}
}

// EncodeError is the status and body that the API answers an error with. Status
// and Code are taken from e where they are the API's, and follow from its kind
// otherwise. A wait is said in a header, which is not part of it.
func EncodeError(e *quire.CallError) (status int, body []byte) {
	name := "api_error"
	status = 500
	for _, t := range errorTypes {
		if t.kind == e.Kind {
			name, status = t.name, t.status
			break
		}
	}
	if e.Status >= 400 {
		status = e.Status
	}
	for _, t := range errorTypes {
		if t.name == e.Code {
			name = t.name
		}
	}
	return status, errorBody(name, message(status, name, e))
}

// message is the text of an error: its own, with the words in front that tell its
// kind apart from others of one type where it has none of them.
func message(status int, name string, e *quire.CallError) string {
	text := e.Message
	if text == "" {
		text = string(e.Kind)
	}
	if classify(&quire.CallError{Status: status, Code: name, Message: text}) == e.Kind {
		return text
	}
	for _, p := range phrases {
		if p.kind == e.Kind {
			return p.text + ": " + text
		}
	}
	return text
}

func errorBody(name, message string) []byte {
	var w, inner rawjson.Writer
	w.Full("type", "error")
	inner.Full("type", name)
	inner.Full("message", message)
	w.Object("error", &inner)
	// Texts cannot fail.
	raw, _ := w.Bytes()
	return raw
}
