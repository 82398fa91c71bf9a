package gateway

import (
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/wire/anthropic"
	"github.com/quire-agent/quire/internal/wire/chat"
	"github.com/quire-agent/quire/internal/wire/gemini"
	"github.com/quire-agent/quire/internal/wire/responses"
)

// An API is a protocol of a provider.
type API string

// The APIs.
const (
	Messages  API = "messages"  // of Anthropic
	Responses API = "responses" // of OpenAI
	Chat      API = "chat"      // Chat Completions of OpenAI and many others
	Gemini    API = "gemini"    // generateContent of Google
)

// APIs lists them in the order in which they are shown.
func APIs() []API { return []API{Messages, Responses, Chat, Gemini} }

// Upstream is where an API is served when the configuration names no other place.
func (a API) Upstream() string {
	switch a {
	case Messages:
		return "https://api.anthropic.com"
	case Gemini:
		return "https://generativelanguage.googleapis.com"
	}
	return "https://api.openai.com"
}

func (a API) decodeCall(body []byte) (quire.Call, error) {
	switch a {
	case Messages:
		return anthropic.DecodeCall(body)
	case Responses:
		return responses.DecodeCall(body)
	case Chat:
		return chat.DecodeCall(body)
	}
	return gemini.DecodeCall(body)
}

func (a API) decodeReply(body []byte) (quire.Reply, error) {
	switch a {
	case Messages:
		return anthropic.DecodeReply(body)
	case Responses:
		return responses.DecodeReply(body)
	case Chat:
		return chat.DecodeReply(body)
	}
	return gemini.DecodeReply(body)
}

func (a API) decodeStream(r io.Reader) iter.Seq2[quire.Delta, error] {
	switch a {
	case Messages:
		return anthropic.DecodeStream(r)
	case Responses:
		return responses.DecodeStream(r)
	case Chat:
		return chat.DecodeStream(r)
	}
	return gemini.DecodeStream(r)
}

func (a API) decodeError(status int, retryAfter string, body []byte) *quire.CallError {
	switch a {
	case Messages:
		return anthropic.DecodeError(status, retryAfter, body)
	case Responses:
		return responses.DecodeError(status, retryAfter, body)
	case Chat:
		return chat.DecodeError(status, retryAfter, body)
	}
	return gemini.DecodeError(status, retryAfter, body)
}

// encodeError is an error of the gateway in the words of the API.
func (a API) encodeError(e *quire.CallError) (status int, body []byte) {
	switch a {
	case Messages:
		return anthropic.EncodeError(e)
	case Responses:
		return responses.EncodeError(e)
	case Chat:
		return chat.EncodeError(e)
	}
	return gemini.EncodeError(e)
}

// A route is what an address asks for. Where it is no model call the route says
// only whose it is.
type route struct {
	api    API
	call   bool   // a model call: it is recorded
	count  bool   // the size of a prompt is asked for
	model  string // where the address names it
	stream bool   // where the address says it
}

// routeOf finds the route of a request by the end of its path, so that a client
// may put anything in front of it, or leave v1 out.
func routeOf(r *http.Request) route {
	path := r.URL.Path
	post := r.Method == http.MethodPost
	switch {
	case strings.HasSuffix(path, "/messages"):
		return route{api: Messages, call: post}
	case strings.HasSuffix(path, "/chat/completions"):
		return route{api: Chat, call: post}
	case strings.HasSuffix(path, "/messages/count_tokens"):
		return route{api: Messages, count: post}
	case strings.HasSuffix(path, ":countTokens"):
		return route{api: Gemini, count: post, model: geminiModel(path)}
	case strings.HasSuffix(path, "/responses"):
		return route{api: Responses, call: post}
	case strings.HasSuffix(path, ":generateContent"), strings.HasSuffix(path, ":streamGenerateContent"):
		return route{api: Gemini, call: post, model: geminiModel(path), stream: strings.HasSuffix(path, ":streamGenerateContent")}
	}
	return route{api: guess(r)}
}

// geminiModel is the model that an address of Gemini names.
func geminiModel(path string) string {
	path = path[strings.LastIndexByte(path, '/')+1:]
	name, _, _ := strings.Cut(path, ":")
	return name
}

// guess is whose an address is that no API has for itself.
func guess(r *http.Request) API {
	path := r.URL.Path
	switch {
	case strings.HasPrefix(path, "/v1beta"), r.Header.Get("X-Goog-Api-Key") != "":
		return Gemini
	case strings.Contains(path, "/responses/"):
		return Responses
	case r.Header.Get("Anthropic-Version") != "", r.Header.Get("X-Api-Key") != "",
		strings.Contains(path, "/messages/"), strings.HasPrefix(path, "/api/"), path == "/", path == "":
		return Messages
	}
	return Chat
}

// decode reads a call, with what its address says of it.
func (r route) decode(body []byte) (quire.Call, error) {
	c, err := r.api.decodeCall(body)
	if r.model != "" {
		c.Model = r.model
	}
	c.Stream = c.Stream || r.stream
	return c, err
}

// refusal is an error of ours as the client of the API expects it.
func (a API) refusal(w http.ResponseWriter, kind quire.CallErrorKind, status int, message string) {
	given, body := a.encodeError(&quire.CallError{Kind: kind, Status: status, Message: message})
	if status == 0 {
		status = given
	}
	answer(w, status, body)
}

func answer(w http.ResponseWriter, status int, body json.RawMessage) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// A client that has left is no fault.
	_, _ = w.Write(body)
}
