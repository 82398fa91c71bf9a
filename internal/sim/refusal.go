package sim

import (
	"fmt"
	"strconv"

	"github.com/quire-agent/quire/internal/x/rawjson"
)

// A refusal is an error as a vendor answers it.
type refusal struct {
	status  int
	name    string  // type (Anthropic), code (OpenAI) or status (Google); "": follows from the status
	param   string  // OpenAI: the member at fault
	message string  // the vendor's words
	after   float64 // seconds to wait, 0: not said
}

// Error is the message.
func (r *refusal) Error() string { return r.message }

// invalid is a refusal of a request that cannot be taken as it is.
func invalid(format string, args ...any) *refusal {
	return &refusal{status: 400, message: fmt.Sprintf(format, args...)}
}

// at names the member that is at fault.
func (r *refusal) at(param string) *refusal {
	r.param = param
	return r
}

func (r *refusal) called(name string) *refusal {
	r.name = name
	return r
}

// body is the answer. The request has an id where the vendor repeats it.
func (r *refusal) body(api API, id string) []byte {
	var w, inner rawjson.Writer
	switch api {
	case Messages:
		w.Full("type", "error")
		inner.Full("type", first(r.name, anthropicType(r.status)))
		inner.Full("message", r.message)
		w.Object("error", &inner)
		w.Full("request_id", id)
	case Gemini:
		inner.Number("code", int64(r.status))
		inner.Full("message", r.message)
		inner.Full("status", first(r.name, googleStatus(r.status)))
		r.retryInfo(&inner)
		w.Object("error", &inner)
	default:
		kind, code := openaiType(r.status)
		inner.Full("message", r.message)
		inner.Full("type", kind)
		orNull(&inner, "param", r.param)
		orNull(&inner, "code", first(r.name, code))
		w.Object("error", &inner)
	}
	// Texts and numbers cannot fail.
	raw, _ := w.Bytes()
	return raw
}

func (r *refusal) retryInfo(w *rawjson.Writer) {
	if r.after <= 0 {
		return
	}
	var delay rawjson.Writer
	delay.Full("@type", "type.googleapis.com/google.rpc.RetryInfo")
	delay.Full("retryDelay", seconds(r.after)+"s")
	raw, _ := delay.Bytes()
	w.Made("details", []byte("["+string(raw)+"]"))
}

func seconds(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

func orNull(w *rawjson.Writer, name, value string) {
	if value == "" {
		w.Made(name, []byte("null"))
		return
	}
	w.Full(name, value)
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// anthropicType is the type of a status. Source: the vendor's page on errors.
func anthropicType(status int) string {
	switch status {
	case 401:
		return "authentication_error"
	case 402:
		return "billing_error"
	case 403:
		return "permission_error"
	case 404:
		return "not_found_error"
	case 413:
		return "request_too_large"
	case 429:
		return "rate_limit_error"
	case 504:
		return "timeout_error"
	case 529:
		return "overloaded_error"
	}
	if status < 500 {
		return "invalid_request_error"
	}
	return "api_error"
}

// openaiType is the type and the code of a status.
func openaiType(status int) (kind, code string) {
	switch {
	case status == 429:
		return "requests", "rate_limit_exceeded"
	case status == 503 || status == 529:
		return "server_error", "server_is_overloaded"
	case status >= 500:
		return "server_error", "server_error"
	}
	return "invalid_request_error", ""
}

// googleStatus is the canonical code of a status (google.rpc.Code).
func googleStatus(status int) string {
	switch status {
	case 401:
		return "UNAUTHENTICATED"
	case 403:
		return "PERMISSION_DENIED"
	case 404:
		return "NOT_FOUND"
	case 409:
		return "ABORTED"
	case 429:
		return "RESOURCE_EXHAUSTED"
	case 503, 529:
		return "UNAVAILABLE"
	case 504:
		return "DEADLINE_EXCEEDED"
	}
	if status < 500 {
		return "INVALID_ARGUMENT"
	}
	return "INTERNAL"
}

// usual is what a vendor says with a status where the script gives no words.
func usual(status int) string {
	switch status {
	case 401:
		return "invalid x-api-key"
	case 413:
		return "Request exceeds the maximum size"
	case 429:
		return "This request would exceed your rate limit. Please try again later."
	case 503:
		return "The service is currently unavailable."
	case 529:
		return "Overloaded"
	}
	if status >= 500 {
		return "Internal server error"
	}
	return "The request was refused by the script."
}
