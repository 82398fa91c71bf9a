package price

import (
	"encoding/json"
	"fmt"
	"hash/maphash"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/quire"
)

// This file reads the formats of the recorded sessions, as far as the comparison
// with the simulator needs them.

type miniSession struct {
	Info struct {
		ModelStats struct {
			InstanceCost float64 `json:"instance_cost"`
		} `json:"model_stats"`
	} `json:"info"`
	Messages []struct {
		Role      string          `json:"role"`
		Content   string          `json:"content"`
		ToolCalls json.RawMessage `json:"tool_calls"`
		Extra     struct {
			Timestamp float64 `json:"timestamp"`
			Response  struct {
				Created int64  `json:"created"`
				Model   string `json:"model"`
				Usage   struct {
					Prompt     int `json:"prompt_tokens"`
					Completion int `json:"completion_tokens"`
					Hit        int `json:"prompt_cache_hit_tokens"`
				} `json:"usage"`
			} `json:"response"`
		} `json:"extra"`
	} `json:"messages"`
}

func readMini(t *testing.T, path string) miniSession {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var m miniSession
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func (m miniSession) session(path string, c *counter) *session {
	s := newSession(path, c)
	for _, msg := range m.Messages {
		if msg.Role != "assistant" {
			s.add(msg.Role+msg.Content, -1)
			continue
		}
		u := msg.Extra.Response.Usage
		s.input = time.Unix(msg.Extra.Response.Created, 0)
		s.call(msg.Extra.Response.Model)
		r := &s.requests[len(s.requests)-1]
		r.prompt, r.hit = u.Prompt, u.Hit
		s.add(msg.Content+toolText(msg.ToolCalls), len(s.requests)-1)
	}
	return s
}

// toolText is what of tool calls the model wrote.
func toolText(raw json.RawMessage) string {
	var calls []struct {
		Function struct{ Name, Arguments string } `json:"function"`
	}
	_ = json.Unmarshal(raw, &calls)
	var b strings.Builder
	for _, c := range calls {
		b.WriteString(c.Function.Name + c.Function.Arguments)
	}
	return b.String()
}

func TestHitsOfDeepSeek(t *testing.T) {
	c := newCounter(t)
	for _, path := range files(t, "bench/mini-swe-agent/*.json") {
		v := readMini(t, path).session(path, c).compare(Default())
		v.report(t, filepath.Base(path))
		v.within(t, 0.02)
	}
}

// codexLine is what of a line of a Codex rollout matters here.
type codexLine struct {
	Timestamp time.Time `json:"timestamp"`
	Type      string    `json:"type"`
	Payload   struct {
		codexItem
		Model              string      `json:"model"`
		ReplacementHistory []codexItem `json:"replacement_history"`
		BaseInstructions   struct {
			Text string `json:"text"`
		} `json:"base_instructions"`
		Info *struct {
			Total codexUsage `json:"total_token_usage"`
			Last  codexUsage `json:"last_token_usage"`
		} `json:"info"`
	} `json:"payload"`
}

type codexItem struct {
	Type      string          `json:"type"`
	Role      string          `json:"role"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Input     string          `json:"input"`
	Output    json.RawMessage `json:"output"`
	Content   json.RawMessage `json:"content"`
}

type codexUsage struct {
	Input     int `json:"input_tokens"`
	Cached    int `json:"cached_input_tokens"`
	Output    int `json:"output_tokens"`
	Reasoning int `json:"reasoning_output_tokens"`
	Total     int `json:"total_tokens"`
}

// answer reports whether the model made the item.
func (i codexItem) answer() bool {
	switch i.Type {
	case "message":
		return i.Role == "assistant"
	case "reasoning", "function_call", "custom_tool_call", "tool_search_call", "web_search_call":
		return true
	}
	return false
}

func (i codexItem) text() string {
	return i.Role + i.Name + unquoted(i.Arguments) + i.Input + joined(i.Output) + joined(i.Content)
}

// unquoted is the text of a JSON string, or the JSON itself.
func unquoted(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// joined is the text of a content that is a string or a list of blocks.
func joined(raw json.RawMessage) string {
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return unquoted(raw)
	}
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

// A codexReader rebuilds the requests of a rollout.
type codexReader struct {
	s         *session
	system    string
	model     string
	answering bool
	total     int
}

func (r *codexReader) line(text []byte) {
	var l codexLine
	if json.Unmarshal(text, &l) != nil {
		return
	}
	switch {
	case l.Type == "session_meta":
		r.system = l.Payload.BaseInstructions.Text
		r.begin(l.Timestamp)
	case l.Type == "turn_context":
		r.model = l.Payload.Model
	case l.Type == "compacted":
		r.begin(l.Timestamp)
		for _, item := range l.Payload.ReplacementHistory {
			r.s.enter(l.Timestamp, item.text())
		}
		r.answering = false
	case l.Type == "response_item":
		r.item(l.Timestamp, l.Payload.codexItem)
	case l.Type == "event_msg" && l.Payload.Type == "token_count" && l.Payload.Info != nil:
		r.usage(l.Payload.Info.Total, l.Payload.Info.Last)
	}
}

func (r *codexReader) begin(at time.Time) {
	r.s.current = nil
	r.s.enter(at, r.system)
	r.s.begin(1)
}

func (r *codexReader) item(at time.Time, item codexItem) {
	if !item.answer() {
		if item.Type == "message" && item.Role == "user" {
			r.s.dropReasoning()
		}
		r.answering = false
		r.s.enter(at, item.text())
		return
	}
	if !r.answering {
		r.answering = true
		r.s.call(r.model)
	}
	call := len(r.s.requests) - 1
	if item.Type == "reasoning" {
		r.s.current = append(r.s.current, piece{hash: maphash.String(r.s.seed, fmt.Sprint("reasoning", call)), exact: true, from: call, drop: true})
		return
	}
	r.s.add(item.text(), call)
}

func (r *codexReader) usage(total, last codexUsage) {
	call := len(r.s.requests) - 1
	if total.Total == r.total || call < 0 || r.s.requests[call].prompt != 0 {
		return
	}
	r.total = total.Total
	q := &r.s.requests[call]
	q.prompt, q.hit = last.Input, last.Cached
	for i := range r.s.current {
		if p := &r.s.current[i]; p.drop && p.from == call {
			p.count = float64(last.Reasoning)
			break
		}
	}
}

// dropReasoning takes the reasoning of earlier turns out of the prompt, as
// the provider does when the user writes again.
func (s *session) dropReasoning() {
	kept := s.current[:0]
	for _, p := range s.current {
		if !p.drop {
			kept = append(kept, p)
		}
	}
	s.current = kept
}

func TestHitsOfCodex(t *testing.T) {
	c := newCounter(t)
	for _, path := range files(t, "bench/agentv/*.jsonl") {
		r := &codexReader{s: newSession(path, c)}
		lines(t, path, r.line)
		if len(r.s.requests) == 0 {
			continue // another agent's log, without recorded usage
		}
		v := r.s.compare(Default())
		v.report(t, r.s.name)
		v.within(t, 0.04)
	}
}

// claudeLine is what of a line of a Claude Code transcript matters here.
type claudeLine struct {
	UUID         string    `json:"uuid"`
	Type         string    `json:"type"`
	Subtype      string    `json:"subtype"`
	Timestamp    time.Time `json:"timestamp"`
	IsSidechain  bool      `json:"isSidechain"`
	Microcompact struct {
		Tools []string `json:"compactedToolIds"`
	} `json:"microcompactMetadata"`
	Message struct {
		ID      string          `json:"id"`
		Model   string          `json:"model"`
		Content json.RawMessage `json:"content"`
		Usage   struct {
			Input    int `json:"input_tokens"`
			Read     int `json:"cache_read_input_tokens"`
			Write    int `json:"cache_creation_input_tokens"`
			Creation struct {
				Long int `json:"ephemeral_1h_input_tokens"`
			} `json:"cache_creation"`
		} `json:"usage"`
	} `json:"message"`
}

type claudeBlock struct {
	Type     string          `json:"type"`
	Text     string          `json:"text"`
	Thinking string          `json:"thinking"`
	Name     string          `json:"name"`
	Input    json.RawMessage `json:"input"`
	Content  json.RawMessage `json:"content"`
	ToolUse  string          `json:"tool_use_id"`
}

// picture is about what an image of a screen costs, in tokens.
const picture = 1500

func (b claudeBlock) text() string {
	return b.Text + b.Thinking + b.Name + string(b.Input) + joined(b.Content)
}

// pictures counts the images in the block.
func (b claudeBlock) pictures() int {
	if b.Type == "image" {
		return 1
	}
	var inner []claudeBlock
	_ = json.Unmarshal(b.Content, &inner)
	n := 0
	for _, i := range inner {
		n += i.pictures()
	}
	return n
}

// A claudeReader rebuilds the requests of a transcript.
type claudeReader struct {
	s       *session
	message string // id of the call that is answering
	lines   map[string]bool
}

func (r *claudeReader) line(text []byte) {
	var l claudeLine
	if json.Unmarshal(text, &l) != nil || l.IsSidechain || l.UUID != "" && r.lines[l.UUID] {
		return
	}
	r.lines[l.UUID] = true
	switch {
	case l.Type == "system" && l.Subtype == "compact_boundary":
		r.s.begin(0)
	case l.Type == "system" && l.Subtype == "microcompact_boundary":
		r.s.clear(l.Microcompact.Tools)
	case l.Type == "user":
		r.blocks(l, -1)
	case l.Type == "assistant" && l.Message.Model != "<synthetic>":
		r.answer(l)
	}
}

func (r *claudeReader) answer(l claudeLine) {
	if l.Message.ID != r.message {
		r.message = l.Message.ID
		r.s.call(l.Message.Model)
	}
	q, u := &r.s.requests[len(r.s.requests)-1], l.Message.Usage
	q.prompt, q.hit, q.life = u.Input+u.Read+u.Write, u.Read, Short
	if u.Creation.Long > 0 {
		q.life = Long
	}
	r.blocks(l, len(r.s.requests)-1)
}

func (r *claudeReader) blocks(l claudeLine, from int) {
	if from < 0 && l.Timestamp.After(r.s.input) {
		r.s.input = l.Timestamp
	}
	var blocks []claudeBlock
	if json.Unmarshal(l.Message.Content, &blocks) != nil {
		blocks = []claudeBlock{{Text: unquoted(l.Message.Content)}}
	}
	for _, b := range blocks {
		r.s.add(b.text(), from)
		r.s.current[len(r.s.current)-1].tool = b.ToolUse
		for range b.pictures() {
			r.s.current = append(r.s.current, piece{hash: maphash.String(r.s.seed, b.text()), count: picture, exact: true, from: from})
		}
	}
}

func TestHitsOfClaudeCode(t *testing.T) { testClaudeCode(t, "bench/entire-cli/*.jsonl") }

// The other sessions take ten seconds more.
func TestHitsOfEndless(t *testing.T) {
	if os.Getenv("QUIRE_ALL_SESSIONS") == "" {
		t.Skip("QUIRE_ALL_SESSIONS is not set")
	}
	testClaudeCode(t, "endless/*.jsonl")
}

func testClaudeCode(t *testing.T, pattern string) {
	c := newCounter(t)
	for _, path := range files(t, pattern) {
		r := &claudeReader{s: newSession(path, c), lines: make(map[string]bool)}
		lines(t, path, r.line)
		v := r.s.compare(Default())
		v.report(t, r.s.name)
		v.within(t, 0.05)
	}
}

// The price of deepseek-chat is derived from these costs: it must give back
// each session's to the last digit.
func TestRecordedCosts(t *testing.T) {
	table := Default()
	for _, path := range files(t, "bench/mini-swe-agent/*.json") {
		m := readMini(t, path)
		sum := 0.0
		for _, msg := range m.Messages {
			r := msg.Extra.Response
			model, ok := table.Model(r.Model)
			if msg.Role != "assistant" || !ok {
				continue
			}
			u := quire.Usage{Input: int64(r.Usage.Prompt - r.Usage.Hit), CacheRead: int64(r.Usage.Hit), Output: int64(r.Usage.Completion)}
			sum += model.Cost(u, time.Unix(r.Created, 0))
		}
		if want := m.Info.ModelStats.InstanceCost; math.Abs(sum-want) > 1e-12 {
			t.Errorf("%s: cost %v, recorded %v", filepath.Base(path), sum, want)
		}
	}
}

// Every model that made a call in the corpus has a price.
func TestCorpusModels(t *testing.T) {
	table := Default()
	models := map[string]bool{}
	for _, pattern := range []string{"bench/entire-cli/*.jsonl", "bench/agentv/*.jsonl"} {
		for _, path := range files(t, pattern) {
			lines(t, path, func(text []byte) {
				var l struct {
					Type    string
					Message struct{ Model string }
					Payload struct{ Model string }
					Data    struct{ Model string }
				}
				if json.Unmarshal(text, &l) == nil && (l.Type == "assistant" || l.Type == "turn_context" || l.Type == "assistant.message") {
					models[l.Message.Model+l.Payload.Model+l.Data.Model] = true
				}
			})
		}
	}
	delete(models, "")
	delete(models, "<synthetic>")
	if len(models) < 4 {
		t.Fatalf("only %d models found", len(models))
	}
	for name := range models {
		if _, ok := table.Model(name); !ok {
			t.Errorf("no price for %q", name)
		}
	}
}
