package script

import (
	"slices"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
)

// A view is what conditions see of a call. Texts are made when first asked for.
type view struct {
	call   *quire.Call
	number int
	texts  map[subject]string
}

func newView(c *quire.Call, number int) *view {
	return &view{call: c, number: number, texts: map[subject]string{}}
}

// text is what stands in a place.
func (v *view) text(about subject) string {
	text, ok := v.texts[about]
	if !ok {
		text = v.read(about)
		v.texts[about] = text
	}
	return text
}

func (v *view) read(about subject) string {
	switch about {
	case aboutModel:
		return v.call.Model
	case aboutSystem:
		return join(nil, v.call.System)
	case aboutUser:
		return v.user()
	case aboutResult:
		return v.results()
	}
	texts := []string{join(nil, v.call.System)}
	for _, m := range v.call.Messages {
		texts = append(texts, join(nil, m.Blocks))
	}
	return strings.Join(texts, "\n")
}

// user is the newest message in which the user says something.
func (v *view) user() string {
	ofUser := func(b quire.Block) bool { return b.Kind == quire.PartUser && b.Text != "" }
	for _, m := range slices.Backward(v.call.Messages) {
		if m.Role == quire.RoleUser && slices.ContainsFunc(m.Blocks, ofUser) {
			return join(ofUser, m.Blocks)
		}
	}
	return ""
}

// results are what stands of results behind the last answer.
func (v *view) results() string {
	from := len(v.call.Messages)
	for from > 0 && v.call.Messages[from-1].Role != quire.RoleAssistant {
		from--
	}
	isResult := func(b quire.Block) bool { return b.Kind == quire.PartToolResult }
	var texts []string
	for _, m := range v.call.Messages[from:] {
		if text := join(isResult, m.Blocks); text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n")
}

// join is the texts of the blocks that are wanted, nil for all, line by line.
func join(want func(quire.Block) bool, blocks []quire.Block) string {
	var texts []string
	for _, b := range blocks {
		if want != nil && !want(b) {
			continue
		}
		if b.Text != "" {
			texts = append(texts, b.Text)
		}
		if inner := join(nil, b.Content); inner != "" {
			texts = append(texts, inner)
		}
	}
	return strings.Join(texts, "\n")
}

func (v *view) answered(id string) bool {
	for _, m := range v.call.Messages {
		for _, b := range m.Blocks {
			if b.Kind == quire.PartToolResult && b.ToolUse == id {
				return true
			}
		}
	}
	return false
}

func (v *view) declares(tool string) bool {
	return slices.ContainsFunc(v.call.Tools, func(t quire.ToolSpec) bool { return t.Name == tool })
}

// holds reports whether a condition does, with the groups of one that matches.
func (c condition) holds(v *view) (groups []string, ok bool) {
	switch {
	case c.about == aboutAnswered:
		ok = v.answered(c.text)
	case c.about == aboutTool:
		ok = v.declares(c.text)
	case c.about == aboutCall:
		ok = c.from <= v.number && v.number <= c.to
	case c.form != nil:
		groups = c.form.FindStringSubmatch(v.text(c.about))
		ok = groups != nil
	default:
		ok = strings.Contains(v.text(c.about), c.text)
	}
	return groups, ok != c.not
}
