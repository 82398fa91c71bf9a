package price

import (
	"bufio"
	"fmt"
	"hash/maphash"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/token"
)

// This file checks the simulator against what providers reported. From the
// texts of a recorded session it rebuilds the prompt of each call, counts it
// with its own tokenizer (scaled per session by least squares on the recorded
// prompt sizes), and compares the tokens that the simulator says were read from
// the cache with the recorded ones.

// A piece is one block of a rebuilt prompt.
type piece struct {
	hash  uint64
	count float64 // own tokens, or recorded ones where recorded is set
	exact bool    // count is the provider's own and must not be scaled
	from  int     // call that answered with it, -1: it is input
	drop  bool    // reasoning: it leaves the prompt at the next user message
	rest  int     // what of a part is not in the record, by its number
	tool  string  // id of the tool call that it answers
}

// A request is one recorded call.
type request struct {
	at     time.Time
	model  string
	keep   int // pieces of the preceding request of the session
	added  []piece
	own    float64 // own count of what is scaled
	fixed  float64 // recorded count of what is not
	part   int     // of the session, from 1: a new one begins at each compaction
	life   Lifetime
	prompt int // recorded
	hit    int // recorded
}

// A session is a recorded session made ready for the comparison.
type session struct {
	name     string
	requests []request
	current  []piece
	part     int     // compactions so far
	last     []piece // of the preceding request
	seed     maphash.Seed
	counter  *counter
	input    time.Time // when the latest input was recorded
}

// A counter counts each text once.
type counter struct {
	codec *token.Counter
	known map[string]int
}

func newSession(path string, c *counter) *session {
	s := &session{name: filepath.Base(path), seed: maphash.MakeSeed(), counter: c}
	s.begin(0)
	return s
}

func newCounter(t *testing.T) *counter {
	t.Helper()
	codec, err := token.NewCounter()
	if err != nil {
		t.Fatal(err)
	}
	return &counter{codec: codec, known: make(map[string]int)}
}

func (c *counter) count(text string) float64 {
	n, ok := c.known[text]
	if !ok {
		n = c.codec.Count(text)
		c.known[text] = n
	}
	return float64(n)
}

// frame is what a message or block costs beside its text.
const frame = 4

func (s *session) add(text string, from int) {
	s.current = append(s.current, piece{hash: maphash.String(s.seed, text), count: s.counter.count(text) + frame, from: from})
}

func (s *session) enter(at time.Time, text string) {
	if at.After(s.input) {
		s.input = at
	}
	s.add(text, -1)
}

// begin begins a part: only the first keep pieces stay in the prompt. What else
// it begins with and is not in the record stands for itself as one piece: a
// summary that is encrypted, the history of a session that was resumed.
func (s *session) begin(keep int) {
	s.part++
	s.current = append(s.current[:keep:keep], piece{hash: uint64(s.part), exact: true, from: -1, rest: s.part})
}

// clear empties the results of some tool calls.
func (s *session) clear(tools []string) {
	cleared := append([]piece(nil), s.current...)
	for i := range cleared {
		if p := &cleared[i]; p.tool != "" && slices.Contains(tools, p.tool) {
			p.hash, p.count = 0, frame
		}
	}
	s.current = cleared
}

// call opens a request with the pieces that stand in the prompt now.
func (s *session) call(model string) {
	keep := 0
	for keep < len(s.last) && keep < len(s.current) && s.last[keep] == s.current[keep] {
		keep++
	}
	r := request{at: s.input, model: model, keep: keep, added: append([]piece(nil), s.current[keep:]...), part: s.part}
	for _, p := range s.current {
		if p.exact {
			r.fixed += p.count
		} else {
			r.own += p.count
		}
	}
	s.last = append(s.last[:keep], r.added...)
	s.requests = append(s.requests, r)
}

// A fit turns own counts into a provider's: one scale for the session, and for
// each context between compactions the part that is not in the record.
type fit struct {
	scale    float64
	constant float64         // system prompt and tools: the smallest of the parts
	rest     map[int]float64 // what a part has beyond
}

func (s *session) fit() fit {
	type sums struct{ n, x, y float64 }
	parts := make(map[int]*sums)
	for _, r := range s.requests {
		if r.prompt == 0 {
			continue
		}
		p := parts[r.part]
		if p == nil {
			p = new(sums)
			parts[r.part] = p
		}
		p.n, p.x, p.y = p.n+1, p.x+r.own, p.y+float64(r.prompt)-r.fixed
	}
	var xx, xy float64
	for _, r := range s.requests {
		if p := parts[r.part]; r.prompt != 0 {
			dx, dy := r.own-p.x/p.n, float64(r.prompt)-r.fixed-p.y/p.n
			xx, xy = xx+dx*dx, xy+dx*dy
		}
	}
	f := fit{scale: xy / xx, constant: math.Inf(1), rest: make(map[int]float64)}
	for part, p := range parts {
		f.rest[part] = (p.y - f.scale*p.x) / p.n
		f.constant = min(f.constant, f.rest[part])
	}
	f.constant = max(0, f.constant)
	for part := range parts {
		f.rest[part] = max(0, f.rest[part]-f.constant)
	}
	return f
}

