package gemini

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

// errorStatuses lists the statuses of the API (google.rpc.Code), with the HTTP
// status that each comes with and what it means. The first of a kind is the one
// that is written.
var errorStatuses = [...]struct {
	name   string
	status int
	kind   quire.CallErrorKind
}{
	{"INVALID_ARGUMENT", 400, quire.CallInvalid},
	{"FAILED_PRECONDITION", 400, quire.CallRegion},
	{"OUT_OF_RANGE", 400, quire.CallInvalid},
	{"UNAUTHENTICATED", 401, quire.CallAuth},
	{"PERMISSION_DENIED", 403, quire.CallForbidden},
	{"NOT_FOUND", 404, quire.CallNotFound},
	{"ABORTED", 409, quire.CallServer},
	{"RESOURCE_EXHAUSTED", 429, quire.CallRate},
	{"CANCELLED", 499, quire.CallServer},
	{"INTERNAL", 500, quire.CallServer},
	{"UNKNOWN", 500, quire.CallServer},
	{"UNAVAILABLE", 503, quire.CallOverloaded},
	{"DEADLINE_EXCEEDED", 504, quire.CallServer},
	{"INVALID_ARGUMENT", 400, quire.CallTooLong},
	{"INVALID_ARGUMENT", 400, quire.CallFiltered},
	{"INVALID_ARGUMENT", 413, quire.CallTooLarge},
}

// phrases lists what tells apart errors that the API gives one status, in lower
// case.
var phrases = [...]struct {
	text string
	kind quire.CallErrorKind
}{
	{"input token count", quire.CallTooLong},
	{"exceeds the maximum number of tokens", quire.CallTooLong},
	{"prompt is too long", quire.CallTooLong},
	{"request payload size exceeds", quire.CallTooLarge},
	{"api key", quire.CallAuth},
	{"location is not supported", quire.CallRegion},
	{"blocked by", quire.CallFiltered},
}

// maxMessage bounds the text of an error whose body is no JSON: a page of a
// proxy, say.
const maxMessage = 500

// DecodeError classifies an answer that is not a success. retryAfter is the
// header of that name, "" without one; only its form in seconds is read, as the
// other needs a clock. A wait that the body asks for counts where it is longer.
// Status 0 is for an error in the middle of a stream, whose body then says which
// status it would have had.
func DecodeError(status int, retryAfter string, body []byte) *quire.CallError {
	e := &quire.CallError{Status: status, After: seconds(retryAfter)}
	if inner, ok := errorOf(body); ok {
		e.Code, e.Message = inner.Text("status"), inner.Text("message")
		if code := inner.Count("code"); e.Status == 0 {
			e.Status = code
		}
		e.After = max(e.After, retryDelay(inner.Peek("details")))
	}
	if e.Code == "" && e.Message == "" {
		e.Message = clip(strings.TrimSpace(strings.ToValidUTF8(string(body), "")))
	}
	e.Kind = classify(e)
	return e
}

// errorOf finds the error in a body, which stands in a list where the answer
// would have streamed.
func errorOf(body []byte) (*rawjson.Reader, bool) {
	if !json.Valid(body) {
		return nil, false
	}
	if list := rawjson.Elements(body); len(list) > 0 {
		body = list[0]
	}
	r, ok := rawjson.Read(body)
	if !ok {
		return nil, false
	}
	return rawjson.Read(r.Peek("error"))
}

// retryDelay is the wait that a google.rpc.RetryInfo asks for, in seconds.
func retryDelay(details json.RawMessage) float64 {
	for _, d := range rawjson.Elements(details) {
		delay, _ := rawjson.TextOf(rawjson.Get(rawjson.Members(d), "retryDelay"))
		if n := seconds(strings.TrimSuffix(delay, "s")); n > 0 {
			return n
		}
	}
	return 0
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

// classify finds the kind by the text, then the API's status, then that of HTTP.
func classify(e *quire.CallError) quire.CallErrorKind {
	kind := kindOfStatus(e.Status)
	for _, s := range errorStatuses {
		if s.name == e.Code {
			kind = s.kind
			break
		}
	}
	text := strings.ToLower(e.Message)
	for _, p := range phrases {
		if !kind.Passing() && strings.Contains(text, p.text) {
			return p.kind
		}
	}
	if e.Code == "FAILED_PRECONDITION" {
		return quire.CallInvalid
	}
	return kind
}

func kindOfStatus(status int) quire.CallErrorKind {
	for _, s := range errorStatuses {
		if s.status == status {
			return s.kind
		}
	}
	switch {
	case status == 408:
		return quire.CallServer
	case status >= 400 && status < 500:
		return quire.CallInvalid
	default:
		return quire.CallServer
	}
}

// EncodeError is the status and body that the API answers an error with. Status
// and Code are taken from e where they are the API's, and follow from its kind
// otherwise. The wait stands in the body.
func EncodeError(e *quire.CallError) (status int, body []byte) {
	name := "INTERNAL"
	status = 500
	for _, s := range errorStatuses {
		if s.kind == e.Kind {
			name, status = s.name, s.status
			break
		}
	}
	if e.Status >= 400 {
		status = e.Status
	}
	for _, s := range errorStatuses {
		if s.name == e.Code {
			name = s.name
		}
	}
	return status, errorBody(status, name, e)
}

// message is the text of an error: its own, with the words in front that tell its
// kind apart from others of one status where it has none of them.
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

func errorBody(status int, name string, e *quire.CallError) []byte {
	var w, inner, delay rawjson.Writer
	inner.Number("code", int64(status))
	inner.Full("message", message(status, name, e))
	inner.Full("status", name)
	if e.After > 0 {
		delay.Full("@type", "type.googleapis.com/google.rpc.RetryInfo")
		delay.Full("retryDelay", strconv.FormatFloat(e.After, 'f', -1, 64)+"s")
		// Texts cannot fail.
		raw, _ := delay.Bytes()
		inner.Made("details", rawjson.Array([]json.RawMessage{raw}))
	}
	w.Object("error", &inner)
	raw, _ := w.Bytes()
	return raw
}
