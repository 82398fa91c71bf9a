package search

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"github.com/quire-agent/quire/internal/tool"
	"github.com/quire-agent/quire/internal/x/walk"
)

//go:embed find.md
var findPrompt string

type findArgs struct {
	Pattern string `json:"pattern" jsonschema:"a glob"`
	Path    string `json:"path,omitempty" jsonschema:"the folder to look in"`
}

// maxFound bounds what is listed.
const maxFound = 1000

func (s *Search) find() tool.Tool {
	return tool.New("find", findPrompt, func(a findArgs) tool.Want { return looks(a.Path) }, s.runFind)
}

func (s *Search) runFind(ctx context.Context, a findArgs) (tool.Result, error) {
	rel, file, failed := s.place(a.Path)
	switch {
	case failed != nil:
		return *failed, nil
	case file:
		return tool.Failed("%s is a file; path is the folder to look in.", a.Path), nil
	case a.Pattern == "":
		return tool.Failed("pattern is empty; use list for what is in a folder."), nil
	}
	var b strings.Builder
	count := 0
	for e, err := range walk.Project(s.fence.Root().FS(), rel, walk.Options{Folders: true}) {
		if stop := stopped(ctx); stop != nil {
			return tool.Failed("%v.", stop), nil
		}
		if err != nil || !matches(a.Pattern, rel, e.Path) {
			continue
		}
		if count++; count > maxFound {
			continue
		}
		b.WriteString(e.Path)
		if e.Entry.IsDir() {
			b.WriteByte('/')
		}
		b.WriteByte('\n')
	}
	switch {
	case count == 0:
		return tool.Result{Text: "(nothing found)"}, nil
	case count > maxFound:
		fmt.Fprintf(&b, "[%d more; use a narrower pattern or path]\n", count-maxFound)
	}
	return tool.Result{Text: b.String()}, nil
}
