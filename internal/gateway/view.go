package gateway

import (
	"regexp"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

// A view is what a client sent in one call: its message list with what stands in
// front of it.
type view struct {
	call     quire.Call
	messages []message
	keys     []readKey // for each message of the call, what its bytes are known by; nil where they were read as a whole
	system   quire.Hash
	tools    quire.Hash
	offers   bool   // it declares tools
	carries  bool   // its tools stand among the messages
	after    string // id of the answer that it goes on from, where it does not carry its whole input (G12)
	project  string // working directory of the client, as its texts say it; "" where they do not
}

func newView(call quire.Call) *view {
	v := &view{call: call, offers: len(call.Tools) > 0}
	var rest []quire.Message
	tools := toolsOf(call.Tools)
	for _, m := range call.Messages {
		if raw := carriedTools(m); raw != nil {
			tools.fields(string(canonJSON(raw)))
			v.offers, v.carries = true, true
			continue
		}
		rest = append(rest, m)
	}
	v.tools = tools.end()
	v.system = systemOf(call.System)
	v.messages = canonical(rest)
	v.look()
	return v
}

// look finds what else a view says.
func (v *view) look() {
	v.after, _ = rawjson.TextOf(rawjson.Get(v.call.Rest, "previous_response_id"))
	v.project = v.projectOf()
}

// toolsOf hashes a list of tools. What they are called besides may be added.
func toolsOf(list []quire.ToolSpec) summer {
	s := newSum("tools")
	for _, t := range list {
		s.fields(t.Name, t.Type, t.Description, argumentsOf(string(t.Schema)))
	}
	return s
}

// carriedTools is the declaration of tools that a message of a Responses call can
// be, nil for another message.
func carriedTools(m quire.Message) []byte {
	if len(m.Blocks) != 1 || m.Blocks[0].Opaque == nil {
		return nil
	}
	raw := m.Blocks[0].Opaque
	if kind, _ := rawjson.TextOf(rawjson.Get(rawjson.Members(raw), "type")); kind != "additional_tools" {
		return nil
	}
	return raw
}

// systemOf hashes what stands in front. A header that clients write there for the
// bill changes from call to call and says nothing (G9).
func systemOf(blocks []quire.Block) quire.Hash {
	s := newSum("system")
	for i := range blocks {
		if !billing(&blocks[i]) {
			s.block(&blocks[i])
		}
	}
	return s.end()
}

func billing(b *quire.Block) bool { return strings.HasPrefix(b.Text, "x-anthropic-billing-header:") }

// places are the ways in which clients name their working directory.
var places = regexp.MustCompile(`(?m)(?:^\s*(?:- )?(?:Primary w|Current w|W|w)orking directory: |<cwd>)([^\n<]{1,300})`)

// placeIn is the place that a text names, "" for none. The text is searched for words
// first, which takes a hundredth of the time.
func placeIn(text string) string {
	for _, word := range []string{"orking directory: ", "<cwd>"} {
		for rest := text; ; {
			at := strings.Index(rest, word)
			if at < 0 {
				break
			}
			line := rest[strings.LastIndexByte(rest[:at], '\n')+1:]
			end := strings.IndexByte(line, '\n')
			if end < 0 {
				end = len(line)
			}
			if m := places.FindStringSubmatch(line[:min(end, longestLine)]); m != nil {
				return strings.TrimSpace(m[1])
			}
			rest = rest[at+len(word):]
		}
	}
	return ""
}

// longestLine is as much of a line as is looked at for a place.
const longestLine = 1000

// projectOf looks where clients say it: in front, and in the first two messages.
func (v *view) projectOf() string {
	lists := [][]quire.Block{v.call.System}
	for i := 0; i < len(v.messages) && i < 2; i++ {
		lists = append(lists, v.messages[i].Blocks)
	}
	for _, blocks := range lists {
		for i := range blocks {
			if at := placeIn(blocks[i].Text); at != "" {
				return at
			}
		}
	}
	return ""
}
