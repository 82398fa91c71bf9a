package ingest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/trace"
)

// A batch ends at the first call after batchBytes of bodies, and in any case
// after mostBytes or mostLines.
const (
	batchBytes = 4 << 20
	mostBytes  = 32 << 20
	mostLines  = 10_000
)

// errChanged says that a log does not begin as its journal does.
var errChanged = errors.New("the log was changed where it had been imported")

// An Importer takes logs into a pool. There is one at a time in a home; it
// belongs to one goroutine.
type Importer struct {
	pool  *Pool
	lock  *journal.Lock
	known map[quire.Hash][]journal.Name // by what identifies their logs, the oldest first
}

// An Imported says what an import did.
type Imported struct {
	Name    journal.Name `json:"session"`
	New     bool         `json:"new"`     // a journal was begun
	Records int          `json:"records"` // written
	Pages   int          `json:"pages"`   // begun by them
	Bytes   int64        `json:"bytes"`   // of bodies that they name
	Healed  int          `json:"healed"`  // bodies that its journal named and the pool had lost
	Cut     string       `json:"cut"`     // why the end of the log could not be read; "" where it could
	Empty   bool         `json:"empty"`   // the log holds no session: there is no journal
}

// Changed reports whether anything was written.
func (i Imported) Changed() bool { return i.Records > 0 }

// Importer begins to import. The error is [quire.ErrLocked] while another
// process does.
func (p *Pool) Importer() (*Importer, error) {
	lock, err := p.hold()
	if err != nil {
		return nil, err
	}
	m := &Importer{pool: p, lock: lock, known: map[quire.Hash][]journal.Name{}}
	if err := m.learn(); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return m, nil
}

// learn reads which logs the journals of the home were imported from. A journal
// that cannot be read counts for none: a check names it.
func (m *Importer) learn() error {
	names, err := journal.List(m.pool.Home)
	if err != nil {
		return err
	}
	for _, n := range names {
		if head, err := journal.Head(n.Path); err == nil && head.Digest != (quire.Hash{}) {
			m.known[head.Digest] = append(m.known[head.Digest], n)
		}
	}
	return nil
}

// Close lets others import.
func (m *Importer) Close() error { return m.lock.Close() }

// Import takes a log in. When it returns without an error, bodies and journal
// are durable; rows and index are made by [Pool.Derive].
//
// A log is known by its agent, its session id and its first part; without an id
// by its parts up to the user's words. All journals of logs that are so known are
// compared with it, and the first that begins as the log does is its own. What is
// in that is not written again, but for bodies that the pool has lost; what the
// log has grown by is appended. A log that was changed where it had been imported
// becomes a session of its own, and the one before stays.
//
// Damage at the very end of a log is reported and not recorded: mostly it is a
// line that is still being written.
//
// After an error, or when ctx is done, the journal holds a beginning of the log,
// and the next import goes on from there. A journal that begins as the log does
// and is then damaged may be its own: unless another one is, the error is a
// [*journal.Damage] and nothing is written.
func (m *Importer) Import(ctx context.Context, log *trace.Log) (Imported, error) {
	in := &intake{}
	for try := 0; ; try++ {
		in = &intake{Importer: m, log: log, try: try, damage: in.damage}
		err := in.take(ctx)
		if in.next == nil || !in.another(err) {
			if err != nil {
				err = fmt.Errorf("import %s: %w", log.Path, err)
			}
			return in.done, err
		}
	}
}

// another reports whether, after the error that ended comparing, the next journal
// may be the log's own.
func (in *intake) another(err error) bool {
	if d, ok := errors.AsType[*journal.Damage](err); ok {
		in.damage = d
		return true
	}
	return errors.Is(err, errChanged)
}

func (in *intake) take(ctx context.Context) error {
	err := in.read(ctx)
	if errors.Is(err, errWriting) { // close says which
		err = nil
	}
	return errors.Join(err, in.close())
}

