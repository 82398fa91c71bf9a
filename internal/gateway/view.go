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
	tools := newSum("tools")
	for _, t := range call.Tools {
		tools.fields(t.Name, t.Type, t.Description, argumentsOf(string(t.Schema)))
	}
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
	v.after, _ = rawjson.TextOf(rawjson.Get(call.Rest, "previous_response_id"))
	v.project = v.projectOf()
	return v
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

// projectOf looks where clients say it: in front, and in the first two messages.
func (v *view) projectOf() string {
	lists := [][]quire.Block{v.call.System}
	for i := 0; i < len(v.messages) && i < 2; i++ {
		lists = append(lists, v.messages[i].Blocks)
	}
	for _, blocks := range lists {
		for i := range blocks {
			if m := places.FindStringSubmatch(blocks[i].Text); m != nil {
				return strings.TrimSpace(m[1])
			}
		}
	}
	return ""
}
