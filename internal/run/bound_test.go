package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"context"

	"github.com/quire-agent/quire/internal/price"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/schedule"
)

// What a window leaves is counted in the tokens of the provider.
func TestBoundCountsAsTheProviderDoes(t *testing.T) {
	terms := Terms{Terms: schedule.Terms{Window: 200_000, Prefix: 10_000}}
	for _, c := range []struct {
		scale, cliff float64
		window, room int
	}{{1, 0, 174_000, 154_000}, {1.3, 0, 131_538, 116_154}, {1, 100_000, 85_000, 65_000}} {
		terms.Rates = price.Rates{CliffAt: int(c.cliff)}
		if w, r := terms.Bound(c.scale, 16_000); w != c.window || r != c.room {
			t.Errorf("scale %v, cliff %v: %d and %d, want %d and %d", c.scale, c.cliff, w, r, c.window, c.room)
		}
	}
	if w, r := (Terms{}).Bound(1, 10); w != 0 || r != 0 {
		t.Errorf("without a window: %d, %d", w, r)
	}
}

// a narrow model refuses prompts above a size that nobody told, and reports
// usage; once its answer ends with its window.
type narrow struct {
	counter Counter
	most    int
	scale   float64
	stops   map[int]quire.Stop
	talks   bool // and calls no tools
	sizes   []int
	calls   []quire.Call
	refused int
}

func (m *narrow) Call(_ context.Context, c quire.Call) iter.Seq2[quire.Delta, error] {
	size := 0
	for _, msg := range c.Messages {
		for _, b := range msg.Blocks {
			size += m.counter.Count(b.Text)
		}
	}
	m.sizes, m.calls = append(m.sizes, size), append(m.calls, c)
	n := len(m.calls)
	return func(yield func(quire.Delta, error) bool) {
		if size > m.most {
			m.refused++
			yield(nil, &quire.CallError{Kind: quire.CallTooLong, Message: "prompt is too long"})
			return
		}
		yield(quire.ReplyBegun{ID: fmt.Sprint(n)}, nil)
		block, grown, stop := text(quire.PartText, ""), fmt.Sprintf("answer %d", n), quire.StopEnd
		if n%2 == 1 && m.stops[n] == "" && !m.talks {
			block, grown, stop = use(fmt.Sprintf("u%d", n), "read", ""), fmt.Sprintf(`{"path":"%d"}`, n), quire.StopTool
		}
		yield(quire.BlockBegun{Block: block}, nil)
		yield(quire.BlockGrew{Text: grown}, nil)
		yield(quire.BlockEnded{}, nil)
		if s := m.stops[n]; s != "" {
			stop = s
		}
		prompt := int64(m.scale * float64(size+1_000))
		yield(quire.ReplyEnded{Stop: stop, Usage: quire.Usage{Input: prompt, Output: 5, Known: quire.KnownInput | quire.KnownOutput}}, nil)
	}
}

// long is a question with a text of about 2,300 tokens beside it.
func long(n int) []quire.Block {
	return []quire.Block{ask(fmt.Sprintf("question %d", n)), text(quire.PartMachine, file(n)[:8_000])}
}

