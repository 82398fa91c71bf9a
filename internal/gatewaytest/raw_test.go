package gatewaytest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/gateway"
	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/sim"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

// An object is a JSON object of a request, its members in the order in which a client
// writes them.
type object []quire.Field

func objectOf(raw string) object { return rawjson.Members([]byte(raw)) }

// with is the object with a member that has that value.
func (o object) with(name, value string) object {
	out := append(object{}, o...)
	for i := range out {
		if out[i].Name == name {
			out[i].Value = json.RawMessage(value)
			return out
		}
	}
	return append(out, quire.Field{Name: name, Value: json.RawMessage(value)})
}

// without is the object without some members.
func (o object) without(names ...string) object {
	var out object
	for _, f := range o {
		if !strings.Contains(" "+strings.Join(names, " ")+" ", " "+f.Name+" ") {
			out = append(out, f)
		}
	}
	return out
}

// renamed is the object with a member under another name, at the same place.
func (o object) renamed(from, to string) object {
	out := append(object{}, o...)
	for i := range out {
		if out[i].Name == from {
			out[i].Name = to
		}
	}
	return out
}

func (o object) get(name string) string { return string(rawjson.Get(o, name)) }

// text is a member that is a string.
func (o object) text(name string) string {
	text, _ := rawjson.TextOf(rawjson.Get(o, name))
	return text
}

func (o object) String() string {
	var b strings.Builder
	for i, f := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%s:%s", quoted(f.Name), f.Value)
	}
	return "{" + b.String() + "}"
}

func quoted(text string) string { return string(rawjson.AppendText(nil, text)) }

func arrayOf(list []string) string { return "[" + strings.Join(list, ",") + "]" }

// elements are those of a member that is a list.
func (o object) elements(name string) (list []string) {
	for _, e := range rawjson.Elements(rawjson.Get(o, name)) {
		list = append(list, string(e))
	}
	return list
}

// each changes each element of a list: into none, one or several.
func (o object) each(name string, change func(i int, e object) []object) object {
	var list []string
	for i, e := range o.elements(name) {
		for _, n := range change(i, objectOf(e)) {
			list = append(list, n.String())
		}
	}
	return o.with(name, arrayOf(list))
}

// A rawForm is how requests of an API are written by hand: plainly, as a client of a
// few lines would.
type rawForm struct {
	api     sim.API
	model   string
	list    string // the member that holds the conversation
	user    func(text string) string
	results func(calls []quire.Block, texts []string) []string
	take    func(answer object) []string // of an answer that does not stream, what stands in the list from then on
	made    func(r quire.Reply) []string // the same of one that does
	body    func(model string, stream bool, list []string) object
}

func rawForms() []rawForm { return []rawForm{rawMessages(), rawChat(), rawResponses(), rawGemini()} }

const rawSchema = `{"type":"object","properties":{"n":{"type":"integer"},"path":{"type":"string"}}}`

// tools declares the tools of a peer, by a form with name, description and schema.
func rawTools(form string) string {
	var list []string
	for _, name := range toolNames()[:3] {
		list = append(list, fmt.Sprintf(form, name, "It is the tool "+name+".", rawSchema))
	}
	return strings.Join(list, ",")
}

func rawSystem() string { return "You work in a project. " + strings.Repeat(kind, 300) }

func rawMessages() rawForm {
	call := func(b quire.Block) string {
		return fmt.Sprintf(`{"type":"tool_use","id":%s,"name":%s,"input":%s}`, quoted(b.ToolUse), quoted(b.Tool), b.Text)
	}
	return rawForm{
		api: sim.Messages, model: "claude-opus-5", list: "messages",
		user: func(text string) string { return fmt.Sprintf(`{"role":"user","content":%s}`, quoted(text)) },
		results: func(calls []quire.Block, texts []string) []string {
			var list []string
			for i, c := range calls {
				list = append(list, fmt.Sprintf(`{"type":"tool_result","tool_use_id":%s,"content":%s}`, quoted(c.ToolUse), quoted(texts[i])))
			}
			return []string{fmt.Sprintf(`{"role":"user","content":%s}`, arrayOf(list))}
		},
		take: func(a object) []string { return []string{`{"role":"assistant","content":` + a.get("content") + `}`} },
		made: func(r quire.Reply) []string {
			var list []string
			for _, b := range r.Blocks {
				switch b.Kind {
				case quire.PartToolCall:
					list = append(list, call(b))
				case quire.PartThinking:
					list = append(list, fmt.Sprintf(`{"type":"thinking","thinking":%s,"signature":%s}`, quoted(b.Text), quoted(b.Signature)))
				default:
					list = append(list, fmt.Sprintf(`{"type":"text","text":%s}`, quoted(b.Text)))
				}
			}
			return []string{fmt.Sprintf(`{"role":"assistant","content":%s}`, arrayOf(list))}
		},
		body: func(model string, stream bool, list []string) object {
			return objectOf(fmt.Sprintf(`{"model":%s,"max_tokens":4000,"stream":%v,"system":%s,"tools":[%s],"messages":%s}`,
				quoted(model), stream, quoted(rawSystem()), rawTools(`{"name":"%s","description":"%s","input_schema":%s}`), arrayOf(list)))
		},
	}
}

