package gatewaytest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/gateway"
)

// chosen reports whether a case is to be run.
func chosen(t *testing.T) bool {
	only := os.Getenv(clientsOnly)
	for part := range strings.SplitSeq(only, ",") {
		if strings.Contains(t.Name(), part) {
			return true
		}
	}
	return false
}

// runClient runs all cases of a client.
func runClient(t *testing.T, cache string, c *client) {
	cases := []clientCase{
		{"first", firstRequest}, {"long", longSession},
		{"client-killed", clientKilled}, {"gateway-killed", gatewayKilled},
	}
	for _, f := range []struct{ name, steps string }{
		{"429", " fail 429 after 1\n"}, {"503", " fail 503\n"}, {"529", " fail 529\n"}, {"cut", " say this is cut off in the middle of a sentence that goes on for a while\n cut 200\n"},
	} {
		cases = append(cases, clientCase{f.name, func(t *testing.T, cache string, c *client) { afterFault(t, cache, c, f.steps) }})
	}
	for _, one := range cases {
		t.Run(one.name, func(t *testing.T) {
			if !chosen(t) {
				t.Skip("not chosen")
			}
			one.run(t, cache, c)
		})
	}
}

// A clientCase is one thing that is done with each client.
type clientCase struct {
	name string
	run  func(*testing.T, string, *client)
}

// session runs a client through prompts and holds what it did and said.
func session(b *bench, prompts []string, calls int) {
	b.t.Helper()
	for i, p := range prompts {
		if i > 0 {
			b.pass(30 * time.Hour)
		}
		command := b.seat.first
		if i > 0 {
			command = b.seat.again
		}
		said, err := b.run(b.t.Context(), command, p)
		if err != nil || !strings.Contains(said, "all done with "+p) {
			b.t.Fatalf("prompt %s: %v\n%s\nrefused: %q", p, err, tail(said), b.refused())
		}
	}
	if bad := b.refused(); len(bad) > 0 {
		b.t.Fatalf("refused: %q", bad)
	}
	if got, want := b.steps(), allSteps(len(prompts), calls); !slices.Equal(got, want) {
		b.t.Fatalf("steps %q, want %q", got, want)
	}
}

func allSteps(prompts, calls int) (list []string) {
	for i := range prompts {
		for k := range calls {
			list = append(list, fmt.Sprintf("%d.%d", i, k+1))
		}
	}
	return list
}

// The first request is the same direct and through the gateway, and so is a session of
// two tool calls.
//
// design.md G16
func firstRequest(t *testing.T, cache string, c *client) {
	prompts := []string{"alphastep"}
	var faces [2]face
	for i, gated := range []bool{false, true} {
		b := newBench(t, cache, c, c.work(prompts, 2, false), gated)
		session(b, prompts, 2)
		q, ok := b.main()
		if !ok {
			t.Fatal("no request declares its tool")
		}
		faces[i] = faceOf(q, b.seat.project)
	}
	if faces[0] != faces[1] {
		t.Errorf("direct\n%+v\nthrough the gateway\n%+v", faces[0], faces[1])
	}
}

// pass lets time pass, so that every cache is cold.
func (b *bench) pass(d time.Duration) {
	b.shift += d
	b.ahead.set(b.t, b.shift)
}

// A session of sixty calls with two cold pauses, in each half of which the model
// asks for something of the beginning: direct and through the gateway the client
// does the same, and the gateway makes it no dearer.
func longSession(t *testing.T, cache string, c *client) {
	prompts, calls := []string{"alphastep", "betastep", "gammastep"}, 20
	if c.again == nil {
		prompts, calls = prompts[:1], 60
	}
	var spent [2]float64
	for i, gated := range []bool{false, true} {
		b := newBench(t, cache, c, c.work(prompts, calls, true), gated)
		if c.again == nil {
			b.once(callID(0, calls/2), func() { b.pass(30 * time.Hour) })
		}
		session(b, prompts, calls)
		spent[i] = b.spent()
		if gated {
			n := b.totals()
			t.Logf("direct $%.4f, through the gateway $%.4f: %d curated of %d calls, %d epochs, %d recalls, %d failures of curation", spent[0], spent[1], n.Curated, n.Calls, n.Epochs, n.Recalls, n.Opened)
		}
		b.list()
	}
	if spent[1] > spent[0]*1.001 {
		t.Errorf("direct it cost $%.4f, through the gateway $%.4f", spent[0], spent[1])
	}
}

