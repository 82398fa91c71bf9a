package replay

import (
	"fmt"
	"slices"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/recording"
	"github.com/quire-agent/quire/internal/schedule"
)

// The baselines are the context policies that other agents use or that bound
// what can be reached, as the evaluation document defines them. They stand
// beside ours in every table.

// Baselines returns the baseline policies in the order of the tables. budget is
// the budget of lru, in tokens net of the constant prefix.
func Baselines(budget int) []Policy {
	return []Policy{
		{Name: "append", Start: startAppend},
		{Name: "compact", Start: startCompact},
		{Name: "keep-last-10", Start: startKeepLast},
		{Name: "clear-tool-uses", Start: startClear},
		{Name: "fifo-4", Start: startFIFO},
		{Name: fmt.Sprintf("lru@%dk", budget/1000), Kind: "lru", Budgeted: true, Start: startLRU},
		{Name: "cold-idle-5", Timed: true, Start: startColdIdle},
		{Name: "fresh", Start: startFresh},
		{Name: "oracle-cold", Timed: true, Oracle: true, Start: startOracle(false)},
		{Name: "oracle-any", Timed: true, Oracle: true, Start: startOracle(true)},
	}
}

// appendOnly does nothing: every prompt extends the one before it.
type appendOnly struct{ *stream }

func startAppend(s *recording.Session, _ Setting) Player { return appendOnly{newStream(s)} }

func (p appendOnly) Step(k int) Prompt {
	p.advance(k)
	return p.prompt()
}

// Compaction as agents ship it: at this share of this window a model summary
// of summaryOut output tokens replaces everything that was sent before and
// leaves summaryLeft tokens in the prompt. What enters with the call stays.
const (
	compactWindow = 200_000
	compactAt     = schedule.CompactAt
	summaryOut    = schedule.SummaryOut
	summaryLeft   = schedule.SummaryLeft
)

type compact struct{ *stream }

func startCompact(s *recording.Session, _ Setting) Player { return compact{newStream(s)} }

func (p compact) Step(k int) Prompt {
	p.advance(k)
	if float64(p.net+p.s.Overhead) < compactAt*compactWindow {
		return p.prompt()
	}
	fresh := slices.Clone(p.blocks[p.dirty:])
	p.cut(0, "compaction")
	p.add(Block{Item: -1, Text: fmt.Sprintf("[A summary of everything before call %d; its text is not part of the replay.]", k), Tokens: summaryLeft, Role: RoleUser})
	for _, b := range fresh {
		p.at[b.Item] = int32(len(p.blocks))
		p.add(b)
	}
	out := p.prompt()
	out.Asides = []Aside{{Output: summaryOut}}
	return out
}

// fresh is compact that also starts anew where a recorded session began: what a
// careful user does by hand.
type fresh struct{ compact }

func startFresh(s *recording.Session, _ Setting) Player { return fresh{compact{newStream(s)}} }

func (p fresh) Step(k int) Prompt {
	if b, ok := p.s.StartAt(k); ok && k > 0 {
		p.take(b.Item)
		p.cut(0, "new session")
	}
	return p.compact.Step(k)
}

// results is a stream that clears tool results from the oldest on.
type results struct {
	*stream
	queue []int32 // items of results that are still whole, oldest first
	seen  int32
	put   func(p *results, item int32) Block
}

func newResults(s *recording.Session, put func(*results, int32) Block) *results {
	return &results{stream: newStream(s), put: put}
}

// see queues the results that entered since the last call.
func (p *results) see(k int) {
	p.advance(k)
	for n := len(p.queue); n > 0 && p.at[p.queue[n-1]] < 0; n-- { // rewound
		p.queue = p.queue[:n-1]
	}
	for ; p.seen < p.items; p.seen++ {
		if p.at[p.seen] >= 0 && isResult(p.s, p.seen) {
			p.queue = append(p.queue, p.seen)
		}
	}
}

// clear replaces the oldest results until keep of them are whole.
func (p *results) clear(keep int, reason string) {
	for len(p.queue) > keep {
		i := p.queue[0]
		p.queue = p.queue[1:]
		b := p.at[i]
		if less := p.put(p, i); less != p.blocks[b] {
			p.replace(b, less, reason)
		}
	}
}

// result reports whether item i is what a tool returned.
func isResult(s *recording.Session, i int32) bool {
	it := &s.Items[i]
	return it.Kind == quire.PartToolResult || it.Kind == quire.PartImage && it.Page > 0 && s.Pages[it.Page-1].Tool != ""
}

// cleared is the placeholder that takes a result's place without a way back.
func cleared(p *results, i int32) Block {
	return textBlock(p.s, i, "[Old tool result cleared.]")
}

// text is a block that shows text in the place of item i. Its size is estimated
// by the session's mean of tokens per byte.
func textBlock(s *recording.Session, i int32, text string) Block {
	return Block{Item: i, Text: text, Tokens: s.TokensOf(len(text)), Role: roleOf(s.Items[i].Kind)}
}

