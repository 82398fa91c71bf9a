package git

import (
	"context"
	"errors"
	"strings"

	"github.com/quire-agent/quire/internal/permit"
	"github.com/quire-agent/quire/internal/tool"
	"github.com/quire-agent/quire/internal/x/fence"
	"github.com/quire-agent/quire/internal/x/gitexec"
)

// Repository is the repository that a project is in, if it is in one.
type Repository struct{ fence *fence.Fence }

// New makes it.
func New(f *fence.Fence) *Repository { return &Repository{f} }

// Tools are the tools over it, in the order in which they are declared.
func (r *Repository) Tools() []tool.Tool {
	return []tool.Tool{r.status(), r.diff(), r.log()}
}

// looks is what these calls want: to read in the project.
func looks(path string) tool.Want {
	if path == "" {
		path = "."
	}
	return tool.Want{Request: permit.Request{Reads: []string{path}}}
}

// at runs git for a path of the project, "" for all of it, and gives back what
// it wrote, or text when that is nothing. What git refuses is for the model.
func (r *Repository) at(ctx context.Context, path, nothing string, args ...string) (tool.Result, error) {
	if path == "" {
		path = "."
	}
	rel, err := r.fence.Resolve(path)
	if err != nil {
		return tool.Failed("%v.", err), nil
	}
	out, cut, err := gitexec.Run(ctx, r.fence.Dir(), tool.MaxText, append(args, "--", rel)...)
	switch {
	case errors.Is(err, gitexec.ErrNone):
		return tool.Failed("git is not installed here."), nil
	case err != nil:
		return tool.Failed("%v.", err), nil
	case len(out) == 0:
		return tool.Result{Text: nothing}, nil
	}
	text := tool.Valid(string(out))
	if cut {
		text += "\n[… the rest is left out: ask for one path …]\n"
	}
	return tool.Result{Text: text}, nil
}

// revision refuses what git would take for an option.
func revision(text string) *tool.Result {
	if strings.HasPrefix(text, "-") || strings.ContainsAny(text, "\x00\n ") {
		r := tool.Failed("%q is not a revision: give a name, a hash, or two with .. between them.", text)
		return &r
	}
	return nil
}