// totals are what the gateway counted.
func (b *bench) totals() gateway.Totals {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, b.process.url()+"/quire/status", nil)
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("X-Quire-Token", gateway.Token(keySecret()))
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer answer.Body.Close()
	var s gateway.Status
	if err := json.NewDecoder(answer.Body).Decode(&s); err != nil {
		b.t.Fatal(err)
	}
	return s.Totals
}

// afterFault lets the first request that declares the tool fail once. A client that
// gives up without the gateway may give up with it.
func afterFault(t *testing.T, cache string, c *client, steps string) {
	prompts := []string{"alphastep"}
	text := "turn\n when tool " + c.tool + "\n" + steps + c.work(prompts, 2, false)
	var outcomes [2]string
	for i, gated := range []bool{false, true} {
		b := newBench(t, cache, c, text, gated)
		said, err := b.run(t.Context(), c.first, prompts[0])
		outcomes[i] = fmt.Sprintf("done %v, steps %q, refused %q", strings.Contains(said, "all done with alphastep"), b.steps(), b.refused())
		if i == 0 && err != nil {
			t.Logf("the client gives up without the gateway too: %s", outcomes[i])
		}
	}
	if outcomes[0] != outcomes[1] {
		t.Errorf("direct %s, through the gateway %s", outcomes[0], outcomes[1])
	}
}

// clientKilled kills the client while its second answer is on its way, and starts it
// again with another prompt.
func clientKilled(t *testing.T, cache string, c *client) {
	prompts := []string{"alphastep", "betastep"}
	again := c.again
	if again == nil {
		again = c.first
	}
	b := newBench(t, cache, c, c.work(prompts, 2, false), true)
	ctx, kill := context.WithCancel(t.Context())
	b.once("call_00001", kill)
	if said, err := b.run(ctx, c.first, prompts[0]); err == nil {
		t.Fatalf("it was not killed and said %s", tail(said))
	}
	said, err := b.run(t.Context(), again, prompts[1])
	if err != nil || !strings.Contains(said, "all done with betastep") || len(b.refused()) > 0 {
		t.Fatalf("%v\n%s\nrefused: %q", err, tail(said), b.refused())
	}
	if got := b.steps(); !slices.Equal(got[max(0, len(got)-2):], []string{"1.1", "1.2"}) {
		t.Errorf("steps %q", got)
	}
}

// gatewayKilled kills the gateway while the second answer is on its way, and starts
// it again at the same address.
func gatewayKilled(t *testing.T, cache string, c *client) {
	prompts := []string{"alphastep"}
	b := newBench(t, cache, c, c.work(prompts, 3, false), true)
	b.once("call_00001", func() { b.process.kill(); b.process.again() })
	session(b, prompts, 3)
}

// once does something when a text first comes in a request, before that is answered.
func (b *bench) once(text string, do func()) {
	var once sync.Once
	b.when(func(body string) {
		if strings.Contains(body, text) {
			once.Do(do)
		}
	})
}

// list writes down what came, for who asks for it.
func (b *bench) list() {
	if os.Getenv(clientsList) == "" {
		return
	}
	for _, q := range b.sim.Load().Requests() {
		b.t.Logf("%d %s %s: %d bytes, %d tokens, %d %s, read %d, written %d, rest %d", q.Number, q.Path, q.Model, q.Bytes, q.Prompt, q.Status, q.Fault, q.Usage.CacheRead, q.Usage.CacheWrite, q.Usage.Input)
	}
}
