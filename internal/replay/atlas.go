package replay

import (
	"slices"

	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/recording"
	"github.com/quire-agent/quire/internal/schedule"
)

// An Atlas shows what a policy of Quire makes of a session: pages over calls. It
// is a grid of at most [AtlasRows] times [AtlasColumns] places, whatever the size
// of the session.
type Atlas struct {
	Policy  string             `json:"policy"`
	Session string             `json:"session"` // path
	Calls   []int              `json:"calls"`   // by column: the call that is shown, from 1
	Pages   []quire.PageNumber `json:"pages"`   // by row: its first page; a row holds the pages up to the next one's
	Rows    []string           `json:"rows"`    // a letter a column: see AtlasHot
	Epochs  []AtlasEpoch       `json:"epochs"`
	Faults  []AtlasFault       `json:"faults"`
	Total   int                `json:"total_calls"`
}

// An AtlasEpoch is where the prompt was written anew, call from 1.
type AtlasEpoch struct {
	Call int    `json:"call"`
	Kind string `json:"kind"`
}

// An AtlasFault is where text of a row was needed and was not in the prompt, by
// the strict definition; call from 1.
type AtlasFault struct {
	Call int `json:"call"`
	Row  int `json:"row"`
}

// The size of an atlas, and how many epochs and faults it lists at most.
const (
	AtlasRows    = 72
	AtlasColumns = 160
	AtlasMarks   = 200
)

// The letters of the rows of an atlas: how most tokens of the row stand at the
// call. Heat is that of section 1 of the design.
const (
	AtlasNothing = '.' // not there yet, or left out without a trace
	AtlasHot     = 'h' // with content, used in the last 12 calls or so
	AtlasWarm    = 'w' // with content, used in the last 40 or so
	AtlasCold    = 'c' // with content, unused for longer
	AtlasShort   = 's' // a line or a handle stands for it
)

// Least heat of what is hot and of what is warm: a single use halves every 12
// calls.
const (
	hotHeat  = .5
	warmHeat = .1
)

// Draw replays a session through the policy "quire" and draws it. ok is false
// for a session without calls or pages.
func Draw(s *recording.Session, set Setting, tables Tables) (a Atlas, ok bool, err error) {
	if len(s.Calls) == 0 || len(s.Pages) == 0 {
		return Atlas{}, false, nil
	}
	d, p := newDrawing(s), Ours(tables)[0]
	d.atlas.Policy = p.Name
	d.ours = p.Start(s, set).(*ours)
	p.Start = func(*recording.Session, Setting) Player { return d }
	if _, err := Replay(s, []Policy{p}, []Setting{set}); err != nil {
		return Atlas{}, false, err
	}
	for _, row := range d.rows {
		d.atlas.Rows = append(d.atlas.Rows, string(row))
	}
	return d.atlas, true, nil
}

// A drawing is an atlas in the making, and the player that is drawn.
type drawing struct {
	*ours
	atlas Atlas
	sent  int // blocks of the latest prompt
	rows  [][]byte
	sizes [][]int // by row: tokens by letter, in the order of atlasLetters
}

const atlasLetters = string(AtlasHot) + string(AtlasWarm) + string(AtlasCold) + string(AtlasShort)

func newDrawing(s *recording.Session) *drawing {
	d := &drawing{atlas: Atlas{Session: s.Path, Total: len(s.Calls), Epochs: []AtlasEpoch{}, Faults: []AtlasFault{}}}
	rows, columns := min(len(s.Pages), AtlasRows), min(len(s.Calls), AtlasColumns)
	d.rows, d.sizes = make([][]byte, rows), make([][]int, rows)
	for i := range rows {
		d.atlas.Pages = append(d.atlas.Pages, quire.PageNumber(i*len(s.Pages)/rows+1))
		d.sizes[i] = make([]int, len(atlasLetters))
	}
	for i := range columns {
		d.atlas.Calls = append(d.atlas.Calls, (i+1)*len(s.Calls)/columns)
	}
	return d
}

// row is where a page is drawn.
func (d *drawing) row(page quire.PageNumber) int {
	i, found := slices.BinarySearch(d.atlas.Pages, page)
	if !found {
		i--
	}
	return i
}

// Step plays on, and draws the call if a column shows it.
func (d *drawing) Step(k int) Prompt {
	p := d.ours.Step(k)
	if p.Keep < d.sent && len(d.atlas.Epochs) < AtlasMarks {
		d.atlas.Epochs = append(d.atlas.Epochs, AtlasEpoch{k + 1, p.Reason})
	}
	d.sent = p.Keep + len(p.Blocks)
	if d.atlas.Calls[len(d.rows[0])] == k+1 {
		d.column(k)
	}
	return p
}

// Faulted marks what was missed.
func (d *drawing) Faulted(k int, needs []int) {
	for _, n := range needs {
		if len(d.atlas.Faults) < AtlasMarks {
			d.atlas.Faults = append(d.atlas.Faults, AtlasFault{k + 1, d.row(d.s.Needs[n].Page)})
		}
	}
	d.ours.Faulted(k, needs)
}

// column draws the stream as it stands at a call.
func (d *drawing) column(k int) {
	for _, sizes := range d.sizes {
		clear(sizes)
	}
	sched := d.ctx.Scheduler()
	for _, p := range sched.Stream() {
		if p.Block < 0 {
			d.span(p.Span)
			continue
		}
		b := sched.Block(p.Block)
		if b.Page.Number > 0 {
			d.sizes[d.row(b.Page.Number)][d.letter(p, k)] += b.Tokens + 1
		}
	}
	for i, sizes := range d.sizes {
		d.rows[i] = append(d.rows[i], commonest(sizes))
	}
}

// span draws the blocks for which a fold stands.
func (d *drawing) span(sp schedule.Span) {
	for i := sp.FirstBlock; i <= sp.LastBlock; i++ {
		if b := d.ctx.Scheduler().Block(i); b.Page.Number > 0 {
			d.sizes[d.row(b.Page.Number)][3] += b.Tokens + 1
		}
	}
}

// letter is how a placed block stands, as its place in atlasLetters.
func (d *drawing) letter(p schedule.Placed, k int) int {
	sched := d.ctx.Scheduler()
	heat := sched.Heat(sched.Block(p.Block).Page.Number, k)
	switch {
	case !p.Form.Resident():
		return 3
	case heat >= hotHeat:
		return 0
	case heat >= warmHeat:
		return 1
	default:
		return 2
	}
}

// commonest is the letter of the largest size.
func commonest(sizes []int) byte {
	best := 0
	for i, n := range sizes {
		if n > sizes[best] {
			best = i
		}
	}
	if sizes[best] == 0 {
		return AtlasNothing
	}
	return atlasLetters[best]
}
