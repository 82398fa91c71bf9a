package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quire-agent/quire/internal/index"
	"github.com/quire-agent/quire/internal/page"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/retrieve"
	"github.com/quire-agent/quire/internal/token"
)

// Texts wait until there are jobBytes of them and are then counted, masked and
// read on all processors; documents wait until there are indexBytes of text.
const (
	jobBytes   = 1 << 20
	indexBytes = 24 << 20
)

// A job is the work on a page that needs its text and nothing else.
type job struct {
	page    quire.PageNumber
	text    string // its body
	found   string // what of it goes into the index
	args    string // of its call
	written string // what of args is a page of its own
	media   *quire.Media
	model   string // for which media is counted
	fresh   bool   // it is not in the index, or not with this text; counted anew
	tokens  int
	doc     index.Document
	indexed bool
}

// index queues the work on a page, and makes it known to later references; text
// is what of the part is not ours. A call waits for its result.
func (d *deriver) index(rec *quire.PartRecord, pg *quire.Page, text string, fresh bool) {
	p := &rec.Part
	d.refs.about(pg.Number, targetOf(pg))
	j := &job{page: pg.Number, text: p.Text, found: text, media: p.Media, model: d.model, fresh: fresh}
	switch {
	case p.Kind == quire.PartToolCall:
		written := ""
		if rec.Written != (quire.Hash{}) {
			written = page.Describe(p.Tool, p.Text).New
		}
		j.text, j.found, j.args, j.written = "", "", p.Text, written
		if pg.Kind == quire.PageTool {
			d.open[pg.Number] = j
			if written == "" {
				d.known(p, pg, strings.Join(page.Texts(p.Text), "\n"))
			}
			return
		}
		j.text, j.found, j.args, j.written = written, written, "", ""
	case p.Kind == quire.PartToolResult:
		if call := d.open[pg.Number]; call != nil {
			j.args, j.written = call.args, call.written
			delete(d.open, pg.Number)
		}
	}
	d.known(p, pg, j.found)
	d.queue(j)
}

// known makes a text findable for quotations. Text of the model is no source,
// but for what it wrote to files; the constant prefix is in every prompt, and
// copies that a compaction put back are no pages of their own.
func (d *deriver) known(p *quire.Part, pg *quire.Page, text string) {
	if pg.Kind == quire.PageSystem || p.Origin != quire.OriginFirst {
		return
	}
	kind := pg.Kind
	if p.Kind == quire.PartToolCall && kind == quire.PageTool {
		kind = quire.PageAssistant
	}
	d.refs.add(pg.Number, kind, text)
}

func (d *deriver) queue(j *job) {
	if d.rows[j.page-1].Number == 0 {
		return
	}
	d.jobs = append(d.jobs, j)
	d.waiting += len(j.text) + len(j.args)
}

// work does the jobs that wait, and indexes if there is enough.
func (d *deriver) work(ctx context.Context) error {
	eachAtOnce(len(d.jobs), func(i int) { d.do(d.jobs[i]) })
	for _, j := range d.jobs {
		d.rows[j.page-1].Tokens = j.tokens
		if j.indexed {
			d.docs = append(d.docs, j.doc)
			d.text += len(j.text) + len(j.args)
		}
	}
	d.jobs, d.waiting = d.jobs[:0], 0
	if d.text > indexBytes {
		return d.add(ctx)
	}
	return nil
}

// do counts the tokens of a page and makes its document. It touches nothing but
// the job.
func (d *deriver) do(j *job) {
	row := &d.rows[j.page-1]
	j.tokens = d.count(j, row)
	if j.fresh {
		args := j.args
		if j.written != "" {
			args = "" // it is mostly the other page
		}
		j.doc, j.indexed = retrieve.NewDocument(row, d.project, d.pool.Mask(j.found), d.pool.Mask(args))
	}
}

// count is the number of tokens of a page: of its body and, of a call, the
// arguments that are in no page of their own.
func (d *deriver) count(j *job, row *quire.Row) int {
	if j.media != nil && j.text == "" {
		if row.Kind == quire.PageDocument {
			return token.Document(j.model, *j.media)
		}
		return token.Image(j.model, *j.media)
	}
	if old, ok := d.stored[j.page]; ok && !j.fresh && old.Body == row.Body && old.Args == row.Args && old.Tokens > 0 {
		return old.Tokens
	}
	c := d.pool.Counter
	n := c.Count(j.text)
	if j.args != "" {
		n += max(c.Count(j.args)-c.Count(j.written), 0)
	}
	return n
}

