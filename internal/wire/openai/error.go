package openai

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

// maxMessage bounds in bytes what is kept of an answer that is no error body at
// all, like the page of a proxy.
const maxMessage = 400

// DecodeError reads the body of a failed request, in any of the forms that the
// providers use: an object or a text under error, the error itself at the top,
// a detail, or no JSON at all. A status of 0 is that of an error inside a
// stream; its code may then be one. RetryAfter is the header of that name, in
// seconds; a date in it is not understood, as nothing here knows the time.
func DecodeError(status int, retryAfter string, body []byte) *quire.CallError {
	f := readFault(body)
	if n, err := strconv.Atoi(f.code); err == nil && (status == 0 || status == 200) && n >= 400 && n < 600 {
		status = n
	}
	e := &quire.CallError{Status: status, Code: f.code, Message: f.message, After: seconds(retryAfter)}
	if e.Code == "" {
		e.Code = f.kind
	}
	e.Kind = classify(status, f)
	if e.After == 0 && e.Kind.Passing() {
		e.After = saidSeconds(f.message)
	}
	return e
}

// A fault is what the forms of error bodies have in common.
type fault struct{ code, kind, message, inner string }

func readFault(body []byte) fault {
	r, err := rawjson.Parse(body)
	if err != nil {
		return fault{message: short(string(body))}
	}
	if text := r.Text("error"); text != "" {
		return fault{message: text, code: codeOf(r)}
	}
	if inner, ok := rawjson.Read(r.Peek("error")); ok {
		r = inner
	}
	f := fault{code: codeOf(r), kind: r.Text("type"), message: r.Text("message")}
	if f.message == "" {
		f.message = looseText(r, "detail", "msg")
	}
	if details, ok := rawjson.Read(r.Peek("metadata")); ok {
		f.inner = looseText(details, "raw")
	}
	return f
}

// codeOf is a code, which is a text with some and a number with others.
func codeOf(r *rawjson.Reader) string {
	raw := r.Peek("code")
	if text, ok := rawjson.TextOf(raw); ok {
		return text
	}
	if string(raw) == "null" {
		return ""
	}
	return string(raw)
}

// looseText is the first member that says something: its text, or its JSON.
func looseText(r *rawjson.Reader, names ...string) string {
	for _, name := range names {
		raw := r.Peek(name)
		if text, ok := rawjson.TextOf(raw); ok && text != "" {
			return text
		}
		if len(raw) > 0 && raw[0] != '"' && string(raw) != "null" {
			return short(string(raw))
		}
	}
	return ""
}

func short(text string) string {
	text = strings.ToValidUTF8(strings.TrimSpace(text), "\ufffd")
	if len(text) <= maxMessage {
		return text
	}
	cut := maxMessage
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}

func seconds(header string) float64 {
	n, err := strconv.ParseFloat(strings.TrimSpace(header), 64)
	if err != nil || !(n > 0) || n > 1e9 {
		return 0
	}
	return n
}

// saidSeconds is the wait that a message names: "Please try again in 1.2s."
func saidSeconds(message string) float64 {
	_, after, ok := strings.Cut(strings.ToLower(message), "try again in ")
	if !ok {
		return 0
	}
	word, _, _ := strings.Cut(after, " ")
	d, err := time.ParseDuration(strings.TrimRight(word, ".,;"))
	if err != nil || d < 0 {
		return 0
	}
	return d.Seconds()
}

// A sign tells a kind of error by the provider's name for it or by words of its
// message, both in lower case.
type sign struct {
	kind    quire.CallErrorKind
	names   []string
	phrases []string
}

