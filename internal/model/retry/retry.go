package retry

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/quire-agent/quire/internal/model"
	"github.com/quire-agent/quire/internal/quire"
)

// A Caller is a model that may fail.
type Caller interface {
	Call(ctx context.Context, c quire.Call) iter.Seq2[quire.Delta, error]
}

// A Policy says how often and when to try again. Zero is the default of each.
type Policy struct {
	Tries   int           // in all; 10
	First   time.Duration // the wait behind the first failure, doubled with each and varied by half; 1 second
	Most    time.Duration // such a wait at most; 1 minute
	Longest time.Duration // wait that a provider may ask for; for a longer one its error is returned; 5 minutes
	Notice  func(Again)   // told of each wait before it begins; nil: nobody is
}

// An Again says that a call is tried again.
type Again struct {
	Err   *quire.CallError // why
	Wait  time.Duration
	Try   int         // that failed, from 1
	Usage quire.Usage // what the failed try had reported; it may be billed
}

// A Model tries again. It is safe for concurrent use when what it wraps is.
type Model struct {
	inner  Caller
	policy Policy
}

// New wraps a model.
func New(inner Caller, p Policy) *Model {
	p.Tries = orDefault(p.Tries, 10)
	p.First = orDefault(p.First, time.Second)
	p.Most = orDefault(p.Most, time.Minute)
	p.Longest = orDefault(p.Longest, 5*time.Minute)
	return &Model{inner, p}
}

func orDefault[T int | time.Duration](n, standard T) T {
	if n > 0 {
		return n
	}
	return standard
}

// Call answers a call like the model that is wrapped. The beginning of an answer
// is held back until it says something; from then on an error is the last word,
// because what was handed on cannot be taken back. Of several tries only the
// last is seen. A wait ends at once with the context.
func (m *Model) Call(ctx context.Context, c quire.Call) iter.Seq2[quire.Delta, error] {
	return func(yield func(quire.Delta, error) bool) {
		waits := m.waits()
		for n := 1; ; n++ {
			t := try{yield: yield}
			err := t.run(m.inner.Call(ctx, c))
			if err == nil {
				return
			}
			wait, again := m.next(err, &t, n, waits)
			if !again {
				yield(nil, err)
				return
			}
			if err := sleep(ctx, wait); err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

func (m *Model) waits() *backoff.ExponentialBackOff {
	b := backoff.NewExponentialBackOff()
	b.InitialInterval, b.MaxInterval, b.Multiplier = m.policy.First, m.policy.Most, 2
	b.Reset()
	return b
}

// next says whether to try again, and when. It tells of it.
func (m *Model) next(err error, t *try, n int, waits *backoff.ExponentialBackOff) (time.Duration, bool) {
	e, ok := errors.AsType[*quire.CallError](err)
	if !ok || t.said || n >= m.policy.Tries || !passing(e) {
		return 0, false
	}
	asked := time.Duration(e.After * float64(time.Second))
	if asked > m.policy.Longest {
		return 0, false
	}
	wait := max(asked, waits.NextBackOff())
	if m.policy.Notice != nil {
		m.policy.Notice(Again{Err: e, Wait: wait, Try: n, Usage: t.usage})
	}
	return wait, true
}

// passing reports whether trying again may help.
func passing(e *quire.CallError) bool {
	if e.Status == 408 || e.Status == 409 {
		return true
	}
	return e.Kind.Passing() && e.Code != model.CodeCertificate
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait to call again: %w", ctx.Err())
	}
}

// A try is one answer being handed on.
type try struct {
	yield func(quire.Delta, error) bool
	held  []quire.Delta // not handed on yet
	said  bool          // something was handed on
	usage quire.Usage
}

// run hands an answer on. It returns the error that ended it; nil also when the
// reader left.
func (t *try) run(deltas iter.Seq2[quire.Delta, error]) error {
	for d, err := range deltas {
		if err != nil {
			return err
		}
		if !t.take(d) {
			return nil
		}
	}
	return nil
}

// take hands a delta on or holds it back. It reports whether to go on.
func (t *try) take(d quire.Delta) bool {
	if begun, ok := d.(quire.ReplyBegun); ok {
		t.usage = begun.Usage
	}
	t.held = append(t.held, d)
	if !t.said && !says(d) {
		return true
	}
	t.said = true
	for _, d := range t.held {
		if !t.yield(d, nil) {
			return false
		}
	}
	t.held = t.held[:0]
	return true
}

// says reports whether a delta says something of the answer.
func says(d quire.Delta) bool {
	switch d := d.(type) {
	case quire.ReplyBegun:
		return false
	case quire.BlockBegun:
		return d.Block.Text != "" || d.Block.Opaque != nil
	default:
		return true
	}
}
