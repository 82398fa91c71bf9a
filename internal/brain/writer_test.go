package brain

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/quire-agent/quire/internal/check"
	"github.com/quire-agent/quire/internal/route"
	"github.com/quire-agent/quire/internal/run"
)

// copies are those of a project in memory, which outlive the process.
type copies struct {
	mu     sync.Mutex
	left   []string       // tasks whose copy is there
	found  []string       // tasks whose copy was found again
	merged map[string]int // by task
}

func (c *copies) Copy(_ context.Context, task string) (string, bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if slices.Contains(c.left, task) {
		c.found = append(c.found, task)
		return "copy of " + task, true, nil
	}
	c.left = append(c.left, task)
	return "copy of " + task, false, nil
}

func (c *copies) Merge(_ context.Context, task string) ([]string, []Conflict, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !slices.Contains(c.left, task) {
		return nil, nil, errors.New("a copy that is not there was merged")
	}
	c.merged[task]++
	return []string{"a.txt"}, []Conflict{{Path: "b.txt", Why: "both changed the same lines"}}, nil
}

func (c *copies) Drop(_ context.Context, task string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left = slices.DeleteFunc(c.left, func(t string) bool { return t == task })
	return nil
}

// writing is a run with two workers that write.
func writing(t *testing.T, c *copies) *stage {
	plan := `{"role": "backend", "reason": "r", "workers": [{"role": "frontend", "goal": "f", "writes": true}, {"role": "dba", "goal": "d", "writes": true}, {"role": "backend", "goal": "b"}],
		"todos": [{"id": "f", "title": "front", "role": "frontend"}, {"id": "d", "title": "data", "role": "dba"}, {"id": "b", "title": "back", "role": "backend"}]}`
	s := newStage(t, "radical", plan, nil)
	s.site.patches, s.site.checks, s.Copies = []check.Patch{patch("a.txt")}, []check.Summary{passed()}, c
	s.crew.answer = func(_ context.Context, tu turn) run.Outcome {
		if tu.Phase == PhaseRouter {
			return says(plan)
		}
		return says("the result of " + string(tu.Role))
	}
	s.Mode.Parallel, s.Model.Routing.Parallel = 1, 1
	return s
}

// Whenever a run with writers is killed, each writer goes on in its copy, or anew
// where that is gone; what it changed is merged and its conflicts are to be settled
// once, and no copy is left.
func TestWritersResumeFromAnyRecord(t *testing.T) {
	first := writing(t, &copies{merged: map[string]int{}})
	if got := first.run(t, "look at it"); got.Status != StatusUnreviewed {
		t.Fatalf("the run that is not killed is %+v", got)
	}
	again := 0
	for at := 1; at < len(first.book.lines); at++ {
		c := &copies{merged: map[string]int{}}
		killed := writing(t, c)
		n := 0
		killed.book.stop = func(string) bool { n++; return n > at }
		if _, err := killed.Run(t.Context(), "look at it", 0); !errors.Is(err, errKilled) {
			t.Fatalf("record %d: the run ended with %v", at, err)
		}
		resumed := writing(t, c)
		resumed.book.lines, resumed.History = killed.book.lines, killed.book.history(t)
		got, ok, err := resumed.Resume(t.Context(), resumed.History)
		if err != nil || !ok || got.Status != StatusUnreviewed {
			t.Fatalf("record %d: %+v, %t, %v", at, got, ok, err)
		}
		again += len(c.found)
		if merges := of[Merge](t, resumed.book, RecordMerge); len(c.left) > 0 || len(merges) != 2 || len(c.merged) != 2 {
			t.Errorf("record %d: %v are left, %d merges recorded, %v merged", at, c.left, len(merges), c.merged)
		}
		settle := 0
		for _, todo := range got.Todos {
			if strings.HasPrefix(todo.ID, "conflict-") {
				settle++
			}
		}
		if settle != 2 {
			t.Errorf("record %d: the things to do are %+v", at, got.Todos)
		}
	}
	if again == 0 {
		t.Error("no copy was ever found again")
	}
}

// A writer whose copy is gone begins anew; one that reads, or whose copy is there, goes
// on in its stream.
func TestWriterWhoseCopyIsGone(t *testing.T) {
	for _, gone := range []bool{true, false} {
		c := &copies{merged: map[string]int{}}
		killed := writing(t, c)
		killed.book.stop = func(kind string) bool { return kind == RecordMerge }
		if _, err := killed.Run(t.Context(), "look at it", 0); !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
		if gone {
			c.left = nil
		}
		again := writing(t, c)
		again.book.lines, again.History = killed.book.lines, killed.book.history(t)
		if tasks := again.History.Copies(); len(tasks) != 2 {
			t.Errorf("the copies are those of %v", tasks)
		}
		again.crew.left[route.Role("frontend")] = Left{Told: true, Done: true, Text: "it was written"}
		if _, _, err := again.Resume(t.Context(), again.History); err != nil {
			t.Fatal(err)
		}
		if n := len(again.crew.of("frontend")); (n == 1) != gone {
			t.Errorf("copy gone: %t; the writer is asked %d times", gone, n)
		}
	}
}
