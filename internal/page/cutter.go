package page

import (
	"strings"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/x/recent"
)

// A Cutter cuts the parts of a session into pages and numbers them from 1 in
// the order in which they are admitted. It keeps the pages of the last tool
// calls, but no body, and its memory does not grow with a session. The zero Cutter is ready; it belongs to one goroutine.
type Cutter struct {
	last  quire.PageNumber
	tools recent.Map[quire.Page] // by tool use: what its result belongs to
}

// open is how many tool calls may at least be waiting for their results: far
// more than any agent makes at once.
const open = 4096

// Cut takes the next part of the prompt, [quire.Entered] and [quire.Answered]
// in the order of the record, and the number of the first call, from 0, whose
// prompt holds it. It returns the pages that the part begins or completes; a
// page whose number was returned before replaces the earlier one.
//
// A tool call and its result are one page, numbered at the call; its body is the
// result, and until that comes Body is zero and Bytes is 0. A further text
// result of the same call takes the place of the first. What a call writes to a
// file is a page of its own behind it. A result without a known call is a page
// too, and so is each image and each document, those in tool results included;
// their bodies are the bytes that [quire.Media] describes.
// Thinking is in no page. Tokens are left to who can count.
func (c *Cutter) Cut(p quire.Part, call int) []quire.Page {
	switch p.Kind {
	case quire.PartThinking:
		return nil
	case quire.PartToolCall:
		return c.call(p, call)
	case quire.PartToolResult:
		return []quire.Page{c.result(p, call)}
	}
	page := c.admit(plain(p), p.Text, call)
	if p.Media != nil {
		page.Bytes, page.Body = p.Media.Bytes, p.Media.Hash
	}
	return []quire.Page{page}
}

// admit numbers a page and gives it its body.
func (c *Cutter) admit(p quire.Page, body string, call int) quire.Page {
	c.last++
	p.Number = c.last
	return filled(p, body, call)
}

func filled(p quire.Page, body string, call int) quire.Page {
	p.Call, p.Bytes, p.Body = call, len(body), quire.Sum(body)
	return p
}

func (c *Cutter) call(p quire.Part, call int) []quire.Page {
	d := Describe(p.Tool, p.Text)
	target := strings.Clone(d.Target) // a part of the arguments would keep all of them
	c.last++
	tool := quire.Page{Number: c.last, Kind: quire.PageTool, Tool: p.Tool, Action: d.Action, Target: target, Lines: d.Lines, Call: call}
	c.tools.Limit = open
	c.tools.Put(p.ToolUse, tool)
	if d.New == "" {
		return []quire.Page{tool}
	}
	written := quire.Page{Kind: quire.PageWritten, Class: Classify(d.Action, d.Target, d.New), Tool: p.Tool, Action: d.Action, Target: target}
	return []quire.Page{tool, c.admit(written, d.New, call)}
}

func (c *Cutter) result(p quire.Part, call int) quire.Page {
	tool, ok := c.tools.Get(p.ToolUse)
	if !ok {
		c.last++
		tool = quire.Page{Number: c.last, Kind: quire.PageTool, Tool: p.Tool}
	}
	tool.Class = Classify(tool.Action, tool.Target, p.Text)
	return filled(tool, p.Text, call)
}

// plain describes a part that is a page by itself.
func plain(p quire.Part) quire.Page {
	switch p.Kind {
	case quire.PartUser:
		return quire.Page{Kind: quire.PageUser, Class: quire.ClassProse}
	case quire.PartText:
		return quire.Page{Kind: quire.PageAssistant, Class: quire.ClassProse}
	case quire.PartImage:
		return quire.Page{Kind: quire.PageImage, Class: quire.ClassImage, Tool: p.Tool}
	case quire.PartDocument:
		return quire.Page{Kind: quire.PageDocument, Class: quire.ClassProse, Tool: p.Tool}
	case quire.PartSystem:
		return quire.Page{Kind: quire.PageSystem, Class: quire.ClassProse}
	case quire.PartTools:
		return quire.Page{Kind: quire.PageSystem, Class: quire.ClassJSON}
	}
	return quire.Page{Kind: quire.PageMachine, Class: Classify(quire.ActionNone, "", p.Text)}
}
