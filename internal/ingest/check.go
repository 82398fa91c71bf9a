package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/quire"
)

// A Fault is something that is not as it should be.
type Fault struct {
	What   string `json:"what"`           // one of the words below
	Path   string `json:"path,omitempty"` // of a file
	Line   int    `json:"line,omitempty"`
	Page   string `json:"page,omitempty"` // s7/p412
	Body   string `json:"body,omitempty"` // its hash
	Reason string `json:"reason"`
}

// What can be at fault. Journals and bodies are truth; rows and index are made
// anew by a rebuild.
const (
	FaultJournal = "journal" // a place that cannot be read
	FaultTorn    = "torn"    // an end that was not written whole; the next writer moves it aside
	FaultBody    = "body"    // bytes that do not have their hash
	FaultMissing = "missing" // a body that a journal names is not there
	FaultRow     = "row"     // the page table and the journal differ
	FaultIndex   = "index"   // a page cannot be found that should be
	FaultBehind  = "behind"  // a journal holds more than was derived from it
	FaultFile    = "file"    // a file of the pool cannot be read as what it is; for whoever opens them
)

// A Health is what a check found.
type Health struct {
	Journals    int     `json:"journals"`
	Records     int     `json:"records"`
	Bodies      int     `json:"bodies"`
	BodyBytes   int64   `json:"body_bytes"`
	Rows        int     `json:"rows"`
	Orphans     int     `json:"orphans"` // bodies that no journal names: no fault, but room
	OrphanBytes int64   `json:"orphan_bytes"`
	Faults      []Fault `json:"faults"`
}

// Check looks at everything and changes nothing: every line of every journal,
// every body against its hash, every body that a journal names, every row
// against the journal and every page against the index. What is at fault is
// listed in that order; the error is for a check that could not be finished.
func (p *Pool) Check(ctx context.Context) (Health, error) {
	c := &checker{pool: p, used: map[quire.Hash]mention{}}
	c.health.Faults = []Fault{}
	names, err := journal.List(p.Home)
	if err != nil {
		return c.health, err
	}
	for _, n := range names {
		if err := c.journal(ctx, n); err != nil {
			return c.health, fmt.Errorf("check %s: %w", n.Path, err)
		}
	}
	if err := c.bodies(ctx); err != nil {
		return c.health, fmt.Errorf("check the bodies: %w", err)
	}
	for i := range c.sessions {
		n := c.sessions[i].name.Number
		if err := c.derived(n.String(), c.rows(ctx, &c.sessions[i])); err != nil {
			return c.health, fmt.Errorf("check the rows of %s: %w", n, err)
		}
	}
	return c.health, c.derived("", c.strangers(ctx))
}

// derived takes an error of looking at what is derived. Damage is a fault like
// any other: what could be looked at is in the list.
func (c *checker) derived(session string, err error) error {
	if !damaged(err) {
		return err
	}
	c.fault(Fault{What: FaultRow, Page: session, Reason: err.Error()})
	return nil
}

// A checker is one check.
type checker struct {
	pool     *Pool
	health   Health
	used     map[quire.Hash]mention
	sessions []checked
	blank    bool // the empty body is there
}

// A mention is the first place that names a body.
type mention struct {
	path  string
	line  int
	page  quire.PageRef
	there bool
}

// A checked session and the pages that its journal has.
type checked struct {
	name    journal.Name
	outline *outline
	last    quire.PageNumber
}

func (c *checker) fault(f Fault) { c.health.Faults = append(c.health.Faults, f) }

// journal reads a journal.
func (c *checker) journal(ctx context.Context, n journal.Name) error {
	c.health.Journals++
	o, err := newOutline(n.Path)
	if err != nil {
		c.fault(Fault{What: FaultJournal, Path: n.Path, Line: 1, Reason: err.Error()})
		return nil
	}
	s := checked{name: n, outline: o}
	lines := 0
	for r, err := range journal.Read(n.Path) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		var d *journal.Damage
		switch {
		case errors.As(err, &d):
			c.fault(Fault{What: FaultJournal, Path: d.Path, Line: d.Line, Reason: d.Reason})
			lines = d.Line
			continue
		case err != nil:
			return err
		}
		lines++
		c.health.Records++
		c.record(&s, r, lines)
	}
	c.sessions = append(c.sessions, s)
	return c.torn(n.Path, lines)
}

// record notes which bodies a record names.
func (c *checker) record(s *checked, r quire.Record, line int) {
	if r.Type != quire.RecordPart {
		return
	}
	p, err := journal.Decode[quire.PartRecord](r)
	if err != nil {
		c.fault(Fault{What: FaultJournal, Path: s.name.Path, Line: line, Reason: err.Error()})
		return
	}
	at := mention{path: s.name.Path, line: line}
	for _, n := range p.Pages {
		s.last = max(s.last, n)
		at.page = quire.PageRef{Session: s.name.Number, Page: p.Pages[0]}
	}
	if s.outline.forgot(&p) {
		return
	}
	for _, h := range named(&p) {
		if _, known := c.used[h]; !known {
			c.used[h] = at
		}
	}
}

// torn looks at the end of a journal.
func (c *checker) torn(path string, lines int) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	end := make([]byte, 1)
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil || size == 0 {
		return err
	}
	if _, err := f.ReadAt(end, size-1); err != nil {
		return err
	}
	if end[0] != '\n' {
		c.fault(Fault{What: FaultTorn, Path: path, Line: lines + 1, Reason: "the last line was not written whole"})
	}
	return nil
}

// bodies reads every body, and looks for those that are named.
func (c *checker) bodies(ctx context.Context) error {
	for b, err := range c.pool.Bodies.EachBody(ctx) {
		if err != nil {
			return err
		}
		c.health.Bodies++
		c.health.BodyBytes += int64(b.Stored)
		u, used := c.used[b.Hash]
		if b.Hash == quire.Sum("") {
			c.blank, used = true, true // it needs no name
		}
		if used {
			u.there = true
			c.used[b.Hash] = u
		} else {
			c.health.Orphans++
			c.health.OrphanBytes += int64(b.Stored)
		}
		_, err := c.pool.Bodies.Body(ctx, b.Hash)
		switch {
		case err == nil:
		case damaged(err):
			c.fault(bodyFault(FaultBody, b.Hash, u, err.Error()))
		default:
			return err
		}
	}
	c.missing()
	return nil
}

func bodyFault(what string, h quire.Hash, u mention, reason string) Fault {
	f := Fault{What: what, Path: u.path, Line: u.line, Body: h.String(), Reason: reason}
	if u.page.Page > 0 {
		f.Page = u.page.String()
	}
	return f
}

// missing lists the bodies that are named and not there, by place.
func (c *checker) missing() {
	var faults []Fault
	for h, u := range c.used {
		if !u.there {
			faults = append(faults, bodyFault(FaultMissing, h, u, "the journal names a body that is not there"))
		}
	}
	slices.SortFunc(faults, func(a, b Fault) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), strings.Compare(a.Body, b.Body))
	})
	c.health.Faults = append(c.health.Faults, faults...)
}
