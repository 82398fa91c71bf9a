package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/quire-agent/quire/internal/carrier"
	"github.com/quire-agent/quire/internal/config"
	"github.com/quire-agent/quire/internal/index"
	"github.com/quire-agent/quire/internal/ingest"
	"github.com/quire-agent/quire/internal/journal"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/secret"
	"github.com/quire-agent/quire/internal/store/mem"
	"github.com/quire-agent/quire/internal/store/sqlite"
	"github.com/quire-agent/quire/internal/token"
	"github.com/quire-agent/quire/internal/vector"
	"github.com/spf13/cobra"
)

// owner is whose pages a home on one machine holds.
const owner = quire.Principal("user:local")

// A home is the folder of everything that Quire keeps, opened. This file is the
// one place that says which stores are behind it.
type home struct {
	pool    ingest.Pool
	store   *sqlite.Store
	secrets *secret.Finder
	derived error // why the derived part could not be opened, where that was allowed
}

// openHome opens the home of the settings, and makes it where there is none.
func (inv *invocation) openHome(cmd *cobra.Command) (*home, error) {
	return inv.openHomeAs(cmd, sqlite.Options{})
}

// openToRead opens a home that must be there, and writes nothing.
func (inv *invocation) openToRead(cmd *cobra.Command) (*home, error) {
	return inv.openKept(cmd, sqlite.Options{ReadOnly: true})
}

// openKept opens a home that must be there.
func (inv *invocation) openKept(cmd *cobra.Command, o sqlite.Options) (*home, error) {
	if _, err := inv.unopened(cmd); err != nil {
		return nil, err
	}
	return inv.openHomeAs(cmd, o)
}

// unopened is a home that must be there, without its stores: the names of its
// journals are all that can be asked for.
func (inv *invocation) unopened(cmd *cobra.Command) (*home, error) {
	dir, err := inv.homeDir(cmd)
	if err != nil {
		return nil, err
	}
	if !exists(dir) {
		return nil, nothingKept()
	}
	return inv.newHome(dir), nil
}

func nothingKept() error {
	return unusable(errors.New("nothing is kept here yet"), "`quire import PATH` takes the logs of an agent in")
}

func (inv *invocation) openHomeAs(cmd *cobra.Command, o sqlite.Options) (*home, error) {
	dir, err := inv.homeDir(cmd)
	if err != nil {
		return nil, err
	}
	return inv.homeAt(cmd.Context(), dir, o)
}

// homeAt opens the home in a folder.
func (inv *invocation) homeAt(ctx context.Context, dir string, o sqlite.Options) (*home, error) {
	store, err := sqlite.Open(ctx, dir, o)
	if err != nil {
		return nil, explain(err)
	}
	h := inv.newHome(dir)
	h.store = store
	h.pool.Bodies = store
	h.derive(store)
	return h, nil
}

// homeDir is the folder of the home.
func (inv *invocation) homeDir(cmd *cobra.Command) (string, error) {
	s, err := inv.settings(cmd)
	if err != nil {
		return "", err
	}
	return s.Path(config.Home), nil
}

func (inv *invocation) newHome(dir string) *home {
	h := &home{secrets: inv.finder()}
	h.pool = ingest.Pool{Home: dir, Mask: h.secrets.Mask, Owner: owner, Now: time.Now}
	return h
}

// A derivedStore keeps what is derived.
type derivedStore interface {
	quire.PageTable
	quire.Heads
	index.Segments
}

func (h *home) derive(s derivedStore) {
	h.pool.Table, h.pool.Heads, h.pool.Index = s, s, index.New(s, s)
	h.pool.Cards, h.pool.Vectors = carrier.NewCards(s, s), vector.NewSets(s, s)
}

// openToCheck opens a home so that nothing in it is changed. Where the derived
// part is gone or damaged, an empty one stands in for it, and derived says why.
func (inv *invocation) openToCheck(cmd *cobra.Command) (*home, error) {
	h, err := inv.openToRead(cmd)
	if err == nil {
		return h, nil
	}
	dir, fault := inv.homeDir(cmd)
	if fault != nil || !exists(dir) {
		return nil, err
	}
	bodies, fault := sqlite.Open(cmd.Context(), dir, sqlite.Options{ReadOnly: true, BodiesOnly: true})
	if fault != nil {
		return nil, err
	}
	h = inv.newHome(dir)
	h.store, h.pool.Bodies, h.derived = bodies, bodies, err
	h.derive(mem.New())
	return h, nil
}

// counting loads what counts tokens.
func (h *home) counting() (err error) {
	h.pool.Counter, err = token.NewCounter()
	return err
}

// openBodies opens a home for its bodies alone; why says what keeps the derived
// part closed.
func (inv *invocation) openBodies(cmd *cobra.Command, why error) (*home, error) {
	h, err := inv.unopened(cmd)
	if err != nil {
		return nil, err
	}
	store, err := sqlite.Open(cmd.Context(), h.pool.Home, sqlite.Options{BodiesOnly: true})
	if err != nil {
		return nil, explain(err)
	}
	h.store, h.pool.Bodies, h.derived = store, store, why
	return h, nil
}

