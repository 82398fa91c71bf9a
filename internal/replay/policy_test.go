package replay

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/recording"
	"github.com/quire-agent/quire/internal/recording/recordingtest"
	"github.com/quire-agent/quire/internal/shingle"
)

// rounds is a session of a user message of 1,000 tokens and then, for each
// size, a tool call of 10 tokens with a result of that many tokens and bytes.
// Each is a turn of its own, 20 seconds after the one before.
func rounds(sizes ...int32) fixture {
	f := fixture{&recording.Session{Bodies: &recording.Bodies{}, Starts: []recording.Start{{}}, Overhead: 20_000, Density: .25}}
	f.item(quire.PartUser, -1, 0, 1_000, "begin").call(0)
	for i, n := range sizes {
		f.item(quire.PartToolCall, int32(i), int32(i+1), 10, fmt.Sprintf("Bash\nrun %d", i))
		f.item(quire.PartToolResult, -1, int32(i+1), n, fmt.Sprintf("%d%s", i, strings.Repeat("x", int(n)-1)))
		f.call(20 * (i + 1))
	}
	for i := range f.Items {
		f.Items[i].Turn = f.Items[i].Call
	}
	for k := range f.Calls {
		f.Calls[k].Turn = int32(k)
	}
	return f
}

// shows plays a policy and says of each call which items its prompt has: W
// whole, h as a handle, t as another text; a dot where it has none of it. An s
// in front is a summary.
func shows(s *recording.Session, p Policy, set Setting) (out []string) {
	player := p.Start(s, set)
	var blocks []Block
	for k, c := range s.Calls {
		pr := player.Step(k)
		blocks = append(blocks[:pr.Keep:pr.Keep], pr.Blocks...)
		line, summary := []byte(strings.Repeat(".", int(c.Items))), ""
		for _, b := range blocks {
			switch {
			case b.Item < 0:
				summary = "s"
			case b.Whole:
				line[b.Item] = 'W'
			case b.Handle:
				line[b.Item] = 'h'
			default:
				line[b.Item] = 't'
			}
		}
		out = append(out, summary+string(line))
	}
	return out
}

func baseline(t *testing.T, kind string) Policy {
	t.Helper()
	for _, p := range Baselines(0) {
		if p.Name == kind || p.Kind == kind {
			return p
		}
	}
	t.Fatalf("there is no policy %q", kind)
	return Policy{}
}

func TestKeepLast(t *testing.T) {
	s := rounds(slices.Repeat([]int32{50}, 12)...).indexed(t)
	got := shows(s, baseline(t, "keep-last-10"), Setting{})
	if want := "W" + strings.Repeat("WW", 10); got[10] != want {
		t.Errorf("ten results: %s", got[10])
	}
	if want := "WWtWt" + strings.Repeat("WW", 10); got[12] != want {
		t.Errorf("twelve results: %s, want %s", got[12], want)
	}
}

