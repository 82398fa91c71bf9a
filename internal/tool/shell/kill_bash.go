package shell

import (
	"context"
	_ "embed"

	"github.com/quire-agent/quire/internal/tool"
)

//go:embed kill_bash.md
var killPrompt string

type killArgs struct {
	ID string `json:"id" jsonschema:"of the command in the background"`
}

func (s *Shell) kill() tool.Tool {
	return tool.New("kill_bash", killPrompt, func(killArgs) tool.Want { return tool.Want{Serial: true} }, s.runKill)
}

func (s *Shell) runKill(_ context.Context, a killArgs) (tool.Result, error) {
	j, failed := s.job(a.ID)
	if failed != nil {
		return *failed, nil
	}
	j.stop()
	<-j.done
	r := j.report()
	r.Error = false
	return r, nil
}
