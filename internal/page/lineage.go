package page

import (
	"maps"
	"slices"
	"strings"

	"github.com/quire-agent/quire/internal/quire"
)

// A Fate is what later parts of a session, and its own result, say about a page.
//
// From holds, of an edit, the youngest page that showed what it changed: that
// page and the edits after it are one unit. Of a read it holds the first page
// with the very same bytes of the same file: both numbers name one page, and
// neither takes the place of the other.
type Fate struct {
	Page    quire.PageNumber
	Outcome quire.Outcome
	Replace []quire.PageNumber // older pages that it takes the place of, rising
	By      quire.PageNumber   // the page that took its place, 0 for none
	From    []quire.PageNumber
	Answers quire.PageNumber // of a text of the model: the user message before it
	Stale   []quire.Range    // lines of its body that edits made stale, rising
	Version quire.Hash       // of a file page: the whole file as it then was, where known: lines without their numbers, joined by \n
}

// The bounds of what a Lineage remembers besides a Fate a page. What is older is
// forgotten: it has the fate that it has.
const (
	maxFiles   = 512      // files whose lines are followed
	maxViews   = 64       // pages a file
	maxHeld    = 12 << 20 // bytes of text of the pages of a file
	maxEdits   = 64       // edits a file
	maxFollow  = 2 << 20  // bytes of a body whose lines are followed
	maxPending = 4096     // calls without a result
	maxRuns    = 8192     // commands
)

// A Lineage works out which pages of a session are stale, take the place of
// others, or were taken back. It is told the parts in the order of the record
// and never looks ahead. It belongs to one goroutine.
//
// The rules are those of section 4 of the design:
//
//   - An edit makes only the lines of its hunk stale, in every page that shows
//     them: lines that stand before and after it are no part of the hunk.
//     Lines are followed through the edits before, so that shifts do not matter.
//     An edit whose old text a page does not show whole leaves that page alone.
//   - A read takes the place of an older one if it shows all of its lines, and
//     never of one that showed more.
//   - A further run of a command takes the place of the one before.
//   - An edit is reverted when a later one brings back the lines that it took
//     away, or the whole file as it was before; when a command takes the file
//     back from git; when a read of the whole file shows it as it was before,
//     after git took back whatever it found; or when the user says so in a short
//     message right behind the turn of the edit. Further reads change nothing of
//     this: a page that shows the file anew knows of the edits what the older
//     one knew.
//   - Pages that the user went back behind are abandoned, and what they took the
//     place of stands again.
//
// An edit counts when its result came and is no error. Files are told apart by
// their paths; links are not known.
type Lineage struct {
	project string
	fates   []Fate // by page
	touched map[quire.PageNumber]bool
	nodes   map[string][]admitted // by chain
	asked   map[string]quire.PageNumber
	pending fifo[string, *call]
	runs    fifo[quire.Hash, quire.PageNumber]
	files   fifo[string, *file]
	turns   map[string]turn // by chain
	edits   int32
	swept   int32 // edits before git last took back whatever it found
}

// A turn is what was done since the user spoke.
type turn struct {
	before, start int32 // edits before the turn that ended, and before this one
	talking       bool  // the user still speaks
}

// An admitted page and the part with which it came.
type admitted struct {
	node int
	page quire.PageNumber
}

// A call waits for its result.
type call struct {
	pages   []quire.Page // the tool page, then what it writes
	run     quire.Hash   // of the command, zero where a repetition says nothing
	changes []change
	back    []string // files that it takes back from git
	sweeps  bool     // git takes back whatever it finds
	open    int      // hunks of it that are not reverted
}

// A file is what is known of one.
type file struct {
	views []*view // oldest first
	edits []edit  // oldest first
}

// An edit is one hunk that was applied.
type edit struct {
	number int32
	by     *call
	hunk   hunk
	traces map[*view]trace
	undone bool
	back   int32 // the number of the edit that put its lines back, 0 for none
}

// NewLineage begins a session in a folder, "" where it is not known: paths from
// there and from the root are told to be the same.
func NewLineage(project string) *Lineage {
	return &Lineage{
		project: project, touched: map[quire.PageNumber]bool{},
		nodes: map[string][]admitted{}, asked: map[string]quire.PageNumber{}, turns: map[string]turn{},
		pending: newFifo[string, *call](maxPending), runs: newFifo[quire.Hash, quire.PageNumber](maxRuns), files: newFifo[string, *file](maxFiles),
	}
}

