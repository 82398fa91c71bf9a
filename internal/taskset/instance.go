package taskset

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/quire-agent/quire/internal/script"
)

// An Instance is a task with its facts filled in.
type Instance struct {
	*Task
	seed   uint64
	values *strings.Replacer
}

// With fills the facts in. Equal seeds make equal facts.
func (t *Task) With(seed uint64) *Instance {
	var pairs []string
	for _, f := range t.facts {
		pairs = append(pairs, placeOf(f.name), f.value(t.Name, seed))
	}
	return &Instance{t, seed, strings.NewReplacer(pairs...)}
}

// Script is what the scripted model plays. It holds no fact.
func (in *Instance) Script() *script.Script { return in.plan }

// Talk is what happens, in its order.
func (in *Instance) Talk() []Line {
	list := slices.Clone(in.talk)
	for i := range list {
		list[i].Say = in.values.Replace(list[i].Say)
	}
	return list
}

// LayOut writes the project into a folder, which is made.
func (in *Instance) LayOut(dir string) error {
	err := in.write(dir, in.project)
	for _, f := range in.fills {
		for n := 1; n <= f.count && err == nil; n++ {
			name := fmt.Sprintf(f.pattern, n)
			err = put(dir, name, f.text(chance(in.seed, in.Name, name), in.Words, n))
		}
	}
	if err != nil {
		return fmt.Errorf("lay out task %s: %w", in.Name, err)
	}
	return nil
}

func (in *Instance) write(dir string, files []file) error {
	err := os.MkdirAll(dir, 0o755)
	for i := 0; i < len(files) && err == nil; i++ {
		err = put(dir, files[i].name, in.filled(files[i]))
	}
	return err
}

// filled is the text of a file with facts and filler.
func (in *Instance) filled(f file) string {
	var b strings.Builder
	for l := range strings.Lines(f.text) {
		n, ok := fillerLines(l)
		if !ok {
			b.WriteString(in.values.Replace(l))
			continue
		}
		b.WriteString(filler(chance(in.seed, in.Name, f.name, strconv.Itoa(b.Len())), in.Words, n))
	}
	return b.String()
}

func put(dir, name, text string) error {
	at := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return err
	}
	return os.WriteFile(at, []byte(text), 0o644)
}

// An Agent does what the user says, until it has answered.
type Agent interface {
	Turn(ctx context.Context, words string) error
}

// A Clock lets time pass that nobody waits for.
type Clock interface{ Pass(d time.Duration) }

// Play leads the talk with an agent that works in a folder. The error is the
// agent's.
func (in *Instance) Play(ctx context.Context, dir string, a Agent, c Clock) error {
	for _, l := range in.Talk() {
		var err error
		switch {
		case l.Say != "":
			err = a.Turn(ctx, l.Say)
		case l.Remove != "":
			err = os.Remove(filepath.Join(dir, filepath.FromSlash(l.Remove)))
		default:
			c.Pass(l.Pause)
		}
		if err != nil && !(l.Remove != "" && errors.Is(err, fs.ErrNotExist)) {
			return fmt.Errorf("task %s: %w", in.Name, err)
		}
	}
	return nil
}

// ErrMissing is the error of a check whose program is not on this machine.
var ErrMissing = errors.New("the program of the check is not there")

// Missing says which program the check wants that is not there, "" for none.
func (in *Instance) Missing() string {
	if _, err := exec.LookPath(in.Check[0]); err != nil {
		return in.Check[0]
	}
	return ""
}

// A Verdict is what a check says.
type Verdict struct {
	Solved bool
	Output string // of the command
}

// Judge runs the check in the folder of a project, into which it first writes the
// files of the check. It is not to be asked for a folder with work that matters.
// env is the environment of the command. The error wraps [ErrMissing] where the
// program is not there.
func (in *Instance) Judge(ctx context.Context, dir string, env []string) (Verdict, error) {
	if err := in.write(dir, in.checks); err != nil {
		return Verdict{}, fmt.Errorf("check task %s: %w", in.Name, err)
	}
	program, err := exec.LookPath(in.Check[0])
	if err != nil {
		return Verdict{}, fmt.Errorf("check task %s: %s: %w", in.Name, in.Check[0], ErrMissing)
	}
	cmd := exec.CommandContext(ctx, program, in.Check[1:]...)
	cmd.Dir, cmd.Env = dir, env
	out, err := cmd.CombinedOutput()
	var code *exec.ExitError
	if err != nil && (!errors.As(err, &code) || ctx.Err() != nil) {
		return Verdict{}, fmt.Errorf("check task %s: %w", in.Name, errors.Join(ctx.Err(), err))
	}
	return Verdict{Solved: err == nil, Output: string(out)}, nil
}

// Fingerprint is equal for folders that hold the same files with the same bytes:
// the same check says the same of them.
func (in *Instance) Fingerprint(dir string) (sum [32]byte, err error) {
	h := sha256.New()
	fmt.Fprintf(h, "%s %d\n", in.Name, in.seed)
	err = filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(at)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, at)
		fmt.Fprintf(h, "%q %d %x\n", filepath.ToSlash(name), len(text), sha256.Sum256(text))
		return err
	})
	if err != nil {
		return sum, fmt.Errorf("read the project of task %s: %w", in.Name, err)
	}
	return [32]byte(h.Sum(nil)), nil
}
