package packet_test

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/packet"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/route"
)

func handoff() packet.Handoff {
	return packet.Handoff{
		ID: "h1", Constraints: []string{"read only"}, ExpectedResult: "facts",
		Task: packet.AgentTaskContext{ID: "t1", Parent: "b1", Role: "librarian", Goal: "find", Refs: []packet.ContextRef{packet.PageRef(packet.RefFile, quire.PageRef{Session: 8, Page: 12}, "a.go")}},
	}
}

// A packet says on the wire from where to where it goes, also where nobody set it.
func TestLayersAreWritten(t *testing.T) {
	raw, err := json.Marshal(handoff())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"fromLayer":"brain","toLayer":"agent"`, `"layer":"agent"`, `"agentRole":"librarian"`, `"uri":"page:s8/p12"`} {
		if !strings.Contains(string(raw), want) {
			t.Errorf("%s is not in %s", want, raw)
		}
	}
	got, err := packet.DecodeHandoff(raw)
	if err != nil || got.Task.Goal != "find" {
		t.Errorf("%+v, %v", got, err)
	}
}

// The decoder refuses a packet whose layers are not those of its type.
func TestWrongLayersAreRefused(t *testing.T) {
	for _, from := range []string{"brain", "agent", "tool", ""} {
		for _, to := range []string{"brain", "agent", ""} {
			raw, err := json.Marshal(map[string]string{"fromLayer": from, "toLayer": to, "id": "x"})
			if err != nil {
				t.Fatal(err)
			}
			_, down := packet.DecodeHandoff(raw)
			_, up := packet.DecodeResult(raw)
			if (down == nil) != (from == "brain" && to == "agent") || (up == nil) != (from == "agent" && to == "brain") {
				t.Errorf("from %q to %q: %v, %v", from, to, down, up)
			}
			if down != nil && !errors.Is(down, packet.ErrLayer) {
				t.Errorf("from %q to %q: %v is no ErrLayer", from, to, down)
			}
		}
	}
	if _, err := packet.DecodeHandoff([]byte(`{"id": "x"}`)); !errors.Is(err, packet.ErrLayer) {
		t.Errorf("a packet that says nothing of its layers: %v", err)
	}
}

// A message goes between the Brain and an agent, whatever its envelope claims.
func TestMessages(t *testing.T) {
	m, err := packet.Down("h1", "b1", "librarian", packet.KindHandoff, handoff())
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := packet.DecodeMessage[packet.BrainToAgent](raw); err != nil {
		t.Error(err)
	}
	if _, err := packet.DecodeMessage[packet.AgentToBrain](raw); !errors.Is(err, packet.ErrLayer) {
		t.Errorf("read in the other direction: %v", err)
	}
	across := strings.Replace(string(raw), `"from":"orchestrator"`, `"from":"qa"`, 1)
	if _, err := packet.DecodeMessage[packet.BrainToAgent]([]byte(across)); !errors.Is(err, packet.ErrLayer) {
		t.Errorf("from agent to agent: %v", err)
	}
}

// A program that sends from worker to worker does not compile. testdata/across.go.txt
// holds the ways to try it, one function each; the first one is right, so that the
// test would notice if nothing compiled.
func TestWorkerToWorkerDoesNotCompile(t *testing.T) {
	text, err := os.ReadFile("testdata/across.go.txt")
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "across.go", text, 0)
	if err != nil {
		t.Fatal(err)
	}
	wrong := map[string][]string{}
	conf := types.Config{Importer: importer.ForCompiler(fset, "source", nil), Error: func(err error) {
		var e types.Error
		if errors.As(err, &e) {
			name := function(fset, file, e.Pos)
			wrong[name] = append(wrong[name], e.Msg)
		}
	}}
	_, _ = conf.Check("across", fset, []*ast.File{file}, nil) // its errors are taken one by one
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		if fails := len(wrong[f.Name.Name]) > 0; fails == (f.Name.Name == "down") {
			t.Errorf("%s: %v", f.Name.Name, wrong[f.Name.Name])
		}
	}
	if len(wrong[""]) > 0 {
		t.Errorf("outside of functions: %v", wrong[""])
	}
}

func function(fset *token.FileSet, file *ast.File, at token.Pos) string {
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Pos() <= at && at <= f.End() {
			return f.Name.Name
		}
	}
	return ""
}

func TestNormalise(t *testing.T) {
	h := handoff()
	long := strings.Repeat("x", 10_000)
	for _, c := range []struct {
		name, text string
		cut        packet.CutOff
		summary    string
		status     route.Status
		artifacts  int
	}{
		{"object", `{"taskId":"t1","summary":"s","progress":{"status":"completed"},"artifacts":[{"kind":"file","uri":"file:a"}]}`, "", "s", route.Completed, 1},
		{"fenced", "Sure:\n```json\n{\"summary\":\"s\"}\n```\n", "", "s", route.Completed, 0},
		{"prose around", `I found: {"summary":"s"} as asked`, "", "s", route.Completed, 0},
		{"prose", "just words", "", "just words", route.Completed, 0},
		{"another object", `the config is {"port": 80}`, "", `the config is {"port": 80}`, route.Completed, 0},
		{"blocked", `{"summary":"s","progress":{"status":"blocked"},"nextQuestions":["which?"]}`, "", "s", route.Blocked, 0},
		{"unknown status", `{"summary":"s","progress":{"status":"great"}}`, "", "s", route.Completed, 0},
		{"wrong types", `{"summary":["s"],"progress":"done","artifacts":{"kind":"file"},"risks":[1,"r"]}`, "", packet.Nothing, route.Blocked, 0},
		{"wrong references", `{"summary":"s","artifacts":[{"kind":"secret","uri":"x"},{"kind":"file"},7,{"kind":"summary","uri":"gopher:x"}]}`, "", "s", route.Completed, 1},
		{"empty", " \n", "", packet.Nothing, route.Blocked, 0},
		{"cut", `{"summary":"s","progress":{"status":"completed"}}`, packet.CutMaxTokens, "s", route.Blocked, 0},
		{"cut in the middle", `{"summary":"s and`, packet.CutMaxTokens, `{"summary":"s and`, route.Blocked, 0},
		{"long", long, "", long, route.Completed, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := packet.Normalise(&h, c.text, c.cut)
			if r.Summary != c.summary || r.Progress.Status != c.status || len(r.Artifacts) != c.artifacts || r.CutOff != c.cut {
				t.Errorf("got %+v", r)
			}
			if r.Task != "t1" || r.Parent != "b1" || r.Handoff != "h1" {
				t.Errorf("ids %s, %s, %s", r.Task, r.Parent, r.Handoff)
			}
		})
	}
}

