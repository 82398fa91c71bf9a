package git

import (
	"context"
	_ "embed"
	"strconv"

	"github.com/quire-agent/quire/internal/tool"
)

//go:embed git_log.md
var logPrompt string

type logArgs struct {
	Path     string `json:"path,omitempty" jsonschema:"a file or folder"`
	Limit    int    `json:"limit,omitempty" jsonschema:"number of commits, 20 without it"`
	Revision string `json:"revision,omitempty" jsonschema:"where to begin, or two with .. between them"`
	Patch    bool   `json:"patch,omitempty" jsonschema:"what each changed"`
}

// maxCommits bounds a log.
const maxCommits = 500

func (r *Repository) log() tool.Tool {
	return tool.New("git_log", logPrompt, func(a logArgs) tool.Want { return looks(a.Path) }, r.runLog)
}

func (r *Repository) runLog(ctx context.Context, a logArgs) (tool.Result, error) {
	limit := min(a.Limit, maxCommits)
	if limit <= 0 {
		limit = 20
	}
	args := []string{"log", "--max-count=" + strconv.Itoa(limit), "--format=%h %ad %an  %s", "--date=short"}
	if a.Patch {
		args = append(args, "--patch", "--no-ext-diff", "--no-textconv")
	}
	if a.Revision != "" {
		if failed := revision(a.Revision); failed != nil {
			return *failed, nil
		}
		args = append(args, a.Revision)
	}
	return r.at(ctx, a.Path, "(no commits)", args...)
}
