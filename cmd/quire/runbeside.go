package main

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/quire-agent/quire/internal/carrier"
	"github.com/quire-agent/quire/internal/index"
	"github.com/quire-agent/quire/internal/norms"
	"github.com/quire-agent/quire/internal/quire"
	"github.com/quire-agent/quire/internal/retrieve"
	"github.com/quire-agent/quire/internal/run"
)

// beside is what recall searches besides the session at hand: other sessions, the
// knowledge, notes and skills of the user and the project, and the instructions,
// of which the prompt holds only a part. The folders are read at the first search.
type beside struct {
	*otherSessions
	inv     *invocation
	dir     string
	once    sync.Once
	surface *retrieve.Surface
	err     error
}

var (
	_ retrieve.Carrier = (*beside)(nil)
	_ run.PageReader   = (*beside)(nil)
)

// besides is that of the agent: other sessions only, where nothing is around.
func (a *agent) besides() retrieve.Carrier {
	if a.around == nil {
		return a.others
	}
	return &beside{otherSessions: a.others, inv: a.inv, dir: a.project.Dir()}
}

// Name is that of [retrieve.Carrier].
func (*beside) Name() string { return "beside the session" }

// Search asks all of them. A query for one session asks that only.
func (b *beside) Search(ctx context.Context, q retrieve.Query) ([]retrieve.Hit, error) {
	if q.Reader.Session != 0 {
		return b.otherSessions.Search(ctx, q)
	}
	b.once.Do(func() { b.surface, b.err = b.open(context.WithoutCancel(ctx)) })
	if b.err != nil {
		return nil, b.err
	}
	q.Reader = b.as()
	return b.surface.Search(ctx, q)
}

// open reads the folders and the instructions, masked.
func (b *beside) open(ctx context.Context) (*retrieve.Surface, error) {
	s := &retrieve.Surface{}
	s.Register(b.otherSessions)
	own := filepath.Join(b.dir, projectFolder)
	folders := append(kept(b.home.pool.Home, "", quire.ScopeUser), kept(own, projectFolder+"/", quire.ScopeProject)...)
	if dir := filepath.Join(b.dir, ".agents", "skills"); folder(dir) {
		folders = append(folders, source{"skills", dir, ".agents/skills", quire.ScopeProject, carrier.Skills})
	}
	for _, f := range folders {
		entries, err := b.inv.entries(b.home, &f)
		if err != nil {
			return nil, err
		}
		if err := register(ctx, s, f.carrier, entries); err != nil {
			return nil, err
		}
	}
	read := b.inv.readNorms(ctx, b.home, b.dir)
	return s, register(ctx, s, "instructions", b.instructions(read.Pages))
}

func register(ctx context.Context, s *retrieve.Surface, name string, entries []retrieve.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	c, err := retrieve.NewCollection(ctx, name, entries)
	if err != nil {
		return err
	}
	s.Register(c)
	return nil
}

// instructions are the pages of instruction files as they are found.
func (b *beside) instructions(pages []norms.Page) (entries []retrieve.Entry) {
	for _, p := range pages {
		entries = append(entries, retrieve.Entry{
			Kind: retrieve.HitDocument, Name: p.File, Path: p.File, Title: b.home.maskPiece(p.Title), Text: b.home.secrets.Mask(p.Text), First: p.First,
			Source: fmt.Sprintf("instructions, %s", p.Name()),
			Access: index.Access{Owner: owner, Scope: quire.ScopeProject, Project: b.reader.Project},
		})
	}
	return entries
}
