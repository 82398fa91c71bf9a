package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/quire-agent/quire/internal/carrier"
	"github.com/quire-agent/quire/internal/retrieve"
)

// A source is a folder that a carrier is read from.
type source struct {
	carrier string
	dir     string
	shown   string // how its files are named
	read    func(fs.FS, string) ([]retrieve.Entry, error)
}

// sources are the folders that are searched beside the pages: those of the home
// that are there, and the folders of documents that were named.
func (r *recallRun) sources(home string) (out []source) {
	for _, kept := range []source{
		{carrier: "knowledge", read: carrier.Knowledge},
		{carrier: "notes", read: carrier.Notes},
		{carrier: "skills", read: carrier.Skills},
	} {
		if kept.dir = filepath.Join(home, kept.carrier); folder(kept.dir) {
			kept.shown = kept.carrier
			out = append(out, kept)
		}
	}
	for _, dir := range r.docs {
		out = append(out, source{"documents", dir, filepath.ToSlash(dir), carrier.Documents})
	}
	for _, dir := range r.skills {
		out = append(out, source{"skills", dir, filepath.ToSlash(dir), carrier.Skills})
	}
	return out
}

func folder(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.IsDir()
}

// register reads the sources and puts their carriers on the surface, masked.
func (r *recallRun) register(ctx context.Context, h *home, surface *retrieve.Surface) error {
	for _, s := range r.sources(h.pool.Home) {
		if !folder(s.dir) {
			return unusable(fmt.Errorf("%s is no folder", s.dir), "name a folder that is there")
		}
		entries, err := s.read(os.DirFS(s.dir), s.shown)
		if err != nil {
			return err
		}
		for i := range entries {
			e := &entries[i]
			e.Text, e.Title = h.secrets.Mask(e.Text), h.maskPiece(e.Title)
		}
		c, err := retrieve.NewCollection(ctx, s.carrier, entries)
		if err != nil {
			return err
		}
		surface.Register(c)
	}
	return nil
}
