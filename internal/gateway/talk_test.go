package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/wire/anthropic"
)

// A talk is a case as text: what a client sends, what it is answered, and what the
// gateway made of it. Its lines:
//
//	send [OPTION…] MESSAGE | MESSAGE …   a view; options are label=X, key=X, model=X,
//	                                     system=X, tools=X ("" for none)
//	answer BLOCK + BLOCK …               what upstream answers; "cut" in front breaks it off
//	want TEXT                            the line of the call: session, branch, why it was cold
//	restart                              another gateway over the same home
//	journal N                            what follows, up to an empty line, is the journal of session N
//
// A message is user, assistant or system with blocks joined by +: a text, call ID ARGS,
// result ID TEXT, think TEXT.
type talk struct {
	t     *testing.T
	world *world
	up    *upstream
}

// An upstream answers with what it is told.
type upstream struct {
	reply  quire.Reply
	status int
	cut    bool
}

func (u *upstream) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	body, err := anthropic.EncodeReply(u.reply)
	if err != nil {
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json")
	if u.status != 0 {
		w.WriteHeader(u.status)
		return
	}
	if u.cut {
		u.stream(w)
		return
	}
	_, _ = w.Write(body)
}

// stream begins an answer of one text and breaks off.
func (u *upstream) stream(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	var e anthropic.Encoder
	for _, d := range []quire.Delta{
		quire.ReplyBegun{ID: u.reply.ID, Model: "m"}, quire.BlockBegun{Block: quire.Block{Part: quire.Part{Kind: quire.PartText}}},
		quire.BlockGrew{Text: u.reply.Blocks[0].Text},
	} {
		b, err := e.Encode(d)
		if err != nil {
			panic(err)
		}
		_, _ = w.Write(b)
	}
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

func TestTalks(t *testing.T) {
	files, err := filepath.Glob("testdata/*.talk")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d cases, %v", len(files), err)
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".talk"), func(t *testing.T) {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			runTalk(t, string(text))
		})
	}
}

func runTalk(t *testing.T, text string) {
	up := &upstream{}
	k := &talk{t: t, up: up}
	address := serveHandler(t, up)
	pool := newPool(t)
	k.world = newWorld(t, pool, address, oneOpen)
	lines := strings.Split(text, "\n")
	number := 0
	for i := 0; i < len(lines); i++ {
		verb, rest, _ := strings.Cut(lines[i], " ")
		switch verb {
		case "send":
			number++
			k.send(rest, number, lines[i+1:])
		case "restart":
			k.world.stop()
			k.world = newWorld(t, pool, address, oneOpen)
		case "journal":
			k.world.stop()
			want := section(lines[i+1:])
			if got := k.journal(rest); got != want {
				t.Errorf("line %d: session %s holds\n%s\nwant\n%s", i+1, rest, got, want)
			}
			i += strings.Count(want, "\n")
		case "want":
			if got := said1(k.last()); got != rest {
				t.Errorf("line %d: %q, want %q", i+1, got, rest)
			}
		}
	}
}

func section(lines []string) string {
	var b strings.Builder
	for _, l := range lines {
		if l == "" {
			break
		}
		b.WriteString(l + "\n")
	}
	return b.String()
}

func (k *talk) last() Line { return k.world.line() }

// said1 is a line as a case has it.
func said1(l Line) string {
	parts := []string{fmt.Sprintf("s%d", l.Session)}
	for _, p := range []struct {
		is   bool
		text string
	}{
		{l.Side, "side"}, {l.Branch != "", l.Branch}, {l.Cleared > 0, fmt.Sprintf("cleared %d", l.Cleared)},
		{l.Cut, "cut"}, {l.Status >= 400, fmt.Sprint("status ", l.Status)}, {l.Cold != "", "(" + l.Cold + ")"},
		{l.Odd != "" && !l.Cut, "odd " + l.Odd}, {l.Note != "", "note " + l.Note},
	} {
		if p.is {
			parts = append(parts, p.text)
		}
	}
	return strings.Join(parts, " ")
}

func (k *talk) send(spec string, number int, behind []string) {
	key, label := "k", ""
	c := quire.Call{Model: "claude-sonnet-4-5", MaxOutput: 100, Tools: []quire.ToolSpec{{Name: "read", Schema: json.RawMessage(`{"type":"object"}`)}}}
	for strings.Contains(strings.SplitN(spec, " ", 2)[0], "=") {
		var option string
		option, spec, _ = strings.Cut(spec, " ")
		name, value, _ := strings.Cut(option, "=")
		switch name {
		case "key":
			key = value
		case "label":
			label = value
		case "model":
			c.Model = value
		case "system":
			c.System = []quire.Block{{Part: quire.Part{Kind: quire.PartSystem, Text: value}}}
		case "tools":
			c.Tools = nil
			if value != "" {
				c.Tools = []quire.ToolSpec{{Name: value, Schema: json.RawMessage(`{"type":"object"}`)}}
			}
		default:
			k.t.Fatalf("option %q", name)
		}
	}
	for m := range strings.SplitSeq(spec, " | ") {
		c.Messages = append(c.Messages, spoken(m))
	}
	k.answer(number, behind)
	body, err := anthropic.EncodeCall(c)
	if err != nil {
		k.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(k.t.Context(), http.MethodPost, k.world.url+"/v1/messages", strings.NewReader(string(body)))
	if err != nil {
		k.t.Fatal(err)
	}
	r.Header.Set("X-Api-Key", key)
	r.Header.Set("X-Claude-Code-Session-Id", label)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		k.t.Fatal(err)
	}
	answer.Body.Close()
}

