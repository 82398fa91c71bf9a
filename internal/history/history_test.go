package history

import (
	"context"
	"errors"
	"os"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/replay"
	"github.com/quire-agent/quire/internal/schedule"
)

func (c *chronicle) context() context.Context { return context.Background() }

// decidedAt are the decisions about a page at a call.
func decidedAt(h *History, page quire.PageNumber, call int) (all []Decided) {
	return slices.DeleteFunc(h.Decided(page), func(d Decided) bool { return d.Call != call })
}

// A cold call begins a free epoch; what lay idle goes at it, with the figures
// behind it, and is a handle from then on.
func TestPlayTellsWhatAnEpochLowered(t *testing.T) {
	c, runs := shop(t)
	h := c.played()
	if len(h.Epochs) != 1 || h.Recorded || !h.Relative || h.Prices != "claude" {
		t.Fatalf("%+v", h)
	}
	e := h.Epochs[0]
	if e.Call != 13 || e.Kind != quire.EpochFree || e.Before <= e.After || e.Pages == 0 || !h.Calls[13].Begins || h.Calls[12].Epoch != 0 || h.Calls[13].Epoch != 1 {
		t.Errorf("%+v", e)
	}
	all := decidedAt(h, runs[0], 13)
	i := slices.IndexFunc(all, func(d Decided) bool { return d.To == quire.RenditionHandle })
	if i < 0 {
		t.Fatalf("of %v: %+v", runs[0], all)
	}
	d := all[i]
	if d.Kind != quire.EpochFree || d.Was <= d.Tokens || d.Carry <= 0 || d.Chance <= 0 || d.Strict > d.Chance || d.Miss <= 0 || d.Reason == "" {
		t.Errorf("%+v", d)
	}
	stands := h.Standing(runs[0])
	if len(stands) != 2 || stands[0].Part != quire.PartToolCall || stands[1].From != quire.RenditionHandle {
		t.Errorf("%+v", stands)
	}
	if again := c.played(); !reflect.DeepEqual(h.Calls, again.Calls) || !reflect.DeepEqual(h.Epochs, again.Epochs) {
		t.Error("a second play differs")
	}
}

// The newest results stay at an epoch, and why says so.
func TestNewestResultsStay(t *testing.T) {
	c, runs := shop(t)
	h := c.played()
	stands := h.Standing(runs[11])
	if len(stands) != 2 || stands[1].From != quire.RenditionFull || stands[1].To != quire.RenditionFull || stands[1].Reason == "" {
		t.Errorf("%+v", stands)
	}
}

// What the user marked holds from the call that follows it, and not before.
func TestMarksHoldFromTheNextCall(t *testing.T) {
	c := newChronicle(t, t.TempDir())
	t.Cleanup(c.close)
	c.user(0, "Why is the build slow?")
	pinned, dropped := c.run("make step0", listing(0, 12)), c.run("make big", listing(1, 40))
	for n := range 11 {
		c.run("make more", listing(2+n, 8))
	}
	c.say("It is slow.")
	c.mark(quire.MarkRecord{What: quire.MarkPin, Page: pinned})
	c.mark(quire.MarkRecord{What: quire.MarkDrop, Page: dropped})
	if h := c.played(); len(h.Epochs) != 0 {
		t.Fatalf("%+v", h.Epochs)
	}
	c.user(20*time.Minute, "Then make it fast.")
	c.say("It is fast.")
	h := c.played()
	if all := h.Decided(pinned); len(all) != 0 || h.Standing(pinned)[1].Reason != "pinned by the user" {
		t.Errorf("pinned: %+v", all)
	}
	if all := h.Decided(dropped); !slices.ContainsFunc(all, func(d Decided) bool { return d.Reason == "dropped by the user" }) {
		t.Errorf("dropped: %+v", all)
	}
	c.mark(quire.MarkRecord{What: quire.MarkUnpin, Page: pinned})
	c.user(20*time.Minute, "And smaller.")
	c.say("It is small.")
	if all := c.played().Decided(pinned); len(all) == 0 {
		t.Error("the pin was taken off, and the page stays")
	}
}

// A fault soon after an epoch is a mis-schedule of it, with its money.
func TestFaultsAreBookedToTheEpoch(t *testing.T) {
	c := newChronicle(t, t.TempDir())
	t.Cleanup(c.close)
	c.user(0, "Why is the build slow?")
	page := c.run("make big", listing(1, 40))
	for n := range 11 {
		c.run("make more", listing(2+n, 8))
	}
	c.mark(quire.MarkRecord{What: quire.MarkDrop, Page: page})
	c.user(20*time.Minute, "Copy the timings into a file.")
	c.run("cat > times <<'E'\n"+listing(1, 12)+"E", "")
	c.say("There they are.")
	h := c.played()
	faults := h.Faults(page)
	if len(faults) != 1 || !faults[0].Soon || faults[0].Epoch != 1 || faults[0].Since != 0 || faults[0].From != quire.RenditionHandle || faults[0].Cost <= 0 {
		t.Fatalf("%+v", faults)
	}
	if e := h.Epochs[0]; e.Faults != 1 || e.Missed != faults[0].Cost {
		t.Errorf("%+v", e)
	}
}