// failures.md A13, A14, A15, A43: a window that is smaller than anybody said costs
// one refusal, no model call and no word of the user's; a session that is resumed
// knows it, and sends the same bytes.
func TestARefusedPromptBecomesAForcedEpoch(t *testing.T) {
	l, _, k := newLoop(t, nil)
	m := &narrow{counter: l.Step.count, most: 20_000, scale: 1}
	l.Model = m
	epochs := 0
	l.Emit = func(e Event) {
		if e, ok := e.(Planned); ok && e.Plan.Kind == quire.EpochForced {
			epochs++
		}
	}
	for i := range 18 {
		if out, err := l.Turn(t.Context(), long(i)...); err != nil || out.Stop != StopDone {
			t.Fatalf("turn %d: %+v, %v", i, out, err)
		}
	}
	if m.refused != 1 || epochs < 1 {
		t.Errorf("%d refusals, %d forced epochs", m.refused, epochs)
	}
	for i, size := range m.sizes {
		if i > 0 && m.sizes[i-1] > m.most && size > m.most*6/10 {
			t.Errorf("after the refusal of %d tokens %d are sent", m.sizes[i-1], size)
		}
	}
	second, _, _ := newLoop(t, nil)
	m2 := &narrow{counter: m.counter, most: m.most, scale: 1, calls: make([]quire.Call, len(m.calls))}
	second.Model, second.Now = m2, l.Now
	k.restore(t, second)
	for _, l := range []*Loop{l, second} {
		if _, err := l.Turn(t.Context(), ask("and now?")); err != nil {
			t.Fatal(err)
		}
	}
	a, _ := json.Marshal(m.calls[len(m.calls)-1].Messages)
	b, _ := json.Marshal(m2.calls[len(m2.calls)-1].Messages)
	if string(a) != string(b) {
		t.Error("the session that was resumed sends other bytes")
	}
}

// What cannot become smaller is refused a second time, and that ends the turn.
func TestAPromptThatIsRefusedTwiceEndsTheTurn(t *testing.T) {
	l, _, _ := newLoop(t, nil)
	m := &narrow{counter: l.Step.count, most: 10}
	l.Model = m
	out, err := l.Turn(t.Context(), long(1)...)
	var e *quire.CallError
	if err != nil || out.Stop != StopFailed || !errors.As(out.Err, &e) || e.Kind != quire.CallTooLong || m.refused != 2 {
		t.Errorf("%+v, %v after %d refusals", out, err, m.refused)
	}
}

// An answer that the end of the window cut off goes on in a smaller prompt, once
// in a turn.
func TestAnAnswerThatTheWindowCutGoesOn(t *testing.T) {
	l, _, _ := newLoop(t, nil)
	m := &narrow{counter: l.Step.count, most: 1 << 30, scale: 1, stops: map[int]quire.Stop{24: quire.StopWindow, 27: quire.StopWindow, 28: quire.StopWindow}}
	l.Model = m
	for i := range 11 {
		if _, err := l.Turn(t.Context(), long(i)...); err != nil {
			t.Fatal(err)
		}
	}
	out, err := l.Turn(t.Context(), ask("explain it all"))
	if err != nil || out.Stop != StopDone || out.Text != "answer 26" || out.Rounds != 4 {
		t.Fatalf("%+v, %v", out, err)
	}
	last := m.calls[24].Messages
	if m.sizes[24] > m.sizes[23]*6/10 || !strings.Contains(fmt.Sprint(last), "Go on where you stopped") || !strings.Contains(fmt.Sprint(last), "answer 24") {
		t.Errorf("after %d tokens %d are sent", m.sizes[23], m.sizes[24])
	}
	if out, err = l.Turn(t.Context(), ask("again")); err != nil || out.Stop != StopCut || out.CutOff != "max_tokens" || out.Rounds != 2 {
		t.Errorf("%+v, %v", out, err)
	}
}

// failures.md A29: what the provider counts bounds the stream, not what is counted
// here.
func TestUsageCorrectsTheBounds(t *testing.T) {
	for _, scale := range []float64{.8, 1.5} {
		l, _, _ := newLoop(t, nil)
		l.Step.ctx.terms.Terms.Window = 36_000
		m := &narrow{counter: l.Step.count, most: int(36_000 / scale), scale: scale, talks: scale > 1}
		l.Model, l.Scale = m, scale
		most := 0
		for i := range 24 {
			if out, err := l.Turn(t.Context(), long(i)...); err != nil || out.Stop != StopDone {
				t.Fatalf("%+v, %v", out, err)
			}
		}
		for _, s := range m.sizes {
			most = max(most, int(scale*float64(s)))
		}
		if m.refused > 0 || most > 36_000 || most < 18_000 {
			t.Errorf("scale %v: %d refusals, at most %d tokens by the provider's count", scale, m.refused, most)
		}
	}
}