// eachAtOnce calls do for 0 to n-1 on all processors.
func eachAtOnce(n int, do func(int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	wg.Wait()
}

// add indexes the documents that wait.
func (d *deriver) add(ctx context.Context) error {
	if len(d.docs) == 0 {
		return nil
	}
	if err := d.pool.Index.Add(ctx, d.docs); err != nil {
		return fmt.Errorf("index %d pages: %w", len(d.docs), err)
	}
	d.done.Indexed += len(d.docs)
	d.docs, d.text = nil, 0
	return nil
}

// finish enters the rows and the session. How far the session is derived is
// noted last: what a crash leaves undone is done again.
func (d *deriver) finish(ctx context.Context) error {
	for _, n := range slices.Sorted(maps.Keys(d.open)) {
		d.queue(d.open[n])
	}
	if err := errors.Join(d.work(ctx), d.add(ctx)); err != nil {
		return err
	}
	if err := d.drop(ctx); err != nil {
		return err
	}
	rows := slices.DeleteFunc(d.rows, func(r quire.Row) bool { return r.Number == 0 })
	d.done.Pages = len(rows)
	if err := d.blank(ctx, rows); err != nil {
		return err
	}
	if err := d.pool.Table.PutRows(ctx, rows); err != nil {
		return fmt.Errorf("enter the rows: %w", err)
	}
	if err := d.pool.Table.PutSession(ctx, d.session(rows)); err != nil {
		return fmt.Errorf("enter the session: %w", err)
	}
	if err := d.cards(ctx); err != nil {
		return err
	}
	next := strconv.FormatInt(d.outline.last.Seq, 10)
	if next == d.head {
		return nil
	}
	err := d.pool.Heads.Advance(ctx, headName(d.outline.head.ULID), d.head, next)
	if errors.Is(err, quire.ErrConflict) {
		return nil // somebody else derived the same meanwhile
	}
	return err
}

// blank puts the empty body where a row has it. It is the one body that no
// journal names: a part without text names none, so it is kept as long as the
// pool is.
func (d *deriver) blank(ctx context.Context, rows []quire.Row) error {
	empty := quire.Sum("")
	if !slices.ContainsFunc(rows, func(r quire.Row) bool { return r.Body == empty }) {
		return nil
	}
	if _, err := d.pool.Bodies.PutBodies(ctx, [][]byte{{}}); err != nil {
		return fmt.Errorf("store the empty body: %w", err)
	}
	return nil
}

// drop takes rows out of table and index that the journal does not have any
// more: what was forgotten.
func (d *deriver) drop(ctx context.Context) error {
	var gone []quire.PageRef
	for n := range d.stored {
		if int(n) > len(d.rows) || d.rows[n-1].Number == 0 {
			gone = append(gone, quire.PageRef{Session: d.outline.head.Number, Page: n})
		}
	}
	if len(gone) == 0 {
		return nil
	}
	slices.SortFunc(gone, func(a, b quire.PageRef) int { return cmp.Compare(a.Page, b.Page) })
	if err := d.pool.Index.Remove(ctx, gone); err != nil {
		return fmt.Errorf("take %d pages out of the index: %w", len(gone), err)
	}
	if d.pool.Vectors != nil {
		if err := d.pool.Vectors.Remove(ctx, d.outline.head.Number); err != nil {
			return err
		}
	}
	return d.pool.Table.DropSession(ctx, d.outline.head.Number)
}

// session adds the session's row up.
func (d *deriver) session(rows []quire.Row) quire.SessionRow {
	head := &d.outline.head
	s := quire.SessionRow{
		SessionInfo: d.pool.maskInfo(head.Info), Number: head.Number, ULID: head.ULID, Owner: head.Owner, Source: d.pool.Mask(head.Source),
		Pages: len(rows), Calls: len(d.sum.calls), Updated: d.outline.last.T.Format(time.RFC3339Nano),
	}
	for i := range rows {
		s.Tokens += int64(rows[i].Tokens)
		s.Bytes += int64(rows[i].Bytes)
	}
	for i, call := range d.sum.metered {
		if i == 0 {
			s.Usage = d.sum.usage[call]
			continue
		}
		s.Usage = s.Usage.Add(d.sum.usage[call])
	}
	return s
}
