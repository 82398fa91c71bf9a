package gemini

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/wire/wiretest"
)

// The bodies are of the form that the API answers with.
func TestDecodeError(t *testing.T) {
	for _, c := range []struct {
		status      int
		after, body string
		want        quire.CallError
	}{
		{400, "", `{"error":{"code":400,"message":"Invalid value at 'contents'","status":"INVALID_ARGUMENT"}}`,
			quire.CallError{Kind: quire.CallInvalid, Code: "INVALID_ARGUMENT", Message: "Invalid value at 'contents'"}},
		{400, "", `{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}`,
			quire.CallError{Kind: quire.CallTooLong, Code: "INVALID_ARGUMENT", Message: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."}},
		{400, "", `{"error":{"code":400,"message":"Request payload size exceeds the limit: 20971520 bytes.","status":"INVALID_ARGUMENT"}}`,
			quire.CallError{Kind: quire.CallTooLarge, Code: "INVALID_ARGUMENT", Message: "Request payload size exceeds the limit: 20971520 bytes."}},
		{400, "", `{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}`,
			quire.CallError{Kind: quire.CallAuth, Code: "INVALID_ARGUMENT", Message: "API key not valid. Please pass a valid API key."}},
		{400, "", `{"error":{"code":400,"message":"User location is not supported for the API use.","status":"FAILED_PRECONDITION"}}`,
			quire.CallError{Kind: quire.CallRegion, Code: "FAILED_PRECONDITION", Message: "User location is not supported for the API use."}},
		{400, "", `{"error":{"code":400,"message":"Enable billing.","status":"FAILED_PRECONDITION"}}`,
			quire.CallError{Kind: quire.CallInvalid, Code: "FAILED_PRECONDITION", Message: "Enable billing."}},
		{403, "", `{"error":{"code":403,"message":"no","status":"PERMISSION_DENIED"}}`,
			quire.CallError{Kind: quire.CallForbidden, Code: "PERMISSION_DENIED", Message: "no"}},
		{404, "", `{"error":{"code":404,"message":"models/x is not found","status":"NOT_FOUND"}}`,
			quire.CallError{Kind: quire.CallNotFound, Code: "NOT_FOUND", Message: "models/x is not found"}},
		{429, "3", `[{"error":{"code":429,"message":"quota","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.Help"},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"22.5s"}]}}]`,
			quire.CallError{Kind: quire.CallRate, Code: "RESOURCE_EXHAUSTED", Message: "quota", After: 22.5}},
		{429, "30", `{"error":{"code":429,"message":"quota","status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"22s"}]}}`,
			quire.CallError{Kind: quire.CallRate, Code: "RESOURCE_EXHAUSTED", Message: "quota", After: 30}},
		{0, "", `{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}`,
			quire.CallError{Kind: quire.CallOverloaded, Status: 503, Code: "UNAVAILABLE", Message: "The model is overloaded."}},
		{500, "", `{"error":{"code":500,"message":"An internal error","status":"INTERNAL"}}`,
			quire.CallError{Kind: quire.CallServer, Code: "INTERNAL", Message: "An internal error"}},
		{502, "", "<html>Bad gateway</html>\n", quire.CallError{Kind: quire.CallServer, Message: "<html>Bad gateway</html>"}},
		{408, "", `null`, quire.CallError{Kind: quire.CallServer, Message: "null"}},
		{418, "", `{"error":"tea"}`, quire.CallError{Kind: quire.CallInvalid, Message: `{"error":"tea"}`}},
	} {
		if c.status != 0 {
			c.want.Status = c.status
		}
		if got := DecodeError(c.status, c.after, []byte(c.body)); *got != c.want {
			t.Errorf("%d %s: got %s, want %s", c.status, c.body, wiretest.DumpError(got), wiretest.DumpError(&c.want))
		}
	}
}

func TestDecodeErrorClips(t *testing.T) {
	if e := DecodeError(500, "", []byte(strings.Repeat("é", 4000))); len(e.Message) > maxMessage+len(" …") || !strings.HasSuffix(e.Message, "é …") {
		t.Errorf("%d bytes: %s", len(e.Message), e.Message)
	}
}

// What an error is read as is what was written, for each kind that the API has.
func TestEncodeError(t *testing.T) {
	wiretest.Errors(t, EncodeError, DecodeError)
	for _, c := range []struct {
		kind    quire.CallErrorKind
		message string
		status  int
	}{
		{quire.CallInvalid, "bad", 400}, {quire.CallAuth, "who", 401}, {quire.CallForbidden, "no", 403}, {quire.CallNotFound, "x", 404},
		{quire.CallRate, "slow", 429}, {quire.CallServer, "oh", 409}, {quire.CallOverloaded, "full", 503},
		{quire.CallTooLarge, "Request payload size exceeds", 413}, {quire.CallTooLong, "the input token count is", 400},
		{quire.CallFiltered, "blocked by policy", 400}, {quire.CallRegion, "User location is not supported", 400},
	} {
		status, body := EncodeError(&quire.CallError{Kind: c.kind, Message: c.message})
		if got := DecodeError(status, "", body); got.Kind != c.kind || status != c.status || !strings.HasSuffix(got.Message, c.message) {
			t.Errorf("%s: %d %s, read as %s", c.kind, status, body, got.Kind)
		}
	}
	if status, body := EncodeError(&quire.CallError{Kind: quire.CallNetwork, After: 1.5}); status != 500 || !bytes.Contains(body, []byte(`"INTERNAL"`)) || DecodeError(status, "", body).After != 1.5 {
		t.Errorf("%d %s", status, body)
	}
	if status, body := EncodeError(&quire.CallError{Kind: quire.CallServer, Status: 504, Code: "DEADLINE_EXCEEDED"}); status != 504 || !bytes.Contains(body, []byte(`"DEADLINE_EXCEEDED"`)) {
		t.Errorf("%d %s", status, body)
	}
}

const begun = `data: {"candidates":[{"content":{"parts":[{"text":"a"}],"role":"model"},"index":0}],"modelVersion":"m","responseId":"r"}` + "\n\n"

func TestStreamFaults(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		kind quire.CallErrorKind
	}{
		"empty":           {"", quire.CallCut},
		"space":           {" \n", quire.CallCut},
		"only begun":      {begun, quire.CallCut},
		"cut in a line":   {begun + `data: {"candidates":[{"finishReason":"ST`, quire.CallCut},
		"error":           {begun + `data: {"error":{"code":503,"message":"x","status":"UNAVAILABLE"}}` + "\n\n", quire.CallOverloaded},
		"no JSON":         {begun + "data: <html>\n\n", quire.CallGarbled},
		"empty array":     {"[]", quire.CallCut},
		"array cut":       {`[{"candidates":[{"finishReason":"STOP"`, quire.CallCut},
		"array left open": {`[{"candidates":[{"content":{"parts":[{"text":"a"}]}}]}`, quire.CallCut},
		"array of error":  {`[{"error":{"code":429,"message":"x","status":"RESOURCE_EXHAUSTED"}}]`, quire.CallRate},
		"no candidate":    {"data: {\"candidates\":[7]}\n\n", quire.CallGarbled},
		"array no JSON":   {`[{"candidates":[}]`, quire.CallGarbled},
	} {
		var last error
		for _, err := range DecodeStream(strings.NewReader(c.in)) {
			last = err
		}
		var failed *quire.CallError
		if !errors.As(last, &failed) || failed.Kind != c.kind {
			t.Errorf("%s: %v, want %s", name, last, c.kind)
		}
	}
}

// A reader that fails is told as it is, in either framing.
func TestStreamReaderFails(t *testing.T) {
	broken := errors.New("broken")
	for _, in := range []string{begun, "[{}"} {
		var last error
		for _, err := range DecodeStream(io.MultiReader(strings.NewReader(in), iotest.ErrReader(broken))) {
			last = err
		}
		if !errors.Is(last, broken) {
			t.Errorf("got %v", last)
		}
	}
}

// A chunk is there as soon as it is whole, in either framing.
func TestStreamAtOnce(t *testing.T) {
	chunk := `{"candidates":[{"content":{"parts":[{"text":"a"}]}}]}`
	for _, in := range []string{"[" + chunk, "data: " + chunk + "\n\n"} {
		r, w := io.Pipe()
		next, stop := iter.Pull2(DecodeStream(r))
		go func() { _, _ = io.WriteString(w, in) }()
		for range 3 {
			if _, err, ok := next(); err != nil || !ok {
				t.Fatal(err, ok)
			}
		}
		_ = r.Close()
		stop()
	}
}

func TestEncoderRefuses(t *testing.T) {
	for _, delta := range []quire.Delta{
		quire.BlockGrew{Index: 0, Text: "x"},
		quire.BlockEnded{Index: -1},
		quire.BlockBegun{Index: 1},
		quire.ReplyEnded{Rest: []quire.Field{{Name: "x", Value: []byte("{")}}},
	} {
		var e Encoder
		if out, err := e.Encode(delta); err == nil {
			t.Errorf("%+v became %s", delta, out)
		}
	}
}

func TestEncodeStreamError(t *testing.T) {
	var last error
	for _, err := range DecodeStream(strings.NewReader(begun + string(EncodeStreamError(&quire.CallError{Kind: quire.CallRate, Message: "slow"})))) {
		last = err
	}
	var failed *quire.CallError
	if !errors.As(last, &failed) || failed.Kind != quire.CallRate || failed.Status != 429 {
		t.Errorf("got %v", last)
	}
}
