package ingest

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/quire-agent/quire/internal/index"
	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/ledger"
	"github.com/quire-agent/quire/internal/page"
	"github.com/quire-agent/quire/internal/quire"
)

// A Derived says what was made from a journal.
type Derived struct {
	Pages   int `json:"pages"`   // rows
	Indexed int `json:"indexed"` // documents that were added
	Missing int `json:"missing"` // bodies that the journal names and that are not there, or damaged
	Damaged int `json:"damaged"` // places of the journal that cannot be read
}

// damaged reports whether an error is about one place, after which work goes on.
func damaged(err error) bool { return errors.Is(err, quire.ErrDamaged) }

// Derive makes the rows of a session and what is missing of it in the index,
// from its journal and the bodies alone. What cannot be read is left out and
// counted: a page whose body is missing has a row with the hash of it.
//
// Rows of before are replaced. A page that is in the index already is not
// indexed again, unless its text came since. Derive may be called again at any
// time and then changes nothing. While somebody else derives in that home, in
// this process or another one, it waits.
func (p *Pool) Derive(ctx context.Context, path string) (Derived, error) {
	return p.locked(ctx, path, true)
}

// locked derives while nobody else does; without again only if the journal holds
// more than was derived from it.
func (p *Pool) locked(ctx context.Context, path string, again bool) (d Derived, err error) {
	lock, err := journal.LockDerived(ctx, p.Home)
	if err == nil {
		d, err = p.derive(ctx, path, again)
		err = errors.Join(err, lock.Close())
	}
	if err != nil {
		return d, fmt.Errorf("derive from %s: %w", path, err)
	}
	return d, nil
}

func (p *Pool) derive(ctx context.Context, path string, again bool) (Derived, error) {
	o, err := newOutline(path)
	if err != nil {
		return Derived{}, err
	}
	d := newDeriver(p, o)
	if err := d.resume(ctx); err != nil || !again && d.mark == o.last.Seq {
		return d.done, err
	}
	for r, err := range journal.Read(path) {
		if r.Seq > o.last.Seq {
			break // appended since: what bears on it is not in the outline
		}
		if err := errors.Join(ctx.Err(), d.take(ctx, r, err)); err != nil {
			return d.done, err
		}
	}
	return d.done, d.finish(ctx)
}

// A deriver makes the rows of one session.
type deriver struct {
	pool    *Pool
	outline *outline
	project string // its name in table and index
	lineage *page.Lineage
	refs    *references
	ledger  ledger.Ledger
	cut     cutter
	rows    []quire.Row                    // by page; Number 0 where it is forgotten
	stored  map[quire.PageNumber]quire.Row // as they were before
	open    map[quire.PageNumber]*job      // calls without a result
	calls   map[string]quire.PageNumber    // by tool use
	sum     sums
	model   string
	task    string // that the user is at, "" for none
	jobs    []*job
	waiting int // bytes in jobs
	docs    []index.Document
	text    int // bytes in docs
	mark    int64
	head    string // value of the head that says how far the index is
	done    Derived
}

// sums are what the session's row adds up.
type sums struct {
	calls   map[string]bool
	main    int // calls of the main chain
	usage   map[string]quire.Usage
	metered []string // calls with usage, in order
}

func newDeriver(p *Pool, o *outline) *deriver {
	return &deriver{
		ledger: ledger.Ledger{Mask: p.Mask},
		pool:   p, outline: o, project: ProjectName(o.head.Info.Project, p.Mask), lineage: page.NewLineage(o.head.Info.Project), refs: newReferences(),
		stored: map[quire.PageNumber]quire.Row{}, open: map[quire.PageNumber]*job{}, calls: map[string]quire.PageNumber{},
		sum: sums{calls: map[string]bool{}, usage: map[string]quire.Usage{}}, model: cmp.Or(o.model, o.head.Info.Model), mark: -1,
	}
}

// headName is the head under which it is kept up to which record a session is
// in the table and in the index.
func headName(ulid string) string { return "ingest/" + ulid }

// resume finds out what is there already. What the record says of tokens is
// taken over for pages with the same body.
func (d *deriver) resume(ctx context.Context) (err error) {
	if d.head, err = d.pool.Heads.Head(ctx, headName(d.outline.head.ULID)); err != nil || d.head == "" {
		return err
	}
	if d.mark, err = strconv.ParseInt(d.head, 10, 64); err != nil {
		d.mark = -1 // not ours: derive all of it
	}
	for r, err := range d.pool.Table.Rows(ctx, d.pool.reader(d.outline), quire.Filter{Session: d.outline.head.Number}) {
		if err != nil {
			return err
		}
		d.stored[r.Number] = r
	}
	return nil
}

