package todo

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/quire-agent/quire/internal/tool"
)

//go:embed todo.md
var prompt string

// Name is the tool's.
const Name = "todo"

// The states of an item.
const (
	Pending    = "pending"
	InProgress = "in_progress"
	Done       = "done"
)

// The bounds of a list.
const (
	maxItems = 100
	maxItem  = 500 // bytes
)

// An Item is one thing to do.
type Item struct {
	Content string `json:"content" jsonschema:"what is to be done, one line"`
	Status  string `json:"status" jsonschema:"pending, in_progress or done"`
}

// A List is the agent's. Its methods may be called concurrently.
type List struct {
	mu    sync.Mutex
	items []Item
}

// Items are the things on the list, in their order. The slice is the caller's.
func (l *List) Items() []Item {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.items)
}

// Set replaces the list: a session that is resumed has one already.
func (l *List) Set(items []Item) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.items = slices.Clone(items)
}

type args struct {
	Todos []Item `json:"todos" jsonschema:"the whole list"`
}

// Tool is the tool that replaces the list.
func (l *List) Tool() tool.Tool {
	return tool.New(Name, prompt, func(args) tool.Want { return tool.Want{Serial: true} }, l.run)
}

func (l *List) run(_ context.Context, a args) (tool.Result, error) {
	if why := fault(a.Todos); why != "" {
		return tool.Failed("%s. The list is as it was.", why), nil
	}
	l.Set(a.Todos)
	done := 0
	for _, i := range a.Todos {
		if i.Status == Done {
			done++
		}
	}
	return tool.Result{Text: fmt.Sprintf("%d of %d done.", done, len(a.Todos))}, nil
}

// fault says what is wrong with a list, "" for nothing.
func fault(items []Item) string {
	if len(items) > maxItems {
		return fmt.Sprintf("%d things are too many: at most %d, join small ones", len(items), maxItems)
	}
	working := 0
	for n, i := range items {
		switch {
		case strings.TrimSpace(i.Content) == "":
			return fmt.Sprintf("thing %d says nothing", n+1)
		case len(i.Content) > maxItem:
			return fmt.Sprintf("thing %d is longer than %d bytes", n+1, maxItem)
		case !slices.Contains([]string{Pending, InProgress, Done}, i.Status):
			return fmt.Sprintf("thing %d has status %q: want pending, in_progress or done", n+1, i.Status)
		case i.Status == InProgress:
			working++
		}
	}
	if working > 1 {
		return fmt.Sprintf("%d things are in_progress: at most one can be", working)
	}
	return ""
}
