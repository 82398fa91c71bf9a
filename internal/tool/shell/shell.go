package shell

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/quire-agent/quire/internal/tool"
	"github.com/quire-agent/quire/internal/undo"
	"github.com/quire-agent/quire/internal/x/fence"
	"github.com/quire-agent/quire/internal/x/sandbox"
)

// Config says how commands run.
type Config struct {
	Project *fence.Fence
	Tree    *undo.Tree // nil: what commands change is not recorded
	Shell   string     // path of bash, "" where there is none
	Env     []string   // of commands: without the keys that this program was given
	Sandbox *Sandbox   // nil: commands run with all rights of the user
}

// A Sandbox says what commands may do in it.
type Sandbox struct {
	Self  string   // path of this program, which answers sandbox.Command
	Write []string // folders outside the project that commands may write to: those for temporary files, caches of compilers
}

// rules are those of one command.
func (c Config) rules(network bool) sandbox.Rules {
	return sandbox.Rules{Write: append([]string{c.Project.Dir()}, c.Sandbox.Write...), Network: network}
}

// The bounds of what goes on in the background.
const (
	maxRunning = 8
	maxKept    = 24
)

// Shell runs the commands of one agent. Its methods and tools may be used
// concurrently.
type Shell struct {
	Config
	mu   sync.Mutex
	jobs []*Job // by the order of their start
	next int
}

// New makes it. Close it, so that nothing goes on in the background.
func New(c Config) *Shell { return &Shell{Config: c} }

// Tools are the tools over it, in the order in which they are declared.
func (s *Shell) Tools() []tool.Tool { return []tool.Tool{s.bash(), s.output(), s.kill()} }

// Close ends all commands in the background and waits for them.
func (s *Shell) Close() {
	for _, j := range s.Jobs() {
		j.stop()
		<-j.done
	}
}

// Jobs are the commands in the background, running or ended, by the order of
// their start. Old ones that have ended are forgotten.
func (s *Shell) Jobs() []*Job {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.jobs)
}

var errBusy = errors.New("too much is running in the background")

// admit gives a job its name and a place among those that are kept.
func (s *Shell) admit(j *Job) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	running := 0
	for _, old := range s.jobs {
		if old.running() {
			running++
		}
	}
	if running >= maxRunning {
		return errBusy
	}
	for len(s.jobs) >= maxKept {
		i := slices.IndexFunc(s.jobs, func(j *Job) bool { return !j.running() })
		s.jobs = slices.Delete(s.jobs, i, i+1)
	}
	s.next++
	j.ID = "b" + strconv.Itoa(s.next)
	s.jobs = append(s.jobs, j)
	return nil
}

// job finds a job by its name.
func (s *Shell) job(id string) (*Job, *tool.Result) {
	var names []string
	for _, j := range s.Jobs() {
		if j.ID == id {
			return j, nil
		}
		names = append(names, fmt.Sprintf("%s (%s)", j.ID, j.state()))
	}
	r := tool.Failed("There is no command %q in the background. There are: %s.", id, strings.Join(names, ", "))
	if len(names) == 0 {
		r = tool.Failed("There is no command %q in the background; there is none at all.", id)
	}
	return nil, &r
}