// reader is the owner of a session.
func (p *Pool) reader(o *outline) quire.Reader { return quire.Reader{Who: o.head.Owner} }

// take takes a record in.
func (d *deriver) take(ctx context.Context, r quire.Record, err error) error {
	if err != nil {
		d.done.Damaged++
		if damaged(err) {
			return nil
		}
		return err
	}
	switch r.Type {
	case quire.RecordPart:
		if p, ok := decode[quire.PartRecord](d, r); ok {
			return d.part(ctx, &p, r.Seq > d.mark)
		}
	case quire.RecordCall:
		if c, ok := decode[quire.CallRecord](d, r); ok {
			d.called(&c)
		}
	case quire.RecordUsage:
		if u, ok := decode[quire.UsageRecord](d, r); ok {
			d.sum.meter(&u)
		}
	case quire.RecordRewind:
		if w, ok := decode[quire.RewindRecord](d, r); ok {
			fates := d.lineage.Rewind(w.Chain, w.Keep)
			d.fates(fates)
			d.ledger.Judge(fates)
		}
	case quire.RecordMark:
		if m, ok := decode[quire.MarkRecord](d, r); ok && m.What == quire.MarkTask && m.Page == 0 {
			d.task = m.Task
		}
	}
	return nil
}

// decode reads a payload. One that is not what its type says is damage.
func decode[T any](d *deriver, r quire.Record) (T, bool) {
	v, err := journal.Decode[T](r)
	if err != nil {
		d.done.Damaged++
	}
	return v, err == nil
}

func (d *deriver) called(c *quire.CallRecord) {
	d.sum.calls[c.Call] = true
	if c.Chain == "" {
		d.sum.main++
	}
	if c.Model != "" {
		d.model = c.Model
	}
}

// meter keeps the last usage of each call.
func (s *sums) meter(u *quire.UsageRecord) {
	if _, again := s.usage[u.Call]; !again {
		s.metered = append(s.metered, u.Call)
	}
	s.usage[u.Call] = u.Usage
}

// part cuts a part again and enters its pages under the numbers of the journal.
func (d *deriver) part(ctx context.Context, rec *quire.PartRecord, fresh bool) error {
	forgotten := d.outline.forgot(rec)
	if err := d.read(ctx, rec, forgotten); err != nil {
		return err
	}
	p := rec.Part
	ours := d.cut.ours(&p)
	pages := d.pages(rec, forgotten)
	if p.Kind == quire.PartToolCall || p.Kind == quire.PartText {
		d.refer(rec, pages)
	}
	for i := range pages {
		d.enter(rec, &pages[i], forgotten)
	}
	fates := d.lineage.Add(rec.Chain, rec.Node, &p, pages)
	d.fates(fates)
	d.tell(rec, pages, fates)
	text, err := d.foreign(ctx, &p, ours)
	if err != nil {
		return err
	}
	for i := range pages {
		d.index(rec, &pages[i], text, fresh && !forgotten)
	}
	if d.waiting > jobBytes {
		return d.work(ctx)
	}
	return nil
}

// read puts the text of a part back into it.
func (d *deriver) read(ctx context.Context, rec *quire.PartRecord, forgotten bool) error {
	if forgotten || rec.Body == (quire.Hash{}) {
		return nil
	}
	body, err := d.pool.Bodies.Body(ctx, rec.Body)
	switch {
	case err == nil:
		rec.Part.Text = string(body)
	case damaged(err) || errors.Is(err, quire.ErrNotFound):
		d.done.Missing++
	default:
		return err
	}
	return nil
}

// pages cuts a part. Whether it is in a page at all the journal says. Where the text is gone the bodies are those that the record
// names.
func (d *deriver) pages(rec *quire.PartRecord, forgotten bool) []quire.Page {
	if len(rec.Pages) == 0 {
		return nil
	}
	cut := d.cut.pages.Cut(rec.Part, d.sum.main)
	cut = cut[:min(len(cut), len(rec.Pages))]
	for len(cut) < len(rec.Pages) && len(cut) > 0 && rec.Written != (quire.Hash{}) {
		cut = append(cut, quire.Page{Kind: quire.PageWritten, Tool: rec.Part.Tool, Body: rec.Written, Call: d.sum.main})
	}
	lost := rec.Part.Text == "" && rec.Body != (quire.Hash{})
	for i := range cut {
		cut[i].Number = rec.Pages[i]
		if rec.Part.Kind != quire.PartToolCall && rec.Blob == (quire.Hash{}) && (lost || rec.Part.Media != nil) {
			cut[i].Body = rec.Body // an address, or text that was sent as a document
		}
	}
	return cut
}

