package assemble

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/schedule"
)

// Within an epoch the head is frozen, part by part.
func TestHeadIsFrozen(t *testing.T) {
	changes := map[string]func(*Head){
		"the model":       func(h *Head) { h.Model = "other" },
		"the tool list":   func(h *Head) { h.Tools = append(slices.Clone(h.Tools), quire.ToolSpec{Name: "Write"}) },
		"the system text": func(h *Head) { h.System = []quire.Block{machine("other")} },
		"the opening":     func(h *Head) { h.Opening = []Text{{Source: "ledger", Text: "card"}} },
		"a setting":       func(h *Head) { h.Thinking.Effort = "high" },
		"a setting that":  func(h *Head) { h.Choice.Mode = "none" },
	}
	for what, change := range changes {
		w := newWorld(t, schedule.Settings{}, table(0))
		w.user("Go on.")
		w.send()
		w.reply(true, "Done.", false)
		w.user("More.")
		old := w.head
		change(&w.head)
		if e := broke(t, w.try(), Extends); !strings.HasPrefix(e.What, what) {
			t.Errorf("%s: the error says %q", what, e.What)
		}
		w.head.Renewed = true
		w.must(w.give(w.plan))
		if n := count(&w.call, thinkingBlock); n != 0 {
			t.Errorf("%s: thinking stands that was made for another head", what)
		}
		if reflect.DeepEqual(old, w.head) {
			t.Errorf("%s: nothing changed", what)
		}
	}
}

// What a cache does not look at may change at any time, cache marks among it.
func TestHeadMayChange(t *testing.T) {
	w := newWorld(t, schedule.Settings{}, table(0))
	w.user("Go on.")
	w.send()
	w.reply(true, "Done.", false)
	w.user("More.")
	w.head.MaxOutput, w.head.Stream = 100, true
	w.head.System = []quire.Block{w.head.System[0]}
	w.head.System[0].Cache = quire.MarkLong
	w.send()
}

func TestAddedText(t *testing.T) {
	w := newWorld(t, schedule.Settings{}, table(0))
	w.user("Go on.")
	w.head.Added = mostAdded + 1
	broke(t, w.try(), Added)
	w.head.Added = mostAdded
	w.must(w.try())
}

// The last words of the user and pinned pages stay, whatever a plan says.
func TestVerbatim(t *testing.T) {
	w := newWorld(t, schedule.Settings{}, table(0))
	w.user("One.")
	w.must(w.give(schedule.Plan{Placed: full(0)}))
	w.reply(false, "Kept text.", false)
	w.user("Two.")
	w.must(w.give(schedule.Plan{Keep: 1, Placed: full(1, 2)}))
	low := schedule.Placed{Block: 2, Form: quire.RenditionHandle}
	broke(t, w.give(schedule.Plan{Keep: 2, Kind: quire.EpochForced, Placed: []schedule.Placed{low}}), Verbatim)
	w.head.Pinned = []quire.PageNumber{2}
	low.Block = 1
	broke(t, w.give(schedule.Plan{Keep: 1, Kind: quire.EpochForced, Placed: append([]schedule.Placed{low}, full(2)...)}), Verbatim)
	w.head.Pinned = nil
	w.must(w.give(schedule.Plan{Keep: 1, Kind: quire.EpochForced, Placed: append([]schedule.Placed{low}, full(2)...)}))
}

// The last two results keep their form, and so does what no call has shown.
func TestFresh(t *testing.T) {
	w := newWorld(t, schedule.Settings{}, table(0))
	w.user("One.")
	w.must(w.give(schedule.Plan{Placed: full(0)}))
	for range 3 {
		w.reply(false, "", false, read("result"))
	}
	w.must(w.give(schedule.Plan{Keep: 1, Placed: full(1, 2, 3, 4, 5, 6)}))
	w.user("Two.")
	for block, fresh := range map[int]bool{2: false, 4: true, 6: true, 7: true} {
		placed := full(0, 1, 2, 3, 4, 5, 6, 7)
		placed[block].Form = quire.RenditionHandle
		a := *w.asm
		err := w.give(schedule.Plan{Kind: quire.EpochFree, Placed: placed})
		if fresh {
			broke(t, err, Fresh)
		} else if err != nil {
			t.Errorf("block %d: %v", block, err)
		}
		*w.asm = a
	}
}