func rawChat() rawForm {
	return rawForm{
		api: sim.Chat, model: "gpt-5.5", list: "messages",
		user: func(text string) string { return fmt.Sprintf(`{"role":"user","content":%s}`, quoted(text)) },
		results: func(calls []quire.Block, texts []string) (list []string) {
			for i, c := range calls {
				list = append(list, fmt.Sprintf(`{"role":"tool","tool_call_id":%s,"content":%s}`, quoted(c.ToolUse), quoted(texts[i])))
			}
			return list
		},
		take: func(a object) []string { return []string{objectOf(a.elements("choices")[0]).get("message")} },
		made: func(r quire.Reply) []string {
			content, calls := "null", []string{}
			for _, b := range r.Blocks {
				switch b.Kind {
				case quire.PartToolCall:
					calls = append(calls, fmt.Sprintf(`{"id":%s,"type":"function","function":{"name":%s,"arguments":%s}}`, quoted(b.ToolUse), quoted(b.Tool), quoted(b.Text)))
				case quire.PartText:
					content = quoted(b.Text)
				}
			}
			m := objectOf(`{"role":"assistant","content":` + content + `}`)
			if len(calls) > 0 {
				m = m.with("tool_calls", arrayOf(calls))
			}
			return []string{m.String()}
		},
		body: func(model string, stream bool, list []string) object {
			system := fmt.Sprintf(`{"role":"system","content":%s}`, quoted(rawSystem()))
			return objectOf(fmt.Sprintf(`{"model":%s,"stream":%v,"messages":%s,"tools":[%s]}`, quoted(model), stream,
				arrayOf(append([]string{system}, list...)), rawTools(`{"type":"function","function":{"name":"%s","description":"%s","parameters":%s}}`)))
		},
	}
}

func rawResponses() rawForm {
	return rawForm{
		api: sim.Responses, model: "gpt-5.5", list: "input",
		user: func(text string) string { return fmt.Sprintf(`{"role":"user","content":%s}`, quoted(text)) },
		results: func(calls []quire.Block, texts []string) (list []string) {
			for i, c := range calls {
				list = append(list, fmt.Sprintf(`{"type":"function_call_output","call_id":%s,"output":%s}`, quoted(c.ToolUse), quoted(texts[i])))
			}
			return list
		},
		take: func(a object) []string { return a.elements("output") },
		made: func(r quire.Reply) (list []string) {
			for _, b := range r.Blocks {
				switch b.Kind {
				case quire.PartToolCall:
					list = append(list, fmt.Sprintf(`{"type":"function_call","call_id":%s,"name":%s,"arguments":%s}`, quoted(b.ToolUse), quoted(b.Tool), quoted(b.Text)))
				case quire.PartText:
					list = append(list, fmt.Sprintf(`{"type":"message","role":"assistant","content":[{"type":"output_text","text":%s}]}`, quoted(b.Text)))
				}
			}
			return list
		},
		body: func(model string, stream bool, list []string) object {
			return objectOf(fmt.Sprintf(`{"model":%s,"stream":%v,"store":false,"instructions":%s,"input":%s,"tools":[%s]}`, quoted(model), stream,
				quoted(rawSystem()), arrayOf(list), rawTools(`{"type":"function","name":"%s","description":"%s","parameters":%s}`)))
		},
	}
}

