package usage

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A By says what calls are added up by.
type By string

// What calls can be added up by.
const (
	ByModel   By = "model"
	ByRole    By = "role"
	ByPhase   By = "phase"
	ByDay     By = "day"
	BySession By = "session"
	ByTask    By = "task"
)

// Ways are all of them.
func Ways() []string {
	return []string{string(ByModel), string(ByRole), string(ByPhase), string(ByDay), string(BySession), string(ByTask)}
}

// Totals are calls added up.
type Totals struct {
	Calls      int     `json:"calls"`
	Input      int64   `json:"input"`
	CacheRead  int64   `json:"cacheRead"`
	CacheWrite int64   `json:"cacheWrite"`
	Output     int64   `json:"output"`
	Total      int64   `json:"total"`
	Cost       float64 `json:"cost"`     // US dollars, of the calls whose price is known
	Unpriced   int     `json:"unpriced"` // calls whose price is not
	Seconds    float64 `json:"seconds"`  // that the calls took together
}

// Cached is the share of the prompts that was read from the cache.
func (t *Totals) Cached() float64 {
	prompt := t.Input + t.CacheRead + t.CacheWrite
	if prompt == 0 {
		return 0
	}
	return float64(t.CacheRead) / float64(prompt)
}

// Add adds a call.
func (t *Totals) Add(c *Call) {
	u := c.Usage
	t.Calls++
	t.Input += u.Input
	t.CacheRead += u.CacheRead
	t.CacheWrite += u.CacheWrite
	t.Output += u.Output
	t.Total += u.Prompt() + u.Output
	t.Seconds += c.Took.Seconds()
	if c.Cost == nil {
		t.Unpriced++
		return
	}
	t.Cost += *c.Cost
}

// A Bucket is what calls of one kind used together.
type Bucket struct {
	ID   string    `json:"id"`
	Last time.Time `json:"lastUsedAt"`
	Totals
}

// Sum adds calls up: what used most comes first, days and sessions in their order.
// loc is where days begin.
func Sum(calls []Call, by By, loc *time.Location) []Bucket {
	at := map[string]int{}
	var list []Bucket
	for i := range calls {
		c := &calls[i]
		id := c.key(by, loc)
		n, ok := at[id]
		if !ok {
			n = len(list)
			at[id] = n
			list = append(list, Bucket{ID: id})
		}
		list[n].Add(c)
		if c.At.After(list[n].Last) {
			list[n].Last = c.At
		}
	}
	slices.SortStableFunc(list, func(a, b Bucket) int {
		if by == ByDay {
			return strings.Compare(a.ID, b.ID)
		}
		if by == BySession {
			return strings.Compare(fmt.Sprintf("%12s", a.ID), fmt.Sprintf("%12s", b.ID))
		}
		return larger(&a, &b)
	})
	return list
}

func larger(a, b *Bucket) int {
	switch {
	case a.Total != b.Total:
		return int(min(max(b.Total-a.Total, -1), 1))
	case a.Calls != b.Calls:
		return b.Calls - a.Calls
	}
	return strings.Compare(a.ID, b.ID)
}

func (c *Call) key(by By, loc *time.Location) string {
	switch by {
	case ByModel:
		return c.Model
	case ByRole:
		return c.Role
	case ByDay:
		return c.At.In(loc).Format(time.DateOnly)
	case BySession:
		return c.Session.String()
	case ByTask:
		return c.Task
	default:
		return c.Phase
	}
}

// All adds all calls up.
func All(calls []Call) (t Totals) {
	for i := range calls {
		t.Add(&calls[i])
	}
	return t
}
