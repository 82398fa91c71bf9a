package replay

import (
	"slices"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/recording"
	"github.com/quire-agent/quire/internal/run"
	"github.com/quire-agent/quire/internal/schedule"
)

// slack is the share of a window that is better kept free (design, section 6.1:
// the reserve for the answer and ten percent). replayWindow is the window where
// the setting knows none: that of the compacting baseline. A prompt may fill all
// of it, as that of the append-only baseline may.
const (
	slack        = .20
	replayWindow = compactWindow
)

// Tables picks the table of needs by which a session is decided.
type Tables func(*recording.Session) *schedule.Table

// Always is one table for all sessions.
func Always(t *schedule.Table) Tables { return func(*recording.Session) *schedule.Table { return t } }

// Ours returns the policies of Quire: with free and forced epochs, and with
// paid ones besides.
func Ours(tables Tables) []Policy {
	return []Policy{
		Scheduled("quire", schedule.Settings{Care: schedule.DefaultCare}, tables),
		Scheduled("quire-paid", schedule.Settings{Care: schedule.PaidCare, Paid: true}, tables),
	}
}

// Assembled makes each call of the policies of [Scheduled] among policies, as a live
// session does. What is decided stays the same; [Outcome.Refused] says which calls
// could not have been made.
func Assembled(policies []Policy) []Policy {
	out := slices.Clone(policies)
	for i, p := range policies {
		out[i].Start = func(s *recording.Session, under Setting) Player {
			player := p.Start(s, under)
			if o, ok := player.(*ours); ok {
				o.calls = newAssembly(o, under)
			}
			return player
		}
	}
	return out
}

// Scheduled is the policy that a scheduler with these settings makes, its table
// aside. Bounds that are 0 follow from the replay's setting.
func Scheduled(name string, set schedule.Settings, tables Tables) Policy {
	return scheduled(name, set, tables, false)
}

// Sparing is Scheduled where a page that was missed stays away until the next
// epoch: only the lines that a fault brings are read.
func Sparing(name string, set schedule.Settings, tables Tables) Policy {
	return scheduled(name, set, tables, true)
}

// Held is the policy "quire" in a window of the size of the replay's budget. It
// is compared with the best memory of that size.
func Held(tables Tables) Policy {
	p := Policy{Name: "quire", Kind: "quire", Timed: true, Budgeted: true}
	p.Start = func(s *recording.Session, under Setting) Player {
		set := schedule.Settings{Care: schedule.DefaultCare, Window: max(under.Budget, 1), Room: -1, Budget: -1}
		return Scheduled(p.Name, set, tables).Start(s, under)
	}
	return p
}

func scheduled(name string, set schedule.Settings, tables Tables, away bool) Policy {
	return Policy{Name: name, Timed: true, Start: func(s *recording.Session, under Setting) Player {
		set := bounds(s, set, under) // each player has its own
		set.Table, set.Notice = tables(s), run.Notice
		p := newOurs(s, under, run.Terms{
			Terms:    schedule.Terms{Rates: under.Rates, Rules: under.Rules, Life: under.Life, Prefix: s.Overhead, Window: under.WindowSize()},
			Settings: set,
		})
		p.away = away
		return p
	}}
}

func newOurs(s *recording.Session, under Setting, terms run.Terms) *ours {
	p := &ours{s: s, set: under, at: make([]int32, len(s.Items)), shorts: map[short]Block{}, folds: map[schedule.Span]string{}, asked: map[int32]int32{}}
	p.ctx = run.NewContext(terms, p)
	return p
}

// bounded sets the bounds that are 0.
func bounds(s *recording.Session, set schedule.Settings, under Setting) schedule.Settings {
	if set.Window == 0 {
		set.Window = roomOf(s, under)
	}
	if set.Room == 0 {
		set.Room = set.Window - int(slack*float64(under.WindowSize()))
	}
	if set.Budget == 0 {
		set.Budget = under.Budget
	}
	return set
}

// WindowSize is the window of the setting, or the usual one where it has none.
func (set *Setting) WindowSize() int {
	if set.Window > 0 {
		return set.Window
	}
	return replayWindow
}

// room is what the window leaves for the stream, and the price cliff, if that
// comes sooner.
func roomOf(s *recording.Session, set Setting) int {
	room := set.WindowSize() - s.Overhead - run.RecallSchema
	if cliff := set.Rates.CliffAt; cliff > 0 {
		room = min(room, int(.95*float64(cliff))-s.Overhead)
	}
	return max(room, 1)
}

// ours drives the context of a live session with a recorded one: its answers,
// its references, its times. Blocks of the context are items of the session and
// notices.
type ours struct {
	s      *recording.Session
	set    Setting
	ctx    *run.Context
	at     []int32 // item → its block, -1 for none
	items  []int32 // block → its item, -1 for a notice
	shorts map[short]Block
	folds  map[schedule.Span]string
	turn   int // of the call at hand
	taken  int32
	cuts   int
	needs  int
	away   bool            // what was missed stays away
	plan   schedule.Plan   // of the latest call
	calls  *assembly       // nil: no calls are made
	asked  map[int32]int32 // tool use → the call whose response made it
}

// noticeText stands for the line that tells of an epoch.
const noticeText = "[Older pages stand as handles; recall reads them.]"

type short struct {
	block int
	form  quire.Rendition
}

