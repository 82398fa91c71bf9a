package gateway

import (
	"context"

	"github.com/quire-agent/quire/internal/curation"
)

// outgrown reports whether a curated stream is to be left, as the client's own view is
// the cheaper one from here on: it went away from what the stream has folded, or it
// cleared results that the stream keeps (design, G3). Within a tool loop nothing is
// left whose thinking the provider wants to see again.
func (w *writing) outgrown(call *curation.Call) bool {
	switch {
	case w.cold != "": // which it never is within a loop
		return w.dearer(w.sent)
	case call.Plan.Kind != "" || !w.fork && w.place.cleared == 0:
		return false
	}
	thinks := w.dialect.Thinks(w.curating.body)
	if w.fork {
		return !thinks && w.dearer(w.sent)
	}
	return !(thinks && w.view.looping()) && w.spent(thinks)
}

// spent reports whether going back to the client's view is cheaper now, or whether what
// the session has saved just pays for it: a smaller view that is not in the cache must be
// written, and until then the larger prompt is read with each call. Where the stream
// cannot be left within a tool loop, such a call may also find the cache lost.
func (w *writing) spent(thinks bool) bool {
	ours, theirs, ok := w.quotes(w.sent)
	if !ok || ours.tokens <= theirs.tokens {
		return false
	}
	next := ours.read
	if thinks {
		next = ours.write
	}
	saved, back := w.shadow-w.paid, theirs.cost-ours.cost
	return back <= 0 || back <= saved && saved < back+float64(ours.tokens-theirs.tokens)*next
}

// giveBack lets the client's view go up again. Where something in it is bound to
// prompts of ours it cannot go up as it is: the stream begins again from it, without
// that.
func (w *writing) giveBack(ctx context.Context) error {
	if w.dialect.Thinks(w.curating.body) {
		return w.first(ctx)
	}
	w.relay()
	w.stream.uncurate()
	w.note.Relayed = true
	return nil
}