// An undone epoch is undone by the next call: the stream before it is back, and
// the cost that was told is what the change of the stream comes to.
func TestUndo(t *testing.T) {
	c, runs := shop(t)
	told, ok := c.played().Undo(1)
	if !ok || told.Then <= told.Now || told.Cold <= 0 || told.Warm <= told.Later || told.Later <= 0 {
		t.Fatalf("%+v", told)
	}
	if _, ok := c.played().Undo(2); ok {
		t.Error("there is no epoch 2")
	}
	c.mark(quire.MarkRecord{What: quire.MarkUndo, Epoch: 1})
	if h := c.played(); h.Pending != 1 || len(h.Epochs) != 1 {
		t.Fatalf("pending %d, %+v", h.Pending, h.Epochs)
	}
	c.user(time.Second, "Go on.")
	c.say("Done.")
	h := c.played()
	if len(h.Epochs) != 2 || h.Pending != 0 || h.Epochs[1].Kind != quire.EpochUndo || h.Epochs[1].Undoes != 1 || h.Epochs[0].Undone != 2 {
		t.Fatalf("%+v", h.Epochs)
	}
	for i, s := range h.Standing(runs[0]) {
		if s.From != quire.RenditionFull {
			t.Errorf("part %d: %+v", i, s)
		}
	}
	if e := h.Epochs[1]; e.After <= e.Before || e.Price <= 0 {
		t.Errorf("%+v", e)
	}
}

// Pages of subagents have numbers too; those of the main chain keep theirs.
func TestSubagentsShiftNoNumbers(t *testing.T) {
	c := newChronicle(t, t.TempDir())
	t.Cleanup(c.close)
	c.user(0, "Why is the build slow?")
	first := c.run("make step0", listing(0, 3))
	side := c.part("sub", "", quire.Part{Kind: quire.PartUser, Text: "Look at the linker."})
	c.append(quire.RecordCall, quire.CallRecord{Stamp: quire.Stamp{At: c.clock, Chain: "sub"}, Call: "side", Model: "claude-opus-4-6"})
	c.part("sub", "side", quire.Part{Kind: quire.PartText, Text: "The linker is fine."})
	second := c.run("make step1", listing(1, 3))
	for n := range 11 {
		c.run("make more", listing(2+n, 8))
	}
	c.user(20*time.Minute, "Then make it fast.")
	c.say("It is fast.")
	h := c.played()
	if len(h.Decided(first)) == 0 || len(h.Decided(second)) == 0 || len(h.Decided(side)) != 0 {
		t.Errorf("%v %v %v", h.Decided(first), h.Decided(second), h.Decided(side))
	}
	if h.Standing(side) != nil || h.Away(side) == h.Away(9999) {
		t.Errorf("%+v, %s", h.Standing(side), h.Away(side))
	}
	for _, call := range h.Calls {
		for _, e := range call.Entered {
			if e.Page == side {
				t.Errorf("%v entered with call %d", side, call.Call)
			}
		}
	}
}

// A line that cannot be read, and a body that is gone, cost what they held and
// nothing else.
func TestPlayGoesOnBehindDamage(t *testing.T) {
	c, runs := shop(t)
	before := c.played()
	text, err := os.ReadFile(c.w.Path())
	if err != nil {
		t.Fatal(err)
	}
	at := slices.Index(text, '\n') + 40
	text[at] ^= 1
	if err := os.WriteFile(c.w.Path(), text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := c.bodies.DropBodies(t.Context(), []quire.Hash{quire.Sum(listing(2, 8))}); err != nil {
		t.Fatal(err)
	}
	h := c.played()
	if len(h.Calls) != len(before.Calls) || len(h.Decided(runs[1])) == 0 {
		t.Errorf("%d calls, %+v", len(h.Calls), h.Epochs)
	}
}

// A model without a price is an error that says so.
func TestPlayWantsAPrice(t *testing.T) {
	c, _ := shop(t)
	counter, err := oneCounter()
	if err != nil {
		t.Fatal(err)
	}
	table, err := schedule.Default()
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.source().Play(t.Context(), Way{Counter: counter, Table: table, Prices: none{}})
	if !errors.Is(err, ErrNoPrice) {
		t.Errorf("got %v", err)
	}
}

// none knows no model.
type none struct{}

var _ replay.PriceList = none{}

func (none) Model(string) (price.Model, bool) { return price.Model{}, false }