// small is a loop whose model has a window.
func small(t *testing.T, window int) (*Loop, *narrow, *kept) {
	l, _, k := newLoop(t, nil)
	l.Step.ctx.terms.Terms.Window, l.Scale = window, 1
	m := &narrow{counter: l.Step.count, most: window, scale: 1, talks: true}
	l.Model = m
	return l, m, k
}

// failures.md A12: what the user pastes may be larger than the window. It stands
// as an excerpt, the whole of it can be read back, and the session goes on.
func TestAMessageLargerThanTheWindow(t *testing.T) {
	l, m, _ := small(t, 3_500)
	big := "all of it: " + file(1) + file(2)[:4_000]
	for _, words := range []string{"hello", big, "and?", big + "again", "well"} {
		if out, err := l.Turn(t.Context(), ask(words)); err != nil || out.Stop != StopDone {
			t.Fatalf("%.20q: %+v, %v", words, out, err)
		}
	}
	if whole, ok := l.Step.text(3); !ok || whole != big || m.refused > 0 {
		t.Errorf("of %d bytes %d can be read back; %d refusals", len(big), len(whole), m.refused)
	}
}

// failures.md A11: where the head of a prompt leaves no room for a word, the turn
// ends with an error that says so; nothing is sent, and the session can go on.
func TestWhatCannotFitEndsTheTurnTyped(t *testing.T) {
	l, m, k := small(t, 1_001)
	for range 2 {
		out, err := l.Turn(t.Context(), ask("say something of use, please"))
		if _, sent, big := tooBig(out.Err); err != nil || sent || !big || out.Stop != StopFailed || out.CutOff != "error" || len(m.calls) > 0 {
			t.Fatalf("%+v, %v after %d calls", out, err, len(m.calls))
		}
	}
	again, m2, _ := small(t, 1_001)
	again.Now = l.Now
	k.restore(t, again)
	for _, l := range []*Loop{l, again} {
		l.Step.ctx.terms.Terms.Window = 8_000
		l.bound.most = 0
		if out, err := l.Turn(t.Context(), ask("and?")); err != nil || out.Stop != StopDone {
			t.Fatalf("%+v, %v", out, err)
		}
	}
	if a, b := marshal(t, m.calls[0].Messages), marshal(t, m2.calls[0].Messages); a != b {
		t.Errorf("resumed it sends\n%s\nwant\n%s", b, a)
	}
}

// Answers of recall are in no page, and go with the calls that asked for them (I2):
// whatever a forced epoch takes, no call stands without its result. failures.md A5.
func TestRecalledAnswersGoWithTheirCalls(t *testing.T) {
	n := 0
	l, m, _ := newLoop(t, func(_ int, c quire.Call) ([]quire.Block, error) {
		if n++; n%3 == 0 {
			return says(fmt.Sprintf("answer %d", n)), nil
		}
		page := 1 + n*7%40
		return []quire.Block{
			use(fmt.Sprintf("r%d", n), RecallName, fmt.Sprintf(`{"page":"p%d"}`, page)),
			use(fmt.Sprintf("q%d", n), RecallName, fmt.Sprintf(`{"query":"part%d_7"}`, n)),
			use(fmt.Sprintf("u%d", n), "read", fmt.Sprintf(`{"path":"%d"}`, n)),
		}, nil
	})
	l.Step.ctx.terms.Terms.Window, l.Scale = 24_000, 1
	forced := 0
	l.Emit = func(e Event) {
		if e, ok := e.(Planned); ok && e.Plan.Kind == quire.EpochForced {
			forced++
		}
	}
	for i := range 14 {
		if out, err := l.Turn(t.Context(), long(i)...); err != nil || out.Stop != StopDone {
			t.Fatalf("turn %d: %+v, %v", i, out, err)
		}
		checkPairs(t, m.calls[len(m.calls)-1])
	}
	if forced < 2 {
		t.Errorf("%d forced epochs", forced)
	}
}