// Add takes a part, with the pages that a [Cutter] made of it, and returns the
// fates that it made or changed, by rising page.
func (l *Lineage) Add(chain string, node int, p *quire.Part, pages []quire.Page) []Fate {
	for i := range pages {
		l.admit(chain, node, pages[i].Number)
	}
	l.turn(chain, p)
	switch {
	case len(pages) == 0:
	case p.Kind == quire.PartUser:
		l.asked[chain] = pages[0].Number
	case p.Kind == quire.PartText:
		l.of(pages[0].Number).Answers = l.asked[chain]
	case p.Kind == quire.PartToolCall:
		l.pending.put(p.ToolUse, l.called(p, pages))
	case p.Kind == quire.PartToolResult:
		l.answered(p, pages[0])
	}
	return l.changed()
}

// turn follows who speaks. A message may have several parts. What the user tells
// to take back counts as taken back from then on, while the lines stand as they
// do until somebody does it.
func (l *Lineage) turn(chain string, p *quire.Part) {
	t, known := l.turns[chain]
	if !known {
		t.start = l.edits // those of other chains are not the user's to take back here
	}
	user := p.Kind == quire.PartUser
	if user && !t.talking {
		t.before, t.start = t.start, l.edits
	}
	t.talking = user
	l.turns[chain] = t
	if !user || t.before == t.start || !takesBack(p.Text) {
		return
	}
	for _, key := range l.files.keys() {
		f, _ := l.files.get(key)
		for i := range f.edits {
			if n := f.edits[i].number; n > t.before && n <= t.start {
				l.reverted(f.edits[i].by)
			}
		}
	}
}

// Rewind says that the user went back: pages of the chain that came with a part
// behind keep are abandoned. It returns the fates that changed.
func (l *Lineage) Rewind(chain string, keep int) []Fate {
	list := l.nodes[chain]
	n := len(list)
	for n > 0 && list[n-1].node > keep {
		n--
		f := l.of(list[n].page)
		f.Outcome = quire.OutcomeAbandoned
		for _, old := range f.Replace {
			if o := l.of(old); o.By == f.Page {
				o.By = 0
			}
		}
		f.Replace = nil
	}
	l.nodes[chain] = list[:n]
	return l.changed()
}

// admit notes a page that was not seen before.
func (l *Lineage) admit(chain string, node int, page quire.PageNumber) {
	for int(page) > len(l.fates) {
		n := quire.PageNumber(len(l.fates) + 1)
		l.fates = append(l.fates, Fate{Page: n, Outcome: quire.OutcomeUnknown})
		l.nodes[chain] = append(l.nodes[chain], admitted{node, n})
		l.touched[n] = true
	}
	l.touched[page] = true
}

// of is a fate that is about to change.
func (l *Lineage) of(page quire.PageNumber) *Fate {
	l.touched[page] = true
	return &l.fates[page-1]
}

func (l *Lineage) changed() []Fate {
	var out []Fate
	for _, page := range slices.Sorted(maps.Keys(l.touched)) {
		f := l.fates[page-1]
		f.Replace, f.From, f.Stale = slices.Clone(f.Replace), slices.Clone(f.From), slices.Clone(f.Stale)
		out = append(out, f)
	}
	clear(l.touched)
	return out
}

// called reads from a call what its result will mean.
func (l *Lineage) called(p *quire.Part, pages []quire.Page) *call {
	c := &call{pages: slices.Clone(pages), changes: changesOf(p.Tool, p.Text)}
	for i := range c.changes {
		c.changes[i].path = fileName(l.project, c.changes[i].path)
	}
	inv := newInvocation(p.Tool, p.Text)
	command, isCommand := inv.command()
	switch pages[0].Action {
	case quire.ActionRun, quire.ActionSearch, quire.ActionList, quire.ActionFetch:
		c.run = quire.Sum(inv.name + "\x00" + p.Text)
		if isCommand {
			where := inv.args.str("cwd", "workdir", "working_directory", "dir_path")
			c.run = quire.Sum(where + "\x00" + command)
		}
	}
	if isCommand {
		c.back = restored(l.project, command, inv.windows(command))
		c.sweeps = sweeps(command, inv.windows(command))
	}
	return c
}

// answered takes a result.
func (l *Lineage) answered(p *quire.Part, tool quire.Page) {
	c, known := l.pending.take(p.ToolUse)
	if !known {
		c = &call{pages: []quire.Page{tool}}
	}
	outcome := outcomeOf(tool, p.Text, p.IsError)
	for i := range c.pages {
		l.of(c.pages[i].Number).Outcome = outcome
	}
	if c.run != (quire.Hash{}) {
		l.ran(c.run, tool.Number)
	}
	if outcome == quire.OutcomeError {
		return
	}
	if tool.Action == quire.ActionRead && tool.Target != "" {
		l.read(tool, p.Text)
	}
	for i := range c.changes {
		l.change(c, &c.changes[i])
	}
	for _, name := range c.back {
		l.restore(name)
	}
	if c.sweeps {
		l.swept = l.edits
	}
	l.wrote(c)
}