// answer sets what upstream answers next.
func (k *talk) answer(number int, behind []string) {
	*k.up = upstream{}
	rest, ok := strings.CutPrefix(behind[0], "answer ")
	if !ok {
		k.t.Fatalf("no answer behind call %d", number)
	}
	if code, isStatus := strings.CutPrefix(rest, "status "); isStatus {
		k.up.status, _ = strconv.Atoi(code)
		return
	}
	rest, k.up.cut = strings.CutPrefix(rest, "cut ")
	if len(rest) == 0 {
		k.t.Fatalf("an empty answer behind call %d", number)
	}
	k.up.reply = quire.Reply{ID: fmt.Sprint("msg_", number), Model: "m", Stop: quire.StopEnd, Blocks: spoken("assistant " + rest).Blocks,
		Usage: quire.Usage{Input: 10, Output: 1, Known: quire.KnownInput | quire.KnownCache | quire.KnownOutput}}
}

func spoken(text string) quire.Message {
	role, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	m := quire.Message{Role: map[string]quire.Role{"user": quire.RoleUser, "assistant": quire.RoleAssistant, "system": quire.RoleSystem}[role]}
	kind := map[string]quire.PartKind{"user": quire.PartUser, "assistant": quire.PartText, "system": quire.PartSystem}[role]
	for b := range strings.SplitSeq(rest, " + ") {
		word, tail, _ := strings.Cut(b, " ")
		id, text, _ := strings.Cut(tail, " ")
		switch word {
		case "call":
			m.Blocks = append(m.Blocks, quire.Block{Part: quire.Part{Kind: quire.PartToolCall, Tool: "read", ToolUse: id, Text: text}})
		case "result":
			m.Blocks = append(m.Blocks, quire.Block{Part: quire.Part{Kind: quire.PartToolResult, ToolUse: id, Text: text}})
		case "think":
			m.Blocks = append(m.Blocks, quire.Block{Part: quire.Part{Kind: quire.PartThinking, Text: tail}, Signature: "s"})
		default:
			m.Blocks = append(m.Blocks, quire.Block{Part: quire.Part{Kind: kind, Text: strings.ReplaceAll(b, `\n`, "\n")}})
		}
	}
	return m
}

// journal is what a session holds, a record a line.
func (k *talk) journal(number string) string {
	name, err := journal.Find(k.world.pool.Home, "s"+number)
	if err != nil {
		k.t.Fatal(err)
	}
	var b strings.Builder
	for r, err := range journal.Read(name.Path) {
		if err != nil {
			k.t.Fatal(err)
		}
		b.WriteString(k.record(r))
	}
	return b.String()
}

func (k *talk) record(r quire.Record) string {
	switch r.Type {
	case quire.RecordPart:
		p := decoded[quire.PartRecord](k.t, r)
		text, err := k.world.pool.Bodies.Body(context.Background(), p.Body)
		if p.Body != (quire.Hash{}) && err != nil {
			k.t.Fatal(err)
		}
		if p.Part.Kind == quire.PartTools || p.Part.Kind == quire.PartSystem {
			text = []byte(strings.SplitN(string(text), "\n", 2)[0])
		}
		line := fmt.Sprintf("%s%d %s %s", chainOf(p.Chain), p.Node, p.Part.Kind, strings.ReplaceAll(string(text), "\n", `\n`))
		return strings.TrimRight(line+map[quire.Origin]string{quire.OriginSummary: " (summary)", quire.OriginReinjected: " (put back)"}[p.Part.Origin], " ") + "\n"
	case quire.RecordCall:
		c := decoded[quire.CallRecord](k.t, r)
		return chainOf(c.Chain) + "calls " + c.Call + "\n"
	case quire.RecordRewind:
		w := decoded[quire.RewindRecord](k.t, r)
		return fmt.Sprintf("%srewinds to %d\n", chainOf(w.Chain), w.Keep)
	case quire.RecordCompaction:
		return "compacts\n"
	}
	return ""
}

func chainOf(chain string) string {
	if chain == "" {
		return ""
	}
	return chain + " "
}

func decoded[P any](t *testing.T, r quire.Record) P {
	t.Helper()
	p, err := journal.Decode[P](r)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// oneOpen makes a gateway close and open journals all the time.
func oneOpen(o *Options) { o.Limits.Open = 1 }

// Of more sessions than a gateway may know, the one that was not used for the
// longest time is forgotten; its client begins another one with its next call.
func TestForgottenSessions(t *testing.T) {
	up := &upstream{}
	w := newWorld(t, newPool(t), serveHandler(t, up), func(o *Options) { o.Limits.Sessions = 2 })
	k := &talk{t: t, up: up, world: w}
	for i, c := range []struct{ send, want string }{
		{"user one", "s1 (first call)"}, {"user two", "s2 (first call)"}, {"user three", "s3 (first call)"},
		{"user two | assistant A. | user more", "s2 (too short to be cached)"},
		{"user one | assistant A. | user more", "s4 (first call)"},
		{"user three | assistant A. | user more", "s5 (first call)"},
	} {
		k.send(c.send, i+1, []string{"answer A."})
		if got := said1(w.line()); got != c.want {
			t.Errorf("%s: %q, want %q", c.send, got, c.want)
		}
	}
	if s := w.g.Status(); len(s.Sessions) != 2 {
		t.Errorf("%d sessions are shown", len(s.Sessions))
	}
}
