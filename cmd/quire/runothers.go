package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/quire-agent/quire/internal/ingest"
	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/ledger"
	"github.com/quire-agent/quire/internal/page"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/retrieve"
	"github.com/quire-agent/quire/internal/run"
)

// otherSessions are the sessions of the home besides the one at hand, as the
// agent of a project sees them: searched and read by recall, referred to by the
// user as @@s7. What they give is masked.
type otherSessions struct {
	inv    *invocation
	home   *home
	dir    string // of the project
	reader quire.Reader
	own    quire.SessionNumber    // that is not among them; 0: not begun
	space  func() []quire.PageRef // pages of agents of teams that may be seen; nil: none
	only   bool                   // nothing besides those is seen
}

var (
	_ retrieve.Carrier = (*otherSessions)(nil)
	_ run.PageReader   = (*otherSessions)(nil)
	_ run.Sessions     = (*otherSessions)(nil)
)

func (inv *invocation) otherSessions(h *home, project string) *otherSessions {
	return &otherSessions{inv: inv, home: h, dir: project, reader: quire.Reader{Who: owner, Project: ingest.ProjectName(project, inv.mask)}}
}

// Name is that of [retrieve.Carrier].
func (*otherSessions) Name() string { return "other sessions" }

// Search finds pages of the other sessions, or of the one that the query names.
func (o *otherSessions) Search(ctx context.Context, q retrieve.Query) ([]retrieve.Hit, error) {
	session := q.Reader.Session
	q.Reader, q.Text = o.as(), o.home.maskPiece(q.Text)
	q.Reader.Session = session
	all, err := o.carriers(ctx, session)
	if err != nil {
		return nil, err
	}
	hits, err := all.Search(ctx, q)
	if err != nil {
		return nil, err
	}
	others := hits[:0]
	for _, hit := range hits {
		if hit.Ref.Session != o.own && o.sees(hit.Ref) {
			others = append(others, hit)
		}
	}
	return others, nil
}

// carriers are what is searched: pages, the cards of sessions, and what stands in
// the folders of home and project; of one session, or where only pages may be
// seen, its pages alone.
func (o *otherSessions) carriers(ctx context.Context, session quire.SessionNumber) (retrieve.Carrier, error) {
	pages := &retrieve.Pages{Index: o.home.pool.Index, Table: o.home.pool.Table, Texts: o.home}
	if session > 0 || o.only {
		return pages, nil
	}
	folders := append(kept(o.home.pool.Home, "", quire.ScopeUser), kept(filepath.Join(o.dir, projectFolder), projectFolder+"/", quire.ScopeProject)...)
	return o.inv.surface(ctx, o.home, pages, folders)
}

// ReadPage is that of [run.PageReader].
func (o *otherSessions) ReadPage(ctx context.Context, ref quire.PageRef) (string, error) {
	ref.Lines = quire.Range{}
	row, _, err := o.home.page(ctx, o.as(), ref.String())
	if err != nil || !o.sees(row.Ref()) {
		return "", fmt.Errorf("there is no page %v", ref)
	}
	text, err := o.home.Text(ctx, &row)
	if err != nil {
		return "", fmt.Errorf("%v cannot be read", ref)
	}
	return text, nil
}

// Card is that of [run.Sessions].
func (o *otherSessions) Card(ctx context.Context, session string, most int) (string, error) {
	name, err := o.home.session(session)
	if err != nil {
		return "", errors.New("there is no such session")
	}
	head, err := journal.Head(name.Path)
	if err != nil {
		return "", errors.New("it cannot be read")
	}
	note := fmt.Sprintf("Session %v, in %s. A page that is named p12 below is %v/p12 for recall.\n", name.Number, o.home.secrets.Mask(head.Info.Project), name.Number)
	c := newCarder(head.Info.Project, o.home.secrets.Mask)
	if err := o.home.pool.Replay(ctx, name, ingest.Resumer{Event: c.event, Record: func(quire.Record) error { return nil }}); err != nil {
		return "", errors.New("it cannot be read to its end")
	}
	return note + c.ledger.Card(most-len(note), func(s string) int { return len(s) }), nil
}

// A carder makes the ledger of a session from its events.
type carder struct {
	ledger ledger.Ledger
	fates  *page.Lineage
	cut    ingest.Cutter
	calls  int
	node   int
}

func newCarder(project string, mask func(string) string) *carder {
	return &carder{ledger: ledger.Ledger{Mask: mask}, fates: page.NewLineage(project)}
}

func (c *carder) event(e quire.Event) error {
	switch e := e.(type) {
	case quire.Called:
		if e.Chain == "" {
			c.calls++
		}
	case quire.Entered:
		c.part(e.Chain, &e.Part)
	case quire.Answered:
		c.part(e.Chain, &e.Part)
	}
	return nil
}

// part takes a part of the main chain. Those of others are cut too, so that pages
// have their numbers.
func (c *carder) part(chain string, p *quire.Part) {
	pages := c.cut.Cut(*p, c.calls)
	if chain != "" {
		return
	}
	c.ledger.Add(p, pages)
	c.ledger.Judge(c.fates.Add("", c.node, p, pages))
	c.node++
}

// as is who asks.
func (o *otherSessions) as() quire.Reader {
	as := o.reader
	if !o.only {
		return as
	}
	as.Space, as.Scopes = []quire.PageRef{}, []quire.Scope{quire.ScopeProject, quire.ScopeUser, quire.ScopeTeam}
	if o.space != nil {
		as.Space = append(as.Space, o.space()...)
	}
	return as
}

// sees reports whether a page that was found may be seen. Those of agents of teams
// may not, unless they were published to this one.
func (o *otherSessions) sees(ref quire.PageRef) bool {
	if o.space != nil {
		for _, p := range o.space() {
			if p.Session == ref.Session && p.Page == ref.Page {
				return true
			}
		}
	}
	if o.only {
		return false
	}
	name, err := o.home.session(ref.Session.String())
	if err != nil {
		return false
	}
	head, err := journal.Head(name.Path)
	return err == nil && (head.Info.Parent == "" || head.Info.Agent != quire.AgentQuire)
}
