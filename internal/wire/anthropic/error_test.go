package anthropic

import (
	"bytes"
	"errors"
	"io"
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
		{400, "", `{"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: Field required"},"request_id":"req_1"}`,
			quire.CallError{Kind: quire.CallInvalid, Code: "invalid_request_error", Message: "max_tokens: Field required"}},
		{400, "", `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 208310 tokens > 200000 maximum"}}`,
			quire.CallError{Kind: quire.CallTooLong, Code: "invalid_request_error", Message: "prompt is too long: 208310 tokens > 200000 maximum"}},
		{400, "", `{"type":"error","error":{"type":"invalid_request_error","message":"input length and ` + "`max_tokens`" + ` exceed context limit: 190000 + 32000 > 200000"}}`,
			quire.CallError{Kind: quire.CallTooLong, Code: "invalid_request_error", Message: "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000"}},
		{400, "", `{"type":"error","error":{"type":"invalid_request_error","message":"Output blocked by content filtering policy"}}`,
			quire.CallError{Kind: quire.CallFiltered, Code: "invalid_request_error", Message: "Output blocked by content filtering policy"}},
		{401, "", `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`,
			quire.CallError{Kind: quire.CallAuth, Code: "authentication_error", Message: "invalid x-api-key"}},
		{403, "", `{"type":"error","error":{"type":"permission_error","message":"no"}}`,
			quire.CallError{Kind: quire.CallForbidden, Code: "permission_error", Message: "no"}},
		{403, "", `{"type":"error","error":{"type":"forbidden","message":"Claude is not available in your country."}}`,
			quire.CallError{Kind: quire.CallRegion, Code: "forbidden", Message: "Claude is not available in your country."}},
		{404, "", `{"type":"error","error":{"type":"not_found_error","message":"model: x"}}`,
			quire.CallError{Kind: quire.CallNotFound, Code: "not_found_error", Message: "model: x"}},
		{413, "", `{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`,
			quire.CallError{Kind: quire.CallTooLarge, Code: "request_too_large", Message: "Request exceeds the maximum size"}},
		{429, "12", `{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}`,
			quire.CallError{Kind: quire.CallRate, Code: "rate_limit_error", Message: "slow down", After: 12}},
		{529, "0.5", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`,
			quire.CallError{Kind: quire.CallOverloaded, Code: "overloaded_error", Message: "Overloaded", After: 0.5}},
		{0, "", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`,
			quire.CallError{Kind: quire.CallOverloaded, Status: 529, Code: "overloaded_error", Message: "Overloaded"}},
		{500, "-3", `{"type":"error","error":{"type":"api_error","message":"Internal server error"}}`,
			quire.CallError{Kind: quire.CallServer, Code: "api_error", Message: "Internal server error"}},
		{502, "Mon, 30 Nov 2026 10:00:00 GMT", "<html>Bad gateway</html>\n", quire.CallError{Kind: quire.CallServer, Message: "<html>Bad gateway</html>"}},
		{503, "", ``, quire.CallError{Kind: quire.CallOverloaded}},
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
		{quire.CallTooLarge, "big", 413}, {quire.CallRate, "slow", 429}, {quire.CallServer, "oh", 500}, {quire.CallOverloaded, "full", 529},
		{quire.CallTooLong, "prompt is too long: 2 > 1", 400}, {quire.CallFiltered, "content filtering policy", 400},
		{quire.CallRegion, "not available in your region", 403},
	} {
		status, body := EncodeError(&quire.CallError{Kind: c.kind, Message: c.message})
		if got := DecodeError(status, "", body); got.Kind != c.kind || status != c.status || !strings.HasSuffix(got.Message, c.message) {
			t.Errorf("%s: %d %s, read as %s", c.kind, status, body, got.Kind)
		}
	}
	if status, body := EncodeError(&quire.CallError{Kind: quire.CallNetwork}); status != 500 || !bytes.Contains(body, []byte(`"api_error"`)) {
		t.Errorf("%d %s", status, body)
	}
	if status, body := EncodeError(&quire.CallError{Kind: quire.CallServer, Status: 504, Code: "timeout_error"}); status != 504 || !bytes.Contains(body, []byte(`"timeout_error"`)) {
		t.Errorf("%d %s", status, body)
	}
}

const begun = "event: message_start\n" +
	`data: {"type":"message_start","message":{"id":"a","type":"message","role":"assistant","model":"m","content":[]}}` + "\n\n"

func TestStreamFaults(t *testing.T) {
	block := `data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}` + "\n\n"
	stop := `data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}` + "\n\n"
	for name, c := range map[string]struct {
		in   string
		kind quire.CallErrorKind
	}{
		"empty":                 {"", quire.CallCut},
		"only begun":            {begun, quire.CallCut},
		"cut in a line":         {begun + block + `data: {"type":"content_blo`, quire.CallCut},
		"block open at the end": {begun + block + stop, quire.CallCut},
		"error":                 {begun + "event: error\n" + `data: {"type":"error","error":{"type":"overloaded_error","message":"x"}}` + "\n\n", quire.CallOverloaded},
		"no JSON":               {begun + "data: <html>\n\n", quire.CallGarbled},
		"stopped in a block":    {begun + block + `data: {"type":"message_stop"}` + "\n\n", quire.CallGarbled},
		"begun twice":           {begun + begun, quire.CallGarbled},
		"no such block":         {begun + `data: {"type":"content_block_delta","index":3,"delta":{"type":"text_delta","text":"x"}}` + "\n\n", quire.CallGarbled},
		"block without content": {begun + `data: {"type":"content_block_start","index":0}` + "\n\n", quire.CallGarbled},
		"delta without content": {begun + block + `data: {"type":"content_block_delta","index":0}` + "\n\n", quire.CallGarbled},
		"arguments no JSON": {begun + `data: {"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"a"}}` + "\n\n" +
			`data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{"}}` + "\n\n" + `data: {"type":"content_block_stop","index":0}` + "\n\n", quire.CallGarbled},
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

// An answer that said why it stopped is whole without its last event; a reader
// that fails is told as it is; what follows the end is not read.
func TestStreamEnds(t *testing.T) {
	stop := `data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3}}` + "\n\n"
	reply := fold(t, collect(t, []byte(begun+`data: {"type":"ping"}`+"\n\n"+stop)))
	if reply.Stop != quire.StopEnd || reply.Usage.Output != 3 {
		t.Errorf("%+v", reply)
	}
	broken := errors.New("broken")
	var last error
	for _, err := range DecodeStream(io.MultiReader(strings.NewReader(begun), iotest.ErrReader(broken))) {
		last = err
	}
	if !errors.Is(last, broken) {
		t.Errorf("got %v", last)
	}
	collect(t, []byte(begun+stop+`data: {"type":"message_stop"}`+"\n\n"+"data: <html>\n\n"))
}

func TestEncoderRefuses(t *testing.T) {
	for _, deltas := range [][]quire.Delta{
		{quire.BlockGrew{Index: 0, Text: "x"}},
		{quire.BlockEnded{Index: -1}},
		{quire.BlockBegun{Index: 1}},
		{quire.BlockBegun{Index: 0, Block: quire.Block{Part: quire.Part{Kind: quire.PartTools}}}},
		{quire.ReplyEnded{Rest: []quire.Field{{Name: "x", Value: []byte("{")}}}},
	} {
		var e Encoder
		if out, err := e.Encode(deltas[0]); err == nil {
			t.Errorf("%+v became %s", deltas[0], out)
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
