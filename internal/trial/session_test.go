package trial

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/script"
	"github.com/quire-agent/quire/internal/sim"
	"github.com/quire-agent/quire/internal/token"
)

// patience is how long a program may take that is not killed.
const patience = 2 * time.Minute

// mostLaunches bounds how often a session is gone on with.
const mostLaunches = 25

// A session is one session of the trial.
type session struct {
	t      *testing.T
	quire  string
	seed   uint64
	rand   *rand.Rand
	dir    string
	parts  []part
	faults int
	sim    *sim.Sim
	came   chan int // the number of each request, as it comes
	server *httptest.Server
	all    *tally

	acked []line // what the program said is done
}

// A line is one of those that the program writes for each thing that happens.
type line struct {
	Type, ID, Text, Tool, Stop, Denied string
	Error                              bool
	Call                               int
}

func newSession(t *testing.T, quire string, seed uint64, all *tally) *session {
	return &session{t: t, quire: quire, seed: seed, rand: rand.New(rand.NewPCG(seed, 5)), came: make(chan int, 1000), all: all}
}

func (s *session) fail(format string, args ...any) {
	s.t.Errorf("QUIRE_CHAOS=1 QUIRE_CHAOS_SEED=%d: %s", s.seed, fmt.Sprintf(format, args...))
}

// live runs the session to its end and judges it.
func (s *session) live() {
	dir, err := os.MkdirTemp("", "quire-chaos-")
	if err != nil {
		s.fail("%v", err)
		return
	}
	s.dir = dir
	defer s.clear()
	if err := s.prepare(); err != nil {
		s.fail("%v", err)
		return
	}
	defer s.server.Close()
	defer s.sim.Close()
	for n := 1; ; n++ {
		done, err := s.launch(n)
		if err != nil {
			s.fail("start %d: %v", n, err)
			return
		}
		if done {
			break
		}
		if n == mostLaunches {
			s.fail("it is not done after %d starts", n)
			return
		}
	}
	s.judge()
}

// clear removes the folder. What a killed program had started may write to it for
// a moment longer.
func (s *session) clear() {
	end := time.Now().Add(30 * time.Second)
	for os.RemoveAll(s.dir) != nil && time.Now().Before(end) {
		<-time.After(20 * time.Millisecond)
	}
}

// prepare lays the project out and starts the provider.
func (s *session) prepare() error {
	if err := os.MkdirAll(s.path("src"), 0o755); err != nil {
		return err
	}
	for i := range 4 {
		var b strings.Builder
		for n := range 30 {
			fmt.Fprintf(&b, "line %d of file %d\n", n, i)
		}
		if err := os.WriteFile(s.path("src", fmt.Sprintf("%d.txt", i)), []byte(b.String()), 0o600); err != nil {
			return err
		}
	}
	plan, err := script.Parse(s.script())
	if err != nil {
		return err
	}
	counter, err := token.NewCounter()
	if err != nil {
		return err
	}
	if s.sim, err = sim.New(sim.Options{Counter: counter, Script: plan}); err != nil {
		return err
	}
	n := 0
	s.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n++ // a session has one request at a time
		s.came <- n
		s.sim.ServeHTTP(w, r)
	}))
	return nil
}

func (s *session) path(names ...string) string {
	return filepath.Join(append([]string{s.dir, "project"}, names...)...)
}

// script is the model's part, with faults between.
func (s *session) script() string {
	s.parts = parts(s.rand)
	var b strings.Builder
	for _, p := range s.parts {
		for s.rand.IntN(6) == 0 {
			b.WriteString(faultyTurn(s.rand))
			s.faults++
		}
		b.WriteString(p.script)
	}
	b.WriteString("turn always\n say All is done.\n")
	return b.String()
}

// launch starts the program, the first time or to go on, and kills it or waits
// until it ends. done says that the turn was done.
func (s *session) launch(n int) (done bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.quire, s.args(n)...)
	cmd.Dir, cmd.Env = s.path(), environment(s.dir)
	var said, errors strings.Builder
	cmd.Stderr = &errors
	out, err := cmd.StdoutPipe()
	if err != nil {
		return false, err
	}
	s.forget()
	if err := cmd.Start(); err != nil {
		return false, err
	}
	killed := make(chan bool, 1)
	ended := make(chan struct{})
	go func() { killed <- s.killer(cmd.Process, ended) }()
	lines := read(io.TeeReader(out, &said))
	err = cmd.Wait()
	close(ended)
	return s.ended(<-killed, err, lines, errors.String())
}

// forget takes requests out that nobody waits for any more.
func (s *session) forget() {
	for len(s.came) > 0 {
		<-s.came
	}
}

func (s *session) args(n int) []string {
	args := []string{"run", "--solo", "--model", "anthropic/claude-sonnet-5-5", "--base-url", s.server.URL, "--permit", "full", "--output", "stream-json"}
	if n > 1 && len(s.sim.Requests()) > 0 {
		return append(args, "--continue", "go on")
	}
	if n > 1 && s.rand.IntN(2) == 0 { // a session may have begun, though nothing was sent
		return append(args, "begin anew")
	}
	return append(args, "do all the steps")
}

// killer kills the program at a time that the seed chose: so many requests and so
// many milliseconds after its start. Sometimes it lets it live.
func (s *session) killer(p *os.Process, ended <-chan struct{}) (killed bool) {
	requests, wait := s.rand.IntN(7), time.Duration(s.rand.IntN(60))*time.Millisecond
	if s.rand.IntN(3) == 0 {
		return false
	}
	for range requests {
		select {
		case <-s.came:
		case <-ended:
			return false
		}
	}
	select {
	case <-time.After(wait):
	case <-ended:
		return false
	}
	return p.Kill() == nil
}

// read takes the lines that are whole. What a program that is killed had begun to
// write is none.
func read(r io.Reader) (list []line) {
	in := bufio.NewReader(r)
	for {
		text, err := in.ReadBytes('\n')
		var l line
		if err == nil && json.Unmarshal(text, &l) == nil {
			list = append(list, l)
		}
		if err != nil {
			return list
		}
	}
}

// The exit codes of a run that was done, that was cut off, and whose model failed.
const (
	exitDone   = 0
	exitCut    = 3
	exitFailed = 5
)

func (s *session) ended(killed bool, err error, lines []line, faults string) (done bool, _ error) {
	s.acked = append(s.acked, lines...)
	s.all.add(func(a *tally) { a.launches++ })
	var code *exec.ExitError
	switch {
	case err == nil:
		return true, nil
	case !errors.As(err, &code):
		return false, err
	case killed && code.ExitCode() < 0:
		s.killed(lines)
		return false, nil
	case code.ExitCode() == exitFailed || code.ExitCode() == exitCut:
		s.all.add(func(a *tally) { a.fails++ })
		return false, nil
	default:
		return false, fmt.Errorf("exit code %d, %s", code.ExitCode(), faults)
	}
}

// killed counts a kill, and whether a command was under way.
func (s *session) killed(lines []line) {
	n := len(lines)
	s.all.add(func(a *tally) {
		a.kills++
		if n > 0 && lines[n-1].Type == "tool" && lines[n-1].Tool == "bash" {
			a.midTool++
		}
	})
}