// reopenBodies closes the stores and opens that of the bodies alone.
func (h *home) reopenBodies(ctx context.Context) error {
	if err := h.store.Close(); err != nil {
		return err
	}
	store, err := sqlite.Open(ctx, h.pool.Home, sqlite.Options{BodiesOnly: true})
	if err == nil {
		h.store = store
	}
	return err
}

// close closes the stores. err is what happened before.
func (h *home) close(err error) error {
	return explain(errors.Join(err, h.store.Close()))
}

// reader is the owner, who stands in a folder.
func (inv *invocation) reader() quire.Reader {
	return quire.Reader{Who: owner, Project: ingest.ProjectName(inv.app.dir, inv.mask)}
}

// Text is that of [retrieve.Texts]: the body of a page with its secrets masked.
// An image has none.
func (h *home) Text(ctx context.Context, r *quire.Row) (string, error) {
	if r.Kind == quire.PageImage || r.Body == (quire.Hash{}) {
		return "", nil
	}
	body, err := h.pool.Bodies.Body(ctx, r.Body)
	if err != nil {
		return "", err
	}
	return h.secrets.Mask(string(body)), nil
}

// session finds a session by its number or ULID. An empty text names none: what
// a script leaves empty must not be the newest.
func (h *home) session(text string) (journal.Name, error) {
	n, err := journal.Find(h.pool.Home, text)
	if err != nil {
		return n, unusable(err, "`quire session list` lists the sessions")
	}
	return n, nil
}

// newest is the session with the highest number.
func (h *home) newest() (journal.Name, error) {
	all, err := h.sessions()
	if err != nil {
		return journal.Name{}, err
	}
	return all[len(all)-1], nil
}

// sessions lists the sessions by number. None is an error that says what to do.
func (h *home) sessions() ([]journal.Name, error) {
	all, err := journal.List(h.pool.Home)
	if err == nil && len(all) == 0 {
		err = nothingKept()
	}
	return all, err
}

// page finds a page by its name. A name without a session will do where there
// is only one.
func (h *home) page(ctx context.Context, as quire.Reader, text string) (quire.Row, quire.PageRef, error) {
	ref, err := quire.ParsePageRef(text)
	if err != nil {
		return quire.Row{}, ref, unusable(err, "`quire pages` lists them")
	}
	all, err := h.sessions()
	if err != nil {
		return quire.Row{}, ref, err
	}
	if ref.Session == 0 {
		if len(all) > 1 {
			return quire.Row{}, ref, unusable(fmt.Errorf("%s of which session? there are %d", ref.Page, len(all)),
				"write "+quire.PageRef{Session: all[len(all)-1].Number, Page: ref.Page}.String()+" for the newest")
		}
		ref.Session = all[0].Number
	}
	if !slices.ContainsFunc(all, func(n journal.Name) bool { return n.Number == ref.Session }) {
		return quire.Row{}, ref, unusable(fmt.Errorf("there is no session %s", ref.Session), "`quire session list` lists the sessions")
	}
	for r, err := range h.pool.Table.Rows(ctx, as, quire.Filter{Session: ref.Session, Pages: []quire.PageNumber{ref.Page}}) {
		return r, ref, err
	}
	return quire.Row{}, ref, unusable(fmt.Errorf("there is no page %s", quire.PageRef{Session: ref.Session, Page: ref.Page}),
		"`quire pages "+ref.Session.String()+"` lists those of the session")
}

// explain gives an error of the stores its advice.
func explain(err error) error {
	switch {
	case err == nil, is[*problem](err):
		return err
	case errors.Is(err, sqlite.ErrOlder):
		return unusable(err, "`quire pool migrate` brings it up to date, after a copy of it was made")
	case errors.Is(err, sqlite.ErrNewer):
		return unusable(err, "use the newer version of quire, or another home (QUIRE_HOME)")
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, quire.ErrNotFound):
		return failure(err, "`quire doctor` says what is missing")
	case errors.Is(err, quire.ErrLocked):
		return failure(err, "wait until the other quire is done")
	case errors.Is(err, quire.ErrFull):
		return failure(err, "make room; what was done so far is kept, and the same command goes on from there")
	case errors.Is(err, quire.ErrReadOnly):
		return failure(err, "allow writing there, or use another home (QUIRE_HOME)")
	case errors.Is(err, quire.ErrDamaged), errors.Is(err, quire.ErrMissing):
		return failure(err, "`quire doctor` says what is damaged")
	}
	return err
}

// exists reports whether there is a home with something in it.
func exists(dir string) bool {
	for _, name := range []string{sqlite.BodiesFile, filepath.Base(journal.Folder(dir))} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}

// clip shortens a text to one line of at most n characters. It cuts between
// characters and says so with an ellipsis.
func clip(text string, n int) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\ufffd"))
	runes := []rune(text)
	if len(runes) <= n {
		return text
	}
	return string(runes[:n-1]) + "…"
}
