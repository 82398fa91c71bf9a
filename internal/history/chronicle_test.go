package history

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/page"
	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/schedule"
	"github.com/quire-agent/quire/internal/store/mem"
	"github.com/quire-agent/quire/internal/token"
)

// failer is what tests and property tests share.
type failer interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// oneCounter is shared: making one takes longer than most tests.
var oneCounter = sync.OnceValues(token.NewCounter)

// A chronicle writes the journal of a session, page by page.
type chronicle struct {
	t      failer
	w      *journal.Writer
	bodies *mem.Store
	cutter page.Cutter
	clock  time.Time
	nodes  map[string]int
	calls  int
	uses   int
	bytes  int // of all texts
}

func newChronicle(t failer, home string) *chronicle {
	t.Helper()
	start := time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)
	head := quire.SessionRecord{Info: quire.SessionInfo{ID: "one", Project: "/home/ann/shop", Model: "claude-opus-4-6"}, Owner: "user:test"}
	w, _, err := journal.Create(home, head, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return &chronicle{t: t, w: w, bodies: mem.New(), clock: start, nodes: map[string]int{}}
}

func (c *chronicle) append(kind string, payload any) {
	c.t.Helper()
	if _, err := c.w.Append(kind, payload); err != nil {
		c.t.Fatal(err)
	}
}

// part records a part of a chain and returns its first page.
func (c *chronicle) part(chain, call string, p quire.Part) quire.PageNumber {
	c.t.Helper()
	hashes, err := c.bodies.PutBodies(c.context(), [][]byte{[]byte(p.Text)})
	if err != nil {
		c.t.Fatal(err)
	}
	c.bytes += len(p.Text)
	rec := quire.PartRecord{Stamp: quire.Stamp{At: c.clock, Chain: chain}, Node: c.nodes[chain], Call: call, Body: hashes[0]}
	c.nodes[chain]++
	for _, pg := range c.cutter.Cut(p, c.calls) {
		rec.Pages = append(rec.Pages, pg.Number)
	}
	rec.Part, rec.Part.Text = p, ""
	c.append(quire.RecordPart, rec)
	if len(rec.Pages) == 0 {
		return 0
	}
	return rec.Pages[0]
}

func (c *chronicle) user(pause time.Duration, text string) quire.PageNumber {
	c.clock = c.clock.Add(pause)
	return c.part("", "", quire.Part{Kind: quire.PartUser, Text: text})
}

// call opens a call of the main chain and returns its name.
func (c *chronicle) call() string {
	c.clock = c.clock.Add(3 * time.Second)
	id := callName(c.calls)
	c.append(quire.RecordCall, quire.CallRecord{Stamp: quire.Stamp{At: c.clock}, Call: id, Model: "claude-opus-4-6"})
	c.calls++
	c.append(quire.RecordUsage, quire.UsageRecord{
		Stamp: quire.Stamp{At: c.clock}, Call: id, Usage: quire.Usage{Input: int64(200 + c.bytes/3), Known: quire.KnownInput},
	})
	return id
}

func callName(n int) string { return fmt.Sprintf("call-%d", n) }

// run is a call that runs a command, and what the command printed.
func (c *chronicle) run(command, output string) quire.PageNumber {
	args, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		c.t.Fatal(err)
	}
	c.uses++
	use := fmt.Sprintf("use-%d", c.uses)
	c.part("", c.call(), quire.Part{Kind: quire.PartToolCall, Tool: "Bash", ToolUse: use, Text: string(args)})
	return c.part("", "", quire.Part{Kind: quire.PartToolResult, Tool: "Bash", ToolUse: use, Text: output})
}

// say is a call that answers with text.
func (c *chronicle) say(text string) quire.PageNumber {
	return c.part("", c.call(), quire.Part{Kind: quire.PartText, Text: text})
}

func (c *chronicle) mark(m quire.MarkRecord) {
	m.By = "user:test"
	c.append(quire.RecordMark, m)
}

// source is the session as it is written so far.
func (c *chronicle) source() *Source {
	c.t.Helper()
	if err := c.w.Sync(); err != nil {
		c.t.Fatal(err)
	}
	return &Source{Path: c.w.Path(), Bodies: c.bodies}
}

func (c *chronicle) close() {
	if err := c.w.Close(); err != nil {
		c.t.Fatal(err)
	}
}

// played is the session played under a profile with a lifetime of five minutes.
func (c *chronicle) played() *History {
	c.t.Helper()
	counter, err := oneCounter()
	if err != nil {
		c.t.Fatal(err)
	}
	table, err := schedule.Default()
	if err != nil {
		c.t.Fatal(err)
	}
	profile, _ := price.ProfileByName("claude")
	h, err := c.source().Play(c.context(), Way{Counter: counter, Table: table, Prices: price.Default(), Profile: &profile})
	if err != nil {
		c.t.Fatal(err)
	}
	return h
}

// listing is a text of its own for each number, of about so many lines.
func listing(n, lines int) string {
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "build step %d of run %d took %d milliseconds\n", i, n, 17*n+31*i)
	}
	return b.String()
}

// shop is a session of two turns: twelve runs, and after a pause another turn, with
// which an epoch begins.
func shop(t *testing.T) (c *chronicle, runs []quire.PageNumber) {
	t.Helper()
	c = newChronicle(t, t.TempDir())
	t.Cleanup(c.close)
	c.user(0, "Why is the build slow?")
	for n := range 12 {
		runs = append(runs, c.run(fmt.Sprintf("make step%d", n), listing(n, 8)))
	}
	c.say("The third step is slow.")
	c.user(20*time.Minute, "Then make it fast.")
	c.say("It is fast now.")
	return c, runs
}