// A shortened text says so in its first line and is valid UTF-8.
func TestShortened(t *testing.T) {
	p := &part{place{Placed: schedule.Placed{Block: 3}}, Piece{Page: 12}}
	head := Head{Tools: []quire.ToolSpec{{Name: "recall"}}, Recall: "recall"}
	for text, want := range map[string]Invariant{
		"[p12: recall p12]":         0,
		"[p12 shortened]\nline\n":   0,
		"p1 p123 xp12":              Reachable,
		"":                          Reachable,
		"line\n[p12 shortened]":     Marked,
		"[p12 shortened]\n\xff\xfe": Marked,
	} {
		d := draft{h: &head}
		if err := d.checkShort(p, text); want != 0 {
			broke(t, err, want)
		} else if err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	p.Page = 0 // a text that was read back names the page that it is from
	broke(t, (&draft{h: &head}).checkShort(p, "[p0: gone]"), Reachable)
	if err := (&draft{h: &head}).checkShort(p, "[read back: recall p9]"); err != nil {
		t.Error(err)
	}
}

// A text without a frame is not put into a prompt.
func TestFramer(t *testing.T) {
	w := newWorld(t, schedule.Settings{}, table(0))
	w.asm = New(w, func(_, text string) string { return text })
	w.head.Opening = []Text{{Source: "AGENTS.md", Text: "Be good."}}
	w.user("Go on.")
	broke(t, w.try(), Framed)
}

// The tail forms, with and without a result at the end.
func TestNotices(t *testing.T) {
	for tail, want := range map[Tail]string{TailInResult: "tool", TailJoined: "tool", TailText: "user", TailSystem: "system"} {
		w := newWorld(t, schedule.Settings{}, table(0))
		w.head.Rules.Tail = tail
		w.user("Go on.")
		w.head.Notices = []Text{{Source: "state", Text: "notice one"}}
		w.send()
		w.reply(true, "", false, read("result"))
		w.head.Notices = []Text{{Source: "state", Text: "notice two"}, {Source: "room", Text: "notice three"}}
		w.send()
		last := w.call.Messages[len(w.call.Messages)-1]
		if last.Role.String() != want {
			t.Errorf("tail %d: the notice stands in a message of %s", tail, last.Role)
		}
		w.reply(true, "", false, read("next"))
		w.send()
		for _, n := range []string{"one", "two", "three"} {
			if strings.Count(textOf(&w.call), "notice "+n) != 1 {
				t.Errorf("tail %d: notice %s is not there once", tail, n)
			}
		}
		w.reply(false, "Done.", false)
		w.user("More.")
		w.moment.Cold, w.head.Renewed = "a pause", true
		w.send()
		if strings.Contains(textOf(&w.call), "notice") {
			t.Errorf("tail %d: a notice outlived its epoch", tail)
		}
	}
}

// A machine text that belongs to no page is Quire's own and stands in a frame.
func TestOwnText(t *testing.T) {
	w := newWorld(t, schedule.Settings{}, table(0))
	w.user("Go on.")
	w.pieces = append(w.pieces, Piece{Block: machine("An epoch began."), Role: quire.RoleUser})
	w.must(w.give(schedule.Plan{Placed: full(0, 1)}))
	if n := count(&w.call, injected); n != 1 {
		t.Errorf("%d framed texts", n)
	}
}

// A notice without anything new: the prompt before, and the notice.
func TestNoticeAlone(t *testing.T) {
	w := newWorld(t, schedule.Settings{}, table(0))
	w.user("Go on.")
	w.send()
	w.reply(true, "", false, read("result"))
	w.send()
	w.head.Notices = []Text{{Source: "limit", Text: "write the final report"}}
	w.send()
	if last := w.call.Messages[len(w.call.Messages)-1]; last.Role != quire.RoleUser {
		t.Errorf("the notice stands in a message of %s", last.Role)
	}
}

// A reply that is left as the first message has something of the user before it.
func TestFirstMessage(t *testing.T) {
	w := newWorld(t, schedule.Settings{}, table(0))
	w.user("One.")
	w.must(w.give(schedule.Plan{Placed: full(0)}))
	w.reply(false, "Kept text.", false)
	w.user("Two.")
	w.must(w.give(schedule.Plan{Keep: 1, Placed: full(1, 2)}))
	w.must(w.give(schedule.Plan{Kind: quire.EpochForced, Placed: []schedule.Placed{full(1)[0], w.folded(0, 0), full(2)[0]}}))
	if n := count(&w.call, injected); n != 2 {
		t.Errorf("%d framed texts:\n%s", n, dump(&w.call))
	}
}

// A page that is shown again is data behind what is there; its result stands once.
func TestShownAgain(t *testing.T) {
	w := newWorld(t, schedule.Settings{}, table(0))
	busy(w, 4, 800)
	w.moment.Cold = "a pause"
	w.send()
	w.reply(false, "", false, read("new"))
	w.sched.PageIn(3)
	w.send()
	text := w.pieces[3].Text
	if w.pieces[3].Kind != quire.PartToolResult || !strings.Contains(textOf(&w.call), text) {
		t.Error("the page is not shown again")
	}
	w.reply(false, "", false, read("more"))
	w.send()
}

// A result in pieces stands as it is, and in a loop that ended piece by piece.
// Marks that came with it are taken off.
func TestResultInPieces(t *testing.T) {
	w := newWorld(t, schedule.Settings{}, table(0))
	w.user("Go on.")
	w.must(w.give(schedule.Plan{Placed: full(0)}))
	w.reply(true, "", false, read(""), read("plain"))
	image := quire.Block{Part: quire.Part{Kind: quire.PartImage, Media: &quire.Media{Width: 1}, Data: "png"}}
	w.pieces[4].Content = []quire.Block{machine("before"), image, machine("after")}
	w.pieces[4].Content[0].Cache = quire.MarkShort
	w.pieces[4].IsError = true
	w.must(w.give(schedule.Plan{Keep: 1, Placed: full(1, 2, 3, 4, 5)}))
	if r := w.call.Messages[2].Blocks[0]; len(r.Content) != 3 || r.Content[0].Cache != quire.MarkNone {
		t.Errorf("the result is %+v", r)
	}
	w.head.Model, w.head.Renewed = "other", true
	w.must(w.give(schedule.Plan{Keep: 6}))
	var kinds []string
	for _, b := range w.call.Messages[0].Blocks {
		kinds = append(kinds, b.Kind.String())
	}
	if got := strings.Join(kinds, " "); got != "user machine image machine" {
		t.Errorf("the loop became %s", got)
	}
	for _, text := range []string{"result of Read, an error", "before", "after", "plain"} {
		if !strings.Contains(textOf(&w.call), text) {
			t.Errorf("%q is missing", text)
		}
	}
}

// A signature of another kind of block goes with the bytes that it was made for.
func TestSignatureOfACall(t *testing.T) {
	w := newWorld(t, schedule.Settings{}, table(0))
	w.head.Rules.Bound = false
	w.user("Go on.")
	w.must(w.give(schedule.Plan{Placed: full(0)}))
	w.reply(false, "", false, read("result"))
	w.pieces[1].Signature = "signed"
	w.must(w.give(schedule.Plan{Keep: 1, Placed: full(1, 2)}))
	signed := func(_ quire.Role, b *quire.Block) bool { return b.Signature != "" }
	if n := count(&w.call, signed); n != 1 {
		t.Fatalf("%d signatures", n)
	}
	w.reply(false, "Done.", false)
	w.user("More.")
	w.head.Renewed, w.head.Model = true, "other"
	w.must(w.give(schedule.Plan{Keep: 3, Placed: full(3, 4)}))
	if n := count(&w.call, signed); n != 0 {
		t.Errorf("%d signatures for another model", n)
	}
}

// A refused call leaves nothing behind: what follows is made as if it had not
// been asked for.
func TestRefusedCall(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		one, two := newWorld(rt, schedule.Settings{}, table(0)), newWorld(rt, schedule.Settings{}, table(0))
		for i := range rapid.IntRange(1, 8).Draw(rt, "calls") {
			refuse := rapid.Bool().Draw(rt, "refuse")
			cold := rapid.Bool().Draw(rt, "cold")
			for _, w := range []*world{one, two} {
				if i%3 == 0 {
					w.user(fmt.Sprintf("Turn %d.", i))
				} else {
					w.reply(true, "", false, read(fmt.Sprintf("%d %s", i, strings.Repeat("x", 600))))
				}
				w.reply(false, "So.", false)
				w.user("Go on.")
				if cold {
					w.moment.Cold = "a pause"
				}
			}
			one.must(one.give(one.sched.Plan(one.moment)))
			plan := two.sched.Plan(two.moment)
			if refuse {
				two.head.Added, two.head.Renewed = mostAdded+1, rapid.Bool().Draw(rt, "renewed")
				if err := two.give(plan); err == nil {
					rt.Fatal("not refused")
				}
				two.head.Added, two.head.Renewed = 0, false
				plan = two.sched.Plan(two.moment)
			}
			two.must(two.give(plan))
			one.moment.Cold, two.moment.Cold = "", ""
			if one.prompt != two.prompt {
				rt.Fatalf("call %d differs:\n%s\n%s", i, dump(&one.call), dump(&two.call))
			}
		}
	})
}

