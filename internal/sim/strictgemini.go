package sim

import (
	"fmt"
	"slices"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

// geminiKnown lists the members of a request of generateContent, in both of the
// spellings that the API takes. Source: the vendor's reference.
var geminiKnown = [...]string{
	"contents", "tools", "toolConfig", "tool_config", "safetySettings", "safety_settings", "systemInstruction", "system_instruction",
	"generationConfig", "generation_config", "cachedContent", "cached_content", "model", "labels", "store", "serviceTier",
}

func noField(name, where string) *refusal {
	return invalid("Invalid JSON payload received. Unknown name \"%s\"%s: Cannot find field.", name, where)
}

func (j *judge) geminiSettings() *refusal {
	c := j.call
	if name := unknown(c.Rest, geminiKnown[:]...); name != "" {
		return noField(name, "")
	}
	if len(c.Messages) == 0 {
		return invalid("* GenerateContentRequest.contents: contents is not specified\n")
	}
	return nil
}

func (j *judge) geminiTools() *refusal {
	seen := map[string]bool{}
	for i, t := range j.call.Tools {
		if t.Type != "" {
			continue
		}
		at := fmt.Sprintf("GenerateContentRequest.tools[0].function_declarations[%d].name", i)
		if !named(t.Name, 64) {
			return invalid("* %s: Invalid function name. Must start with a letter or an underscore. Must be alphanumeric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64.\n", at)
		}
		if seen[t.Name] {
			return invalid("Duplicate function declaration found: %s", t.Name)
		}
		seen[t.Name] = true
	}
	if c := j.call.Choice; c.Mode == "tool" && !seen[c.Tool] {
		return invalid("The allowed function name `%s` is not in the function declarations.", c.Tool)
	}
	return nil
}

// geminiContents looks at each content by itself.
func (j *judge) geminiContents() *refusal {
	for i, m := range j.call.Messages {
		if m.Role == 0 && has(m.Rest, "role") {
			return invalid("Please use a valid role: user, model.")
		}
		if name := unknown(m.Rest, "role", "parts"); name != "" {
			return noField(name, fmt.Sprintf(" at 'contents[%d]'", i))
		}
		if len(m.Blocks) == 0 {
			return invalid("* GenerateContentRequest.contents[%d].parts: contents.parts must not be empty.\n", i)
		}
	}
	return j.eachBlock(geminiPart)
}

func geminiPart(i, k int, _ quire.Role, b quire.Block) *refusal {
	at := fmt.Sprintf("contents[%d].parts[%d]", i, k)
	members := b.Rest
	if b.Opaque != nil {
		members = rawjson.Members(b.Opaque)
	}
	known := []string{
		"text", "thought", "thoughtSignature", "inlineData", "fileData", "functionCall", "functionResponse", "executableCode",
		"codeExecutionResult", "videoMetadata", "toolCall", "toolResponse", "mediaResolution", "partMetadata",
		"inline_data", "file_data", "function_call", "function_response", "thought_signature",
	}
	if name := unknown(members, known...); name != "" {
		return noField(name, fmt.Sprintf(" at '%s'", at))
	}
	if b.Opaque != nil && len(members) == 0 {
		return invalid("* GenerateContentRequest.%s.data: required oneof field 'data' must have one initialized field\n", at)
	}
	return nil
}

// geminiPairs holds the order of turns: calls come behind the user or results,
// results right behind their calls and as many.
func (j *judge) geminiPairs() *refusal {
	list := j.call.Messages
	for i, m := range list {
		calls, results := count(m, quire.PartToolCall), count(m, quire.PartToolResult)
		before := 0
		if i > 0 {
			before = count(list[i-1], quire.PartToolCall)
		}
		switch {
		case calls > 0 && (i == 0 || list[i-1].Role == quire.RoleAssistant):
			return invalid("Please ensure that function call turn comes immediately after a user turn or after a function response turn.")
		case results > 0 && before == 0:
			return invalid("Please ensure that function response turn comes immediately after a function call turn.")
		case results != before || results > 0 && !answers(list[i-1], m):
			return invalid("Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.")
		case calls > 0 && i == len(list)-1:
			return invalid("Please ensure that function call turn comes immediately before a function response turn.")
		}
	}
	return nil
}

func count(m quire.Message, kind quire.PartKind) int {
	n := 0
	for _, b := range m.Blocks {
		if is(b, kind) {
			n++
		}
	}
	return n
}

// answers reports whether results are those of the calls, each once.
func answers(calls, results quire.Message) bool {
	open := callsOf(calls)
	for _, b := range results.Blocks {
		if !is(b, quire.PartToolResult) {
			continue
		}
		found := slices.Index(open, b.ToolUse)
		if found < 0 {
			return false
		}
		open = slices.Delete(open, found, found+1)
	}
	return len(open) == 0
}

// skipSignature is what the vendor takes in place of a signature for calls that its
// model did not make. Source: the vendor's page on thought signatures.
// Clients that hold signatures as bytes send it in base64.
const (
	skipSignature      = "skip_thought_signature_validator"
	skipSignatureBytes = "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="
)

// geminiSignatures holds, for models that want it, that the first call of each
// answer since the user's last words has its signature, made here.
func (j *judge) geminiSignatures() *refusal {
	list := j.call.Messages
	from := len(list)
	for from > 0 && !slices.ContainsFunc(list[from-1].Blocks, func(b quire.Block) bool { return is(b, quire.PartUser) }) {
		from--
	}
	position := 0
	for i, m := range list {
		begun := false
		for _, b := range m.Blocks {
			position++
			if !is(b, quire.PartToolCall) {
				continue
			}
			if r := j.geminiSignature(b, position, i >= from && !begun); r != nil {
				return r
			}
			begun = true
		}
	}
	return nil
}

func (j *judge) geminiSignature(b quire.Block, position int, wanted bool) *refusal {
	if b.Signature == "" && wanted && signs(j.call.Model) {
		return invalid("Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call `default_api:%s` , position %d. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.", b.Tool, position)
	}
	if b.Signature == "" || b.Signature == skipSignature || b.Signature == skipSignatureBytes || j.signer.genuine(j.call.Model, signedCall(b), b.Signature) {
		return nil
	}
	return invalid("Thought signature is not valid.")
}

// signs reports whether a model wants its signatures back: from Gemini 3 on.
func signs(model string) bool {
	return !slices.ContainsFunc([]string{"gemini-1", "gemini-2", "gemma"}, func(old string) bool { return strings.Contains(model, old) })
}

// signedCall is what the signature of a call holds: its arguments may be written in
// another way when they come back, its name may not.
func signedCall(b quire.Block) string { return "call " + b.Tool }