// An intake is the import of one log: first lines wait until it is known which
// session it is, then they are compared with its journal while that lasts, then
// they are written.
type intake struct {
	*Importer
	log    *trace.Log
	try    int             // which of the journals that may be its own is compared
	damage *journal.Damage // of an earlier one
	rec    recorder
	info   quire.SessionInfo
	first  bool   // the first event was seen
	wait   []line // before the session is known
	part   bool   // there is a part among them
	tells  bool   // and one of them, or a call, tells the session from others without an id
	named  bool
	held   *line                              // damage, while nothing comes after it
	next   func() (quire.Record, error, bool) // of the journal that is compared
	stop   func()
	heal   healer
	out    *outlet // nil before the first line is written
	done   Imported
}

func (in *intake) read(ctx context.Context) error {
	for e, err := range in.log.Events() {
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := in.event(ctx, e); err != nil {
			return err
		}
	}
	return in.end(ctx)
}

// end takes up what waited for more to come.
func (in *intake) end(ctx context.Context) error {
	if !in.named {
		if in.done.Empty = !in.part; in.part {
			if err := in.begin(ctx); err != nil {
				return err
			}
		}
	}
	err := in.heal.flush(ctx)
	in.done.Healed = in.heal.healed
	return errors.Join(err, in.flush())
}

// event takes one event. Damage is held until another event shows that it is not
// the end: a log that is read while its last line is being written would else
// differ from itself when the line is whole.
func (in *intake) event(ctx context.Context, e quire.Event) error {
	l, err := in.rec.line(e)
	if err != nil {
		return err
	}
	if held := in.held; held != nil {
		in.held, in.done.Cut = nil, ""
		if err := in.line(ctx, *held); err != nil {
			return err
		}
	}
	if s, ok := e.(quire.Skipped); ok {
		in.held, in.done.Cut = &l, s.Reason
		return nil
	}
	return in.described(ctx, e, l)
}

// described takes a line. The first event describes the session and is its
// journal's first line.
func (in *intake) described(ctx context.Context, e quire.Event, l line) error {
	if opened, ok := e.(quire.Opened); ok && !in.named {
		merge(&in.info, &opened.Info)
		if !in.first {
			in.first = true
			return nil
		}
	}
	return in.line(ctx, l)
}

// line takes a line, which waits while the session is not known.
func (in *intake) line(ctx context.Context, l line) error {
	if in.named {
		return in.put(ctx, l)
	}
	in.wait = append(in.wait, l)
	if !in.identified(l) {
		return nil
	}
	return in.begin(ctx)
}

// identified reports whether what waits, now with l, says which log it is. Without
// an id of the session the first part does not: all logs of an agent begin with
// one system prompt.
func (in *intake) identified(l line) bool {
	in.part = in.part || l.part != nil
	in.tells = in.tells || l.call || l.part != nil && l.part.Part.Kind == quire.PartUser
	return in.part && (in.info.ID != "" || in.tells || len(in.wait) > mostLines)
}

// parts are the parts among the lines that wait.
func (in *intake) parts() (parts []line) {
	for _, l := range in.wait {
		if l.part != nil {
			parts = append(parts, l)
		}
	}
	return parts
}

// begin finds out which session it is, and takes the lines that waited for that.
func (in *intake) begin(ctx context.Context) error {
	if err := in.name(ctx); err != nil {
		return err
	}
	for _, l := range in.wait {
		if err := in.put(ctx, l); err != nil {
			return err
		}
	}
	in.wait = nil
	return nil
}

// name takes the next journal that may be the log's own, or begins one.
func (in *intake) name(ctx context.Context) error {
	in.named = true
	digest, err := in.digest()
	if err != nil {
		return err
	}
	if known := in.known[digest]; in.try < len(known) {
		in.done.Name = known[in.try]
		in.next, in.stop = iter.Pull2(events(in.done.Name.Path))
		in.heal = healer{pool: in.pool, name: in.done.Name}
		return nil
	}
	if in.damage != nil {
		return in.damage
	}
	return in.create(ctx, digest)
}

// create begins a journal.
func (in *intake) create(ctx context.Context, digest quire.Hash) error {
	session := quire.SessionRecord{Info: in.info, Owner: in.pool.Owner, Source: in.log.Path, Digest: digest}
	w, session, err := journal.Create(in.pool.Home, session, in.pool.Now)
	if err != nil {
		return err
	}
	in.done.Name = journal.Name{Number: session.Number, ULID: session.ULID, Path: w.Path()}
	in.done.New = true
	in.known[digest] = append(in.known[digest], in.done.Name)
	in.out = newOutlet(ctx, in.pool.Bodies, w)
	return nil
}