// ran lets a run take the place of the one before.
func (l *Lineage) ran(key quire.Hash, page quire.PageNumber) {
	if old, ok := l.runs.get(key); ok && old != page {
		l.replace(old, page)
	}
	l.runs.put(key, page)
}

func (l *Lineage) replace(old, page quire.PageNumber) {
	l.of(old).By = page
	f := l.of(page)
	f.Replace = append(f.Replace, old)
	slices.Sort(f.Replace)
}

func (l *Lineage) file(name string) *file {
	f, ok := l.files.take(name)
	if !ok {
		f = &file{}
	}
	l.files.put(name, f)
	return f
}

// read enters what a read shows, and lets it take the place of what it covers.
func (l *Lineage) read(tool quire.Page, body string) {
	if len(body) > maxFollow {
		return
	}
	f := l.file(fileName(l.project, tool.Target))
	f.drop(func(o *view) bool { return o.page == tool.Number }) // its result came twice
	v := shown(body)
	v.page, v.body, v.read = tool.Number, tool.Body, true
	v.place(tool.Lines)
	if v.whole {
		l.show(v)
	}
	l.inherit(f, v)
	l.took(f, v)
	f.drop(func(o *view) bool { return l.covered(o, v) })
	f.add(v)
}

// inherit tells a new view of the edits before it, so that they can be taken back
// in it: what the file once was, from the youngest view of the whole file, and
// which lines are whose, from those whose lines it shows as the edits left them.
func (l *Lineage) inherit(f *file, v *view) {
	for i := len(f.views) - 1; i >= 0 && !v.gaps; i-- {
		o := f.views[i]
		if v.whole && o.whole && len(v.versions) == 1 {
			v.versions = append(slices.Clone(o.versions), v.versions...)
			v.forget()
		}
		if at := o.begins - v.begins; at >= 0 && !o.gaps && v.covers(o) && v.continues(o, at) {
			l.carry(f, o, v, at)
		}
	}
}

// carry goes back through the edits that an older view saw and notes what each
// did in terms of a younger one, which shows the same lines from its line at on.
// It ends where the way back is lost. A line that the younger one never showed
// gets a number like that of an edit.
func (l *Lineage) carry(f *file, o, v *view, at int) {
	was, is := o.origin, v.origin[at:at+len(o.origin)]
	brought := map[int32][2][]int32{} // by edit: in both terms
	for i := len(f.edits) - 1; i >= 0; i-- {
		e := &f.edits[i]
		old, seen := e.traces[o]
		stands := old.stands(was)
		if !seen || !stands && e.undone {
			continue
		}
		if !stands {
			return
		}
		l.edits++
		t := old.among(is, -l.edits)
		if again := brought[e.back]; slices.Equal(again[0], old.removed) { // those very lines came back
			t.removed = again[1]
		}
		brought[e.number] = [2][]int32{old.brought, t.brought}
		was, is = splice(was, old.at, len(old.brought), old.removed), splice(is, t.at, len(t.brought), t.removed)
		if t.at += at; e.traces[v].empty() { // a younger view may have said it better
			e.traces[v] = t
		}
	}
}

// took takes back the edits that git took back without saying of which files: a
// view of the whole file shows a version from before them.
func (l *Lineage) took(f *file, v *view) {
	for i := len(v.versions) - 2; i >= 0; i-- {
		if v.versions[i].sum == v.versions[len(v.versions)-1].sum {
			l.revertSince(f, v.versions[i].edits, l.swept)
			return
		}
	}
}

// show enters the version of the file that a view of all of it shows.
func (l *Lineage) show(v *view) {
	v.versions = []version{{quire.Sum(v.text), l.edits}}
	l.of(v.page).Version = v.versions[0].sum
}

// place says where in the file a view stands, from the lines that were asked
// for and those that came. Nothing stands anywhere if the tool left lines out.
func (v *view) place(asked quire.Range) {
	switch {
	case shortened(v.text):
		v.begins, v.gaps = max(v.begins, asked.First), true
	case asked == (quire.Range{}):
		v.whole = v.begins == 1 && len(v.origin) < readLimit
	case v.begins == 1 && asked.First > 1:
		v.begins = asked.First
	}
}

