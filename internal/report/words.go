package report

import (
	"strings"

	"github.com/quire-agent/quire/internal/audit"
	"github.com/quire-agent/quire/internal/quire"
)

// kindWords says in plain words what content is.
func kindWords(k audit.Kind) string {
	switch k {
	case audit.KindSystem:
		return "instructions and tool descriptions"
	case audit.KindUser:
		return "your own words"
	case audit.KindMachine:
		return "reminders the agent adds by itself"
	case audit.KindSummary:
		return "summaries of what was dropped"
	case audit.KindText:
		return "the model's own earlier text"
	case audit.KindThinking:
		return "the model's earlier thinking"
	case audit.KindToolCall:
		return "the model's earlier requests and edits"
	case audit.KindRead:
		return "files it read"
	case audit.KindRun:
		return "output of commands"
	case audit.KindSearch:
		return "search results and listings"
	case audit.KindMedia:
		return "images and documents"
	case audit.KindSide:
		return "helper agents, all they were sent"
	case audit.KindOutput:
		return "new text from the model"
	default:
		return "output of other tools"
	}
}

// policyWords says in plain words what a policy does.
func policyWords(name string) string {
	size, lru := strings.CutPrefix(name, "lru@")
	switch {
	case lru:
		return "keep only the " + size + " tokens used last"
	case name == "quire":
		return "Quire: keep what is likely to be needed"
	case name == "append":
		return "send everything every time"
	case name == "compact":
		return "summarise when the window is nearly full"
	case name == "keep-last-10":
		return "keep only the last 10 tool results"
	case name == "clear-tool-uses":
		return "clear old tool results at 100k tokens"
	case name == "fifo-4":
		return "shorten results after 4 of your messages"
	case name == "cold-idle-5":
		return "after a pause, drop results idle for 5 calls"
	case name == "fresh":
		return "begin each session anew"
	case name == "oracle-cold":
		return "knowing the future, change only after pauses"
	case name == "oracle-any":
		return "knowing the future, change at any time"
	default:
		return name
	}
}

// causeWords says in plain words why cached text was paid for again.
func causeWords(c audit.Cause) string {
	switch c {
	case audit.CauseCompaction:
		return "the agent replaced the conversation by a summary"
	case audit.CauseEdit:
		return "earlier text was changed, cut or taken back"
	case audit.CauseModel:
		return "another model took over"
	case audit.CauseIdle:
		return "a pause longer than the provider's cache lives"
	default:
		return "no cause in the record; the provider lost it"
	}
}

// pageWords says in plain words what a page without a target is.
func pageWords(k quire.PageKind) string {
	switch k {
	case quire.PageSystem:
		return "instructions of the agent"
	case quire.PageMachine:
		return "text the agent added by itself"
	case quire.PageAssistant:
		return "text of the model"
	case quire.PageUser:
		return "your words"
	default:
		return k.String()
	}
}
