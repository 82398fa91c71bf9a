package gatewaytest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/sim"
	"github.com/quire-agent/quire/internal/x/rawjson"
)

// The variables of the runs of real clients: the folder where they are installed,
// which ones and which cases (parts of their names; "" for all), that the network is
// the run's own already, and whether each request of long sessions is listed.
const (
	clientsFolder = "QUIRE_CLIENTS"
	clientsOnly   = "QUIRE_CLIENTS_ONLY"
	clientsInside = "QUIRE_CLIENTS_INSIDE"
	clientsList   = "QUIRE_CLIENTS_LIST"
)

// Real clients, each on each API that it speaks, against the gateway and the strict
// simulator. It is run by `make e2e-clients`.
func TestClients(t *testing.T) {
	cache := os.Getenv(clientsFolder)
	switch {
	case cache == "":
		t.Skip("run by `make e2e-clients`: it installs programs and needs a network of its own")
	case os.Getenv(clientsInside) == "":
		install(t, cache)
		inside(t)
	default:
		for _, c := range clients() {
			t.Run(strings.ReplaceAll(c.id(), " ", "-"), func(t *testing.T) { runClient(t, cache, &c) })
		}
	}
}

// install installs what is not there yet.
func install(t *testing.T, cache string) {
	t.Helper()
	for _, c := range clients() {
		dir := filepath.Join(cache, c.folder)
		if _, err := os.Stat(filepath.Join(dir, "node_modules", ".bin")); err == nil {
			continue
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"private":true}`), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), "npm", "install", "--no-fund", "--no-audit", c.program) //nolint:gosec // of the list above
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("install %s: %v\n%s", c.program, err, out)
		}
	}
}

// inside runs this test anew in a network that has nothing but its loopback, so that
// no client can reach anything else.
func inside(t *testing.T) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "unshare", "-n", "-p", "--fork", "--kill-child", "--mount-proc", "sh", "-c", `ip link set lo up && exec "$@"`, "sh", //nolint:gosec // it is this program
		self, "-test.run=^TestClients$", "-test.v", "-test.timeout=0")
	cmd.Env = append(os.Environ(), clientsInside+"=1")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("the clients: %v", err)
	}
}

// A bench is where one client is run: a provider, and between them a gateway or
// nothing.
type bench struct {
	t       *testing.T
	seat    *seat
	sim     atomic.Pointer[sim.Sim]
	server  *httptest.Server
	process *process // nil: direct
	ahead   ahead
	shift   time.Duration

	mu   sync.Mutex // guards hook
	hook func(body string)
}

// newBench makes one. The provider plays the script.
func newBench(t *testing.T, cache string, c *client, text string, gated bool) *bench {
	t.Helper()
	dir := t.TempDir()
	b := &bench{t: t, ahead: ahead{filepath.Join(dir, "ahead")}}
	b.ahead.set(t, 0)
	b.play(text)
	b.server = httptest.NewServer(b)
	t.Cleanup(b.server.Close)
	b.seat = &seat{client: c, cache: cache, home: filepath.Join(dir, "home"), project: filepath.Join(dir, "project"), address: b.server.URL}
	if gated {
		b.process = newProcess(t, setting{Home: filepath.Join(dir, "quire"), Upstream: b.server.URL, Ahead: b.ahead.file, Budget: 20_000})
		b.seat.address = b.process.url()
	}
	if err := b.seat.settle(); err != nil {
		t.Fatal(err)
	}
	b.git()
	return b
}

// play puts another script in the provider's place.
func (b *bench) play(text string) {
	b.sim.Store(newSim(b.t, text, b.ahead.now, sim.Limits{}))
}

// ServeHTTP is the provider; who waits for a request is shown each.
func (b *bench) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client left
	}
	b.mu.Lock()
	hook := b.hook
	b.mu.Unlock()
	if hook != nil {
		hook(string(body))
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	b.sim.Load().ServeHTTP(w, r)
}

// when shows each request that comes to a hook, from the goroutine that answers it.
func (b *bench) when(hook func(body string)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hook = hook
}

// git makes the project a repository.
func (b *bench) git() {
	if err := os.MkdirAll(b.seat.project, 0o700); err != nil {
		b.t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-q"}, {"-c", "user.name=n", "-c", "user.email=e@example.org", "commit", "-q", "--allow-empty", "-m", "begin"}} {
		cmd := exec.CommandContext(b.t.Context(), "git", args...)
		cmd.Dir = b.seat.project
		if out, err := cmd.CombinedOutput(); err != nil {
			b.t.Fatalf("git: %v %s", err, out)
		}
	}
}

// patience is how long one run of a client may take.
const patience = 5 * time.Minute

// run runs the client once and gives what it says.
func (b *bench) run(ctx context.Context, command []string, prompt string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	args := make([]string, len(command))
	for i, a := range command {
		args[i] = b.seat.fill(a, prompt)
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...) //nolint:gosec // of the list of clients
	cmd.Dir = b.seat.project
	cmd.Env = []string{"HOME=" + b.seat.home, "PATH=" + os.Getenv("PATH"), "TERM=dumb", "LANG=C.UTF-8", "NO_PROXY=*"}
	for _, e := range b.seat.env {
		cmd.Env = append(cmd.Env, b.seat.fill(e, prompt))
	}
	cmd.WaitDelay = 5 * time.Second
	var out, fault bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &fault
	err := cmd.Run()
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("%w: %s", err, tail(fault.String()))
	}
	return out.String() + "\n" + fault.String(), errors.Join(err, context.Cause(ctx))
}

func tail(text string) string { return text[max(0, len(text)-2000):] }

// steps are what the client's tool calls did: each leaves a line in a file.
func (b *bench) steps() []string {
	text, err := os.ReadFile(filepath.Join(b.seat.project, "steps"))
	if err != nil {
		return nil
	}
	return strings.Fields(string(text))
}

// refused are the requests that the provider did not take.
func (b *bench) refused() []string {
	var list []string
	for _, q := range b.sim.Load().Requests() {
		if q.Refused != "" {
			list = append(list, fmt.Sprintf("%d %s: %s", q.Number, q.Path, q.Refused))
		}
	}
	return list
}

func (b *bench) spent() (sum float64) {
	for _, q := range b.sim.Load().Requests() {
		sum += costAs(q, map[sim.API]string{sim.Messages: "claude-sonnet-4-5", sim.Chat: "gpt-5.5", sim.Responses: "gpt-5.5", sim.Gemini: "gemini-4-neon"}[q.API])
	}
	return sum
}

// costAs is what a request cost; a model without a price costs what another one does.
func costAs(q sim.Request, other string) float64 {
	if n := cost(q); n > 0 {
		return n
	}
	q.Model = other
	return cost(q)
}

// main is the first request that declares the tool of the client.
func (b *bench) main() (q sim.Request, ok bool) {
	for _, q := range b.sim.Load().Requests() {
		if bytes.Contains(q.Body, []byte(`"`+b.seat.tool+`"`)) {
			return q, true
		}
	}
	return q, false
}

// A face is what a client shows of itself in its first request: what must be the
// same through the gateway.
type face struct{ Tools, Betas, Window string }

// faceOf is what the request of a client in that project shows.
func faceOf(q sim.Request, project string) face {
	var f face
	members := rawjson.Members(q.Body)
	f.Tools = strings.ReplaceAll(string(rawjson.Get(members, "tools")), project, "PROJECT")
	f.Betas = strings.Join(append(slices.Clone(q.Header.Values("Anthropic-Beta")), q.Header.Values("Openai-Beta")...), ",")
	for _, name := range []string{"max_tokens", "max_output_tokens", "max_completion_tokens", "context_management", "truncation"} {
		f.Window += name + "=" + string(rawjson.Get(members, name)) + " "
	}
	return f
}

// work is the script of a session: for each prompt so many tool calls in a row, each
// of which takes a step, and a last word. Newer prompts stand first, so that each
// request is answered by what is newest in it.
func (c *client) work(prompts []string, calls int, recalls bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "turn always\n when not tool %s\n say A title\n", c.tool)
	for i := len(prompts) - 1; i >= 0; i-- {
		for k := calls; k >= 0; k-- {
			c.step(&b, prompts[i], i, k, calls, recalls && i > 0 && k == calls/2)
		}
	}
	return b.String()
}

// step is the turn behind call k of prompt i, of so many.
func (c *client) step(b *strings.Builder, prompt string, i, k, calls int, recalls bool) {
	when := fmt.Sprintf(" when prompt contains %s\n", prompt)
	if k > 0 {
		// Not its id: a loop that was folded stands in the words of the user.
		when += fmt.Sprintf(" when prompt contains line 120 of step %d.%d\n", i, k)
	}
	if recalls {
		fmt.Fprintf(b, "turn always\n when tool recall\n when not answered r%d\n%s think it was in the beginning\n call recall as r%d {\"query\": \"line 3 of step 0.1\"}\n", i, when, i)
	}
	if k == calls {
		fmt.Fprintf(b, "turn always\n%s say all done with %s\n", when, prompt)
		return
	}
	command := fmt.Sprintf("echo %d.%d >> steps; seq -f 'line %%g of step %d.%d' 120", i, k+1, i, k+1)
	thinks := ""
	if c.api == sim.Messages {
		thinks = fmt.Sprintf(" think of step %d.%d\n", i, k+1)
	}
	fmt.Fprintf(b, "turn always\n%s%s call %s as %s %s\n", when, thinks, c.tool, callID(i, k+1), strings.ReplaceAll(c.args, "$C", quoteJSON(command)))
}

func callID(i, k int) string { return fmt.Sprintf("call_%02d%03d", i, k) }

// quoteJSON is a text as it stands inside a JSON string.
func quoteJSON(text string) string {
	raw, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(raw[1 : len(raw)-1])
}
