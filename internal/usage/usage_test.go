package usage_test

import (
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/usage"
	"pgregory.net/rapid"
)

type agentRecord struct {
	Role  string `json:"role"`
	Phase string `json:"phase"`
	Task  string `json:"taskId"`
	Run   string `json:"run"`
	Brain string `json:"brainId"`
	Agent string `json:"agentSessionId"`
	N     int    `json:"attempt"`

	Session int `json:"session,omitempty"`
}

// written is a journal with calls before a run, of two agents in it, and behind it.
func written(t *testing.T) string {
	t.Helper()
	at := time.Date(2026, 11, 30, 23, 59, 0, 0, time.UTC)
	w, _, err := journal.Create(t.TempDir(), quire.SessionRecord{Info: quire.SessionInfo{Agent: quire.AgentQuire}, Owner: "user:a"}, func() time.Time { return at })
	if err != nil {
		t.Fatal(err)
	}
	add := func(kind string, payload any) {
		if _, err := w.Append(kind, payload); err != nil {
			t.Fatal(err)
		}
	}
	call := func(id, model string, minute int, u quire.Usage) {
		begun := at.Add(time.Duration(minute) * time.Minute)
		add(quire.RecordCall, quire.CallRecord{Stamp: quire.Stamp{At: begun}, Call: id, Model: model})
		add(quire.RecordUsage, quire.UsageRecord{Stamp: quire.Stamp{At: begun.Add(time.Second)}, Call: id, Usage: u})
		add(quire.RecordUsage, quire.UsageRecord{Stamp: quire.Stamp{At: begun.Add(2 * time.Second)}, Call: id, Usage: u}) // again: the last stands
	}
	call("c1", "claude-sonnet-5-5", 0, quire.Usage{Input: 100, Output: 10})
	add("agent_session", agentRecord{Role: "backend", Phase: "primary", Task: "t1", Run: "r1", Brain: "b", Agent: "t1-1", N: 1})
	add("agent_session", agentRecord{Role: "qa", Phase: "support", Task: "t9", N: 1, Session: 77}) // its calls stand elsewhere
	call("c2", "claude-sonnet-5-5", 1, quire.Usage{Input: 10, CacheRead: 90, Output: 5})
	add("agent_session", agentRecord{Role: "backend", Phase: "primary", Task: "t1", Run: "r1", Brain: "b", Agent: "t1-2", N: 2})
	call("c3", "of nobody", 2, quire.Usage{Input: 7, CacheWrite: 3, Output: 1})
	add("run_end", struct{}{})
	add(quire.RecordCall, quire.CallRecord{Stamp: quire.Stamp{At: at.Add(3 * time.Minute)}, Call: "c4", Model: "claude-sonnet-5-5"})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return w.Path()
}

// failures.md B20, B32: every call has its scope, cost and time, those of all phases
// the same fields.
func TestRead(t *testing.T) {
	calls, err := usage.Read(written(t), price.Default())
	if err != nil {
		t.Fatal(err)
	}
	if len(calls) != 4 {
		t.Fatalf("%d calls", len(calls))
	}
	if c := calls[0]; c.Phase != usage.Alone || c.Usage.Input != 100 || c.Took != 2*time.Second || c.Cost == nil || *c.Cost <= 0 {
		t.Errorf("the call of an agent alone is %+v", c)
	}
	if c := calls[1]; c.Role != "backend" || c.Phase != "primary" || c.Task != "t1" || c.Run != "r1" || c.Brain != "b" || c.Attempt != 1 || c.Agent != "t1-1" {
		t.Errorf("the call of the team is %+v", c)
	}
	if c := calls[2]; c.Attempt != 2 || c.Cost != nil {
		t.Errorf("the call of the second attempt is %+v", c)
	}
	if c := calls[3]; c.Phase != usage.Alone || c.Took != 0 || c.Usage.Prompt() != 0 {
		t.Errorf("the call behind the run, without an answer, is %+v", c)
	}
}

func TestSum(t *testing.T) {
	calls, err := usage.Read(written(t), price.Default())
	if err != nil {
		t.Fatal(err)
	}
	days := usage.Sum(calls, usage.ByDay, time.UTC)
	if len(days) != 2 || days[0].ID != "2026-11-30" || days[0].Calls != 1 || days[1].Calls != 3 {
		t.Errorf("by day: %+v", days)
	}
	phases := usage.Sum(calls, usage.ByPhase, time.UTC)
	if len(phases) != 2 || phases[0].ID != "primary" || phases[0].Total != 116 || phases[0].Unpriced != 1 {
		t.Errorf("by phase: %+v", phases)
	}
	all := usage.All(calls)
	if all.Calls != 4 || all.Input != 117 || all.CacheRead != 90 || all.CacheWrite != 3 || all.Output != 16 || all.Total != 226 {
		t.Errorf("all: %+v", all)
	}
	if got, want := all.Cached(), 90.0/210; got != want {
		t.Errorf("cached %v, want %v", got, want)
	}
}

// Check D18: whatever calls are added up by, nothing is lost and nothing counts twice.
func TestSumsAreWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 40).Draw(t, "calls")
		calls := make([]usage.Call, n)
		for i := range calls {
			c := &calls[i]
			c.Session = quire.SessionNumber(rapid.IntRange(1, 12).Draw(t, "session"))
			c.Role, c.Phase = rapid.SampledFrom([]string{"qa", "backend"}).Draw(t, "role"), rapid.SampledFrom([]string{"router", "support", "primary"}).Draw(t, "phase")
			c.Task, c.Model = rapid.SampledFrom([]string{"", "t1", "t2"}).Draw(t, "task"), rapid.SampledFrom([]string{"a", "b"}).Draw(t, "model")
			c.At = time.Unix(rapid.Int64Range(0, 1e7).Draw(t, "at"), 0)
			c.Usage = quire.Usage{Input: rapid.Int64Range(0, 1e6).Draw(t, "in"), CacheRead: rapid.Int64Range(0, 1e6).Draw(t, "read"), Output: rapid.Int64Range(0, 1e6).Draw(t, "out")}
		}
		all := usage.All(calls)
		for _, by := range usage.Ways() {
			var sum usage.Totals
			for _, b := range usage.Sum(calls, usage.By(by), time.UTC) {
				sum.Calls += b.Calls
				sum.Total += b.Total
				sum.CacheRead += b.CacheRead
				sum.Unpriced += b.Unpriced
			}
			if sum.Calls != all.Calls || sum.Total != all.Total || sum.CacheRead != all.CacheRead || sum.Unpriced != all.Unpriced {
				t.Fatalf("by %s: %+v, want %+v", by, sum, all)
			}
		}
	})
}
