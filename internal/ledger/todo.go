package ledger

import (
	"encoding/json"
	"regexp"
	"strings"
)

// A todo is what a call does to the todo list of its task.
type todo struct {
	set    []item // the whole list, newest state
	plan   string // a plan in prose
	create string // an item that is added
	id     string // of the item that is added or changed
	state  string // its new state, "" to leave it
	text   string // its new text, "" to leave it
}

// An item is one entry of a todo list.
type item struct{ id, text, state string }

// The states of an item, whatever the tool calls them.
const (
	stateOpen = "open"
	stateNow  = "in work"
	stateDone = "done"
	stateGone = "dropped"
)

// todoArgs are the arguments of the tools that keep todo lists. Names differ only
// between tools, so that one shape reads them all.
type todoArgs struct {
	Todos       json.RawMessage `json:"todos"`
	TodoList    json.RawMessage `json:"todoList"`
	Items       json.RawMessage `json:"items"`
	Plan        json.RawMessage `json:"plan"`
	Subject     string          `json:"subject"`
	Description string          `json:"description"`
	TaskID      json.RawMessage `json:"taskId"`
	Status      string          `json:"status"`
}

// todoItem is one entry as a tool is given it.
type todoItem struct {
	ID        json.RawMessage `json:"id"`
	Content   string          `json:"content"`
	Step      string          `json:"step"`
	Title     string          `json:"title"`
	Text      string          `json:"text"`
	Status    string          `json:"status"`
	State     string          `json:"state"`
	Completed bool            `json:"completed"`
}

// parseTodo reads the call of a tool that keeps a todo list or a plan. Any other
// call, and arguments that are cut off, do nothing to it.
func parseTodo(tool, args string) todo {
	var a todoArgs
	if !planning(tool) || json.Unmarshal([]byte(args), &a) != nil {
		return todo{}
	}
	for _, raw := range []json.RawMessage{a.Todos, a.TodoList, a.Items, a.Plan} {
		if items := parseItems(raw); len(items) > 0 {
			return todo{set: items}
		}
	}
	if id := bare(a.TaskID); id != "" {
		return todo{id: id, state: stateIf(a.Status), text: a.Subject}
	}
	return todo{create: a.Subject, plan: bare(a.Plan)}
}

// planning reports whether a tool keeps todos or plans, by its name.
func planning(tool string) bool {
	name := strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(tool))
	for _, part := range []string{"todo", "plan", "taskcreate", "taskupdate"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

func parseItems(raw json.RawMessage) []item {
	var list []todoItem
	if text := bare(raw); text != "" && json.Unmarshal([]byte(text), &list) != nil {
		return checkboxes(text)
	}
	if len(list) == 0 && json.Unmarshal(raw, &list) != nil {
		return nil
	}
	var items []item
	for _, i := range list {
		text := firstOf(i.Content, i.Step, i.Title, i.Text)
		if text == "" {
			continue
		}
		state := stateOf(firstOf(i.Status, i.State))
		if i.Completed {
			state = stateDone
		}
		items = append(items, item{id: bare(i.ID), text: text, state: state})
	}
	return items
}

var checkbox = regexp.MustCompile(`(?m)^[ \t]*(?:[-*+]|\d+[.)])[ \t]+\[([ xX~>-])\][ \t]+(.+?)[ \t\r]*$`)

// checkboxes reads a list in Markdown.
func checkboxes(text string) []item {
	var items []item
	for _, m := range checkbox.FindAllStringSubmatch(text, -1) {
		state := stateOpen
		switch m[1] {
		case "x", "X":
			state = stateDone
		case "~", ">", "-":
			state = stateNow
		}
		items = append(items, item{text: m[2], state: state})
	}
	return items
}

// bare is a JSON string or number as text, "" for anything else.
func bare(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var n json.Number
	if json.Unmarshal(raw, &n) == nil {
		return n.String()
	}
	return ""
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

func stateIf(status string) string {
	if status == "" {
		return ""
	}
	return stateOf(status)
}

// stateOf reads the name of a state.
func stateOf(status string) string {
	switch strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(status)) {
	case "completed", "complete", "done", "finished":
		return stateDone
	case "inprogress", "active", "doing", "started", "running":
		return stateNow
	case "cancelled", "canceled", "deleted", "skipped":
		return stateGone
	}
	return stateOpen
}

var created = regexp.MustCompile(`(?i)^\s*(?:created )?task #?(\w+)[: ]*(?:was )?(?:created)?`)

// createdID is the id that a tool gave to a new item.
func createdID(result string) string {
	if m := created.FindStringSubmatch(result[:min(len(result), 200)]); m != nil {
		return strings.Clone(m[1])
	}
	return ""
}

// A board is the todo list of a task as it stands, with its plan.
type board struct {
	items []item
	plan  string
}

// apply puts a call on the board. The newest state of everything wins.
func (b *board) apply(t todo) {
	switch {
	case t.set != nil:
		b.items = t.set
	case t.create != "":
		b.items = append(b.items[:len(b.items):len(b.items)], item{id: t.id, text: t.create, state: stateOpen})
	case t.state != "" || t.text != "":
		b.change(t)
	}
	if t.plan != "" {
		b.plan = t.plan
	}
}

func (b *board) change(t todo) {
	items := append([]item(nil), b.items...)
	for i := range items {
		if items[i].id == t.id {
			items[i].state = firstOf(t.state, items[i].state)
			items[i].text = firstOf(t.text, items[i].text)
		}
	}
	b.items = items
}