func TestPercentIsClamped(t *testing.T) {
	h := handoff()
	r := packet.Normalise(&h, `{"summary":"s","progress":{"percent":170,"completedSteps":["a",3,"b"]}}`, "")
	if r.Progress.Percent == nil || *r.Progress.Percent != 100 || len(r.Progress.CompletedSteps) != 2 {
		t.Errorf("got %+v", r.Progress)
	}
}

func FuzzNormalise(f *testing.F) {
	for _, s := range []string{"", "words", `{"summary":"s"}`, "```json\n{\"risks\":[1]}\n```", `{"progress":{"percent":"9"}}`, "\xff{", `{"a":{}}`} {
		f.Add(s, false)
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, text string, cut bool) {
		h, why := handoff(), packet.CutOff("")
		if cut {
			why = packet.CutRounds
		}
		r := packet.Normalise(&h, text, why)
		raw, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		again, err := packet.DecodeResult(raw)
		if err != nil {
			t.Fatal(err)
		}
		if again.Summary == "" || again.Task != "t1" || cut && again.Progress.Status == route.Completed {
			t.Errorf("got %+v", again)
		}
	})
}

func FuzzDecodeMessage(f *testing.F) {
	f.Add([]byte(`{"from":"orchestrator","to":"qa","kind":"handoff","payload":{"fromLayer":"brain","toLayer":"agent"}}`))
	f.Add([]byte(`{"from":"qa","to":"orchestrator","payload":{"fromLayer":"agent","toLayer":"brain"}}`))
	f.Add([]byte(`{"payload":3}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		_, down := packet.DecodeMessage[packet.BrainToAgent](raw)
		_, up := packet.DecodeMessage[packet.AgentToBrain](raw)
		if down == nil && up == nil {
			t.Error("a message goes in both directions")
		}
	})
}

// The schemas are those of the types: what the program writes is valid by them as
// far as members go, and their bytes do not change by themselves.
func TestSchemas(t *testing.T) {
	for _, s := range packet.Schemas() {
		var v struct {
			Type       string                     `json:"type"`
			Properties map[string]json.RawMessage `json:"properties"`
			Required   []string                   `json:"required"`
		}
		if err := json.Unmarshal(s.Schema, &v); err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
		for _, r := range v.Required {
			if _, ok := v.Properties[r]; !ok {
				t.Errorf("%s requires %s and does not describe it", s.Name, r)
			}
		}
		if s.Name == "HandoffPacket" && (string(v.Properties["fromLayer"]) != `{"const":"brain"}` || len(v.Properties) != 6) {
			t.Errorf("%s", s.Schema)
		}
		if s.Name == "WorkerResult" && !strings.Contains(string(v.Properties["cutOff"]), `"max_tokens"`) {
			t.Errorf("%s", s.Schema)
		}
	}
}