// handle is a text of at most 40 tokens that says what item i was.
func handleOf(s *recording.Session, i int32) Block {
	it := &s.Items[i]
	what := it.Kind.String()
	if it.Page > 0 {
		pg := &s.Pages[it.Page-1]
		what = strings.TrimSpace(pg.Tool + " " + recording.Shorten(pg.Target, 60))
	}
	b := textBlock(s, i, fmt.Sprintf("[%v %s, %d tokens: recall reads it]", it.Page, what, it.Tokens))
	b.Handle = true
	return b
}

// keepLast holds the last ten tool results.
type keepLast struct{ *results }

func startKeepLast(s *recording.Session, _ Setting) Player { return keepLast{newResults(s, cleared)} }

func (p keepLast) Step(k int) Prompt {
	p.see(k)
	p.clear(10, "results cleared")
	return p.prompt()
}

// clearToolUses clears all but three results whenever the prompt has more than
// 100k tokens.
type clearToolUses struct{ *results }

func startClear(s *recording.Session, _ Setting) Player { return clearToolUses{newResults(s, cleared)} }

func (p clearToolUses) Step(k int) Prompt {
	p.see(k)
	if p.net+p.s.Overhead > 100_000 {
		p.clear(3, "results cleared")
	}
	return p.prompt()
}

// fifo turns results of over 500 bytes into stubs of 200 bytes once they are
// older than four turns.
type fifo struct{ *results }

func startFIFO(s *recording.Session, _ Setting) Player { return fifo{newResults(s, stub)} }

func (p fifo) Step(k int) Prompt {
	p.see(k)
	now := p.s.Calls[k].Turn
	n := len(p.queue)
	for n > 0 && p.s.Items[p.queue[len(p.queue)-n]].Turn+4 < now {
		n--
	}
	p.clear(n, "old results stubbed")
	return p.prompt()
}

func stub(p *results, i int32) Block {
	if p.s.Items[i].Bytes <= 500 {
		return whole(p.s, i)
	}
	text, err := p.s.Bodies.Get(p.s.Items[i].Body)
	if err != nil {
		text = ""
	}
	return textBlock(p.s, i, recording.Shorten(text, 200)+" […]")
}

// uses tracks, for each page, the last call that needed it.
type uses struct {
	s    *recording.Session
	last []int32 // by page number, 0 for none
	need int     // needs seen
}

func newUses(s *recording.Session) uses { return uses{s: s, last: make([]int32, len(s.Pages)+1)} }

// before takes in the needs of the calls before k.
func (u *uses) before(k int) {
	for ; u.need < len(u.s.Needs) && u.s.Needs[u.need].Call < int32(k); u.need++ {
		n := &u.s.Needs[u.need]
		u.last[n.Page] = max(u.last[n.Page], n.Call)
	}
}

// of is the last use of item i; that it entered counts as one.
func (u *uses) of(i int32) int32 {
	it := &u.s.Items[i]
	return max(it.Call, u.last[it.Page])
}

// coldIdle turns, at cold calls only, results that were not used for five calls
// into handles.
type coldIdle struct {
	*results
	uses
	cold []bool
}

func startColdIdle(s *recording.Session, set Setting) Player {
	return &coldIdle{results: newResults(s, nil), uses: newUses(s), cold: set.Cold}
}

func (p *coldIdle) Step(k int) Prompt {
	p.see(k)
	if p.cold[k] {
		p.before(k)
		p.demote(int32(k))
	}
	return p.prompt()
}

func (p *coldIdle) demote(k int32) {
	left := p.queue[:0]
	for _, i := range p.queue {
		h := handleOf(p.results.s, i)
		switch b := p.at[i]; {
		case k-p.of(i) < 5 || h.Tokens >= p.results.s.Items[i].Tokens:
			left = append(left, i)
		default:
			p.replace(b, h, "cold")
		}
	}
	p.queue = left
}

// lru holds the prompt at its budget by dropping the pages used longest ago,
// whatever that does to the cache. The user's last message and what entered
// with the current call stay.
type lru struct {
	*stream
	uses
	budget int
}

func startLRU(s *recording.Session, set Setting) Player {
	return &lru{stream: newStream(s), uses: newUses(s), budget: set.Budget}
}

func (p *lru) Step(k int) Prompt {
	p.advance(k)
	if p.net > p.budget {
		p.before(k)
		p.evict(int32(k))
	}
	return p.prompt()
}

func (p *lru) evict(k int32) {
	s := p.stream.s
	idle := make([]int32, 0, len(p.blocks))
	for _, b := range p.blocks {
		if b.Item >= 0 && s.Items[b.Item].Call < k && s.Items[b.Item].Kind != quire.PartUser {
			idle = append(idle, b.Item)
		}
	}
	slices.SortStableFunc(idle, func(a, b int32) int { return int(p.of(a) - p.of(b)) })
	first := len(p.blocks)
	for _, i := range idle {
		if p.net <= p.budget {
			break
		}
		first = min(first, int(p.at[i]))
		p.replace(p.at[i], Block{Item: i, Role: roleOf(s.Items[i].Kind)}, "budget")
	}
	p.sweep(first)
}
