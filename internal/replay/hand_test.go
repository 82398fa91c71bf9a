package replay

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/recording"
	"github.com/quire-agent/quire/internal/recording/recordingtest"
	"github.com/quire-agent/quire/internal/shingle"
	"github.com/quire-agent/quire/internal/token"
)

// ledgerText is three lines of text; a fault about it brings all of them.
const ledgerText = "opening balance of january\nclosing balance of february\nstatement of the whole quarter\n"

// A fixture is a session whose sizes are set by hand.
type fixture struct{ *recording.Session }

func (f fixture) item(kind quire.PartKind, by, call int32, tokens int32, body string) fixture {
	s := f.Session
	ref, err := s.Bodies.Put(body)
	if err != nil {
		panic(err)
	}
	n := quire.PageNumber(len(s.Pages) + 1)
	s.Pages = append(s.Pages, quire.Page{Number: n, Kind: quire.PageTool, Body: quire.Sum(body), Tokens: int(tokens), Call: int(call)})
	s.PageItem = append(s.PageItem, int32(len(s.Items)))
	s.Items = append(s.Items, recording.Item{
		Page: n, Kind: kind, By: by, Call: call, Tokens: tokens, Bytes: int32(len(body)), Body: ref,
		Hash: recording.ItemHash(&quire.Part{Kind: kind}, body),
	})
	return f
}

// call makes a call some seconds after the first with everything before it.
func (f fixture) call(seconds int) fixture {
	f.Calls = append(f.Calls, recording.Call{At: recordingtest.Morning().Add(time.Duration(seconds) * time.Second), Items: int32(len(f.Items)), Output: 100})
	return f
}

// need makes a call need all of a page.
func (f fixture) need(call int32, page quire.PageNumber, strict bool) fixture {
	body, err := f.PageText(page)
	if err != nil {
		panic(err)
	}
	n := recording.Need{Call: call, Page: page, Wide: true, Strict: strict}
	shingle.Scan(body, func(g shingle.Shingle) bool { n.Shingles = append(n.Shingles, g.Hash); return true })
	slices.Sort(n.Shingles)
	n.Shingles = slices.Compact(n.Shingles)
	if strict {
		n.StrictShingles = n.Shingles
	}
	f.Needs = append(f.Needs, n)
	return f
}

func (f fixture) indexed(t *testing.T) *recording.Session {
	t.Helper()
	if err := f.Index(); err != nil {
		t.Fatal(err)
	}
	return f.Session
}

// fiveCalls is a session under a constant prefix of 20,000 tokens. Between its
// second and its third call are 400 seconds. Calls 3 and 4 need page p3, the
// last one by the wide definition only.
func fiveCalls(t *testing.T) *recording.Session {
	f := fixture{&recording.Session{Bodies: &recording.Bodies{}, Starts: []recording.Start{{}}, Overhead: 20_000, Density: .25}}
	f.item(quire.PartUser, -1, 0, 1_000, "close the books").call(0)
	f.item(quire.PartToolCall, 0, 1, 200, "Read\nledger").item(quire.PartToolResult, -1, 1, 3_000, ledgerText).call(10)
	f.item(quire.PartText, 1, 2, 500, "I have read it").call(410)
	f.item(quire.PartText, 2, 3, 400, "and go on").call(430)
	f.item(quire.PartToolResult, -1, 4, 150_000, "a very long listing").call(440)
	return f.need(3, 3, true).need(4, 3, false).indexed(t)
}

// forgetful shows the result as a handle of 20 tokens from the cold call on.
func forgetful() Policy {
	return Policy{Name: "forgetful", Start: func(s *recording.Session, _ Setting) Player { return forgetter{newStream(s)} }}
}

type forgetter struct{ *stream }

func (p forgetter) Step(k int) Prompt {
	p.advance(k)
	if k == 2 {
		p.replace(2, Block{Item: 2, Handle: true, Text: "[p3]", Tokens: 20, Role: RoleTool}, "cold")
	}
	return p.prompt()
}