// The same session gives the same calls, marks included.
func TestDeterminism(t *testing.T) {
	run := func() (out []string) {
		w := newWorld(t, schedule.Settings{Window: 3_000, Care: 1}, table(.02))
		for i := range 10 {
			busy(w, 1, 700)
			w.send()
			out = append(out, dump(&w.call), string(w.prompt))
			w.reply(true, fmt.Sprintf("Well %d.", i), false)
		}
		return out
	}
	if a, b := run(), run(); !slices.Equal(a, b) {
		t.Error("two runs differ")
	}
}

// Whatever storm of calls comes, the provider finds what was written before.
func TestMarksAreFound(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(rt, schedule.Settings{}, table(0))
		w.head.Rules.UserMarks = rapid.Bool().Draw(rt, "user marks")
		w.head.Rules.Minimum = 0
		cache := price.NewCache(w.head.Rules.Rules)
		at, written := time.Unix(0, 0), 0
		w.user("Go on.")
		for range rapid.IntRange(1, 12).Draw(rt, "calls") {
			w.must(w.try())
			blocks, last := cached(&w.call)
			if charge := cache.Send(at, 0, blocks); charge.Read != written {
				rt.Fatalf("call %d: %d blocks read, %d were written", w.moment.Call, charge.Read, written)
			}
			written = last
			w.prompt, w.prefixes = digestCall(&w.call)
			w.moment.Call++
			at = at.Add(time.Minute)
			tools := slices.Repeat([]tool{read("r")}, rapid.SampledFrom([]int{1, 2, 9, 14, 25, 70}).Draw(rt, "tools"))
			w.reply(rapid.Bool().Draw(rt, "thinks"), "", false, tools...)
		}
	})
}

