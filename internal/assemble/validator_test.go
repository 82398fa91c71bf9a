package assemble

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/quire-agent/quire/internal/quire"
)

// A strict provider refuses what any real one would refuse. It shares no code
// with what it judges.
type strict struct {
	images, imageSide int
}

// digest is what the strict provider signs thinking with: everything before it.
type digest string

func (d digest) add(text string) digest {
	sum := sha256.Sum256([]byte(string(d) + "\n" + text))
	return digest(hex.EncodeToString(sum[:]))
}

func digestBlock(d digest, role quire.Role, b quire.Block) digest {
	sep := "\x00"
	d = d.add(role.String() + sep + b.Kind.String() + sep + b.Text + sep + b.Tool + sep + b.ToolUse + sep + b.Signature + sep + string(b.Opaque) + sep + b.Data)
	for _, c := range b.Content {
		d = digestBlock(d.add("("), role, c).add(")")
	}
	return d
}

func digestHead(c *quire.Call) digest {
	d := digest("").add(c.Model)
	for _, t := range c.Tools {
		d = d.add(t.Name + t.Description + string(t.Schema))
	}
	for _, b := range c.System {
		d = digestBlock(d, quire.RoleSystem, b)
	}
	return d
}

// digestCall is the digest of a whole prompt, and of each block's prefix.
func digestCall(c *quire.Call) (whole digest, each []digest) {
	d := digestHead(c)
	for _, m := range c.Messages {
		for _, b := range m.Blocks {
			d = digestBlock(d, m.Role, b)
			each = append(each, d)
		}
	}
	return d, each
}

// refuses is the reason for which a call is refused, "" for none.
func (s strict) refuses(c *quire.Call) string {
	for _, rule := range []func(*quire.Call) string{s.order, s.pairs, s.contents, s.thinking, s.marks} {
		if why := rule(c); why != "" {
			return why
		}
	}
	return ""
}

func (s strict) order(c *quire.Call) string {
	if len(c.Messages) == 0 {
		return "no messages"
	}
	if c.Messages[0].Role != quire.RoleUser {
		return "the first message is not of the user"
	}
	for i, m := range c.Messages {
		if len(m.Blocks) == 0 {
			return fmt.Sprintf("message %d is empty", i)
		}
		if i > 0 && m.Role == c.Messages[i-1].Role {
			return fmt.Sprintf("messages %d and %d are both of %s", i-1, i, m.Role)
		}
		if m.Role == quire.RoleTool && c.Messages[i-1].Role != quire.RoleAssistant {
			return fmt.Sprintf("message %d: results behind %s", i, c.Messages[i-1].Role)
		}
	}
	if c.Messages[len(c.Messages)-1].Role == quire.RoleAssistant {
		return "the last message is of the assistant"
	}
	return ""
}

func (s strict) pairs(c *quire.Call) string {
	seen := map[string]bool{}
	for i, m := range c.Messages {
		var calls, results []string
		for _, b := range m.Blocks {
			switch {
			case b.Opaque != nil:
			case b.Kind == quire.PartToolCall:
				if m.Role != quire.RoleAssistant {
					return fmt.Sprintf("message %d: a call of %s", i, m.Role)
				}
				if seen[b.ToolUse] {
					return "two calls " + b.ToolUse
				}
				seen[b.ToolUse] = true
				calls = append(calls, b.ToolUse)
			case b.Kind == quire.PartToolResult && m.Role != quire.RoleTool:
				return fmt.Sprintf("message %d: a result in a message of %s", i, m.Role)
			}
		}
		if i+1 < len(c.Messages) && c.Messages[i+1].Role == quire.RoleTool {
			for _, b := range c.Messages[i+1].Blocks {
				if b.Kind != quire.PartToolResult {
					return fmt.Sprintf("message %d: %s among results", i+1, b.Kind)
				}
				results = append(results, b.ToolUse)
			}
		}
		if m.Role != quire.RoleTool && strings.Join(calls, " ") != strings.Join(results, " ") {
			return fmt.Sprintf("message %d: calls %v, results %v", i, calls, results)
		}
	}
	return s.halves(c)
}

// halves looks at the pairs of the provider's own tools.
func (s strict) halves(c *quire.Call) string {
	open := map[string]int{}
	for _, m := range c.Messages {
		for _, b := range m.Blocks {
			if b.Opaque != nil && b.ToolUse != "" {
				open[b.ToolUse]++
			}
		}
	}
	for _, m := range c.Messages {
		for _, b := range m.Blocks {
			if b.Opaque != nil && b.ToolUse != "" && open[b.ToolUse] != 2 {
				return "half of the server tool pair " + b.ToolUse
			}
		}
	}
	return ""
}

func (s strict) contents(c *quire.Call) string {
	images := 0
	for i, m := range c.Messages {
		for j, b := range m.Blocks {
			if why := s.content(b, &images); why != "" {
				return fmt.Sprintf("message %d, block %d: %s", i, j, why)
			}
		}
	}
	if s.images > 0 && images > s.images {
		return fmt.Sprintf("%d images", images)
	}
	return ""
}

func (s strict) content(b quire.Block, images *int) string {
	switch {
	case !utf8.ValidString(b.Text):
		return "not UTF-8"
	case b.Opaque != nil:
	case b.Kind == quire.PartToolCall && !json.Valid([]byte(b.Text)):
		return "arguments are not JSON"
	case b.Kind == quire.PartToolCall && !strings.HasPrefix(b.Text, "{"):
		return "arguments are no object"
	case b.Kind == quire.PartImage:
		*images++
		if s.imageSide > 0 && max(b.Media.Width, b.Media.Height) > s.imageSide {
			return "an image is too large"
		}
	case b.Kind == quire.PartUser || b.Kind == quire.PartMachine || b.Kind == quire.PartText:
		if strings.TrimSpace(b.Text) == "" {
			return "an empty text"
		}
	}
	for _, c := range b.Content {
		if why := s.content(c, images); why != "" {
			return why
		}
	}
	return ""
}

// thinking is signed with the digest of all that is before it.
func (s strict) thinking(c *quire.Call) string {
	d := digestHead(c)
	for i, m := range c.Messages {
		for j, b := range m.Blocks {
			if b.Kind == quire.PartThinking && b.Signature != string(d) {
				return fmt.Sprintf("message %d, block %d: thinking that was made for another prefix", i, j)
			}
			d = digestBlock(d, m.Role, b)
		}
	}
	return ""
}

func (s strict) marks(c *quire.Call) string {
	var list []quire.Mark
	add := func(m quire.Mark) {
		if m != quire.MarkNone {
			list = append(list, m)
		}
	}
	for _, t := range c.Tools {
		add(t.Cache)
	}
	for _, b := range c.System {
		add(b.Cache)
	}
	for _, m := range c.Messages {
		for _, b := range m.Blocks {
			if b.Cache != quire.MarkNone && b.Kind == quire.PartThinking {
				return "a mark on thinking"
			}
			add(b.Cache)
		}
	}
	if len(list) > 4 {
		return fmt.Sprintf("%d marks", len(list))
	}
	for i := 1; i < len(list); i++ {
		if list[i] > list[i-1] {
			return "a long mark behind a short one"
		}
	}
	return ""
}
