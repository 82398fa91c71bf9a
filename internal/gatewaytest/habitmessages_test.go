package gatewaytest

import (
	"fmt"
	"net/http"
	"strings"
)

// inBlocks writes a text as a list of one block.
func inBlocks(e object) object {
	if c := e.get("content"); strings.HasPrefix(c, `"`) {
		return e.with("content", fmt.Sprintf(`[{"type":"text","text":%s}]`, c))
	}
	return e
}

// lastBlock changes the last block of a message.
func lastBlock(e object, change func(object) object) object {
	e = inBlocks(e)
	last := len(e.elements("content")) - 1
	return e.each("content", func(i int, b object) []object {
		if i == last {
			b = change(b)
		}
		return same(b)
	})
}

func mark(ttl string) func(object) object {
	return func(b object) object {
		if ttl == "" {
			return b.with("cache_control", `{"type":"ephemeral"}`)
		}
		return b.with("cache_control", fmt.Sprintf(`{"type":"ephemeral","ttl":"%s"}`, ttl))
	}
}

// results changes each tool result.
func results(change func(object) object) func(int, object) object {
	return entries("messages", func(_ int, e object) []object {
		if !strings.HasPrefix(e.get("content"), "[") {
			return same(e)
		}
		return same(e.each("content", func(_ int, b object) []object {
			if b.text("type") == "tool_result" {
				b = change(b)
			}
			return same(b)
		}))
	})
}

// behindResults puts a block behind the results of each message that has some.
func behindResults(block string) func(int, object) object {
	return entries("messages", func(_ int, e object) []object {
		list := e.elements("content")
		if len(list) > 0 && objectOf(list[0]).text("type") == "tool_result" {
			e = e.with("content", arrayOf(append(list, block)))
		}
		return same(e)
	})
}

const (
	onePixel = `iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==`
	onePage  = `JVBERi0xLjQKMSAwIG9iago8PC9UeXBlL0NhdGFsb2cvUGFnZXMgMiAwIFI+PgplbmRvYmoKMiAwIG9iago8PC9UeXBlL1BhZ2VzL0tpZHNbMyAwIFJdL0NvdW50IDE+PgplbmRvYmoKMyAwIG9iago8PC9UeXBlL1BhZ2UvUGFyZW50IDIgMCBSL01lZGlhQm94WzAgMCA2MTIgNzkyXT4+CmVuZG9iagp0cmFpbGVyPDwvUm9vdCAxIDAgUj4+`
)

// clears is a client that from its call n on clears all results but the newest.
func clears(from int) func(int, object) object {
	return func(n int, o object) object {
		list := o.elements("messages")
		if n < from || len(list) == 0 {
			return o
		}
		clear := results(func(b object) object { return b.with("content", `"[cleared]"`) })
		older := clear(n, o.with("messages", arrayOf(list[:len(list)-1])))
		return o.with("messages", arrayOf(append(older.elements("messages"), list[len(list)-1])))
	}
}