func (in *intake) digest() (quire.Hash, error) {
	words := []string{string(in.log.Agent), in.info.ID, in.log.Part}
	for _, l := range in.parts() {
		words = append(words, string(l.payload))
	}
	id, err := json.Marshal(words)
	if err != nil {
		return quire.Hash{}, fmt.Errorf("encode the identity: %w", err)
	}
	return quire.Sum(string(id)), nil
}

// events are the records of a journal that tell of events, without its first
// line, marks, and what is not known.
func events(path string) iter.Seq2[quire.Record, error] {
	return func(yield func(quire.Record, error) bool) {
		for r, err := range journal.Read(path) {
			switch r.Type {
			case quire.RecordInfo, quire.RecordPart, quire.RecordCall, quire.RecordUsage, quire.RecordCompaction, quire.RecordRewind, quire.RecordNote:
			default:
				if err == nil {
					continue
				}
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// put takes a line: it is in the journal already, or is written there.
func (in *intake) put(ctx context.Context, l line) error {
	if in.next != nil {
		r, err, more := in.next()
		switch {
		case err != nil:
			return err
		case more && !same(r, l):
			return errChanged
		case more:
			return in.heal.add(ctx, l)
		}
		if err := in.grow(ctx); err != nil {
			return err
		}
	}
	return in.write(l)
}

// same reports whether a record says what a line says.
func same(r quire.Record, l line) bool {
	return ends(r, l) || l.part != nil && r.Type == quire.RecordPart && sameBefore(r, *l.part)
}

// sameBefore reports whether a record says what a part says but for what was not
// recorded yet when it was written: where the text of a part is cut.
func sameBefore(r quire.Record, now quire.PartRecord) bool {
	old, err := journal.Decode[quire.PartRecord](r)
	if err != nil || old.Part.Cuts != nil || old.Part.After > 0 {
		return false
	}
	now.Part.Cuts, now.Part.After = nil, 0
	then, err1 := json.Marshal(old)
	is, err2 := json.Marshal(now)
	return err1 == nil && err2 == nil && bytes.Equal(then, is)
}

// ends reports whether the line of a record ends in the payload of a line.
func ends(r quire.Record, l line) bool {
	return r.Type == l.kind && bytes.HasSuffix(r.Line, l.payload[1:]) && bytes.HasPrefix(bytes.TrimSuffix(r.Line, l.payload[1:]), []byte(`{"v":`))
}

// grow ends comparing: from here on the log is longer than the journal.
func (in *intake) grow(ctx context.Context) error {
	in.next = nil
	w, err := journal.Open(in.done.Name.Path, in.pool.Now)
	if err != nil {
		return err
	}
	in.out = newOutlet(ctx, in.pool.Bodies, w)
	return nil
}

func (in *intake) write(l line) error {
	if l.call && in.out.bytes > batchBytes || in.out.bytes > mostBytes || len(in.out.batch.lines) > mostLines {
		if err := in.out.send(); err != nil {
			return err
		}
	}
	in.out.add(l)
	in.done.Records++
	in.done.Pages += l.begun
	for _, b := range l.bodies {
		in.done.Bytes += int64(len(b))
	}
	return nil
}

func (in *intake) flush() error {
	if in.out == nil {
		return nil
	}
	return in.out.send()
}

// close waits for what was sent and gives the journal up.
func (in *intake) close() error {
	if in.stop != nil {
		in.stop()
	}
	if in.out == nil {
		return nil
	}
	return in.out.close()
}

// merge adds what is known of a session: a field that is not empty replaces the
// earlier value.
func merge(to, from *quire.SessionInfo) {
	for _, f := range []struct{ to, from *string }{
		{&to.ID, &from.ID}, {(*string)(&to.Agent), (*string)(&from.Agent)}, {&to.Project, &from.Project},
		{&to.Version, &from.Version}, {&to.Branch, &from.Branch}, {&to.Model, &from.Model}, {&to.Parent, &from.Parent},
	} {
		if *f.from != "" {
			*f.to = *f.from
		}
	}
	if from.Window > 0 {
		to.Window = from.Window
	}
	if !from.Started.IsZero() {
		to.Started = from.Started
	}
}