func rawGemini() rawForm {
	return rawForm{
		api: sim.Gemini, model: "gemini-4-neon", list: "contents",
		user: func(text string) string { return fmt.Sprintf(`{"role":"user","parts":[{"text":%s}]}`, quoted(text)) },
		results: func(calls []quire.Block, texts []string) []string {
			var list []string
			for i, c := range calls {
				list = append(list, fmt.Sprintf(`{"functionResponse":{"id":%s,"name":%s,"response":{"output":%s}}}`, quoted(c.ToolUse), quoted(c.Tool), quoted(texts[i])))
			}
			return []string{fmt.Sprintf(`{"role":"user","parts":%s}`, arrayOf(list))}
		},
		take: func(a object) []string { return []string{objectOf(a.elements("candidates")[0]).get("content")} },
		made: func(r quire.Reply) []string {
			var list []string
			for _, b := range r.Blocks {
				var part object
				switch b.Kind {
				case quire.PartToolCall:
					part = objectOf(fmt.Sprintf(`{"functionCall":{"id":%s,"name":%s,"args":%s}}`, quoted(b.ToolUse), quoted(b.Tool), b.Text))
				case quire.PartText:
					part = objectOf(fmt.Sprintf(`{"text":%s}`, quoted(b.Text)))
				default:
					continue
				}
				if b.Signature != "" {
					part = part.with("thoughtSignature", quoted(b.Signature))
				}
				list = append(list, part.String())
			}
			return []string{fmt.Sprintf(`{"role":"model","parts":%s}`, arrayOf(list))}
		},
		body: func(_ string, _ bool, list []string) object {
			return objectOf(fmt.Sprintf(`{"systemInstruction":{"parts":[{"text":%s}]},"tools":[{"functionDeclarations":[%s]}],"contents":%s}`,
				quoted(rawSystem()), rawTools(`{"name":"%s","description":"%s","parameters":%s}`), arrayOf(list)))
		},
	}
}

// A rawSession is one conversation by hand, through a gateway that curates and
// without.
type rawSession struct {
	*stage
	form    rawForm
	habit   habit
	wrapped [2]http.Handler
	lists   [2][]string
	pending []quire.Block
	number  int // of the request
	prices  *price.Table
}

// newRaw begins one.
func newRaw(t *testing.T, form rawForm, h habit, script string) *rawSession {
	t.Helper()
	var d dialect
	for _, one := range dialects() {
		if one.api == form.api {
			d = one
		}
	}
	x := &rawSession{form: form, habit: h}
	c := newClock()
	s := &stage{clock: c, pool: newPool(t, filepath.Join(t.TempDir(), "home"), c.tick())}
	s.tale = &tale{t: t, peer: &peer{t: t, api: &d, key: "k", sent: map[string]bool{}}, pass: c.pass}
	for i := range s.sims {
		s.sims[i] = newSim(t, script, c.now, sim.Limits{BoundThinking: true})
		x.wrapped[i] = s.sims[i]
		if h.wrap != nil {
			x.wrapped[i] = h.wrap(s.sims[i])
		}
	}
	server := httptest.NewServer(x.wrapped[through])
	t.Cleanup(server.Close)
	o := options(s.pool, server.URL)
	curating(&o)
	x.prices = o.Prices
	o.Failed = func(err error) { t.Errorf("the gateway: %v", err) }
	s.g = start(t, o)
	s.ends = [2]http.Handler{s.g, x.wrapped[direct]}
	x.stage = s
	return x
}

// say adds results, or words after a pause.
func (x *rawSession) say(label int) {
	var added []string
	if waiting := len(x.pending); waiting > 0 {
		var texts []string
		for i := range waiting {
			texts = append(texts, resultOf(label, i))
		}
		added = x.form.results(x.pending, texts)
	} else {
		if label > 0 {
			x.pass(30 * time.Hour)
		}
		text := fmt.Sprintf("[u%d] please do step %d of the work, zeroword", label, label)
		if x.habit.mute {
			text += "\n" + resultOf(label, 0)
		}
		added = []string{x.form.user(text)}
	}
	x.pending = nil
	for i := range x.lists {
		x.lists[i] = append(x.lists[i][:len(x.lists[i]):len(x.lists[i])], added...)
	}
}

// rawHeard is what came back to one end, as it came and as it is understood.
type rawHeard struct {
	heard
	stream bool
}

