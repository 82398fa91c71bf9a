package openai

import (
	"testing"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/wire/wiretest"
)

// TestDecodeError names what the providers answer, in bodies written by hand.
// failures.md A26, A15
func TestDecodeError(t *testing.T) {
	for _, c := range []struct {
		status int
		header string
		body   string
		kind   quire.CallErrorKind
		code   string
		after  float64
	}{
		{400, "", `{"error":{"message":"This model's maximum context length is 128000 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`, quire.CallTooLong, "context_length_exceeded", 0},
		{400, "", `{"object":"error","message":"This model's maximum context length is 4096 tokens.","type":"BadRequestError","param":null,"code":400}`, quire.CallTooLong, "400", 0},
		{400, "", `{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":4096}}`, quire.CallTooLong, "400", 0},
		{400, "", `{"error":{"message":"Your request exceeded model token limit: 262144","type":"invalid_request_error"}}`, quire.CallTooLong, "invalid_request_error", 0},
		{400, "", `{"error":{"message":"Range of input length should be [1, 129024]","type":"invalid_request_error","code":"invalid_parameter_error"}}`, quire.CallTooLong, "invalid_parameter_error", 0},
		{400, "", `{"error":{"code":"1261","message":"Prompt 超长"}}`, quire.CallTooLong, "1261", 0},
		{400, "", `{"error":{"message":"Invalid value: 'x'.","type":"invalid_request_error","param":"x","code":null}}`, quire.CallInvalid, "invalid_request_error", 0},
		{400, "", `{"error":{"message":"Content Exists Risk","type":"invalid_request_error"}}`, quire.CallFiltered, "invalid_request_error", 0},
		{400, "", `{"error":{"message":"Input data may contain inappropriate content.","code":"data_inspection_failed"}}`, quire.CallFiltered, "data_inspection_failed", 0},
		{401, "", `{"error":{"message":"Incorrect API key provided","type":"invalid_request_error","code":"invalid_api_key"}}`, quire.CallAuth, "invalid_api_key", 0},
		{401, "", `{"message":"Unauthorized","request_id":"r1"}`, quire.CallAuth, "", 0},
		{402, "", `{"error":{"message":"Insufficient Balance","type":"unknown_error","code":"invalid_request_error"}}`, quire.CallForbidden, "invalid_request_error", 0},
		{403, "", `{"error":{"message":"Country, region, or territory not supported","type":"request_forbidden","code":"unsupported_country_region_territory"}}`, quire.CallRegion, "unsupported_country_region_territory", 0},
		{404, "", `{"error":"model 'x' not found"}`, quire.CallNotFound, "", 0},
		{413, "", `<html><body>413 Request Entity Too Large</body></html>`, quire.CallTooLarge, "", 0},
		{422, "", `{"detail":[{"loc":["body","messages"],"msg":"field required"}]}`, quire.CallInvalid, "", 0},
		{429, "2", `{"error":{"message":"Rate limit reached","type":"requests","code":"rate_limit_exceeded"}}`, quire.CallRate, "rate_limit_exceeded", 2},
		{429, "", `{"error":{"message":"Rate limit reached. Please try again in 898ms. More.","code":"rate_limit_exceeded"}}`, quire.CallRate, "rate_limit_exceeded", .898},
		{429, "Wed, 21 Oct 2026 07:28:00 GMT", `{}`, quire.CallRate, "", 0},
		{429, "", `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}`, quire.CallForbidden, "insufficient_quota", 0},
		{429, "", `{"error":{"message":"The engine is currently overloaded","type":"engine_overloaded_error"}}`, quire.CallOverloaded, "engine_overloaded_error", 0},
		{500, "", ``, quire.CallServer, "", 0},
		{502, "", `{"error":{"code":502,"message":"Provider returned error","metadata":{"raw":"prompt is too long","provider_name":"P"}}}`, quire.CallTooLong, "502", 0},
		{503, "", `{"detail":"try later"}`, quire.CallOverloaded, "", 0},
		{0, "", `{"error":{"code":429,"message":"slow"}}`, quire.CallRate, "429", 0},
		{0, "", `{"error":{"message":"boom","type":"server_error"}}`, quire.CallServer, "server_error", 0},
	} {
		got := DecodeError(c.status, c.header, []byte(c.body))
		if got.Kind != c.kind || got.Code != c.code || got.After != c.after {
			t.Errorf("%d %s: %+v; want %s, %q, %v", c.status, c.body, got, c.kind, c.code, c.after)
		}
	}
}

// TestErrorsComeBack holds that a client of ours reads from our error what it was.
func TestErrorsComeBack(t *testing.T) {
	wiretest.Errors(t, EncodeError, DecodeError)
}

func FuzzDecodeError(f *testing.F) {
	f.Add(500, "1", []byte(`{"error":{"code":1}}`))
	f.Add(0, "-1", []byte(`{"detail":["\ud800"]}`))
	f.Fuzz(func(t *testing.T, status int, header string, body []byte) {
		e := DecodeError(status, header, body)
		if e.Kind == "" || e.After < 0 {
			t.Fatalf("%+v", e)
		}
		EncodeError(e)
	})
}
