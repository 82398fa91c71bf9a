package script_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/script"
	"github.com/quire-agent/quire/internal/wire/wiretest"
)

// talk is a call of texts: of the user, or behind a sign of something else.
//
//	=TEXT     the system prompt      <ID TEXT  a result
//	>TEXT     an answer              !NAME     a tool
func talk(lines ...string) quire.Call {
	c := quire.Call{Model: "claude-opus-5"}
	for _, l := range lines {
		sign, rest := l[:1], l[1:]
		switch sign {
		case "=":
			c.System = append(c.System, quire.Block{Part: quire.Part{Kind: quire.PartSystem, Text: rest}})
		case "!":
			c.Tools = append(c.Tools, quire.ToolSpec{Name: rest})
		case ">":
			c.Messages = append(c.Messages, message(quire.RoleAssistant, quire.Part{Kind: quire.PartText, Text: rest}))
		case "<":
			id, text, _ := strings.Cut(rest, " ")
			c.Messages = append(c.Messages, message(quire.RoleTool, quire.Part{Kind: quire.PartToolResult, ToolUse: id, Text: text}))
		default:
			c.Messages = append(c.Messages, message(quire.RoleUser, quire.Part{Kind: quire.PartUser, Text: l}))
		}
	}
	return c
}

func message(role quire.Role, p quire.Part) quire.Message {
	return quire.Message{Role: role, Blocks: []quire.Block{{Part: p}}}
}

// TestScripts plays the scripts of testdata. Behind a script each line of calls is
// one call, parts of it separated by |, and the answers are written down.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { playFile(t, file) })
	}
}

func playFile(t *testing.T, file string) {
	a, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s, err := script.Parse(string(a.Files[0].Data))
	if err != nil {
		t.Fatal(err)
	}
	p := s.Play()
	var got strings.Builder
	for line := range strings.Lines(string(a.Files[1].Data)) {
		answer, err := p.Next(talk(strings.Split(strings.TrimSpace(line), "|")...))
		got.WriteString(told(answer, err))
	}
	if want := string(a.Files[2].Data); got.String() != want {
		t.Errorf("got\n%swant\n%s", got.String(), want)
	}
}

// told is an answer as one paragraph.
func told(a script.Answer, err error) string {
	if err != nil {
		return err.Error() + "\n"
	}
	text := fmt.Sprintf("line %d: stop %s", a.Line, a.Stop)
	if a.Fault != (script.Fault{}) {
		text += fmt.Sprintf(", fault %+v", a.Fault)
	}
	for _, b := range a.Blocks {
		text += fmt.Sprintf("\n  %s %q", b.Kind, b.Text)
		if b.ToolUse != "" {
			text += " " + b.Tool + " " + b.ToolUse
		}
	}
	return text + "\n"
}

func TestFaultyScripts(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"say hi", `line 1: "say" stands outside of a turn`},
		{"turn\nloop\nturn\nsay a\nend", "line 1: the turn does nothing"},
		{"turn\n", "line 1: the turn does nothing"},
		{"turn\nsay", "line 2: there is no text"},
		{"turn\nshout hi", `line 2: "shout" is no word of the language`},
		{"turn twice\nsay hi", `line 1: want nothing, N times or always, not "twice"`},
		{"turn 0 times\nsay hi", `line 1: "0" is no whole number from 1 to`},
		{"loop\nturn\nsay a", "line 1: the loop has no end"},
		{"loop\nend", "line 2: the loop has no turns"},
		{"loop\nloop\n", "line 2: a loop cannot stand in a loop"},
		{"loop\nturn always\nsay a\nend", "line 2: a turn that is never used up"},
		{"end", "line 1: end closes a loop"},
		{"loop\nturn\nsay a\nend\nsay b", `line 5: "say" stands outside of a turn`},
		{"turn\nwhen moon contains a\nsay b", `line 2: when looks at prompt, system, user`},
		{"turn\nwhen user likes a\nsay b", `line 2: user contains or matches something, not "likes"`},
		{"turn\nwhen user contains\nsay b", "line 2: user contains nothing"},
		{"turn\nwhen user matches (\nsay b", "line 2: error parsing regexp"},
		{"turn\nwhen call 3-2\nsay b", `line 2: "2" is no whole number from 3`},
		{"turn\nwhen answered\nsay b", "line 2: want one name"},
		{"turn\ncall read", "line 2: arguments are a JSON object"},
		{"turn\ncall read [1]", "line 2: arguments are a JSON object"},
		{"turn\ncall {}", "line 2: call wants a name"},
		{"turn\nsay ${moon}", "line 2: ${moon} stands for nothing"},
		{"turn\nsay ${call", "line 2: ${} stands for nothing"},
		{"turn\nsay \"a", "line 2: \"a is no string"},
		{"turn\nsay <<END\na", "line 2: no line is \"END\""},
		{"turn\nsay <<\na", "line 2: << wants a word right behind it"},
		{"turn\nstop tomorrow", "line 2: an answer stops for"},
		{"turn\nwait soon", `line 2: "soon" is no time`},
		{"turn\nfail 200", `line 2: "200" is no whole number from 400 to 599`},
		{"turn\nfail 429 after now", `line 2: "now" is no number of seconds`},
		{"turn\nfail 500\ncut 3", "line 3: a turn has one fault"},
		{"turn\ncut 3 for 1s", `line 2: cut has "for" behind it`},
		{"turn\nstall 3 for ever", `line 2: "ever" is no time`},
		{"turn\ndrop it", "line 2: drop has nothing behind it"},
		{"turn\nwords many", `line 2: "many" is no whole number`},
	} {
		_, err := script.Parse(c.text)
		var at *script.Error
		if !errors.As(err, &at) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.text, err, c.want)
		}
	}
}