// cached is a call as a cache sees it, each block one token; last is where its
// last mark stands.
func cached(c *quire.Call) (out []price.Block, last int) {
	d := digest("")
	add := func(role quire.Role, b quire.Block) {
		d = digestBlock(d, role, b)
		var hash uint64
		for i := range 8 {
			hash = hash<<8 | uint64(d[i])
		}
		out = append(out, price.Block{Hash: hash, Tokens: 1, Mark: price.Lifetime(b.Cache)})
		if b.Cache != quire.MarkNone {
			last = len(out)
		}
	}
	for _, t := range c.Tools {
		add(quire.RoleSystem, quire.Block{Part: quire.Part{Text: t.Name}, Cache: t.Cache})
	}
	for _, b := range c.System {
		add(quire.RoleSystem, b)
	}
	for _, m := range c.Messages {
		for _, b := range m.Blocks {
			add(m.Role, b)
		}
	}
	return out, last
}

// Lifetimes: a mark that lives long never stands behind one that does not.
func TestLifetimes(t *testing.T) {
	w := newWorld(t, schedule.Settings{}, table(0))
	w.head.Rules.TailMark = quire.MarkLong
	w.user("Go on.")
	broke(t, w.try(), Cached)
	w.head.Rules.HeadMark = quire.MarkLong
	w.send()
	w.head.Rules.HeadMark, w.head.Rules.TailMark = quire.MarkLong, quire.MarkNone
	w.reply(false, "", false, read("r"))
	w.send()
}

