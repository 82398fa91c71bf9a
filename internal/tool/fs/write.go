package fs

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/tool"
	"github.com/quire-agent/quire/internal/undo"
)

//go:embed write.md
var writePrompt string

type writeArgs struct {
	Path    string `json:"path" jsonschema:"the file"`
	Content string `json:"content" jsonschema:"all of its text"`
}

func (f *Files) write() tool.Tool {
	return tool.New("write", writePrompt, func(a writeArgs) tool.Want { return writes(a.Path) }, f.runWrite)
}

func (f *Files) runWrite(ctx context.Context, a writeArgs) (tool.Result, error) {
	f.changing.Lock()
	defer f.changing.Unlock()
	rel, failed := f.resolve(a.Path)
	if failed != nil {
		return *failed, nil
	}
	verb, failed := f.replaceable(rel, a)
	if failed != nil {
		return *failed, nil
	}
	said := fmt.Sprintf("%s %s: %d lines, %d bytes.", verb, a.Path, len(splitLines(a.Content)), len(a.Content))
	return f.finish(ctx, []write{{path: rel, data: []byte(a.Content)}}, tool.Result{Text: said})
}

// replaceable says what writing a file is, or why it cannot be.
func (f *Files) replaceable(rel string, a writeArgs) (verb string, failed *tool.Result) {
	fail := func(format string, args ...any) (string, *tool.Result) {
		r := tool.Failed(format, args...)
		return "", &r
	}
	state, data, err := f.tree.State(rel)
	switch {
	case err != nil:
		return fail("%s cannot be written: %v.", a.Path, err)
	case state.Kind == undo.None:
		return "Made", nil
	case state.Kind == undo.Folder:
		return fail("%s is a folder.", a.Path)
	case state.Kind != undo.File:
		return fail("%s is not an ordinary file.", a.Path)
	case f.sawOf(rel) == (quire.Hash{}) && len(data) > 0:
		return fail("%s exists (%d bytes) and you have not read it. Nothing was changed. Read it first, or use edit.", a.Path, len(data))
	}
	return "Replaced", f.stale(rel, a.Path, data)
}