// shortened reports whether a line says that others were left out.
func shortened(text string) bool {
	for _, word := range []string{"truncated", "omitted"} {
		for rest := text; ; {
			i := strings.Index(rest, word)
			if i < 0 {
				break
			}
			line := rest[strings.LastIndexByte(rest[:i], '\n')+1 : i]
			if len(line) < 60 && strings.ContainsAny(line, "0123456789") && hasAny(strings.TrimSpace(line), "...", "…", "[", "<", "(") {
				return true
			}
			rest = rest[i+len(word):]
		}
	}
	return false
}

// covered lets a younger read take the place of a view, and reports whether it
// did. The same bytes take no place: the younger page points to the first.
func (l *Lineage) covered(o, v *view) bool {
	if o.body == v.body && o.read {
		if f := l.of(v.page); len(f.From) == 0 {
			f.From = []quire.PageNumber{o.page}
		}
		return false
	}
	if !o.read || v.gaps || !v.covers(o) {
		return false
	}
	l.replace(o.page, v.page)
	return true
}

// add enters a view. The oldest are dropped where there are too many, or too much
// text: what their pages show is followed no further.
func (f *file) add(v *view) {
	f.views = append(f.views, v)
	for len(f.views) > 1 && (len(f.views) > maxViews || f.held() > maxHeld) {
		oldest := f.views[0]
		f.drop(func(o *view) bool { return o == oldest })
	}
}

func (f *file) held() (bytes int) {
	for _, v := range f.views {
		bytes += len(v.text)
	}
	return bytes
}

// drop forgets views, with what the edits did to them.
func (f *file) drop(gone func(*view) bool) {
	f.views = slices.DeleteFunc(f.views, func(v *view) bool {
		if !gone(v) {
			return false
		}
		for i := range f.edits {
			delete(f.edits[i].traces, v)
		}
		return true
	})
}

// change applies one change of a call to all views of the file.
func (l *Lineage) change(c *call, ch *change) {
	if ch.path == "" {
		return
	}
	f := l.file(ch.path)
	if ch.undo {
		l.undo(f)
		return
	}
	main := f.main(ch)
	if main == nil {
		h := between(-1, strings.Split(ch.old, "\n"), strings.Split(ch.new, "\n"))
		l.enter(f, c, edit{hunk: h})
		return
	}
	for i := range c.pages {
		l.of(c.pages[i].Number).From = []quire.PageNumber{main.page}
	}
	first := l.edits
	l.follow(f, main, c, ch)
	if main.whole {
		l.version(f, main, c, first)
	}
}

// main is the view whose text decides what a change does: the youngest of the
// whole file that shows the place, or else the youngest of lines of it.
func (f *file) main(ch *change) *view {
	var main *view
	for _, v := range f.views {
		if _, _, ok := ch.find(v.text, 0); !ok || !v.whole && (ch.whole || ch.after >= 0) {
			continue
		}
		if main == nil || v.whole || !main.whole {
			main = v
		}
	}
	return main
}

// follow finds the hunks of a change in its main view and takes them to the
// others.
func (l *Lineage) follow(f *file, main *view, c *call, ch *change) {
	for at := 0; ; {
		h, next, ok := ch.find(main.text, at)
		if !ok || h.empty() {
			return
		}
		e := edit{hunk: h, traces: map[*view]trace{}}
		undone := f.undoneBy(main, h)
		l.edits++
		e.number = l.edits
		for _, v := range f.views {
			l.apply(v, main, h, &e, undone)
		}
		if undone != nil {
			undone.back = e.number
		}
		l.revert(undone)
		l.enter(f, c, e)
		if !ch.all {
			return
		}
		at = next
	}
}

// apply takes a hunk to a view.
func (l *Lineage) apply(v, main *view, h hunk, e, undone *edit) {
	there := h
	if v != main {
		at, ok := v.locate(main, h)
		if !ok {
			return
		}
		there.at = at
	}
	var back []int32
	if undone != nil {
		back = undone.traces[v].removed
	}
	e.traces[v] = v.put(there, e.number, back)
	l.of(v.page).Stale = v.staleLines()
}

// enter remembers an edit. A call counts its hunks.
func (l *Lineage) enter(f *file, c *call, e edit) {
	if e.number == 0 { // no page shows the place
		l.edits++
		e.number = l.edits
		l.revert(f.undoneBy(nil, e.hunk))
	}
	c.open++
	e.by = c
	if len(f.edits) == maxEdits {
		f.edits = slices.Delete(f.edits, 0, 1)
	}
	f.edits = append(f.edits, e)
}

