package chat

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/quire"
)

func TestDialectOf(t *testing.T) {
	for base, want := range map[string]string{
		"https://api.openai.com/v1":                              "openai",
		"https://me.openai.azure.com/openai/v1":                  "openai",
		"https://api.deepseek.com":                               "deepseek",
		"https://dashscope-intl.aliyuncs.com/compatible-mode/v1": "qwen",
		"https://api.moonshot.cn/v1":                             "kimi",
		"https://api.z.ai/api/coding/paas/v4":                    "glm",
		"https://openrouter.ai/api/v1":                           "openrouter",
		"http://localhost:11434/v1":                              "ollama",
		"http://127.0.0.1:8080":                                  "llama.cpp",
		"http://[::1]:8000/v1":                                   "vllm",
		"http://gpu.example:8000/v1":                             "plain",
		"https://notopenai.com":                                  "plain",
		"https://api.openai.com.example":                         "plain",
		"://":                                                    "plain",
	} {
		if got := DialectOf(base); got.Name != want {
			t.Errorf("%s is %s, want %s", base, got.Name, want)
		}
	}
	if _, ok := DialectNamed("vllm"); !ok {
		t.Error("no dialect named vllm")
	}
	if _, ok := DialectNamed("plain"); ok {
		t.Error("plain is what is left, not a dialect to name")
	}
}

// made is a call that was made here, with something of all that dialects say in
// their own way.
func made() quire.Call {
	part := func(kind quire.PartKind, text string) quire.Block {
		return quire.Block{Part: quire.Part{Kind: kind, Text: text}}
	}
	rules := part(quire.PartSystem, "Rules.")
	rules.Cache = quire.MarkShort
	image := quire.Block{Part: quire.Part{Kind: quire.PartImage, Media: &quire.Media{Type: "image/png"}, Data: "\x00"}}
	return quire.Call{
		Model: "m", MaxOutput: 50, Stream: true,
		Thinking: quire.Thinking{Mode: modeOn, Effort: "high"},
		Choice:   quire.Choice{Mode: "required"},
		System:   []quire.Block{part(quire.PartSystem, "Be brief."), rules},
		Messages: []quire.Message{
			{Role: quire.RoleUser, Blocks: []quire.Block{part(quire.PartUser, "Look.")}},
			{Role: quire.RoleAssistant, Blocks: []quire.Block{
				part(quire.PartThinking, "Hm."),
				{Part: quire.Part{Kind: quire.PartToolCall, Tool: "look", ToolUse: "c1", Text: "{}"}},
			}},
			{Role: quire.RoleTool, Blocks: []quire.Block{{Part: quire.Part{Kind: quire.PartToolResult, ToolUse: "c1"}, Content: []quire.Block{part(quire.PartMachine, "seen"), image}}}},
		},
		Rest: []quire.Field{{Name: "prompt_cache_key", Value: json.RawMessage(`"k"`)}},
	}
}

// TestShape shows what each dialect makes of one call.
func TestShape(t *testing.T) {
	const golden = "testdata/dialects.golden"
	var got strings.Builder
	for _, d := range append(Dialects(), DialectOf("")) {
		out, err := EncodeCall(d.Shape(made()))
		if err != nil {
			t.Fatal(err)
		}
		checkCall(t, out)
		got.WriteString(d.Name + "\n" + string(out) + "\n")
	}
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("the dialects give\n%swant\n%s", got.String(), want)
	}
}

// TestCacheKey holds who gets the key of a session, and that one of a client stays.
func TestCacheKey(t *testing.T) {
	takes := []string{"openai", "kimi", "mistral", "openrouter"}
	for _, d := range append(Dialects(), DialectOf("")) {
		c := made()
		c.Rest, c.CacheKey = nil, "session"
		out, err := EncodeCall(d.Shape(c))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := strings.Contains(string(out), `"prompt_cache_key":"session"`), slices.Contains(takes, d.Name); got != want {
			t.Errorf("%s gets the key: %v, want %v", d.Name, got, want)
		}
		c.Rest = made().Rest
		if out, err = EncodeCall(d.Shape(c)); err != nil || strings.Contains(string(out), "session") {
			t.Errorf("%s gets a second key: %v, %s", d.Name, err, out)
		}
	}
}

// TestShapeIsStable holds that shaping changes nothing it was given, and that
// what stands in front keeps its form when a message follows.
func TestShapeIsStable(t *testing.T) {
	for _, d := range append(Dialects(), DialectOf("")) {
		c := made()
		short := d.Shape(c)
		if !reflect.DeepEqual(c, made()) {
			t.Fatalf("%s changes the call it shapes", d.Name)
		}
		c.Messages = append(c.Messages, quire.Message{Role: quire.RoleUser, Blocks: c.Messages[0].Blocks})
		if long := d.Shape(c); !reflect.DeepEqual(short.Messages, long.Messages[:len(short.Messages)]) || !reflect.DeepEqual(short.System, long.System) {
			t.Errorf("%s shapes the same messages in two ways", d.Name)
		}
	}
}

// TestImagesFollowTheLastResult holds that nothing comes between the results of
// parallel calls. failures.md A2
func TestImagesFollowTheLastResult(t *testing.T) {
	c := made()
	other := quire.Block{Part: quire.Part{Kind: quire.PartToolResult, ToolUse: "c2", Text: "ok"}}
	c.Messages = append(c.Messages, quire.Message{Role: quire.RoleTool, Blocks: []quire.Block{other}}, c.Messages[0])
	var roles []string
	for _, m := range (Dialect{}).Shape(c).Messages {
		roles = append(roles, m.Role.String())
	}
	if got := strings.Join(roles, " "); got != "user assistant tool tool user user" {
		t.Errorf("the messages are %s", got)
	}
}