// A verdict is the comparison of a session.
type verdict struct {
	calls                      int
	predicted, recorded        int
	explained, explainedRecord int // without the unexplained calls
	misses, hits               []string
	missed, found              int     // tokens of the unexplained misses and hits
	meanError                  float64 // of the prompt sizes
}

func abs(n int) int { return max(n, -n) }

func share(a, b int) float64 { return float64(a-b) / float64(b) }

// compare replays the session.
func (s *session) compare(t *Table) verdict {
	f := s.fit()
	caches := make(map[string]*Cache)
	sent := make(map[string]int) // requests since a model's own previous one keep fewer pieces
	var v verdict
	for i, r := range s.requests {
		model, ok := t.Model(r.model)
		if !ok || r.prompt == 0 {
			continue
		}
		c := caches[r.model]
		if c == nil {
			c = NewCache(model.Rules())
			caches[r.model] = c
		}
		keep, added := r.keep+1, r.added
		if previous, ok := sent[r.model]; !ok || previous != i-1 {
			keep, added = 0, s.whole(i)
		}
		sent[r.model] = i
		charge := c.Send(r.at, keep, s.blocks(r, i, keep, added, f))
		v.note(i, r, charge)
		v.meanError += math.Abs(float64(charge.Prompt()-r.prompt)) / float64(r.prompt)
	}
	v.meanError /= float64(v.calls)
	return v
}

// whole rebuilds the pieces of a request.
func (s *session) whole(i int) []piece {
	if i == 0 {
		return s.requests[0].added
	}
	return append(append([]piece(nil), s.whole(i - 1)[:s.requests[i].keep]...), s.requests[i].added...)
}

func (s *session) blocks(r request, call, keep int, added []piece, f fit) []Block {
	var blocks []Block
	if keep == 0 {
		blocks = append(blocks, Block{Hash: 1, Tokens: int(f.constant), Mark: r.life})
	}
	for _, p := range added {
		n := p.count
		if p.rest > 0 {
			n = f.rest[p.rest]
		} else if !p.exact {
			n *= f.scale
		}
		blocks = append(blocks, Block{Hash: p.hash, Tokens: max(0, int(n+0.5)), Answer: p.from == call-1 && call > 0})
	}
	if len(blocks) > 0 {
		blocks[len(blocks)-1].Mark = r.life
	}
	return blocks
}

func (v *verdict) note(i int, r request, charge Charge) {
	v.calls++
	v.predicted += charge.Read
	v.recorded += r.hit
	off := charge.Read - r.hit
	slack := 1024 + r.prompt/20 + abs(charge.Prompt()-r.prompt) // what wrong sizes explain is not the cache's doing
	if off > slack {
		v.misses = append(v.misses, fmt.Sprintf("call %d at %s: %d tokens read, %d predicted", i, r.at.Format(time.DateTime), r.hit, charge.Read))
		v.missed += off
		return
	}
	if -off > slack {
		v.hits = append(v.hits, fmt.Sprintf("call %d at %s: %d tokens read, %d predicted", i, r.at.Format(time.DateTime), r.hit, charge.Read))
		v.found -= off
		return
	}
	v.explained += charge.Read
	v.explainedRecord += r.hit
}

func corpus(t *testing.T) string {
	t.Helper()
	shared := os.Getenv("QUIRE_SHARED")
	for dir, _ := os.Getwd(); shared == ""; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "shared", "corpus")); err == nil {
			shared = filepath.Join(dir, "shared")
		} else if dir == filepath.Dir(dir) {
			t.Skip("no folder shared/corpus beside the checkout, and QUIRE_SHARED is not set")
		}
	}
	return filepath.Join(shared, "corpus")
}

func files(t *testing.T, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(corpus(t), pattern))
	if err != nil || len(paths) == 0 {
		t.Skipf("no files %s in the corpus", pattern)
	}
	sort.Strings(paths)
	return paths
}

func lines(t *testing.T, path string, each func([]byte)) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in := bufio.NewScanner(f)
	in.Buffer(nil, 64<<20)
	for in.Scan() {
		each(in.Bytes())
	}
	if err := in.Err(); err != nil {
		t.Fatal(err)
	}
}

func (v verdict) report(t *testing.T, name string) {
	t.Helper()
	t.Logf("%s: %d calls, read %d, predicted %d (%+.2f%%); explained calls %+.3f%%; prompt sizes off by %.2f%% on average; %d unexplained misses (%d tokens), %d unexplained hits (%d tokens)",
		name, v.calls, v.recorded, v.predicted, 100*share(v.predicted, v.recorded), 100*share(v.explained, v.explainedRecord), 100*v.meanError, len(v.misses), v.missed, len(v.hits), v.found)
	for _, m := range v.misses {
		t.Log("  unexplained miss: " + m)
	}
	for _, m := range v.hits {
		t.Log("  unexplained hit: " + m)
	}
}

func (v verdict) within(t *testing.T, limit float64) {
	t.Helper()
	if off := math.Abs(share(v.predicted, v.recorded)); off > limit {
		t.Errorf("hit tokens are off by %.2f%%, at most %.0f%% expected", 100*off, 100*limit)
	}
}
