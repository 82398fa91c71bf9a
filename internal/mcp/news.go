package mcp

import (
	"fmt"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A Report says what became of the servers. Lists are by name.
type Report struct {
	Connected []Connected `json:"connected"`
	Failed    []NotThere  `json:"failed"`
	Skipped   []NotThere  `json:"skipped"`
	Pending   []NotThere  `json:"pending"`
	Tools     int         `json:"toolCount"`
}

// A Connected server.
type Connected struct {
	Scope Scope  `json:"scope"`
	Name  string `json:"name"`
	Tools int    `json:"toolCount"`
}

// A NotThere server, and why.
type NotThere struct {
	Scope  Scope  `json:"scope"`
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// Report is the state now.
func (h *Hub) Report() Report {
	r := Report{Connected: []Connected{}, Failed: []NotThere{}, Skipped: []NotThere{}, Pending: []NotThere{}}
	for _, l := range h.servers {
		l.report(&r)
	}
	return r
}

func (l *link) report(r *Report) {
	l.mu.Lock()
	defer l.mu.Unlock()
	not := NotThere{Scope: l.Scope, Name: l.Name, Reason: l.Skip}
	switch {
	case l.Skip != "":
		r.Skipped = append(r.Skipped, not)
	case l.session != nil:
		r.Connected = append(r.Connected, Connected{l.Scope, l.Name, len(l.tools)})
		r.Tools += len(l.tools)
	case l.err != nil:
		not.Reason = l.err.Error()
		r.Failed = append(r.Failed, not)
	default:
		not.Reason = "it has not answered yet"
		r.Pending = append(r.Pending, not)
	}
}

// changed notes what a server's list has now, where the agent's list is fixed. The
// caller holds the link.
func (h *Hub) changed(server string, was, now []*sdk.Tool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.fixed {
		return
	}
	var lines []string
	for _, t := range now {
		if old := named(was, t.Name); old == nil || declared(old) != declared(t) {
			lines = append(lines, describe(server, t))
		}
	}
	for _, t := range was {
		if named(now, t.Name) == nil {
			lines = append(lines, "- "+toolName(server, t.Name)+" is not there any more")
		}
	}
	if len(lines) > 0 {
		h.news = append(h.news, fmt.Sprintf("The tools of the server %s changed. %s calls what is new:\n%s", server, CallName, strings.Join(lines, "\n")))
	}
}

func named(list []*sdk.Tool, name string) *sdk.Tool {
	i := slices.IndexFunc(list, func(t *sdk.Tool) bool { return t.Name == name })
	if i < 0 {
		return nil
	}
	return list[i]
}

// News are the messages about changes of the lists since the last time, each to be
// appended once.
func (h *Hub) News() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	news := h.news
	h.news = nil
	return news
}

// maxDescribed bounds what a message says of one tool, in bytes.
const maxDescribed = 2000

// describe is a tool as a message has it.
func describe(server string, t *sdk.Tool) string {
	text := fmt.Sprintf("- %s: %s Arguments: %s", toolName(server, t.Name), strings.Join(strings.Fields(t.Description), " "), schemaOf(t))
	if len(text) > maxDescribed {
		text = strings.ToValidUTF8(text[:maxDescribed], "") + " …"
	}
	return text
}