func messagesHabits() []habit {
	thinking := members(`{"thinking":{"type":"enabled","budget_tokens":1024}}`)
	return []habit{
		{name: "blocks", body: entries("messages", func(_ int, e object) []object { return same(inBlocks(e)) })},
		{name: "system as blocks", body: func(_ int, o object) object {
			return o.with("system", fmt.Sprintf(`[{"type":"text","text":"You are a helper."},{"type":"text","text":%s}]`, o.get("system")))
		}},
		{name: "no system", body: func(_ int, o object) object { return o.without("system") }},
		{name: "settings", body: members(`{"metadata":{"user_id":"{\"device_id\":\"d\",\"session_id\":\"s\"}"},"temperature":0.2,"top_p":0.9,"top_k":40,"stop_sequences":["STOP"],"service_tier":"auto"}`)},
		{name: "thinking", reads: true, body: thinking},
		{name: "thinking between calls", body: thinking, header: map[string]string{"Anthropic-Beta": "interleaved-thinking-2025-05-14"}},
		{name: "thinking as the model likes", body: members(`{"thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":"high"}}`)},
		{name: "thinking, older model", model: "claude-sonnet-4-5", body: thinking},
		{name: "thinking thrown away", body: both(thinking, entries("messages", func(_ int, e object) []object {
			return same(withoutBlocks(e, "thinking"))
		})), refused: true},
		{name: "beta in the address", query: "?beta=true", header: map[string]string{"X-Stainless-Retry-Count": "0", "Anthropic-Beta": "claude-code-20250219"}},
		{name: "results as blocks", reads: true, body: results(func(b object) object {
			return b.with("content", fmt.Sprintf(`[{"type":"text","text":%s}]`, b.get("content"))).with("is_error", "false")
		})},
		{name: "results with pictures", reads: true, body: results(func(b object) object {
			return b.with("content", fmt.Sprintf(`[{"type":"text","text":%s},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"%s"}}]`, b.get("content"), onePixel))
		})},
		{name: "results that are errors", body: results(func(b object) object { return b.with("is_error", "true") })},
		{name: "result in front of words", reads: true, body: behindResults(`{"type":"text","text":"<reminder>Mind the list of things to do.</reminder>"}`)},
		{name: "two users in a row", body: entries("messages", func(_ int, e object) []object {
			if e.text("role") == "user" && strings.HasPrefix(e.get("content"), `"`) {
				return []object{objectOf(`{"role":"user","content":"<context>The directory is src.</context>"}`), e}
			}
			return same(e)
		})},
		{name: "messages of the system", body: entries("messages", func(_ int, e object) []object {
			if e.text("role") == "user" && strings.HasPrefix(e.get("content"), `"`) {
				return []object{e, objectOf(`{"role":"system","content":"The file src/a.go was changed by the user."}`)}
			}
			return same(e)
		})},
		{name: "documents", body: firstUser(`{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"` + onePage + `"},"title":"a plan","citations":{"enabled":true}},{"type":"document","source":{"type":"text","media_type":"text/plain","data":"The plan is to be plain."}},{"type":"document","source":{"type":"content","content":[{"type":"text","text":"A piece."}]}}`)},
		{name: "files by address and by id", body: firstUser(`{"type":"image","source":{"type":"url","url":"https://example.org/a.png"}},{"type":"document","source":{"type":"file","file_id":"file_1"}},{"type":"image","source":{"type":"file","file_id":"file_2"}}`), header: map[string]string{"Anthropic-Beta": "files-api-2025-04-14"}},
		{name: "search results", body: firstUser(`{"type":"search_result","source":"https://example.org","title":"Example","content":[{"type":"text","text":"It is an example."}],"citations":{"enabled":true}}`)},
		{name: "tools of the vendor", body: tool(`{"type":"web_search_20250305","name":"web_search","max_uses":5},{"type":"text_editor_20250728","name":"str_replace_based_edit_tool"},{"type":"memory_20250818","name":"memory"}`), wrap: searched, quiet: true},
		{name: "deferred tools", body: both(tool(`{"type":"tool_search_tool_bm25_20251119","name":"tool_search_tool_bm25"},{"name":"rare","description":"It is rare.","input_schema":{"type":"object"},"defer_loading":true}`), eachTool(func(t object) object {
			return t.with("eager_input_streaming", "true").with("strict", "false")
		}))},
		{name: "choice", body: members(`{"tool_choice":{"type":"auto","disable_parallel_tool_use":false}}`)},
		{name: "any tool", body: members(`{"tool_choice":{"type":"any"}}`), relayed: true},
		{name: "one tool", body: members(`{"tool_choice":{"type":"tool","name":"read"}}`), relayed: true},
		{name: "no tool", body: members(`{"tool_choice":{"type":"none"}}`), relayed: true},
		{name: "clears its results", body: clears(7)},
		{name: "clears its results at once", body: clears(5)},
		{name: "clears by itself", body: members(`{"context_management":{"edits":[{"type":"clear_tool_uses_20250919","trigger":{"type":"input_tokens","value":30000},"keep":{"type":"tool_uses","value":3}}]}}`), header: map[string]string{"Anthropic-Beta": "context-management-2025-06-27"}},
		{name: "clears thinking", body: both(thinking, members(`{"context_management":{"edits":[{"type":"clear_thinking_20251015","keep":"all"}]}}`))},
		{name: "begins the answer", model: "claude-sonnet-4-5", body: func(_ int, o object) object {
			if strings.HasSuffix(o.get("messages"), `zeroword"}]`) {
				return o.with("messages", arrayOf(append(o.elements("messages"), `{"role":"assistant","content":"So:"}`)))
			}
			return o
		}},
		{name: "servers of tools", body: members(`{"mcp_servers":[{"type":"url","url":"https://example.org/mcp","name":"example"}],"container":null}`), header: map[string]string{"Anthropic-Beta": "mcp-client-2025-11-20"}},
		{name: "form of the answer", body: members(`{"output_config":{"format":{"type":"json_schema","schema":{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}}}}`)},
		{name: "a member that nobody knows", body: members(`{"wish":1}`), refused: true},
		{name: "a clock in the system prompt", body: func(n int, o object) object {
			return o.with("system", quoted(fmt.Sprintf("It is %02d:00. %s", n, o.text("system"))))
		}},
		{name: "surroundings in the last words only", body: surrounded("messages", "content")},
		{name: "tools in another order", body: shuffled},
		{name: "two models in turn", body: func(n int, o object) object {
			return o.with("model", quoted([]string{"claude-opus-5", "claude-sonnet-4-5"}[n%2]))
		}},
		{name: "a window that slides", body: slid("messages", func(e object) bool {
			return e.text("role") == "user" && strings.HasPrefix(e.get("content"), `"`)
		}), quiet: true},
	}
}

