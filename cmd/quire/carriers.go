package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/quire-agent/quire/internal/carrier"
	"github.com/quire-agent/quire/internal/index"
	"github.com/quire-agent/quire/internal/ingest"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/retrieve"
)

// A source is a folder that a carrier is read from.
type source struct {
	carrier string
	dir     string
	shown   string // how its files are named
	scope   quire.Scope
	read    func(fs.FS, string) ([]retrieve.Entry, error)
}

// kept are the folders below a folder that hold knowledge, notes and skills, as
// far as they are there.
func kept(dir, shown string, scope quire.Scope) (out []source) {
	for _, s := range []source{
		{carrier: "knowledge", read: carrier.Knowledge},
		{carrier: "notes", read: carrier.Notes},
		{carrier: "skills", read: carrier.Skills},
	} {
		if s.dir = filepath.Join(dir, s.carrier); folder(s.dir) {
			s.shown, s.scope = shown+s.carrier, scope
			out = append(out, s)
		}
	}
	return out
}

// projectFolder is where a project keeps what is its own.
const projectFolder = ".quire"

// sources are the folders that are searched beside the pages: those of the home,
// those of the project, and the folders that were named.
func (r *recallRun) sources(home string) (out []source) {
	out = kept(home, "", quire.ScopeUser)
	if own := filepath.Join(r.app.dir, projectFolder); own != home {
		out = append(out, kept(own, projectFolder+"/", quire.ScopeProject)...)
	}
	for _, dir := range r.docs {
		out = append(out, source{"documents", dir, filepath.ToSlash(dir), quire.ScopeProject, carrier.Documents})
	}
	for _, dir := range r.skills {
		out = append(out, source{"skills", dir, filepath.ToSlash(dir), quire.ScopeProject, carrier.Skills})
	}
	return out
}

// named reports whether somebody named the folder, and so wants to know that it
// cannot be read. Of one that was only there the rest is searched.
func (s *source) named() bool { return filepath.ToSlash(s.dir) == s.shown }

func folder(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.IsDir()
}

// surface is where a home is searched: its pages, the cards of its sessions, and
// what stands in the folders.
func (inv *invocation) surface(ctx context.Context, h *home, pages *retrieve.Pages, folders []source) (*retrieve.Surface, error) {
	surface := &retrieve.Surface{}
	surface.Register(pages)
	surface.Register(h.pool.Cards)
	for _, s := range folders {
		entries, err := inv.entries(h, &s)
		if err != nil && !s.named() {
			fmt.Fprintf(inv.err, "quire: not searched: %s\n", inv.mask(err.Error()))
			continue
		}
		if err != nil {
			return nil, err
		}
		c, err := retrieve.NewCollection(ctx, s.carrier, entries)
		if err != nil {
			return nil, err
		}
		surface.Register(c)
	}
	return surface, nil
}

// entries reads a source, masked. What says itself that it is about a project
// reaches no further than that.
func (inv *invocation) entries(h *home, s *source) ([]retrieve.Entry, error) {
	if !folder(s.dir) {
		return nil, unusable(fmt.Errorf("%s is no folder", s.dir), "name a folder that is there")
	}
	entries, err := s.read(os.DirFS(s.dir), s.shown)
	for i := range entries {
		e := &entries[i]
		about := e.Access.Project
		e.Text, e.Title = h.secrets.Mask(e.Text), h.maskPiece(e.Title)
		e.Access = index.Access{Owner: owner, Scope: s.scope, Project: inv.reader().Project}
		if about != "" && s.scope != quire.ScopeProject {
			e.Access.Scope, e.Access.Project = quire.ScopeProject, ingest.ProjectName(about, inv.mask)
		}
	}
	return entries, err
}
