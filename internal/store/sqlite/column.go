package sqlite

import (
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/quire-agent/quire/internal/quire"
)

// pageID is the key of a page: by session, then by number.
func pageID(session quire.SessionNumber, page quire.PageNumber) int64 {
	return int64(session)<<32 | int64(uint32(page))
}

// targetKey stands for a target in its index, 0 for none.
func targetKey(target string) int64 {
	if target == "" {
		return 0
	}
	h := quire.Sum(target)
	return int64(binary.BigEndian.Uint64(h[:]))
}

// marks are n question marks.
func marks(n int) string {
	return strings.TrimSuffix(strings.Repeat("?,", n), ",")
}

func toHash(b []byte) (h quire.Hash, err error) {
	if len(b) != 0 && len(b) != len(h) {
		return h, fmt.Errorf("%w: a hash of %d bytes", quire.ErrDamaged, len(b))
	}
	copy(h[:], b)
	return h, nil
}

func fromHash(h quire.Hash) []byte {
	if h == (quire.Hash{}) {
		return []byte{}
	}
	return h[:]
}

// fromTime splits a time into seconds, null for the zero time, and nanoseconds.
func fromTime(t time.Time) (sql.NullInt64, int) {
	if t.IsZero() {
		return sql.NullInt64{}, 0
	}
	return sql.NullInt64{Int64: t.Unix(), Valid: true}, t.Nanosecond()
}

func toTime(seconds sql.NullInt64, nanos int64) time.Time {
	if !seconds.Valid {
		return time.Time{}
	}
	return time.Unix(seconds.Int64, nanos).UTC()
}

// pageColumns are those of table page, in the order of pageValues and pageScan.
const pageColumns = `p.id, p.owner, p.acl, p.scope, p.kind, p.class, p.target_key, p.target,
	p.ulid, p.at, p.at_nanos, p.tool, p.action, p.first_line, p.last_line,
	p.body, p.bytes, p.tokens, p.call, p.args, p.version, p.tasks,
	p.last_ref, p.refs, p.heat, p.pin_by, p.pin_until, p.dropped_by,
	p.supersedes, p.superseded_by, p.derived_from, p.answers, p.stale, p.outcome`

func pageValues(r *quire.Row) []any {
	at, nanos := fromTime(r.At)
	return []any{
		pageID(r.Session, r.Number), string(r.Owner), appendTexts([]byte{}, r.ACL), string(r.Scope),
		int(r.Kind), int(r.Class), targetKey(r.Target), r.Target,
		r.ID, at, nanos, r.Tool, string(r.Action), r.Lines.First, r.Lines.Last,
		fromHash(r.Body), r.Bytes, r.Tokens, r.Call, fromHash(r.Args), fromHash(r.Version), appendTexts([]byte{}, r.Tasks),
		r.LastRef, r.Refs, r.Heat, string(r.Pin.By), r.Pin.Until, string(r.Dropped),
		appendPages(r.Replace), int(r.By), appendRefs(r.From), int(r.Answers), appendRanges(r.Stale), string(r.Outcome),
	}
}

// A pageScan takes a row of table page.
type pageScan struct {
	quire.Row
	project sql.NullString // of its session

	id, key, nanos                        int64
	at                                    sql.NullInt64
	acl, body, args, version              sql.RawBytes
	tasks, supersedes, derivedFrom, stale sql.RawBytes
}

// into lists the places for pageColumns and the project.
func (s *pageScan) into() []any {
	r := &s.Row
	return []any{
		&s.id, &r.Owner, &s.acl, &r.Scope, &r.Kind, &r.Class, &s.key, &r.Target,
		&r.ID, &s.at, &s.nanos, &r.Tool, &r.Action, &r.Lines.First, &r.Lines.Last,
		&s.body, &r.Bytes, &r.Tokens, &r.Call, &s.args, &s.version, &s.tasks,
		&r.LastRef, &r.Refs, &r.Heat, &r.Pin.By, &r.Pin.Until, &r.Dropped,
		&s.supersedes, &r.By, &s.derivedFrom, &r.Answers, &s.stale, &r.Outcome, &s.project,
	}
}

// row is what was scanned, whole.
func (s *pageScan) row() (quire.Row, error) {
	r := s.Row
	r.Session, r.Number = quire.SessionNumber(s.id>>32), quire.PageNumber(int32(s.id))
	r.At = toTime(s.at, s.nanos)
	var errs [8]error
	r.ACL, errs[0] = readTexts[quire.Principal](s.acl)
	r.Tasks, errs[1] = readTexts[string](s.tasks)
	r.Replace, errs[2] = readPages(s.supersedes)
	r.From, errs[3] = readRefs(s.derivedFrom)
	r.Stale, errs[4] = readRanges(s.stale)
	r.Body, errs[5] = toHash(s.body)
	r.Args, errs[6] = toHash(s.args)
	r.Version, errs[7] = toHash(s.version)
	if err := errors.Join(errs[:]...); err != nil {
		return r, fmt.Errorf("row of page %s is %w: %w", r.Ref(), quire.ErrDamaged, err)
	}
	return r, nil
}

// sessionColumns are those of table session, in the order of sessionValues and
// sessionInto.
const sessionColumns = `number, ulid, owner, project, id, agent, version, branch, model, window, parent,
	started, started_nanos, source, pages, calls, tokens, bytes,
	input, cache_read, cache_write, cache_write_1h, output, reasoning, known, updated`

func sessionValues(s *quire.SessionRow) []any {
	started, nanos := fromTime(s.Started)
	return []any{
		int64(s.Number), s.ULID, string(s.Owner), s.Project, s.ID, string(s.Agent), s.Version, s.Branch, s.Model, s.Window, s.Parent,
		started, nanos, s.Source, s.Pages, s.Calls, s.Tokens, s.Bytes,
		s.Usage.Input, s.Usage.CacheRead, s.Usage.CacheWrite, s.Usage.CacheWrite1h, s.Usage.Output, s.Usage.Reasoning, int(s.Usage.Known), s.Updated,
	}
}

func scanSession(rows *sql.Rows) (s quire.SessionRow, err error) {
	var started sql.NullInt64
	var nanos int64
	u := &s.Usage
	err = rows.Scan(
		&s.Number, &s.ULID, &s.Owner, &s.Project, &s.ID, &s.Agent, &s.Version, &s.Branch, &s.Model, &s.Window, &s.Parent,
		&started, &nanos, &s.Source, &s.Pages, &s.Calls, &s.Tokens, &s.Bytes,
		&u.Input, &u.CacheRead, &u.CacheWrite, &u.CacheWrite1h, &u.Output, &u.Reasoning, &u.Known, &s.Updated)
	s.Started = toTime(started, nanos)
	return s, err
}
