package fs

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"github.com/quire-agent/quire/internal/tool"
	"github.com/quire-agent/quire/internal/x/walk"
)

//go:embed list.md
var listPrompt string

type listArgs struct {
	Path    string `json:"path,omitempty" jsonschema:"the folder"`
	Depth   int    `json:"depth,omitempty" jsonschema:"levels to show, 1 without it"`
	Ignored bool   `json:"ignored,omitempty" jsonschema:"show what .gitignore leaves out"`
}

// maxEntries bounds a listing in lines.
const maxEntries = 1000

func (f *Files) list() tool.Tool {
	return tool.New("list", listPrompt, func(a listArgs) tool.Want { return reads(or(a.Path, ".")) }, f.runList)
}

func or(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

func (f *Files) runList(ctx context.Context, a listArgs) (tool.Result, error) {
	rel, failed := f.resolve(or(a.Path, "."))
	if failed != nil {
		return *failed, nil
	}
	info, err := f.fence.Root().Stat(rel)
	switch {
	case err != nil:
		return tool.Failed("%s cannot be listed: %v.", or(a.Path, "."), err), nil
	case !info.IsDir():
		return tool.Failed("%s is a file: use read.", a.Path), nil
	}
	lines, more := f.entries(ctx, rel, max(a.Depth, 1), a.Ignored)
	if len(lines) == 0 {
		return tool.Result{Text: "(nothing in it)"}, nil
	}
	text := strings.Join(lines, "\n") + "\n"
	if more > 0 {
		text += fmt.Sprintf("[%d more; list a folder below, or use find with a pattern]\n", more)
	}
	return tool.Result{Text: text}, nil
}

// entries walks a folder as deep as asked. What is deeper is passed over.
func (f *Files) entries(ctx context.Context, dir string, depth int, ignored bool) (lines []string, more int) {
	for e, err := range walk.Project(f.fence.Root().FS(), dir, walk.Options{Folders: true, Ignored: ignored, Depth: depth}) {
		if ctx.Err() != nil {
			return lines, more
		}
		line := e.Path
		switch {
		case err != nil:
			line = fmt.Sprintf("%s: %v", e.Path, err)
		case e.Entry.IsDir():
			line += "/"
		}
		if len(lines) == maxEntries {
			more++
			continue
		}
		lines = append(lines, line)
	}
	return lines, more
}