func withoutBlocks(e object, kind string) object {
	return e.each("content", func(_ int, b object) []object {
		if b.text("type") == kind {
			return nil
		}
		return same(b)
	})
}

// firstUser puts blocks in front of the words of the first message.
func firstUser(blocks string) func(int, object) object {
	return entries("messages", func(i int, e object) []object {
		if i > 0 {
			return same(e)
		}
		return same(e.with("content", fmt.Sprintf(`[%s,{"type":"text","text":%s}]`, blocks, e.get("content"))))
	})
}

// tool declares further tools.
func tool(declarations string) func(int, object) object {
	return func(_ int, o object) object {
		return o.with("tools", strings.TrimSuffix(o.get("tools"), "]")+","+declarations+"]")
	}
}

func eachTool(change func(object) object) func(int, object) object {
	return func(_ int, o object) object {
		return o.each("tools", func(_ int, t object) []object {
			if t.get("input_schema") != "" {
				t = change(t)
			}
			return same(t)
		})
	}
}

// surrounded tells in the newest words what is around the client, and in older ones
// not any more: with each call an earlier message changes.
func surrounded(list, content string) func(int, object) object {
	return func(n int, o object) object {
		last := -1
		for i, e := range o.elements(list) {
			if objectOf(e).text("role") == "user" && strings.HasPrefix(objectOf(e).get(content), `"`) {
				last = i
			}
		}
		return o.each(list, func(i int, e object) []object {
			if i == last {
				e = e.with(content, quoted(fmt.Sprintf("%s\n<environment>call %d</environment>", e.text(content), n)))
			}
			return same(e)
		})
	}
}

// shuffled declares the tools in another order with each call.
func shuffled(n int, o object) object {
	list := o.elements("tools")
	k := n % len(list)
	return o.with("tools", arrayOf(append(append([]string{}, list[k:]...), list[:k]...)))
}

// slid drops from the third prompt on everything in front of the one before the last.
func slid(list string, prompt func(object) bool) func(int, object) object {
	return func(_ int, o object) object {
		var kept, head []string
		var starts []int
		all := o.elements(list)
		for i, e := range all {
			if objectOf(e).text("role") == "system" {
				head = append(head, e)
			} else if prompt(objectOf(e)) {
				starts = append(starts, i)
			}
		}
		if len(starts) < 3 {
			return o
		}
		kept = all[starts[len(starts)-1]:]
		return o.with(list, arrayOf(append(head, kept...)))
	}
}

