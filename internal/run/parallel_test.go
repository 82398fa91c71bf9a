package run

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/tool"
)

// bench has a tool that looks, of which three wait for each other, and one that
// changes and notes how many looks go on beside it.
type bench struct {
	mu      sync.Mutex
	looking int
	met     chan struct{}
	beside  []int
	order   []string
}

func (b *bench) look(ctx context.Context, a pathArgs) (tool.Result, error) {
	b.mu.Lock()
	if b.looking++; b.looking == 3 {
		close(b.met)
	}
	b.mu.Unlock()
	select {
	case <-b.met:
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.looking--
	return tool.Result{Text: "saw " + a.Path}, nil
}

func (b *bench) change(context.Context, pathArgs) (tool.Result, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.beside = append(b.beside, b.looking)
	return tool.Result{Text: "changed"}, nil
}

// Calls in a row that only look run beside each other, one that changes runs
// alone, and results stand in the order of the calls. failures.md A5: all of them
// stand in the next prompt.
func TestLooksRunTogetherAndChangesAlone(t *testing.T) {
	l, m, _ := newLoop(t, func(n int, _ quire.Call) ([]quire.Block, error) {
		if n > 1 {
			return says("done"), nil
		}
		return []quire.Block{
			use("a", "look", `{"path":"1"}`), use("b", "look", `{"path":"2"}`), use("c", "look", `{"path":"3"}`),
			use("d", "change", `{"path":"1"}`), use("e", "look", `{"path":"4"}`), use("f", "gone", `{}`), use("g", "change", `{"path":"2"}`),
		}, nil
	})
	b := &bench{met: make(chan struct{})}
	l.Tools = append(l.Tools,
		tool.New("look", "Looks.", func(pathArgs) tool.Want { return tool.Want{} }, b.look),
		tool.New("change", "Changes.", func(pathArgs) tool.Want { return tool.Want{Serial: true} }, b.change))
	l.Emit = func(e Event) {
		if e, ok := e.(Acted); ok {
			b.order = append(b.order, e.Call.ToolUse)
		}
	}
	if out, err := l.Turn(t.Context(), ask("go")); err != nil || out.Stop != StopDone {
		t.Fatalf("%+v, %v", out, err)
	}
	if len(b.beside) != 2 || b.beside[0]+b.beside[1] != 0 {
		t.Errorf("beside the changes ran %v looks", b.beside)
	}
	if got := strings.Join(b.order, ""); got != "abcdefg" {
		t.Errorf("results in the order %s", got)
	}
	var stood string
	for _, msg := range m.calls[1].Messages {
		for _, b := range msg.Blocks {
			if b.Kind == quire.PartToolResult {
				stood += b.ToolUse
			}
		}
	}
	if stood != "abcdefg" {
		t.Errorf("the next prompt has the results %s", stood)
	}
}

// A call that ends the run leaves the others of its answer with a result.
func TestAFailingToolLeavesPairs(t *testing.T) {
	l, m, _ := newLoop(t, func(n int, _ quire.Call) ([]quire.Block, error) {
		if n > 1 {
			return says("done"), nil
		}
		return []quire.Block{use("a", "read", `{"path":"1"}`), use("b", "break", `{}`), use("c", "read", `{"path":"2"}`)}, nil
	})
	l.Tools = append(l.Tools, tool.New("break", "Breaks.", func(struct{}) tool.Want { return tool.Want{} }, func(context.Context, struct{}) (tool.Result, error) {
		return tool.Result{}, quire.ErrFull
	}))
	if _, err := l.Turn(t.Context(), ask("go")); err == nil {
		t.Fatal("the turn went on")
	}
	if _, err := l.Turn(t.Context(), ask("again")); err != nil {
		t.Fatal(err)
	}
	checkPairs(t, m.calls[1])
	if got := results(m.calls[1]); got["a"] != "text of 1" || !strings.Contains(got["b"], "not run") || !strings.Contains(got["c"], "not run") {
		t.Errorf("results %q", got)
	}
}