func TestArgumentsAfterExpansion(t *testing.T) {
	s, err := script.Parse("turn\ncall read {\"n\": ${user}}\nturn\ncall read {\"n\": \"${user}\"}")
	if err != nil {
		t.Fatal(err)
	}
	p := s.Play()
	if _, err := p.Next(talk(`a "b"`)); err == nil || !strings.Contains(err.Error(), "turn of line 1: the arguments of read are not JSON any more") {
		t.Errorf("a plain text in the place of a number: %v", err)
	}
	if a, err := p.Next(talk(`a "b"`)); err != nil || a.Blocks[0].Text != `{"n": "a \"b\""}` {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := p.Next(talk("a")); !errors.Is(err, script.ErrNoTurn) {
		t.Errorf("behind the end: %v", err)
	}
}

func TestDeltas(t *testing.T) {
	r := quire.Reply{ID: "1", Model: "m", Stop: quire.StopTool, Usage: quire.Usage{Output: 3, Known: quire.KnownOutput}, Blocks: []quire.Block{
		{Part: quire.Part{Kind: quire.PartThinking, Text: "日本語"}, Signature: "s"},
		{Part: quire.Part{Kind: quire.PartText, Text: "a\xffbcd"}},
		{Part: quire.Part{Kind: quire.PartToolCall, Tool: "t", ToolUse: "c", Text: "{}"}},
		{Opaque: []byte(`{"type":"x"}`)},
	}}
	for _, runes := range []int{0, 1, 2, 100} {
		got, err := wiretest.Fold(script.Deltas(r, runes))
		if err == nil {
			err = wiretest.SameReply(r, got)
		}
		if err != nil {
			t.Errorf("%d runes: %v", runes, err)
		}
	}
}

// FuzzParse: no text makes the parser or a player panic, and what is parsed plays.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"turn\nsay hi", "turn always\n say ${user} ${1}", "loop 2 times\nturn 3 times\ncall read as c {\"p\":\"${result}\"}\nend",
		"turn\nwhen not user matches (a|b)\nwhen call 1-3\nthink <<E\n a\n E\nstall 3 for 1s\nwait 2ms", "turn\nfail 429 after 1.5 \"slow\"",
		script.Language(),
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := script.Parse(text)
		if err != nil {
			var at *script.Error
			if !errors.As(err, &at) || at.Line < 1 || at.Line > strings.Count(text, "\n")+1 {
				t.Fatalf("%v", err)
			}
			return
		}
		p := s.Play()
		for range 3 {
			if _, err := p.Next(talk("=be brief", "hi", "<c done")); errors.Is(err, script.ErrNoTurn) {
				return
			}
		}
	})
}

func BenchmarkNext(b *testing.B) {
	s, err := script.Parse(strings.Repeat("turn\n when user contains b\n say b\n", 100) + "turn always\n say a")
	if err != nil {
		b.Fatal(err)
	}
	p, c := s.Play(), talk(strings.Repeat("a", 10_000))
	for b.Loop() {
		if _, err := p.Next(c); err != nil {
			b.Fatal(err)
		}
	}
}