// enter makes the row of a page, or completes it.
func (d *deriver) enter(rec *quire.PartRecord, pg *quire.Page, forgotten bool) {
	for int(pg.Number) > len(d.rows) {
		d.rows = append(d.rows, quire.Row{})
	}
	if d.outline.pages[pg.Number] {
		return
	}
	r := &d.rows[pg.Number-1]
	if r.Number == 0 {
		head := &d.outline.head
		*r = quire.Row{
			ID: pageID(head.ULID, pg.Number, rec.At), Session: head.Number, At: rec.At, Heat: 1, Pin: d.outline.pins[pg.Number],
			Dropped: d.outline.drops[pg.Number], Tasks: d.tasks(pg.Number), Outcome: quire.OutcomeUnknown, Owner: head.Owner, Scope: quire.ScopeSession,
		}
	}
	tokens := r.Tokens
	r.Page = *pg
	r.Tool = d.pool.Mask(pg.Tool)
	r.Target = d.pool.Mask(cmp.Or(pg.Target, d.pictured(&rec.Part))) // the row is shown and goes into the index; lineage has the true one
	r.Tokens = tokens
	if rec.Part.Kind == quire.PartToolCall && pg.Kind == quire.PageTool {
		d.calls[rec.Part.ToolUse] = pg.Number
	}
	if rec.Part.Kind == quire.PartToolCall && !forgotten {
		r.Args = rec.Body
	}
	if r.Refs == 0 {
		r.LastRef = pg.Call
	}
}

// tasks are those of a page that begins: the user's at that moment, and those
// that it was given by name.
func (d *deriver) tasks(n quire.PageNumber) []string {
	given := d.outline.tasks[n]
	if d.task == "" {
		return given
	}
	all := []string{d.task}
	for _, t := range given {
		if t != d.task {
			all = append(all, t)
		}
	}
	return all
}

// pictured is the path of an image or a document that a tool call read: in the
// result of the call it has none of its own.
func (d *deriver) pictured(p *quire.Part) string {
	if p.Kind != quire.PartImage && p.Kind != quire.PartDocument || p.ToolUse == "" {
		return ""
	}
	n := d.calls[p.ToolUse]
	if n == 0 || d.rows[n-1].Action != quire.ActionRead {
		return ""
	}
	return d.rows[n-1].Target
}

// refer books what a part of an answer refers to. The page of the part itself is
// not known yet.
func (d *deriver) refer(rec *quire.PartRecord, pages []quire.Page) {
	target := ""
	if len(pages) > 0 {
		target = targetOf(&pages[0])
	}
	for _, n := range d.refs.of(&rec.Part, target) {
		if r := &d.rows[n-1]; r.Number > 0 {
			refer(r, max(d.sum.main-1, 0))
		}
	}
}

// targetOf is what names a page again: paths, commands, patterns.
func targetOf(pg *quire.Page) string {
	switch pg.Action {
	case quire.ActionNone, quire.ActionTask, quire.ActionPlan:
		return ""
	}
	return pg.Target
}

// fates puts what the lineage says into the rows.
func (d *deriver) fates(fates []page.Fate) {
	for i := range fates {
		f := &fates[i]
		if int(f.Page) > len(d.rows) || d.rows[f.Page-1].Number == 0 {
			continue
		}
		r := &d.rows[f.Page-1]
		r.Outcome, r.By, r.Answers, r.Version = f.Outcome, f.By, f.Answers, f.Version
		r.Replace, r.Stale, r.From = f.Replace, f.Stale, nil
		for _, n := range f.From {
			r.From = append(r.From, quire.PageRef{Page: n})
		}
	}
}

// pageID is the ULID of a page. It follows from its session and number, so that
// a rebuild gives the same one.
func pageID(session string, n quire.PageNumber, at time.Time) string {
	var b [16]byte
	ms := uint64(max(at.UnixMilli(), 0))
	binary.BigEndian.PutUint64(b[:8], ms<<16)
	sum := quire.Sum(session + "/" + n.String())
	copy(b[6:], sum[:10])
	const digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	out := make([]byte, 26)
	high, low := binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:])
	for i := len(out) - 1; i >= 0; i-- {
		out[i] = digits[low&31]
		low = low>>5 | high<<59
		high >>= 5
	}
	return string(out)
}
