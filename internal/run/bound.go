package run

import (
	"errors"
	"fmt"

	"github.com/quire-agent/quire/internal/assemble"
	"github.com/quire-agent/quire/internal/quire"
)

// The share of a window that is better kept free (design, section 6.1), and that
// of a price cliff.
const (
	windowSlack = .10
	cliffSlack  = .05
)

// Bound is what window and price cliff leave for a stream, in tokens as they are
// counted here: the most that it may have, and what it should not exceed (the
// two bounds of [schedule.Settings]). scale is how many tokens the provider
// counts for each of them; output is reserved for the answer, in the provider's.
// Both are 0 where no window is known.
func (t Terms) Bound(scale float64, output int) (window, room int) {
	if t.Terms.Window == 0 {
		return 0, 0
	}
	left := t.Terms.Window - output
	if cliff := t.Rates.CliffAt; cliff > 0 {
		left = min(left, int((1-cliffSlack)*float64(cliff)))
	}
	window = max(int(float64(left)/scale)-t.Prefix, 1)
	return window, max(window-int(windowSlack*float64(t.Terms.Window)/scale), 1)
}

// bounds are what a stream is held to besides its budget.
type bounds struct {
	scale  float64 // reported tokens ÷ counted ones, of the latest prompt; 0: none was reported
	most   int     // tokens that a stream was refused with, less a tenth; 0: none was
	window int     // as the scheduler has it
	body   int     // bytes that a request was refused with, less a tenth; 0: none was
}

// scale is how many tokens the provider counts for one that is counted here.
func (l *Loop) scale() float64 {
	switch {
	case l.bound.scale > 0:
		return l.bound.scale
	case l.Scale > 0:
		return l.Scale
	default:
		return 1
	}
}

// The bounds of a scale: what is outside of them is another count than that of
// the prompt.
const (
	leastScale = .25
	mostScale  = 4
)

// reported takes over how many tokens a prompt has by the provider's count.
func (l *Loop) reported(counted int, u quire.Usage) {
	if !u.Has(quire.KnownInput) || counted == 0 || u.Prompt() == 0 {
		return
	}
	if s := float64(u.Prompt()) / float64(counted); s >= leastScale && s <= mostScale {
		l.bound.scale = s
	}
}

// resize holds the stream to the bounds as they are known by now, and gives the
// head with them.
func (l *Loop) resize(head assemble.Head) assemble.Head {
	c := l.Step.Context()
	terms := c.Terms()
	window, room := terms.Bound(l.scale(), head.MaxOutput)
	if terms.Terms.Window == 0 {
		window, room = terms.Settings.Window, terms.Settings.Room
	}
	if m := l.bound.most; m > 0 && (window == 0 || m < window) {
		window, room = m, int((1-windowSlack)*float64(m))
	}
	if b := l.bound.body; b > 0 && (head.Limits.Body == 0 || b < head.Limits.Body) {
		head.Limits.Body = b
	}
	l.bound.window = window
	c.Scheduler().Resize(window, room)
	if terms.Terms.Window > 0 {
		head.Limits.Window = int(float64(terms.Terms.Window-head.MaxOutput) / l.scale())
	}
	return head
}

// A RefusedRecord says that a provider refused a prompt for its size, or ended an
// answer because the window was full, or that a prompt was planned and not sent
// because it is larger than what is known to be accepted. The stream is held to
// less from then on.
type RefusedRecord struct {
	quire.Stamp                     // of a prompt that was not sent: when it was planned
	Call        string              `json:"call,omitempty"` // that was refused; "": none was sent
	Kind        quire.CallErrorKind `json:"kind"`
	Most        int                 `json:"most,omitempty"` // tokens that the stream may have from now on
	Body        int                 `json:"body,omitempty"` // bytes that a request may have from now on, where it was refused for these
}

// tooBig reports whether an error says that a prompt is refused for its size: by
// the provider, or before it was sent.
func tooBig(err error) (kind quire.CallErrorKind, sent, ok bool) {
	if e, is := errors.AsType[*assemble.Error](err); is {
		return quire.CallTooLong, false, e.Invariant == assemble.Size
	}
	e, is := errors.AsType[*quire.CallError](err)
	if !is || e.Kind != quire.CallTooLong && e.Kind != quire.CallTooLarge {
		return "", false, false
	}
	return e.Kind, true, true
}

// shrink holds the stream to less than it has: the next call begins a forced
// epoch. What was refused is smaller than what the scale says, so that a tenth
// less is the most that is known to be worth trying.
func (l *Loop) shrink(kind quire.CallErrorKind, sent bool) error {
	r := RefusedRecord{Stamp: quire.Stamp{At: l.planAt}, Kind: kind}
	s := l.Step.Context().Scheduler()
	if bytes := s.Bytes(); kind == quire.CallTooLarge && bytes > 0 {
		r.Body = bytes * 9 / 10
	} else {
		r.Most = max(s.Net()*9/10, 1)
	}
	if sent {
		r.Call = callID(l.calls)
	}
	l.bound.hold(r)
	if err := l.Record.Record(quire.RecordRefused, r); err != nil {
		return fmt.Errorf("record a refusal: %w", err)
	}
	return nil
}

// refused takes a refusal that was recorded before. What was planned for nothing
// is planned again, since later plans follow from it.
func (l *Loop) refused(r RefusedRecord) error {
	l.settle()
	if r.Call == "" {
		if _, _, err := l.Step.Plan(r.At, l.headed(l.Head)); err != nil {
			if _, _, big := tooBig(err); !big {
				return err
			}
		}
	}
	l.bound.hold(r)
	return nil
}

// hold takes over what a refusal says.
func (b *bounds) hold(r RefusedRecord) {
	if r.Most > 0 {
		b.most = r.Most
	}
	if r.Body > 0 {
		b.body = r.Body
	}
}