// The sums are written as the prices say: .10 a token read, 1.25 written, 5 of
// output; 100 output tokens and a read of the prompt for a fault. The cache holds
// what ended at a marker: the constant prefix and each prompt.
func TestFiveCallsByHand(t *testing.T) {
	const read, write, out = .10, 1.25, 5
	s := fiveCalls(t)
	claude, _ := price.ProfileByName("claude")
	set := UnderProfile(s, claude, 0)
	bring := 3_001. // the whole of p3, rounded up
	opening := write*21_000 + read*21_000 + write*3_200
	tests := []struct {
		policy  Policy
		cost    float64 // wide faults charged
		strict  float64
		extra   float64
		prefix  float64
		prompts []int32 // with what strict faults brought
		read    int64
		reasons map[string]int
		wide, n int
	}{
		{
			policy:  Baselines(0)[0],
			cost:    opening + write*24_700 + read*24_700 + write*400 + read*25_100 + write*150_000,
			strict:  256_205,
			prefix:  20_000 * (2*write + 3*read),
			prompts: []int32{21_000, 24_200, 24_700, 25_100, 175_100},
			read:    21_000 + 24_700 + 25_100,
		},
		{
			policy: forgetful(),
			cost: opening + write*21_720 + read*21_720 + write*400 + (read*22_120 + out*100) +
				read*22_120 + write*(bring+150_000),
			strict:  258_347.25,
			extra:   read*22_120 + out*100 + write*bring,
			prefix:  20_000 * (2*write + 3*read + read),
			prompts: []int32{21_000, 24_200, 21_720, 22_120, 175_121},
			read:    21_000 + 21_720 + 22_120,
			reasons: map[string]int{"cold": 1},
			wide:    1, n: 1,
		},
		{
			// The summary reads the last prompt and writes 4,000 tokens. It and
			// the result that entered then are behind the constant prefix, which
			// has a marker of its own. What call 4 needs went with the rest.
			policy: Baselines(0)[1],
			cost: opening + write*24_700 + read*24_700 + write*400 + (read*25_100 + out*4_000) +
				read*20_000 + write*158_000 + (read*178_000 + out*100),
			strict:  288_205,
			extra:   read*178_000 + out*100 + write*bring,
			prefix:  20_000 * (2*write + 3*read + read),
			prompts: []int32{21_000, 24_200, 24_700, 25_100, 178_000},
			read:    21_000 + 24_700 + 20_000,
			reasons: map[string]int{"compaction": 1},
			wide:    1,
		},
	}
	for _, tt := range tests {
		t.Run(tt.policy.Name, func(t *testing.T) {
			got, err := Replay(s, []Policy{tt.policy}, []Setting{set})
			if err != nil {
				t.Fatal(err)
			}
			o := got[0][0]
			for _, c := range []struct {
				what      string
				got, want float64
			}{
				{"cost", o.Cost, tt.cost}, {"strict cost", o.CostStrict, tt.strict}, {"extra", o.Extra, tt.extra},
				{"prefix", o.Prefix, tt.prefix}, {"output", o.Output, out * 500},
			} {
				if math.Abs(c.got-c.want) > 1e-6 {
					t.Errorf("%s %v, want %v", c.what, c.got, c.want)
				}
			}
			if o.FaultsWide != tt.wide || o.Faults != tt.n || o.Read != tt.read || len(o.Reasons) != len(tt.reasons) || o.Cold != 2 {
				t.Errorf("%d wide faults, %d strict, %d read, epochs %v, %d cold", o.FaultsWide, o.Faults, o.Read, o.Reasons, o.Cold)
			}
			for reason, n := range tt.reasons {
				if o.Reasons[reason] != n {
					t.Errorf("epochs %v, want %v", o.Reasons, tt.reasons)
				}
			}
			for k, n := range tt.prompts {
				if o.Prompts[k] != n {
					t.Errorf("prompts %v, want %v", o.Prompts, tt.prompts)
					break
				}
			}
		})
	}
}