// signs lists what tells more than a status does. The first that fits counts.
// Numbers are codes of GLM.
func signs() []sign {
	return []sign{
		{quire.CallRegion,
			[]string{"unsupported_country_region_territory"},
			[]string{"country, region, or territory not supported", "not available in your region"}},
		{quire.CallTooLong,
			[]string{"context_length_exceeded", "exceed_context_size_error", "1261"},
			[]string{
				"maximum context length", "context length exceeded", "context window", "exceeded model token limit",
				"exceeds the available context size", "range of input length should be", "exceeds max length",
				"prompt is too long", "input is too long", "reduce the length of", "prompt 超长",
			}},
		{quire.CallTooLarge,
			[]string{"request_too_large", "payload_too_large"},
			[]string{"request entity too large", "payload too large", "request body too large"}},
		{quire.CallFiltered,
			[]string{"content_filter", "content_policy_violation", "data_inspection_failed", "datainspectionfailed", "invalid_prompt", "cyber_policy_violation", "1301"},
			[]string{"content exists risk", "flagged by our content policy", "inappropriate content"}},
		{quire.CallForbidden,
			[]string{"insufficient_quota", "exceeded_current_quota_error", "billing_hard_limit_reached", "insufficient_balance", "arrearage", "1113", "usage_not_included"},
			[]string{"insufficient balance", "exceeded your current quota", "insufficient credits"}},
		{quire.CallOverloaded,
			[]string{"engine_overloaded_error", "engine_overloaded", "overloaded_error", "server_is_overloaded", "slow_down", "1305"},
			[]string{"currently overloaded", "server is overloaded", "model is overloaded"}},
		{quire.CallRate,
			[]string{"rate_limit_exceeded", "rate_limit_reached_error", "rate_limit_error", "1302", "1303"}, nil},
		{quire.CallAuth,
			[]string{"invalid_api_key", "invalid_authentication_error", "incorrect_api_key_error", "authentication_error"},
			[]string{"incorrect api key"}},
		{quire.CallNotFound,
			[]string{"model_not_found", "resource_not_found_error", "1211"}, nil},
		{quire.CallServer,
			[]string{"server_error", "internal_error", "internal_server_error", "api_error"}, nil},
	}
}

func classify(status int, f fault) quire.CallErrorKind {
	code, kind := strings.ToLower(f.code), strings.ToLower(f.kind)
	message := strings.ToLower(f.message + " " + f.inner)
	for _, s := range signs() {
		if slices.Contains(s.names, code) || slices.Contains(s.names, kind) || slices.ContainsFunc(s.phrases, func(p string) bool { return strings.Contains(message, p) }) {
			return s.kind
		}
	}
	return byStatus(status)
}

func byStatus(status int) quire.CallErrorKind {
	switch status {
	case 401:
		return quire.CallAuth
	case 402, 403:
		return quire.CallForbidden
	case 404:
		return quire.CallNotFound
	case 413:
		return quire.CallTooLarge
	case 429:
		return quire.CallRate
	case 503, 529:
		return quire.CallOverloaded
	}
	if status == 408 || status == 409 || status < 400 || status >= 500 {
		return quire.CallServer
	}
	return quire.CallInvalid
}

// EncodeError is the status and body that OpenAI answers an error with. Status
// and Code are those of e where it has them, and follow from its kind otherwise.
// A wait is said in a header, which is not part of it.
func EncodeError(e *quire.CallError) (status int, body []byte) {
	status = formOf(e.Kind).status
	if e.Status >= 400 {
		status = e.Status
	}
	return status, append(append([]byte(`{"error":`), ErrorObject(e)...), '}')
}

// ErrorObject is an error as it stands inside of bodies and events.
func ErrorObject(e *quire.CallError) json.RawMessage {
	form := formOf(e.Kind)
	code := quoteOrNull(form.code)
	if e.Code != "" {
		code = Quote(e.Code)
	}
	message := e.Message
	if message == "" {
		message = string(e.Kind)
	}
	b := append([]byte(`{"message":`), Quote(message)...)
	b = append(append(b, `,"type":`...), Quote(form.kind)...)
	b = append(append(b, `,"param":null,"code":`...), code...)
	return append(b, '}')
}

func quoteOrNull(text string) json.RawMessage {
	if text == "" {
		return json.RawMessage("null")
	}
	return Quote(text)
}

// An errorForm is how OpenAI says a kind of error.
type errorForm struct {
	status     int
	kind, code string
}

func formOf(kind quire.CallErrorKind) errorForm {
	switch kind {
	case quire.CallAuth:
		return errorForm{401, "invalid_request_error", "invalid_api_key"}
	case quire.CallForbidden:
		return errorForm{403, "insufficient_quota", "insufficient_quota"}
	case quire.CallRegion:
		return errorForm{403, "request_forbidden", "unsupported_country_region_territory"}
	case quire.CallNotFound:
		return errorForm{404, "invalid_request_error", "model_not_found"}
	case quire.CallTooLong:
		return errorForm{400, "invalid_request_error", "context_length_exceeded"}
	case quire.CallTooLarge:
		return errorForm{413, "invalid_request_error", "request_too_large"}
	case quire.CallRate:
		return errorForm{429, "requests", "rate_limit_exceeded"}
	case quire.CallOverloaded:
		return errorForm{503, "server_error", "server_is_overloaded"}
	case quire.CallFiltered:
		return errorForm{400, "invalid_request_error", "content_filter"}
	case quire.CallInvalid:
		return errorForm{400, "invalid_request_error", ""}
	}
	return errorForm{500, "server_error", "server_error"}
}