// The trigger is more than 100,000 tokens, the constant prefix included.
func TestClearToolUses(t *testing.T) {
	s := rounds(20_000, 20_000, 20_000, 18_960, 90, 90).indexed(t) // 100,000 at the fourth, 100,100 then
	got := shows(s, baseline(t, "clear-tool-uses"), Setting{})
	want := []string{"W", "WWW", "WWWWW", "WWWWWWW", "WWWWWWWWW", "WWtWtWWWWWW", "WWtWtWWWWWWWW"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A result of over 500 bytes is a stub from the fifth turn after its own on; a
// smaller one stays, and its time passing is no reason to send the prompt anew.
func TestFIFO(t *testing.T) {
	s := rounds(501, 500, 501, 50, 50, 50, 50, 50).indexed(t)
	got := shows(s, baseline(t, "fifo-4"), Setting{})
	want := []string{
		"W", "WWW", "WWWWW", "WWWWWWW", "WWWWWWWWW", "WWWWWWWWWWW",
		"WWtWWWWWWWWWW", "WWtWWWWWWWWWWWW", "WWtWWWtWWWWWWWWWW",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	claude, _ := price.ProfileByName("claude")
	out, err := Replay(s, []Policy{baseline(t, "fifo-4")}, []Setting{UnderProfile(s, claude, 0)})
	if err != nil || out[0][0].Epochs != 2 || out[0][0].Demotions != 2 {
		t.Errorf("%d epochs, %d demotions, %v", out[0][0].Epochs, out[0][0].Demotions, err)
	}
}

// Only at cold calls, only what was not used for five calls, and not what is
// shorter than its handle.
func TestColdIdle(t *testing.T) {
	f := rounds(300, 300, 300, 20, 300, 300, 300, 300)
	f.Needs = []recording.Need{{Call: 5, Page: 3, Wide: true}}
	s := f.indexed(t)
	cold := make([]bool, len(s.Calls))
	cold[6], cold[8] = true, true
	got := shows(s, baseline(t, "cold-idle-5"), Setting{Cold: cold})
	// At call 6 the result of call 1 (page 3) was needed at 5, that of call 2
	// came four calls ago; at call 8 that of call 2 and 3 go, 4 is too short.
	want := []string{
		"W", "WWW", "WWWWW", "WWWWWWW", "WWWWWWWWW", "WWWWWWWWWWW",
		"WWWWWWWWWWWWW", "WWWWWWWWWWWWWWW", "WWWWhWhWWWWWWWWWW",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// What just came stays once, what is needed now or too dear to fetch again stays.
func TestOracleCold(t *testing.T) {
	f := rounds(1_000, 1_000, 1_000, 30_000)
	f.Needs = []recording.Need{{Call: 3, Page: 5, Wide: true}, {Call: 5, Page: 7, Wide: true}, {Call: 6, Page: 9, Wide: true}}
	f.call(100).call(120).call(140)
	s := f.indexed(t)
	claude, _ := price.ProfileByName("claude")
	set := UnderProfile(s, claude, 0)
	for k := range set.Cold {
		set.Cold[k] = true
	}
	// Page 7 (item 6) is needed at call 5: carrying it to there costs less than
	// a fault, carrying page 9 (item 8) more; it goes as soon as it may.
	want := []string{"W", "WWW", "WthWW", "WthtWWW", "WththtWWW", "WththtWth", "Wthththth", "Wthththth"}
	if got := shows(s, baseline(t, "oracle-cold"), set); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The pages used longest ago go, the user's words and what has just come stay.
func TestLRU(t *testing.T) {
	f := rounds(1_000, 1_000, 1_000, 1_000)
	f.Needs = []recording.Need{{Call: 3, Page: 3, Wide: true}}
	s := f.indexed(t)
	got := shows(s, baseline(t, "lru"), Setting{Budget: 4_030})
	want := []string{"W", "WWW", "WWWWW", "WWWWWWW", "W.W..WWWW"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestCompactAndFresh(t *testing.T) {
	f := rounds(50_000, 50_000, 45_969, 50, 150_000) // 166,999 tokens at the third
	f.Starts = []recording.Start{{}, {Call: 2, Item: 3}}
	s := f.indexed(t)
	for _, tt := range []struct {
		policy string
		want   []string
	}{
		{"compact", []string{"W", "WWW", "WWWWW", "WWWWWWW", "s.......WW", "s.........WW"}},
		{"fresh", []string{"W", "WWW", "...WW", "...WWWW", "...WWWWWW", "s.........WW"}},
	} {
		if got := shows(s, baseline(t, tt.policy), Setting{}); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.policy, got, tt.want)
		}
	}
}

// A rewind cuts the stream of every policy. Compactions of the recorded agent do
// not, and what they put back is not sent.
func TestStreamFollowsRewinds(t *testing.T) {
	c := recordingtest.NewCounter(t)
	s := recordingtest.NewScript("s", recordingtest.Morning()).User("zero").Call().Text("one").User("two").Call().Text("three")
	s.Add(quire.Rewound{Keep: 1}).User("four").Call()
	s.Add(quire.Compacted{Trigger: "auto"}).Enter(quire.Part{Kind: quire.PartMachine, Origin: quire.OriginSummary, Text: "five"}).User("six").Call()
	got := shows(built(t, c, s), baseline(t, "append"), Setting{})
	want := []string{"W", "WWW", "WW..W", "WW..W.W"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A rewound result is not one of the last ten.
func TestRewoundResultsDoNotCount(t *testing.T) {
	s := recordingtest.NewScript("s", recordingtest.Morning()).User("begin")
	for i := range 10 {
		s.Round("Bash", recordingtest.Running{Command: fmt.Sprint("first ", i)}, "a result")
	}
	back := s.Node
	for i := range 5 {
		s.Round("Bash", recordingtest.Running{Command: fmt.Sprint("second ", i)}, "another result")
	}
	s.Call().Add(quire.Rewound{Keep: back - 1}).User("again").Call().Round("Bash", recordingtest.Running{Command: "third"}, "the last").Call()
	got := shows(built(t, recordingtest.NewCounter(t), s), baseline(t, "keep-last-10"), Setting{})
	last := got[len(got)-1]
	// The second five drove the first five out and were rewound: with the last
	// one, six results are whole.
	if want := "W" + strings.Repeat("Wt", 5) + strings.Repeat("WW", 5) + strings.Repeat(".", 10) + "WWW"; last != want {
		t.Errorf("got %s, want %s", last, want)
	}
}

// A prompt may be above the threshold right after a rewind.
func TestCompactAfterRewind(t *testing.T) {
	pages := func(n int) quire.Part {
		return quire.Part{Kind: quire.PartDocument, Media: &quire.Media{Type: "application/pdf", Pages: n}}
	}
	s := recordingtest.NewScript("s", recordingtest.Morning()).User("begin").Call().Text("one").User("two").Call().Text("three")
	s.Add(quire.Rewound{Keep: 0}).Enter(pages(100)).Call().Text("four").Call()
	built := built(t, recordingtest.NewCounter(t), s)
	if built.Items[4].Tokens < 160_000 {
		t.Fatalf("the document has %d tokens", built.Items[4].Tokens)
	}
	if got, want := shows(built, baseline(t, "compact"), Setting{}), []string{"W", "WWW", "s....W", "s.....W"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Four fifths of a need are enough.
func TestFaultBelowFourFifths(t *testing.T) {
	words := strings.Fields("ledger account balance currency statement opening closing quarter january february invoice receipt payment transfer interest")
	f := rounds(50)
	f.item(quire.PartText, 0, 1, 100, strings.Join(words, " ")).call(40)
	s := f.need(2, 4, true).indexed(t)
	if n := len(s.Needs[0].Shingles); n != 10 {
		t.Fatalf("%d shingles", n)
	}
	claude, _ := price.ProfileByName("claude")
	for shown, want := range map[int]int{13: 0, 12: 1, 0: 1, 15: 0} {
		p := excerpt(3, strings.Join(words[:shown], " "))
		out, err := Replay(s, []Policy{p}, []Setting{UnderProfile(s, claude, 0)})
		if err != nil {
			t.Fatal(err)
		}
		if o := out[0][0]; o.Faults != want || o.FaultsWide != want || o.Covered != int64(max(shown-shingle.Width+1, 0)) {
			t.Errorf("%d of 15 words: %d faults, %d shingles covered", shown, o.Faults, o.Covered)
		}
	}
}

// excerpt shows a text in the place of an item.
func excerpt(item int32, text string) Policy {
	return Policy{Name: "excerpt", Start: func(s *recording.Session, _ Setting) Player { return excerpter{newStream(s), item, text} }}
}

type excerpter struct {
	*stream
	item int32
	text string
}

func (p excerpter) Step(k int) Prompt {
	p.advance(k)
	if b := p.at[p.item]; b >= 0 {
		p.replace(b, Block{Item: p.item, Text: p.text, Tokens: 1}, "excerpt")
	}
	return p.prompt()
}

// A page that goes twice within ten calls thrashes; a need within ten calls of
// its going was scheduled wrongly.
func TestThrashAndMisSchedules(t *testing.T) {
	for _, tt := range []struct {
		gone           []int // calls at which the first result is not shown
		need           int32
		thrash, misses int
		demotions      int
	}{
		{[]int{2}, 3, 0, 0, 1},
		{[]int{2, 12}, 12, 1, 1, 2},
		{[]int{2, 13}, 13, 0, 1, 2},
		{[]int{2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, 12, 0, 1, 1},
		{[]int{2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}, 13, 0, 0, 1},
		{nil, 5, 0, 0, 0},
	} {
		f := rounds(slices.Repeat([]int32{60}, 14)...)
		ref, err := f.Bodies.Put(ledgerText)
		if err != nil {
			t.Fatal(err)
		}
		f.Items[2].Body, f.Items[2].Bytes = ref, int32(len(ledgerText))
		s := f.need(tt.need, 3, true).indexed(t)
		claude, _ := price.ProfileByName("claude")
		out, err := Replay(s, []Policy{absent(2, tt.gone)}, []Setting{UnderProfile(s, claude, 0)})
		if err != nil {
			t.Fatal(err)
		}
		if o := out[0][0]; o.Thrash != tt.thrash || o.MisSchedules != tt.misses || o.Demotions != tt.demotions {
			t.Errorf("gone at %v: thrash %d, mis-schedules %d, demotions %d", tt.gone, o.Thrash, o.MisSchedules, o.Demotions)
		}
	}
}

// absent shows a handle of an item at some calls.
func absent(item int32, calls []int) Policy {
	return Policy{Name: "absent", Start: func(s *recording.Session, _ Setting) Player { return absentee{newStream(s), item, calls} }}
}

type absentee struct {
	*stream
	item  int32
	calls []int
}

func (p absentee) Step(k int) Prompt {
	p.advance(k)
	b := p.at[p.item]
	if b < 0 {
		return p.prompt()
	}
	want := whole(p.s, p.item)
	if slices.Contains(p.calls, k) {
		want = handleOf(p.s, p.item)
	}
	if p.blocks[b] != want {
		p.replace(b, want, "absent")
	}
	return p.prompt()
}

// A read of known lines is a re-read of the call that asked, whenever its result
// comes. A handle of the page with those bytes serves it too, for a fault.
func TestRereads(t *testing.T) {
	text := strings.Join(recordingtest.File(0)[:10], "\n")
	known := strings.Join(append(recordingtest.File(0)[:9:9], "a line that nobody has seen"), "\n")
	s := recordingtest.NewScript("s", recordingtest.Morning()).User("begin")
	s.Round("Read", recordingtest.Reading{Path: "/a.go"}, text) // call 0
	s.Call()                                                    // call 1: the result comes after that of call 2
	late := s.Use("Read", recordingtest.Reading{Path: "/a.go"})
	s.Round("Read", recordingtest.Reading{Path: "/a.go"}, known) // call 2
	s.Result(late, text)
	s.Round("Bash", recordingtest.Running{Command: "cat /b.go"}, strings.Join(recordingtest.File(1)[:3], "\n")) // call 3: new
	s.Call()
	got := built(t, recordingtest.NewCounter(t), s)
	var calls []int32
	for _, r := range got.Rereads {
		calls = append(calls, r.Call)
	}
	if !slices.Equal(calls, []int32{1, 2}) {
		t.Fatalf("re-reads by calls %v, want 1 and 2", calls)
	}
	claude, _ := price.ProfileByName("claude")
	for _, tt := range []struct {
		from       int
		text, both int
	}{{9, 2, 2}, {2, 1, 1}, {1, 0, 1}} {
		out, err := Replay(got, []Policy{handleFrom(tt.from)}, []Setting{UnderProfile(got, claude, 0)})
		if err != nil {
			t.Fatal(err)
		}
		if o := out[0][0]; o.Rereads != 2 || o.ServedText != tt.text || o.Served != tt.both {
			t.Errorf("handle from call %d: %d of %d served by text, %d in all", tt.from, o.ServedText, o.Rereads, o.Served)
		}
	}
}

// handleFrom shows the first result as a handle from some call on.
func handleFrom(call int) Policy {
	return Policy{Name: "handle", Start: func(s *recording.Session, _ Setting) Player {
		return &handler{results: newResults(s, nil), from: call}
	}}
}

type handler struct {
	*results
	from int
}

func (p *handler) Step(k int) Prompt {
	p.see(k)
	if k == p.from {
		p.replace(p.at[p.queue[0]], handleOf(p.s, p.queue[0]), "handle")
	}
	return p.prompt()
}
