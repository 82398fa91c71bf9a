package git

import (
	"context"
	_ "embed"

	"github.com/quire-agent/quire/internal/tool"
)

//go:embed git_diff.md
var diffPrompt string

type diffArgs struct {
	Path     string `json:"path,omitempty" jsonschema:"a file or folder"`
	Staged   bool   `json:"staged,omitempty" jsonschema:"what is staged"`
	Revision string `json:"revision,omitempty" jsonschema:"a commit, or two with .. between them"`
	Stat     bool   `json:"stat,omitempty" jsonschema:"files and counts only"`
}

func (r *Repository) diff() tool.Tool {
	return tool.New("git_diff", diffPrompt, func(a diffArgs) tool.Want { return looks(a.Path) }, r.runDiff)
}

func (r *Repository) runDiff(ctx context.Context, a diffArgs) (tool.Result, error) {
	args := []string{"diff", "--no-ext-diff", "--no-textconv"}
	if a.Staged {
		args = append(args, "--cached")
	}
	if a.Stat {
		args = append(args, "--stat")
	}
	if a.Revision != "" {
		if failed := revision(a.Revision); failed != nil {
			return *failed, nil
		}
		args = append(args, a.Revision)
	}
	return r.at(ctx, a.Path, "(no differences)", args...)
}
