package history

import (
	"reflect"
	"testing"
	"time"

	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/schedule"
)

func dollars(model string) (schedule.Moment, bool) {
	return schedule.Moment{Prices: price.Prices{Read: .25}, Write: 2}, model == "claude-opus-4-6"
}

// plan records what was planned for the next call.
func (c *chronicle) plan(epoch, stream int, all ...quire.Decision) {
	c.append(quire.RecordPlan, quire.PlanRecord{
		Call: c.nextCall(), Epoch: epoch, Reason: "because", Decisions: all,
		Inputs: quire.PlanInputs{Model: "claude-opus-4-6", Prefix: 900, Stream: stream},
	})
}

func (c *chronicle) nextCall() string { return callName(c.calls) }

// Where a journal holds plans they are told, and nothing is played.
func TestRecordedIsWhatWasSent(t *testing.T) {
	c := newChronicle(t, t.TempDir())
	t.Cleanup(c.close)
	if _, ok, err := c.source().Recorded(dollars); ok || err != nil {
		t.Fatalf("no plans, and they are told: %v", err)
	}
	user := c.user(0, "Why?")
	c.plan(0, 10)
	run := c.run("make", listing(0, 8))
	c.plan(0, 410)
	c.say("So.")
	c.user(20*time.Minute, "Go on.")
	c.plan(1, 420, quire.Decision{Page: run, From: quire.RenditionFull, To: quire.RenditionHandle, Tokens: 20, Was: 400, Reason: "idle", Miss: .5})
	c.append(quire.RecordEpoch, quire.EpochRecord{Epoch: 1, Call: c.nextCall(), Kind: quire.EpochFree, Reason: "cold", Before: 420, After: 30, Saves: .25})
	c.append(quire.RecordFault, quire.FaultRecord{Call: c.nextCall(), Page: run, From: quire.RenditionHandle, Trips: 1, Reread: 100})
	c.append(quire.RecordAccount, quire.AccountRecord{Call: c.nextCall(), Shadow: 3, Live: 2})
	c.say("Done.")
	c.plan(1, 40) // never made
	h, ok, err := c.source().Recorded(dollars)
	if !ok || err != nil {
		t.Fatalf("%v, %v", ok, err)
	}
	if len(h.Calls) != 3 || !h.Recorded || h.Relative || h.Calls[2].Account != 1 || h.Calls[1].After != 410 || h.Calls[2].After != 30 {
		t.Errorf("%+v", h.Calls)
	}
	if len(h.Epochs) != 1 || h.Epochs[0].Faults != 1 || h.Epochs[0].Missed != .25*(30+900)+2*100 || h.Epochs[0].Pages != 1 || h.Epochs[0].Call != 2 {
		t.Errorf("%+v", h.Epochs)
	}
	if all := h.Decided(run); len(all) != 1 || all[0].Kind != quire.EpochFree || all[0].Reason != "idle" {
		t.Errorf("%+v", all)
	}
	if s := h.Standing(run); len(s) != 1 || s[0].From != quire.RenditionHandle || h.Standing(99) != nil {
		t.Errorf("%+v", s)
	}
	if s := h.Standing(user); len(s) != 1 || s[0].From != quire.RenditionFull {
		t.Errorf("%+v", s)
	}
	if in := h.Calls[0].Entered; len(in) != 1 || in[0].Page != user || in[0].Part != quire.PartUser {
		t.Errorf("%+v", in)
	}
	told, ok := h.Undo(1)
	if !ok || told.Now != 30 || told.Then != 420 || told.Cold != 780 || told.Later != 97.5 {
		t.Errorf("%+v", told)
	}
	for _, n := range []int{0, 2} {
		if _, ok := h.Undo(n); ok {
			t.Errorf("epoch %d can be undone", n)
		}
	}
}

// The totals of a session add up what its records say: hits, faults with what they
// cost and had been spared, forms that changed, and what was foreseen.
func TestTotals(t *testing.T) {
	c := newChronicle(t, t.TempDir())
	t.Cleanup(c.close)
	c.user(0, "Why?")
	c.plan(0, 10)
	run := c.run("make", listing(0, 8))
	c.user(20*time.Minute, "Go on.")
	lowered := quire.Decision{Page: run, From: quire.RenditionFull, To: quire.RenditionHandle, Tokens: 20, Was: 400, Reason: "idle"}
	c.plan(1, 420, lowered, quire.Decision{Page: 1, From: quire.RenditionFull, To: quire.RenditionCard, Was: 9, Reason: "folded"})
	c.append(quire.RecordEpoch, quire.EpochRecord{Epoch: 1, Call: c.nextCall(), Kind: quire.EpochFree, Reason: "cold", Before: 420, After: 30})
	c.append(quire.RecordPageIn, quire.PageInRecord{Call: c.nextCall(), How: quire.PageInPrefetch, Page: run, Tokens: 400, Reason: "its path"})
	c.append(quire.RecordPageIn, quire.PageInRecord{Call: c.nextCall(), How: quire.PageInPrefetch, Page: 1, Tokens: 9, Reason: "a name"})
	c.append(quire.RecordPageIn, quire.PageInRecord{Call: c.nextCall(), How: quire.PageInFault, Page: 1, Tokens: 9})
	c.append(quire.RecordFault, quire.FaultRecord{Call: c.nextCall(), Page: run, From: quire.RenditionHandle, Cost: 5, Saved: 2})
	c.append(quire.RecordAccount, quire.AccountRecord{Call: c.nextCall(), Shadow: 3, Live: 2, Hits: 4})
	first := c.nextCall()
	c.say("So.")
	yes, no := true, false
	c.plan(1, 40)
	c.append(quire.RecordPageIn, quire.PageInRecord{Call: first, How: quire.PageInPrefetch, Page: run, Used: &yes})
	c.append(quire.RecordPageIn, quire.PageInRecord{Call: first, How: quire.PageInPrefetch, Page: 1, Used: &no})
	c.append(quire.RecordPageIn, quire.PageInRecord{Call: c.nextCall(), How: quire.PageInPrefetch, Page: run, Tokens: 400, Reason: "again"})
	c.say("Done.")
	h, ok, err := c.source().Recorded(dollars)
	if !ok || err != nil {
		t.Fatalf("%v, %v", ok, err)
	}
	got, want := h.Totals(), Totals{
		Hits: 4, Faults: 1, Missed: 5, Soon: 1, SoonCost: 5, SoonSaved: 2, Demotions: 1, Folds: 1,
		Epochs: map[string]int{quire.EpochFree: 1}, Foreseen: 3, Used: 1, Wasted: 1,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if all := h.Foreseen(run); len(all) != 2 || !all[0].Used || all[0].Reason != "its path" || all[1].Known {
		t.Errorf("%+v", all)
	}
	if e := h.Epochs[0]; e.Missed != 5 || e.Spared != 2 {
		t.Errorf("%+v", e)
	}
}
