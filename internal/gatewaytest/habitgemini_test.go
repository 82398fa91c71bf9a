package gatewaytest

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
)

// parts changes each part of each content.
func parts(change func(role string, p object) []object) func(int, object) object {
	return entries("contents", func(_ int, e object) []object {
		return same(e.each("parts", func(_ int, p object) []object { return change(e.text("role"), p) }))
	})
}

// within changes what a part holds under a name.
func within(p object, name string, change func(object) object) object {
	if p.get(name) == "" {
		return p
	}
	return p.with(name, change(objectOf(p.get(name))).String())
}

func geminiHabits() []habit {
	// By an API without ids the script cannot tell whether a recall was answered.
	unnamed := parts(func(_ string, p object) []object {
		drop := func(o object) object { return o.without("id") }
		return same(within(within(p, "functionCall", drop), "functionResponse", drop))
	})
	withPart := func(part string) func(int, object) object {
		return parts(func(role string, p object) []object {
			if role == "user" && p.get("text") != "" {
				return []object{objectOf(part), p}
			}
			return same(p)
		})
	}
	return []habit{
		{name: "no ids", body: unnamed, quiet: true},
		{name: "an API without ids", body: unnamed, wrap: nameless, quiet: true},
		{name: "ids that the client makes up", wrap: nameless, quiet: true, body: parts(func(_ string, p object) []object {
			return same(within(p, "functionResponse", func(o object) object {
				return o.with("id", quoted("made-up-"+o.text("name")))
			}))
		})},
		{name: "no role", relayed: true, body: entries("contents", func(_ int, e object) []object {
			if e.text("role") == "user" {
				e = e.without("role")
			}
			return same(e)
		})},
		{name: "role of functions", reads: true, body: entries("contents", func(_ int, e object) []object {
			if strings.Contains(e.get("parts"), `"functionResponse"`) {
				e = e.with("role", `"function"`)
			}
			return same(e)
		})},
		{name: "other spelling", body: func(_ int, o object) object {
			o = o.renamed("systemInstruction", "system_instruction")
			return o.each("tools", func(_ int, t object) []object {
				return same(t.renamed("functionDeclarations", "function_declarations"))
			})
		}},
		{name: "other spelling of parts", reads: true, body: parts(func(_ string, p object) []object {
			return same(p.renamed("functionCall", "function_call").renamed("functionResponse", "function_response").renamed("thoughtSignature", "thought_signature"))
		})},
		{name: "system of two parts", body: func(_ int, o object) object {
			return o.with("systemInstruction", fmt.Sprintf(`{"role":"user","parts":[{"text":"You are a helper."},%s]}`, objectOf(o.get("systemInstruction")).elements("parts")[0]))
		}},
		{name: "no system", body: func(_ int, o object) object { return o.without("systemInstruction") }},
		{name: "settings", body: members(`{"generationConfig":{"temperature":0,"topP":0.9,"topK":40,"maxOutputTokens":4000,"candidateCount":1,"stopSequences":["STOP"],"responseMimeType":"text/plain"},"safetySettings":[{"category":"HARM_CATEGORY_HARASSMENT","threshold":"BLOCK_NONE"}],"labels":{"a":"b"}}`)},
		{name: "thinking", reads: true, body: members(`{"generationConfig":{"thinkingConfig":{"includeThoughts":true,"thinkingBudget":1024}}}`)},
		{name: "thinking by level", body: members(`{"generationConfig":{"thinkingConfig":{"thinkingLevel":"HIGH","includeThoughts":true}}}`)},
		{name: "thinking, no ids", wrap: nameless, quiet: true, body: both(members(`{"generationConfig":{"thinkingConfig":{"includeThoughts":true}}}`), unnamed)},
		{name: "form of the answer", body: members(`{"generationConfig":{"responseMimeType":"application/json","responseSchema":{"type":"OBJECT"}}}`)},
		{name: "auto", body: members(`{"toolConfig":{"functionCallingConfig":{"mode":"AUTO"}}}`)},
		{name: "any", body: members(`{"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["read","list","grep"]}}}`), relayed: true},
		{name: "none", body: members(`{"toolConfig":{"functionCallingConfig":{"mode":"NONE"}}}`), relayed: true},
		{name: "a cache of its own", body: func(_ int, o object) object {
			return o.without("systemInstruction", "tools").with("cachedContent", `"cachedContents/c1"`)
		}, relayed: true},
		{name: "pictures", body: withPart(`{"inlineData":{"mimeType":"image/png","data":"` + onePixel + `"}}`)},
		{name: "pictures, other spelling", body: withPart(`{"inline_data":{"mime_type":"image/png","data":"` + onePixel + `"}}`)},
		{name: "files", body: withPart(`{"fileData":{"mimeType":"application/pdf","fileUri":"https://example.org/files/f1"}}`)},
		{name: "tools of the vendor", body: func(_ int, o object) object {
			return o.with("tools", strings.TrimSuffix(o.get("tools"), "]")+`,{"googleSearch":{}},{"codeExecution":{}},{"urlContext":{}}]`)
		}},
		{name: "a tool each", body: func(_ int, o object) object {
			var list []string
			for _, d := range objectOf(o.elements("tools")[0]).elements("functionDeclarations") {
				list = append(list, `{"functionDeclarations":[`+d+`]}`)
			}
			return o.with("tools", arrayOf(list))
		}},
		{name: "schemas as JSON", body: func(_ int, o object) object {
			return o.each("tools", func(_ int, t object) []object {
				return same(t.each("functionDeclarations", func(_ int, d object) []object { return same(d.renamed("parameters", "parametersJsonSchema")) }))
			})
		}},
		{name: "results with pictures", body: parts(func(_ string, p object) []object {
			return same(within(p, "functionResponse", func(r object) object {
				return r.with("parts", `[{"inlineData":{"mimeType":"image/png","data":"`+onePixel+`"}}]`)
			}))
		})},
		{name: "a clock in the instructions", body: func(n int, o object) object {
			return o.with("systemInstruction", fmt.Sprintf(`{"parts":[{"text":"It is %02d:00."},%s]}`, n, objectOf(o.get("systemInstruction")).elements("parts")[0]))
		}},
		{name: "a member that nobody knows", body: members(`{"wish":1}`), refused: true},
	}
}

// nameless leaves the ids of calls out of each answer, as the API did for long.
func nameless(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out := answerOf(next, r)
		w.Header().Set("Content-Type", out.Header().Get("Content-Type"))
		w.WriteHeader(out.Code)
		text := regexp.MustCompile(`("functionCall":\{)"id":"[^"]*",`).ReplaceAllString(out.Body.String(), "$1")
		_, _ = w.Write([]byte(text))
	})
}
