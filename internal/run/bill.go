package run

import "github.com/quire-agent/quire/internal/quire"

// A Bill is what a session costs and what it would have cost without us, in the
// unit of the account's rates: prompts as the account has them, corrected by how
// many tokens the provider counted where we counted one, and answers as they were
// reported. It is an estimate.
type Bill struct {
	Live, Shadow float64
	Usage        quire.Usage // of all calls, those restored too
	Calls        int

	counted, reported int64 // tokens of the prompts whose size was reported
}

// Bill is that of the session so far.
func (l *Loop) Bill() Bill {
	b, a := l.bill, l.Step.Context().Account()
	scale := 1.0
	if b.counted > 0 && b.reported > 0 {
		scale = float64(b.reported) / float64(b.counted)
	}
	b.Live += scale * a.Live()
	b.Shadow += scale * a.Shadow()
	b.Calls = l.calls
	return b
}

// took takes a whole answer into stream and bill. An answer that only asked for
// what had left the prompt would not have been given without us.
func (l *Loop) took(r quire.Reply) {
	if r.Usage.Has(quire.KnownInput) {
		counted := l.Step.Context().Scheduler().Net() + l.Step.Context().Terms().Prefix
		l.reported(counted, r.Usage)
		l.bill.counted += int64(counted)
		l.bill.reported += r.Usage.Prompt()
	}
	l.Step.Answer(r)
	rates := l.Step.Context().Terms().Rates
	cost := float64(r.Usage.Output) * rates.For(int(r.Usage.Prompt())).Output
	l.bill.Live += cost
	if !errand(r.Blocks) {
		l.bill.Shadow += cost
	}
	if l.bill.Calls++; l.bill.Calls == 1 {
		l.bill.Usage = r.Usage
		return
	}
	l.bill.Usage = l.bill.Usage.Add(r.Usage)
}