// Providers without marks of their own get none.
func TestAutomaticCache(t *testing.T) {
	w := newWorld(t, schedule.Settings{}, table(0))
	profile, _ := price.ProfileByName("deepseek")
	w.head.Rules.Rules = profile.Rules
	w.user("Go on.")
	w.send()
	if _, last := cached(&w.call); last != 0 {
		t.Error("a mark for an automatic cache")
	}
}

func TestErrorText(t *testing.T) {
	e := &Error{Invariant: Pairs, Block: 7, Page: 3, What: "tool call \"a\" has no result"}
	if got, want := e.Error(), `I2 (a call and its result stand together): p3 (block 7): tool call "a" has no result`; got != want {
		t.Errorf("got %s", got)
	}
	if got := broken(Size, "too much").Error(); got != "I7 (a call is within its limits): too much" {
		t.Errorf("got %s", got)
	}
}

// Arguments of lowered calls stay objects, keep what is short and name the page.
func TestArguments(t *testing.T) {
	long := strings.Repeat("x", 500)
	for raw, want := range map[string]string{
		`{"path":"a.go"}`: `{"path":"a.go"}`,
		`{"path":"a.go","content":"` + long + `","n":3}`: `{"path":"a.go","n":3,"_":"[509 bytes more: recall p7]"}`,
		"*** Begin " + long: "[510 bytes more: recall p7]",
		`["` + long + `"]`:  "[504 bytes more: recall p7]",
	} {
		if got := Arguments(raw, 7, "recall"); got != want {
			t.Errorf("%.40s:\n got %s\nwant %s", raw, got, want)
		}
	}
}

func FuzzArguments(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a":1}`, `{"command":"ls","text":"` + strings.Repeat("é", 300) + `"}`, "free text", `{"a":`, "[1,2]",
		`{"a":"` + strings.Repeat("b", 400) + `","a":2}`, `{"` + strings.Repeat("n", 700) + `":1}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		got := Arguments(raw, 7, "recall")
		switch {
		case len(got) > len(raw):
			t.Errorf("longer: %q", got)
		case json.Valid([]byte(raw)) && strings.HasPrefix(strings.TrimLeft(raw, " \t\r\n"), "{") && !json.Valid([]byte(got)):
			t.Errorf("no longer an object: %q", got)
		case got != raw && !names(got, 7):
			t.Errorf("does not name its page: %q", got)
		case utf8.ValidString(raw) && !utf8.ValidString(got):
			t.Errorf("not UTF-8: %q", got)
		}
	})
}
