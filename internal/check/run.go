package check

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/quire-agent/quire/internal/x/group"
)

// A Status says how a check, or all of them, ended.
type Status string

// The states.
const (
	Passed  Status = "passed"
	Failed  Status = "failed"
	Skipped Status = "skipped"
)

// A Result is how a check ended.
type Result struct {
	Name     string   `json:"name"`
	Command  string   `json:"command"`
	Args     []string `json:"args"`
	Status   Status   `json:"status"`
	Exit     int      `json:"exitCode"` // -1 where it did not end by itself or did not start
	Signal   string   `json:"signal,omitempty"`
	Duration int64    `json:"durationMs"`
	Stdout   string   `json:"stdout"` // their ends
	Stderr   string   `json:"stderr"`
	TimedOut bool     `json:"timedOut"`
}

// A Summary is how the checks of a patch ended.
type Summary struct {
	Status   Status   `json:"status"`
	Reason   string   `json:"reason,omitempty"` // why none ran
	Kind     Kind     `json:"patchKind,omitempty"`
	Selected []string `json:"selectedScripts"`
	Review   bool     `json:"reviewRequired"`           // the kind of the patch or a rule demands one
	Demanded bool     `json:"reviewDemanded,omitempty"` // a rule does, of the project's checks or of permission: the risk is high then
	Results  []Result `json:"results"`
	NotRun   []string `json:"notRun,omitempty"` // because one that had failed before failed again
	Left     []File   `json:"left,omitempty"`   // new files that the checks themselves made, and git does not ignore
}

// Failing are the names of the checks that failed.
func (s *Summary) Failing() (names []string) {
	for _, r := range s.Results {
		if r.Status == Failed {
			names = append(names, r.Name)
		}
	}
	return names
}

// A Runner runs one check: nothing of it goes on after the context has ended or the
// time is up. The error is for what makes going on senseless; a check that cannot
// be started is one that failed, and one that was not permitted is [ErrRefused].
type Runner interface {
	Run(ctx context.Context, c Command, b Bounds) (Result, error)
}

// Bounds are those of one check.
type Bounds struct {
	Time   time.Duration
	Output int // bytes of each stream that are kept
}

// ErrRefused says that a check may not be run. None is run then.
var ErrRefused = errors.New("checks need leave to run commands")

// Run runs the checks that belong to a patch, one after the other. Those that
// failed the last time come first, and if one fails again the rest are not run. last
// is the zero Summary for the first time.
func Run(ctx context.Context, r Runner, all []Command, paths []string, c Config, last Summary) (Summary, error) {
	s := Summary{Status: Skipped, Kind: KindOf(paths), Selected: []string{}, Results: []Result{}}
	_, s.Demanded = c.Reviewed(s.Kind)
	s.Review = s.Demanded || len(paths) > 0 && NeedsReview(paths)
	list, why := c.Select(all, paths)
	s.Reason = why
	for _, one := range list {
		s.Selected = append(s.Selected, one.Name)
	}
	failed, stop := last.Failing(), false
	for i, one := range first(list, failed) {
		if i == again(list, failed) {
			stop = len(s.Failing()) > 0
		}
		if stop {
			s.NotRun = append(s.NotRun, one.Name)
			continue
		}
		result, err := r.Run(ctx, one, Bounds{c.time(), c.output()})
		if errors.Is(err, ErrRefused) {
			return Summary{Status: Skipped, Reason: err.Error(), Kind: s.Kind, Selected: s.Selected, Review: s.Review, Demanded: s.Demanded, Results: []Result{}}, nil
		}
		if err != nil {
			return s, fmt.Errorf("check %s: %w", one.Name, err)
		}
		s.Results = append(s.Results, result)
	}
	s.Status = s.verdict()
	return s, nil
}

func (s *Summary) verdict() Status {
	switch {
	case len(s.Results) == 0:
		return Skipped
	case len(s.Failing()) > 0:
		return Failed
	}
	return Passed
}

// first are the checks with those that failed before in front.
func first(list []Command, failed []string) []Command {
	out := slices.Clone(list)
	slices.SortStableFunc(out, func(a, b Command) int { return rank(b, failed) - rank(a, failed) })
	return out
}

func rank(c Command, failed []string) int {
	if slices.Contains(failed, c.Name) {
		return 1
	}
	return 0
}

// again is how many of the checks failed before.
func again(list []Command, failed []string) (n int) {
	for _, c := range list {
		n += rank(c, failed)
	}
	return n
}

// Exec runs checks as processes of their own group.
type Exec struct {
	Dir  string                    // the project's folder
	Env  []string                  // of the commands
	Wrap func(cmd *exec.Cmd) error // puts a command into a sandbox; nil: none
	Now  func() time.Time
}

var _ Runner = (*Exec)(nil)

// Run runs one check.
func (e *Exec) Run(ctx context.Context, c Command, b Bounds) (Result, error) {
	r := Result{Name: c.Name, Args: []string{}, Status: Failed, Exit: -1}
	if len(c.Argv) == 0 {
		r.Stderr = "The project has no check of this name."
		return r, nil
	}
	r.Command, r.Args = c.Argv[0], c.Argv[1:]
	limited, cancel := context.WithTimeout(ctx, b.Time)
	defer cancel()
	out, fault := &group.Tail{Limit: b.Output}, &group.Tail{Limit: b.Output}
	begun := e.Now()
	end, err := e.start(limited, c, out, fault)
	r.Duration = e.Now().Sub(begun).Milliseconds()
	if ctx.Err() != nil {
		return r, ctx.Err()
	}
	r.Stdout, r.Stderr = shown(out), shown(fault)
	r.TimedOut = errors.Is(limited.Err(), context.DeadlineExceeded)
	if err != nil {
		r.Stderr += err.Error()
		return r, nil
	}
	if r.Exit, r.Signal = end.Exit, end.Signal; r.Exit == 0 && !r.TimedOut {
		r.Status = Passed
	}
	return r, nil
}

func (e *Exec) start(ctx context.Context, c Command, out, fault *group.Tail) (group.Ending, error) {
	cmd := exec.CommandContext(ctx, c.Argv[0], c.Argv[1:]...)
	cmd.Dir, cmd.Env = filepath.Join(e.Dir, filepath.FromSlash(c.Dir)), e.Env
	cmd.Stdout, cmd.Stderr = out, fault
	if info, err := os.Stat(cmd.Dir); err != nil || !info.IsDir() {
		return group.Ending{}, fmt.Errorf("%s is no folder of the project", c.Dir)
	}
	if e.Wrap != nil {
		if err := e.Wrap(cmd); err != nil {
			return group.Ending{}, err
		}
	}
	return group.Run(cmd)
}

// shown is the end of a stream, with how much is missing before it.
func shown(t *group.Tail) string {
	text, left := t.Text()
	if left > 0 {
		return fmt.Sprintf("[%d bytes before this left out]\n%s", left, text)
	}
	return text
}
