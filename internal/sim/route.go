package sim

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/quire-agent/quire/internal/x/rawjson"
)

// A route is what an address asks for.
type route struct {
	api    API
	model  string // where the address names it
	stream bool   // where the address says it
	count  bool   // only the size of the prompt is wanted
	list   func(*Sim, http.ResponseWriter, *http.Request)
}

// routeOf finds the route of a request.
func routeOf(r *http.Request) (route, bool) {
	switch r.Method + " " + r.URL.Path {
	case "POST /v1/messages":
		return route{api: Messages}, true
	case "POST /v1/messages/count_tokens":
		return route{api: Messages, count: true}, true
	case "POST /v1/chat/completions":
		return route{api: Chat}, true
	case "POST /v1/responses":
		return route{api: Responses}, true
	case "GET /v1/models":
		return route{list: (*Sim).listModels}, true
	case "GET /v1beta/models":
		return route{list: (*Sim).listGemini}, true
	case "GET /sim/requests":
		return route{list: (*Sim).listRequests}, true
	}
	return geminiRoute(r)
}

func geminiRoute(r *http.Request) (route, bool) {
	path, ok := strings.CutPrefix(r.URL.Path, "/v1beta/models/")
	model, method, found := strings.Cut(path, ":")
	if !ok || !found || model == "" || r.Method != http.MethodPost {
		return route{}, false
	}
	switch method {
	case "generateContent":
		return route{api: Gemini, model: model}, true
	case "streamGenerateContent":
		return route{api: Gemini, model: model, stream: true}, true
	case "countTokens":
		return route{api: Gemini, model: model, count: true}, true
	}
	return route{}, false
}

// apiOf guesses whose client asks, where the address does not say it.
func apiOf(r *http.Request) API {
	switch {
	case strings.HasPrefix(r.URL.Path, "/v1beta"):
		return Gemini
	case r.Header.Get("Anthropic-Version") != "" || r.Header.Get("X-Api-Key") != "" || strings.HasPrefix(r.URL.Path, "/v1/messages"):
		return Messages
	}
	return Chat
}

// nothing answers an address that does not exist.
func (s *Sim) nothing(w http.ResponseWriter, r *http.Request) {
	api := apiOf(r)
	refused := &refusal{status: 404, message: "Invalid URL (" + r.Method + " " + r.URL.Path + ")"}
	if api == Messages {
		refused.message = "Not found"
	}
	s.write(w, refused.status, refused.body(api, "req_0"))
}

func (s *Sim) write(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// A client that has left is none of our faults.
	_, _ = w.Write(body)
}

// keyOf is the key of a request, in the place where the API has it.
func keyOf(api API, r *http.Request) string {
	bearer, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch api {
	case Messages:
		return first(r.Header.Get("X-Api-Key"), bearer)
	case Gemini:
		return first(r.Header.Get("X-Goog-Api-Key"), first(r.URL.Query().Get("key"), bearer))
	}
	return bearer
}

// admit refuses a request without a key, or with another than the one there is.
func (s *Sim) admit(api API, r *http.Request) *refusal {
	key := keyOf(api, r)
	known := key != "" && (s.options.Key == "" || key == s.options.Key)
	switch {
	case known && api == Messages && r.Header.Get("Anthropic-Version") == "":
		return invalid("anthropic-version: header is required")
	case known:
		return nil
	case api == Messages && key == "":
		return &refusal{status: 401, message: "x-api-key header is required"}
	case api == Messages:
		return &refusal{status: 401, message: "invalid x-api-key"}
	case api == Gemini && key == "":
		return &refusal{status: 403, message: "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API."}
	case api == Gemini:
		return invalid("API key not valid. Please pass a valid API key.")
	case key == "":
		return &refusal{status: 401, message: "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY)."}
	}
	return &refusal{status: 401, name: "invalid_api_key", message: "Incorrect API key provided. You can find your API key at https://platform.openai.com/account/api-keys."}
}

// models are the models of the table that an API serves.
func (s *Sim) models(api API) []string {
	want := map[API]string{Messages: "anthropic", Chat: "openai", Gemini: "google"}[api]
	var ids []string
	for _, m := range s.options.Prices.Models() {
		if m.Provider == want {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

// born is the day on which all models of a list were made.
func born() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }

func (s *Sim) listModels(w http.ResponseWriter, r *http.Request) {
	api := apiOf(r)
	if refused := s.admit(api, r); refused != nil {
		s.write(w, refused.status, refused.body(api, "req_0"))
		return
	}
	if api == Messages {
		s.write(w, 200, anthropicList(s.models(api)))
		return
	}
	s.write(w, 200, openaiList(s.models(api)))
}

func anthropicList(ids []string) []byte {
	list := make([]json.RawMessage, len(ids))
	for i, id := range ids {
		var w rawjson.Writer
		w.Full("type", "model")
		w.Full("id", dashed(id))
		w.Full("display_name", id)
		w.Full("created_at", born().Format(time.RFC3339))
		list[i], _ = w.Bytes()
	}
	var w rawjson.Writer
	w.Made("data", rawjson.Array(list))
	w.Made("has_more", []byte("false"))
	if len(ids) > 0 {
		w.Full("first_id", dashed(ids[0]))
		w.Full("last_id", dashed(ids[len(ids)-1]))
	}
	out, _ := w.Bytes()
	return out
}

func openaiList(ids []string) []byte {
	list := make([]json.RawMessage, len(ids))
	for i, id := range ids {
		var w rawjson.Writer
		w.Full("id", id)
		w.Full("object", "model")
		w.Number("created", born().Unix())
		w.Full("owned_by", "openai")
		list[i], _ = w.Bytes()
	}
	var w rawjson.Writer
	w.Full("object", "list")
	w.Made("data", rawjson.Array(list))
	out, _ := w.Bytes()
	return out
}

func (s *Sim) listGemini(w http.ResponseWriter, r *http.Request) {
	if refused := s.admit(Gemini, r); refused != nil {
		s.write(w, refused.status, refused.body(Gemini, ""))
		return
	}
	var list []json.RawMessage
	for _, id := range s.models(Gemini) {
		_, window := s.meter.model(Gemini, id)
		var w rawjson.Writer
		w.Full("name", "models/"+id)
		w.Full("displayName", id)
		w.Number("inputTokenLimit", int64(window))
		w.Made("supportedGenerationMethods", []byte(`["generateContent","countTokens"]`))
		one, _ := w.Bytes()
		list = append(list, one)
	}
	var out rawjson.Writer
	out.Made("models", rawjson.Array(list))
	body, _ := out.Bytes()
	s.write(w, 200, body)
}
