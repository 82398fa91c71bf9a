package schedule

import "github.com/quire-agent/quire/internal/quire"

// Weigh says what would become of block i if an epoch began at a moment, and why:
// From is how it stands, To how it would stand, and the figures are those by which
// that is decided, in the unit of the prices. Nothing changes. What already holds
// no content has no figures.
func (s *Scheduler) Weigh(i int, now Moment) quire.Decision {
	b := &s.blocks[i]
	at := s.at[i]
	if at < 0 {
		return quire.Decision{Page: b.Page.Number, From: quire.RenditionAbsent, To: quire.RenditionAbsent}
	}
	p := s.stream[at]
	d := quire.Decision{Page: b.Page.Number, From: p.Form, To: p.Form, Tokens: p.Tokens}
	if !p.Form.Resident() {
		return d
	}
	v := s.judge(at, now)
	d.Carry, d.Chance, d.Strict, d.Miss = v.carry, v.chance, v.strict, v.miss
	if d.Reason = s.keeps(at, b, now); d.Reason == "" && v.goes {
		d.To, d.Tokens, d.Reason = v.to, v.tokens, v.reason
	}
	switch {
	case d.Reason != "":
	case v.miss == 0:
		d.Reason = "the model's own words stay for a few calls"
	default:
		d.Reason = "missing it would cost more than carrying it"
	}
	return d
}

// keeps says why the block at a place stays whatever it costs, "" where it need
// not.
func (s *Scheduler) keeps(at int, b *Block, now Moment) string {
	switch to := s.lowestAt(at); {
	case s.pinned(b.Page.Number, now.Call):
		return "pinned by the user"
	case s.tasks.kept(b.Page.Number) && !s.drops[b.Page.Number]:
		return "it is one of the hottest pages of the task before this one"
	case b.Fixed:
		return "the provider binds it"
	case to == quire.RenditionFull:
		return "the user's own words stay until their turn is folded"
	case s.guard(now).has(at):
		return "it is among the newest results, which no epoch lowers"
	case s.fetched(s.stream[at], now.Call):
		return "it was asked for not long ago"
	case s.size(s.stream[at].Block, to) >= s.stream[at].Tokens:
		return "a lower form would not be shorter"
	}
	return ""
}

// Blocks is how many blocks entered.
func (s *Scheduler) Blocks() int { return len(s.blocks) }
