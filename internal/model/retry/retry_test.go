package retry

import (
	"context"
	"errors"
	"iter"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/quire-agent/quire/internal/model"
	"github.com/quire-agent/quire/internal/quire"
)

// failing answers with what stands at the number of the call.
type failing struct {
	answers [][]any // deltas and an error
	calls   int
}

func (f *failing) Call(context.Context, quire.Call) iter.Seq2[quire.Delta, error] {
	return func(yield func(quire.Delta, error) bool) {
		answer := f.answers[min(f.calls, len(f.answers)-1)]
		f.calls++
		for _, v := range answer {
			d, _ := v.(quire.Delta)
			err, _ := v.(error)
			if !yield(d, err) {
				return
			}
		}
	}
}

// whole is an answer that says a word.
func whole() []any {
	return []any{
		quire.ReplyBegun{ID: "r"}, quire.BlockBegun{Block: quire.Block{Part: quire.Part{Kind: quire.PartText}}},
		quire.BlockGrew{Text: "ok"}, quire.BlockEnded{}, quire.ReplyEnded{Stop: quire.StopEnd},
	}
}

func fault(kind quire.CallErrorKind, status int) *quire.CallError {
	return &quire.CallError{Kind: kind, Status: status}
}

// TestTriesAgain holds what is tried again and what is not. failures.md B30
func TestTriesAgain(t *testing.T) {
	begun := whole()[:2]
	for _, c := range []struct {
		name  string
		first []any
		calls int
	}{
		{"rate", []any{fault(quire.CallRate, 429)}, 2},
		{"overload", []any{fault(quire.CallOverloaded, 529)}, 2},
		{"fault", []any{fault(quire.CallServer, 500)}, 2},
		{"timeout", []any{fault(quire.CallInvalid, 408)}, 2},
		{"conflict", []any{fault(quire.CallInvalid, 409)}, 2},
		{"connection", []any{fault(quire.CallNetwork, 0)}, 2},
		{"cut before a word", append(slices.Clone(begun), fault(quire.CallCut, 0)), 2},
		{"cut behind a word", append(slices.Clone(whole()[:3]), fault(quire.CallCut, 0)), 1},
		{"whole", whole(), 1},
		{"not a good request", []any{fault(quire.CallInvalid, 400)}, 1},
		{"no key", []any{fault(quire.CallAuth, 401)}, 1},
		{"too long", []any{fault(quire.CallTooLong, 400)}, 1},
		{"garbled", []any{fault(quire.CallGarbled, 200)}, 1},
		{"certificate", []any{&quire.CallError{Kind: quire.CallNetwork, Code: model.CodeCertificate}}, 1},
		{"no error of a call", []any{errors.New("other")}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { once(t, c.first, c.calls) })
		})
	}
}

func once(t *testing.T, first []any, calls int) {
	inner := &failing{answers: [][]any{first, whole()}}
	var got []quire.Delta
	var last error
	for d, err := range New(inner, Policy{}).Call(t.Context(), quire.Call{}) {
		if last = err; err == nil {
			got = append(got, d)
		}
	}
	if inner.calls != calls {
		t.Errorf("%d calls, want %d", inner.calls, calls)
	}
	if calls == 2 && (last != nil || len(got) != len(whole())) {
		t.Errorf("the second try gives %d deltas, %v", len(got), last)
	}
	if _, failed := first[len(first)-1].(error); calls == 1 && failed && last != first[len(first)-1] {
		t.Errorf("the error is %v", last)
	}
}

// TestWaits holds how long is waited, by a clock that only the waits move.
func TestWaits(t *testing.T) {
	asking := func(seconds float64) []any { return []any{&quire.CallError{Kind: quire.CallRate, After: seconds}} }
	for _, c := range []struct {
		name      string
		answers   [][]any
		calls     int
		from, to  time.Duration
		succeeded bool
	}{
		{"doubles", [][]any{asking(0), asking(0), asking(0), whole()}, 4, 3500 * time.Millisecond, 10500 * time.Millisecond, true},
		{"as asked", [][]any{asking(20), whole()}, 2, 20 * time.Second, 20 * time.Second, true},
		{"too long", [][]any{asking(3600), whole()}, 1, 0, 0, false},
		{"gives up", [][]any{asking(0)}, 10, 90 * time.Second, 6 * time.Minute, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				inner := &failing{answers: c.answers}
				var told time.Duration
				p := Policy{Notice: func(a Again) { told += a.Wait }}
				begin := time.Now()
				var last error
				for _, err := range New(inner, p).Call(t.Context(), quire.Call{}) {
					last = err
				}
				took := time.Since(begin)
				if inner.calls != c.calls || (last == nil) != c.succeeded {
					t.Errorf("%d calls, %v; want %d", inner.calls, last, c.calls)
				}
				if took < c.from || took > c.to || took != told {
					t.Errorf("waited %v and told of %v, want %v to %v", took, told, c.from, c.to)
				}
			})
		})
	}
}

func TestWaitEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(10*time.Second, cancel)
		inner := &failing{answers: [][]any{{&quire.CallError{Kind: quire.CallRate, After: 60}}}}
		begin := time.Now()
		var last error
		for _, err := range New(inner, Policy{}).Call(ctx, quire.Call{}) {
			last = err
		}
		if !errors.Is(last, context.Canceled) || time.Since(begin) != 10*time.Second {
			t.Errorf("ended after %v with %v", time.Since(begin), last)
		}
	})
}

// TestReaderLeaves holds that nothing is called again once nobody reads.
func TestReaderLeaves(t *testing.T) {
	inner := &failing{answers: [][]any{whole()}}
	for range New(inner, Policy{}).Call(t.Context(), quire.Call{}) {
		break
	}
	if inner.calls != 1 {
		t.Errorf("%d calls", inner.calls)
	}
}
