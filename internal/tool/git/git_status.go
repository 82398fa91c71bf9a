package git

import (
	"context"
	_ "embed"

	"github.com/quire-agent/quire/internal/tool"
)

//go:embed git_status.md
var statusPrompt string

type statusArgs struct {
	Path string `json:"path,omitempty" jsonschema:"a file or folder"`
}

func (r *Repository) status() tool.Tool {
	return tool.New("git_status", statusPrompt, func(a statusArgs) tool.Want { return looks(a.Path) },
		func(ctx context.Context, a statusArgs) (tool.Result, error) {
			return r.at(ctx, a.Path, "", "status", "--short", "--branch", "--untracked-files=normal")
		})
}