func messagesMarkHabits() []habit {
	lastMessage := func(change func(object) object) func(int, object) object {
		return func(_ int, o object) object {
			last := len(o.elements("messages")) - 1
			return o.each("messages", func(i int, e object) []object {
				if i == last {
					e = lastBlock(e, change)
				}
				return same(e)
			})
		}
	}
	system := func(ttl string) func(int, object) object {
		return func(_ int, o object) object {
			return o.with("system", fmt.Sprintf(`[%s]`, mark(ttl)(objectOf(fmt.Sprintf(`{"type":"text","text":%s}`, o.get("system"))))))
		}
	}
	lastTool := func(ttl string) func(int, object) object {
		return func(_ int, o object) object {
			return o.each("tools", func(i int, t object) []object {
				if i == 2 {
					t = mark(ttl)(t)
				}
				return same(t)
			})
		}
	}
	lastTwo := func(ttl string) func(int, object) object {
		return func(_ int, o object) object {
			n := len(o.elements("messages"))
			return o.each("messages", func(i int, e object) []object {
				if i == n-1 || i == n-3 {
					e = lastBlock(e, mark(ttl))
				}
				return same(e)
			})
		}
	}
	return []habit{
		{name: "a mark at the end", body: lastMessage(mark(""))},
		{name: "marks in front and at the end", body: both(system(""), lastMessage(mark("")))},
		{name: "four marks", reads: true, body: both(lastTool(""), system(""), lastTwo(""))},
		{name: "four marks for an hour", body: both(lastTool("1h"), system("1h"), lastTwo("1h"))},
		{name: "an hour in front, five minutes at the end", body: both(system("1h"), lastMessage(mark("5m")))},
		{name: "five minutes in front, an hour at the end", body: both(system("5m"), lastMessage(mark("1h"))), refused: true},
		{name: "five marks", body: both(lastTool(""), system(""), lastTwo(""), firstUser(`{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}`)), refused: true},
		{name: "a mark over all", body: members(`{"cache_control":{"type":"ephemeral"}}`)},
		{name: "a mark over all for an hour", body: both(system("1h"), members(`{"cache_control":{"type":"ephemeral","ttl":"1h"}}`))},
		{name: "marks in front only", body: both(lastTool(""), system(""))},
		{name: "marks and thinking", reads: true, body: both(members(`{"thinking":{"type":"enabled","budget_tokens":1024}}`), system(""), lastTwo(""))},
		{name: "marks in results", body: both(system(""), results(func(b object) object { return b }), lastMessage(func(b object) object {
			if b.text("type") != "tool_result" {
				return mark("")(b)
			}
			return b.with("content", fmt.Sprintf(`[{"type":"text","text":%s,"cache_control":{"type":"ephemeral"}}]`, b.get("content")))
		}))},
		{name: "marks and a clock", body: both(func(n int, o object) object {
			return o.with("system", quoted(fmt.Sprintf("It is %02d:00. %s", n, o.text("system"))))
		}, system(""), lastTwo(""))},
		{name: "marks and surroundings", body: both(surrounded("messages", "content"), system(""), lastTwo(""))},
		{name: "marks and two models in turn", body: both(func(n int, o object) object {
			return o.with("model", quoted([]string{"claude-opus-5", "claude-sonnet-4-5"}[n/2%2]))
		}, system(""), lastTwo(""))},
	}
}

// searched lets the provider search the web in each answer that does not stream.
func searched(next http.Handler) http.Handler {
	return spliced(next, func(a object) object {
		found := `{"type":"server_tool_use","id":"srvtoolu_%[1]s","name":"web_search","input":{"query":"quire"}},{"type":"web_search_tool_result","tool_use_id":"srvtoolu_%[1]s","content":[{"type":"web_search_result","url":"https://example.org","title":"Example","encrypted_content":"bm90aGluZw==","page_age":null}]},{"type":"text","text":"As the page says,","citations":[{"type":"web_search_result_location","url":"https://example.org","title":"Example","encrypted_index":"MQ==","cited_text":"It says."}]}`
		return a.with("content", fmt.Sprintf("["+found+",%s", a.text("id"), strings.TrimPrefix(a.get("content"), "[")))
	})
}

// spliced changes each answer that does not stream.
func spliced(next http.Handler, change func(object) object) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out := answerOf(next, r)
		text := out.Body.String()
		if out.Code == http.StatusOK && strings.HasPrefix(out.Header().Get("Content-Type"), "application/json") {
			text = change(objectOf(text)).String()
		}
		w.Header().Set("Content-Type", out.Header().Get("Content-Type"))
		w.WriteHeader(out.Code)
		_, _ = w.Write([]byte(text))
	})
}