func (x *rawSession) send(end int, stream bool) rawHeard {
	body := x.form.body(or(x.habit.model, x.form.model), stream, x.lists[end])
	if x.habit.body != nil {
		body = x.habit.body(x.number, body)
	}
	c := quire.Call{Model: or(x.habit.model, x.form.model), Stream: stream}
	r, err := x.api.post(x.api.address(c)+x.habit.query, []byte(body.String()), x.key, "")
	if err != nil {
		x.t.Fatal(err)
	}
	for name, value := range x.habit.header {
		r.Header.Set(name, value)
	}
	w := answerOf(x.ends[end], r)
	h := heard{code: w.Code, body: w.Body.String()}
	h.reply, h.err = x.api.understand(w.Code, w.Header(), w.Body.Bytes())
	return rawHeard{h, stream && h.err == nil}
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// step asks once, at both ends, and takes the answers up; false where both refuse.
func (x *rawSession) step(label int) bool {
	x.t.Helper()
	x.say(label)
	stream := label%2 == 0
	a, b := x.send(through, stream), x.send(direct, stream)
	x.number++
	if a.code != b.code || (a.err == nil) != (b.err == nil) {
		x.t.Fatalf("request %d: through the gateway %d %s, without %d %s\nupstream got\n%s", x.number, a.code, a.body, b.code, b.body, x.latest())
	}
	if b.err != nil {
		if a.body != b.body {
			x.t.Fatalf("request %d: refused through the gateway with %s, without with %s", x.number, a.body, b.body)
		}
		return false
	}
	if m, n := unnamedEssence(a.reply), unnamedEssence(b.reply); m != n {
		x.t.Fatalf("request %d: through the gateway came\n%s\nand without\n%s\nupstream got\n%s", x.number, m, n, x.latest())
	}
	for i, h := range []rawHeard{a, b} {
		taken := x.form.made(h.reply)
		if !h.stream {
			taken = x.form.take(objectOf(h.body))
		}
		x.lists[i] = append(x.lists[i], taken...)
	}
	for _, c := range a.reply.Blocks {
		if c.Kind == quire.PartToolCall && c.Opaque == nil {
			x.pending = append(x.pending, c)
		}
	}
	return true
}

// sameLines are the lines of results, which say little.
func sameLines() *regexp.Regexp {
	return regexp.MustCompile(`(line \d+ of result \d of step \d+ says[a-z ]*\\+n)+`)
}

// unnamedEssence is that of an answer without the names of calls that have no id.
func unnamedEssence(r quire.Reply) string {
	return regexp.MustCompile(` as #\S+ `).ReplaceAllString(essence(r), " as # ")
}

// latest is the last request that came to the provider behind the gateway.
func (x *rawSession) latest() string {
	list := x.sims[through].Requests()
	if len(list) == 0 {
		return "nothing"
	}
	var b strings.Builder
	for _, q := range list[max(0, len(list)-2):] {
		body := sameLines().ReplaceAllString(strings.ReplaceAll(string(q.Body), kind, ""), "…")
		fmt.Fprintf(&b, "%d %s\n%s\n", q.Number, q.Refused, body[:min(len(body), 20_000)])
	}
	return b.String()
}

// run runs the session to its end.
func (x *rawSession) run() gateway.Totals {
	x.t.Helper()
	for label := range plot() {
		if !x.step(label) {
			if !x.habit.refused {
				x.t.Errorf("request %d is refused: %s", x.number, x.sims[direct].Requests()[x.number-1].Refused)
			}
			break
		}
	}
	n := x.g.Status().Totals
	stop(x.t, x.g)
	return n
}

// bill is what each end was asked for.
func (x *rawSession) bill() (spent [2]float64) {
	for i, s := range x.sims {
		for _, q := range s.Requests() {
			spent[i] += x.charge(q)
		}
	}
	return spent
}

// charge is what a request cost in US dollars, by the usage that was reported.
func (x *rawSession) charge(q sim.Request) float64 {
	m, ok := x.prices.Model(q.Model)
	if !ok {
		return 0
	}
	return m.Rates(q.At).Cost(price.Recorded(q.Usage), int(q.Usage.Output))
}

// books are the requests of both ends with what each cost.
func (x *rawSession) books() string {
	var b strings.Builder
	for i, s := range x.sims {
		fmt.Fprintln(&b, []string{"through the gateway", "without"}[i])
		for _, q := range s.Requests() {
			fmt.Fprintf(&b, "  %d %s: %d tokens, read %d, written %d, rest %d, out %d, $%.5f\n", q.Number, q.Model, q.Prompt, q.Usage.CacheRead, q.Usage.CacheWrite, q.Usage.Input, q.Usage.Output, x.charge(q))
		}
	}
	return b.String()
}