// A result that went at call 2 and is needed at call 3 went too early. Its page
// is dead once no call needs it any more, as everything else is from the start.
func TestResidencyByHand(t *testing.T) {
	s := fiveCalls(t)
	claude, _ := price.ProfileByName("claude")
	got, err := Replay(s, []Policy{Baselines(0)[0], forgetful()}, []Setting{UnderProfile(s, claude, 0)})
	if err != nil {
		t.Fatal(err)
	}
	a, f := got[0][0], got[0][1]
	if a.LiveCalls != 4*3_000 || a.LiveCalls+a.DeadCalls != a.Net {
		t.Errorf("append: %d live, %d dead token-calls of %d", a.LiveCalls, a.DeadCalls, a.Net)
	}
	if f.LiveCalls != 3_000 || f.MisSchedules != 1 || f.Demotions != 1 || f.Thrash != 0 {
		t.Errorf("forgetful: %d live token-calls, %d mis-schedules, %d demotions, %d thrash", f.LiveCalls, f.MisSchedules, f.Demotions, f.Thrash)
	}
}

func TestFaultBringsLinesAround(t *testing.T) {
	lines := make([]string, 30)
	for i := range lines {
		lines[i] = strings.Repeat("x", i+1)
	}
	text := strings.Join(lines, "\n") + "\n"
	cut := func(first, last int) string { return strings.Join(lines[first-1:last], "\n") + "\n" }
	tests := []struct {
		name   string
		ranges []quire.Range
		want   string
	}{
		{"none", nil, ""},
		{"in the middle", []quire.Range{{First: 12, Last: 13}}, cut(7, 18)},
		{"at the ends", []quire.Range{{First: 1, Last: 1}, {First: 30, Last: 30}}, cut(1, 6) + cut(25, 30)},
		{"overlapping", []quire.Range{{First: 8, Last: 8}, {First: 15, Last: 15}}, cut(3, 20)},
		{"all", []quire.Range{{First: 1, Last: 30}}, text},
	}
	for _, tt := range tests {
		if got := recording.LinesOf(text, tt.ranges); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestPercentile(t *testing.T) {
	tests := []struct {
		values []int
		q      float64
		want   int
	}{
		{nil, .95, 0},
		{[]int{7}, .95, 7},
		{[]int{3, 1, 2}, .5, 2},
		{[]int{4, 3, 2, 1}, .5, 2},
		{[]int{4, 3, 2, 1}, 0, 1},
		{[]int{4, 3, 2, 1}, 1, 4},
		{[]int{20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1}, .95, 19},
	}
	for _, tt := range tests {
		if got := Percentile(tt.values, tt.q); got != tt.want {
			t.Errorf("percentile(%v, %v) = %d, want %d", tt.values, tt.q, got, tt.want)
		}
	}
}

func TestSlope(t *testing.T) {
	rising := make([]int, 30)
	for i := range rising {
		rising[i] = 1_000_000 // the first twenty calls do not count
		if i >= 20 {
			rising[i] = 500 + 70*i
		}
	}
	zigzag := append(make([]int, 20), 10, 30, 20, 40) // slope of 10, 30, 20, 40 over 0…3
	for _, tt := range []struct {
		name   string
		values []int
		want   float64
	}{{"rising", rising, 70}, {"zigzag", zigzag, 8}, {"short", rising[:22], 0}, {"none", nil, 0}} {
		if got := slope(tt.values); math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}

// built makes a session of what scripts say, joined if there are several.
func built(t recordingtest.Checker, c *token.Counter, scripts ...*recordingtest.Script) *recording.Session {
	t.Helper()
	var sources []recording.Source
	for _, s := range scripts {
		sources = append(sources, recording.Source{Path: s.Name, Events: s.Told()})
	}
	l := recording.Loader{Counter: c}
	s, err := l.JoinSources(context.Background(), sources)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
