package search

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/quire-agent/quire/internal/permit"
	"github.com/quire-agent/quire/internal/tool"
	"github.com/quire-agent/quire/internal/x/fence"
	"github.com/quire-agent/quire/internal/x/walk"
)

// Search looks through a project.
type Search struct {
	fence   *fence.Fence
	ripgrep string
}

// New makes it. ripgrep is the path of the program, "" where there is none.
func New(f *fence.Fence, ripgrep string) *Search { return &Search{f, ripgrep} }

// Tools are the tools over it, in the order in which they are declared.
func (s *Search) Tools() []tool.Tool { return []tool.Tool{s.find(), s.grep()} }

func looks(path string) tool.Want {
	return tool.Want{Request: permit.Request{Reads: []string{or(path, ".")}}}
}

func or(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

// place resolves where to look: a folder, or a single file.
func (s *Search) place(path string) (rel string, file bool, failed *tool.Result) {
	rel, err := s.fence.Resolve(or(path, "."))
	if err != nil {
		r := tool.Failed("%v.", err)
		return "", false, &r
	}
	info, err := s.fence.Root().Stat(rel)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r := tool.Failed("%s does not exist.", path)
		return "", false, &r
	case err != nil:
		r := tool.Failed("%s cannot be searched: %v.", path, err)
		return "", false, &r
	}
	return rel, !info.IsDir(), nil
}

// matches reports whether a path fits a glob: one without a slash is about the
// last element, one with a slash about the path below the folder searched.
func matches(glob, dir, name string) bool {
	if glob == "" {
		return true
	}
	if dir != "." {
		name = name[len(dir)+1:]
	}
	return walk.Match(glob, name) || walk.Match("**/"+glob, name)
}

// stopped says that the call was interrupted.
func stopped(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("interrupted: %w", err)
	}
	return nil
}
