package trial

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"
)

// The sessions of a trial by chaos: of all that are run when somebody asks for
// them, a tenth in each test of the repository, fewer in a short one.
const (
	chaosUsual = 30
	chaosShort = 8
)

// atOnce is how many sessions are run at a time: they mostly wait.
const atOnce = 8

// TestChaos runs sessions whose provider fails and whose process is killed, and
// goes on with each until it is done.
//
// failures.md A2, B14, B25
func TestChaos(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands of the sessions want a shell, and the kill a signal")
	}
	t.Parallel()
	quire := built(t)
	n, seed := chaosSize(t), chaosSeed(t)
	t.Logf("%d sessions from seed %d on", n, seed)
	var all tally
	queue := make(chan uint64)
	var wg sync.WaitGroup
	for range atOnce {
		wg.Go(func() {
			for s := range queue {
				newSession(t, quire, s, &all).live()
			}
		})
	}
	for i := range n {
		queue <- seed + uint64(i)
	}
	close(queue)
	wg.Wait()
	all.report(t, n)
}

func chaosSize(t *testing.T) int {
	if text := os.Getenv("QUIRE_CHAOS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			t.Fatalf("QUIRE_CHAOS is %q", text)
		}
		return n
	}
	if testing.Short() {
		return chaosShort
	}
	return chaosUsual
}

// chaosSeed is another one each time, and printed, so that what it finds can be
// looked at again.
func chaosSeed(t *testing.T) uint64 {
	text := os.Getenv("QUIRE_CHAOS_SEED")
	if text == "" {
		return uint64(time.Now().UnixNano()) % 1_000_000_000
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("QUIRE_CHAOS_SEED is %q", text)
	}
	return seed
}

// A tally adds up what happened. It is safe for concurrent use.
type tally struct {
	mu                                      sync.Mutex
	launches, kills, fails, requests, turns int
	tools, answers                          int // that were acknowledged
	midTool                                 int // kills while a command ran
}

func (a *tally) add(change func(*tally)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	change(a)
}

// report fails where the chaos was none: nothing was killed, or nothing failed.
func (a *tally) report(t *testing.T, sessions int) {
	t.Logf("%d sessions: %d starts of the program, %d killed (%d of them while a command ran), %d ended by a fault; %d requests, %d faults in the scripts; %d answers and %d results were acknowledged, and all are there",
		sessions, a.launches, a.kills, a.midTool, a.fails, a.requests, a.turns, a.answers, a.tools)
	if a.kills == 0 || a.turns == 0 || a.tools == 0 {
		t.Error("the trial tried nothing")
	}
}

// A part is what the model does in one turn of the script.
type part struct {
	script string
	file   string // that it writes, "" for none
	holds  string
	mark   string // that its command leaves in the trail, "" for none
	call   string // id of its call
}

// parts makes what a session does. Each command leaves a mark of its own, each
// file is written once.
func parts(r *rand.Rand) (list []part) {
	for i := range 6 + r.IntN(6) {
		list = append(list, makePart(r, i))
	}
	return list
}

func makePart(r *rand.Rand, i int) part {
	id := fmt.Sprintf("step%d", i)
	switch r.IntN(5) {
	case 0:
		return part{call: id, script: fmt.Sprintf("turn\n say I read on, %d.\n call read as %s {\"path\": \"src/%d.txt\"}\n", i, id, r.IntN(4))}
	case 1:
		holds := fmt.Sprintf("made in step %d, %d", i, r.IntN(1000))
		return part{call: id, file: fmt.Sprintf("out/%d.txt", i), holds: holds, script: fmt.Sprintf("turn\n call write as %s {\"path\": \"out/%d.txt\", \"content\": %q}\n", id, i, holds)}
	case 2:
		return part{call: id, script: fmt.Sprintf("turn\n call grep as %s {\"pattern\": \"line %d\"}\n call read {\"path\": \"src/%d.txt\"}\n", id, r.IntN(30), r.IntN(4))}
	default:
		mark := fmt.Sprintf("mark-%d", i)
		wait := []string{"", "sleep 0.05; ", "sleep 0.2; "}[r.IntN(3)]
		return part{call: id, mark: mark, script: fmt.Sprintf("turn\n say Step %d.\n call bash as %s {\"command\": \"echo %s >> trail.txt; %secho done-%s\"}\n", i, id, mark, wait, mark)}
	}
}

// faultyTurn is a turn in which the provider fails. Where something of the answer
// came before, the program ends; else it tries again.
func faultyTurn(r *rand.Rand) string {
	broken := func(how, call string) string {
		return fmt.Sprintf("turn\n %s %d%s\n say These words may break off anywhere, since the provider is in trouble.\n call %s\n", how, r.IntN(900), map[bool]string{true: " for 150ms"}[how == "stall"], call)
	}
	const never = `bash {"command": "echo never >> trail.txt"}`
	switch r.IntN(10) {
	case 0:
		return "turn\n fail 429 after 0.01 slow down\n"
	case 1:
		return "turn\n fail 500\n"
	case 2:
		return "turn\n fail 503\n"
	case 3:
		return "turn\n fail 529\n"
	case 4:
		return "turn\n drop\n"
	case 5:
		return broken("garbage", never)
	case 6:
		return broken("stall", `read {"path": "src/0.txt"}`)
	default:
		return broken("cut", never)
	}
}