func (p *ours) Step(k int) Prompt {
	p.turn = int(p.s.Calls[k].Turn)
	p.refer(k)
	p.enter(k)
	if p.s.Hints != nil {
		p.work(k)
		p.ctx.Foresee(p.s.Hints[k])
	}
	cold := ""
	if p.set.Cold[k] {
		cold = "the cache has lapsed"
	}
	if _, missed := slices.BinarySearch(p.set.Missed, k); missed {
		cold = "the provider had lost the cache"
		p.ctx.Missed()
	}
	plan := p.ctx.Plan(p.s.Calls[k].At, p.turn, cold)
	p.plan = plan
	if plan.Notice >= 0 {
		p.items = append(p.items, -1)
	}
	if p.calls != nil {
		p.calls.call(k, plan)
	}
	out := Prompt{Keep: plan.Keep, Reason: plan.Kind, Schema: p.ctx.Schema()}
	for _, pl := range plan.Placed {
		out.Blocks = append(out.Blocks, p.block(pl))
	}
	return out
}

// work tells what is known newly before call k of the task at hand.
func (p *ours) work(k int) {
	for _, w := range p.s.Work[k] {
		p.ctx.Work(w)
	}
}

// Foreseen counts what the scheduler foresaw.
func (p *ours) Foreseen() schedule.Foresights { return p.ctx.Scheduler().Foresights() }

// Refused counts the calls that could not be made.
func (p *ours) Refused() (r Refusals) {
	if p.calls != nil {
		r = p.calls.refused
	}
	return r
}

// refer tells what the calls before k quoted.
func (p *ours) refer(k int) {
	for ; p.needs < len(p.s.Needs) && p.s.Needs[p.needs].Call < int32(k); p.needs++ {
		n := &p.s.Needs[p.needs]
		p.ctx.Refer(n.Page, int(n.Call), int(p.s.Calls[n.Call].Turn))
	}
}

// enter takes in what is new before call k, as an append-only stream would.
func (p *ours) enter(k int) {
	for p.cuts < len(p.s.Cuts) && p.s.Cuts[p.cuts].Call <= int32(k) {
		c := p.s.Cuts[p.cuts]
		p.cuts++
		p.take(c.Item)
		if c.Rewind {
			p.rewind(c.Keep)
		}
	}
	p.take(p.s.Calls[k].Items)
}

func (p *ours) take(end int32) {
	for ; p.taken < end; p.taken++ {
		p.at[p.taken] = -1
		it := &p.s.Items[p.taken]
		if p.s.Constant(p.taken) || it.Origin != quire.OriginFirst || it.Unsent() {
			continue
		}
		b := schedule.Block{Part: it.Kind, Tokens: int(it.Tokens), Call: int(it.Call), By: int(it.By), Turn: int(it.Turn)}
		if it.Page > 0 {
			b.Page = p.s.Pages[it.Page-1]
		}
		b.Answers = p.answers(it)
		p.items = append(p.items, p.taken)
		p.at[p.taken] = int32(p.ctx.Enter(b, hashOf(p.s, whole(p.s, p.taken))))
	}
}

// answers is the call whose response asked for an item, from 1; 0: none did.
func (p *ours) answers(it *recording.Item) int {
	if it.Use == 0 {
		return 0
	}
	if it.By >= 0 {
		p.asked[it.Use] = it.By
		return 0
	}
	if by, ok := p.asked[it.Use]; ok {
		return int(by) + 1
	}
	return 0
}

func (p *ours) rewind(keep int32) {
	for i := keep; i < p.taken; i++ {
		if p.at[i] >= 0 {
			p.ctx.Rewind(int(p.at[i]))
			return
		}
	}
}

// block shows a placed block.
func (p *ours) block(pl schedule.Placed) Block {
	if pl.Block < 0 {
		return Block{Item: -1, Text: p.foldText(pl.Span), Tokens: int32(pl.Tokens), Role: RoleUser}
	}
	i := p.items[pl.Block]
	switch {
	case i < 0:
		return Block{Item: -1, Text: noticeText, Tokens: run.Notice, Role: RoleUser}
	case pl.Form == quire.RenditionFull:
		return whole(p.s, i)
	default:
		return p.short(pl.Block, pl.Form)
	}
}

// Size is that of a block in a lower form.
func (p *ours) Size(block int, form quire.Rendition) int { return int(p.short(block, form).Tokens) }

// Fold is the size of the card that stands for a span.
func (p *ours) Fold(sp schedule.Span) int { return int(p.s.TokensOf(len(p.foldText(sp)))) }

func (p *ours) short(block int, form quire.Rendition) Block {
	key := short{block, form}
	if b, ok := p.shorts[key]; ok {
		return b
	}
	b := p.lowered(p.items[block], form)
	p.shorts[key] = b
	return b
}

func (p *ours) lowered(i int32, form quire.Rendition) Block {
	b := textBlock(p.s, i, p.s.Form(i))
	if b.Text == "" { // nothing shorter can be made
		b.Tokens = p.s.Items[i].Tokens
	}
	b.Handle = form == quire.RenditionHandle
	return b
}

// foldText is a card for turns. It stays as it was made.
func (p *ours) foldText(sp schedule.Span) string {
	text, ok := p.folds[sp]
	if !ok {
		text = p.s.Fold(sp, p.turn)
		p.folds[sp] = text
	}
	return text
}

// Hash is that of a placed block's text.
func (p *ours) Hash(pl schedule.Placed) uint64 { return hashOf(p.s, p.block(pl)) }

// Faulted has what was missed fetched again.
func (p *ours) Faulted(_ int, needs []int) {
	for _, n := range needs {
		if p.away {
			p.ctx.Account().Trip(faultOutput, 0)
			continue
		}
		if i := p.s.PageItem[p.s.Needs[n].Page-1]; i >= 0 && i < p.taken && p.at[i] >= 0 {
			p.ctx.Fault(int(p.at[i]))
		}
	}
}