// undoneBy is the youngest edit whose lines a hunk puts back where they were.
// Lines that an edit brought are known to be its own by where they stand.
func (f *file) undoneBy(v *view, h hunk) *edit {
	for i := len(f.edits) - 1; i >= 0; i-- {
		e := &f.edits[i]
		if e.undone || h.empty() || !h.undoes(e.hunk) {
			continue
		}
		if v == nil || e.hunk.at < 0 || v.wrote(h, e.traces[v].brought) {
			return e
		}
	}
	return nil
}

// revert marks an edit as taken back; a page is reverted with its last hunk.
func (l *Lineage) revert(e *edit) {
	if e == nil || e.undone {
		return
	}
	e.undone = true
	if e.by.open--; e.by.open > 0 {
		return
	}
	l.reverted(e.by)
}

// reverted marks the pages of a call, except where the user went back behind it.
func (l *Lineage) reverted(c *call) {
	for i := range c.pages {
		if f := l.of(c.pages[i].Number); f.Outcome != quire.OutcomeAbandoned {
			f.Outcome = quire.OutcomeReverted
		}
	}
}

// undo takes back the last edit of a file, as an editor does that is told to.
func (l *Lineage) undo(f *file) {
	for i := len(f.edits) - 1; i >= 0; i-- {
		e := &f.edits[i]
		if e.undone {
			continue
		}
		back := hunk{old: e.hunk.new, new: e.hunk.old}
		l.edits++
		for _, v := range f.views {
			if at, ok := v.standing(e.traces[v].brought); ok {
				back.at = at
				v.put(back, l.edits, e.traces[v].removed)
				l.of(v.page).Stale = v.staleLines()
			}
		}
		l.revert(e)
		return
	}
}

// version notes which version of the file a change made. A version that was
// there before takes back all edits after it, those of this change left out.
func (l *Lineage) version(f *file, v *view, c *call, first int32) {
	now := quire.Sum(v.text)
	for i := range c.pages {
		l.of(c.pages[i].Number).Version = now
	}
	for i := len(v.versions) - 1; i >= 0; i-- {
		if v.versions[i].sum == now {
			l.revertSince(f, v.versions[i].edits, first)
			break
		}
	}
	if v.text == v.start {
		v.reset()
		l.of(v.page).Stale = nil
	}
	v.versions = append(v.versions, version{now, l.edits})
	v.forget()
}

// revertSince takes back the edits with numbers above from, up to last.
func (l *Lineage) revertSince(f *file, from, last int32) {
	for i := range f.edits {
		if n := f.edits[i].number; n > from && n <= last {
			l.revert(&f.edits[i])
		}
	}
}

// restore takes back all edits of a file, or of those below a folder, because
// git gave it back.
func (l *Lineage) restore(name string) {
	for _, key := range l.files.keys() {
		if key != name && (!strings.HasSuffix(name, "/") || !strings.HasPrefix(key, name)) {
			continue
		}
		f, _ := l.files.get(key)
		for i := range f.edits {
			l.revert(&f.edits[i])
		}
	}
}

// wrote enters the whole files that a call wrote: they show them as reads do.
func (l *Lineage) wrote(c *call) {
	whole := slices.DeleteFunc(slices.Clone(c.changes), func(ch change) bool { return !ch.whole || ch.path == "" })
	if len(whole) != 1 || len(c.pages) < 2 || len(c.changes) != 1 || len(whole[0].new) > maxFollow {
		return
	}
	page := c.pages[1]
	v := shown(whole[0].new)
	v.page, v.body, v.whole = page.Number, page.Body, true
	l.show(v)
	f := l.file(whole[0].path)
	l.inherit(f, v)
	f.add(v)
}

// A fifo is a map that forgets what was put first when it is full.
type fifo[K comparable, V any] struct {
	limit  int
	values map[K]V
	order  []K // with keys that were taken out since
}

func newFifo[K comparable, V any](limit int) fifo[K, V] {
	return fifo[K, V]{limit: limit, values: map[K]V{}}
}

func (q *fifo[K, V]) get(k K) (V, bool) {
	v, ok := q.values[k]
	return v, ok
}

// take removes a value.
func (q *fifo[K, V]) take(k K) (V, bool) {
	v, ok := q.values[k]
	if ok {
		delete(q.values, k)
		q.order = slices.Delete(q.order, slices.Index(q.order, k), slices.Index(q.order, k)+1)
	}
	return v, ok
}

func (q *fifo[K, V]) put(k K, v V) {
	if _, ok := q.values[k]; !ok {
		q.order = append(q.order, k)
	}
	q.values[k] = v
	if len(q.order) > q.limit {
		delete(q.values, q.order[0])
		q.order = slices.Delete(q.order, 0, 1)
	}
}

// keys are those from the oldest to the youngest.
func (q *fifo[K, V]) keys() []K { return slices.Clone(q.order) }
